"""One environment as a gymnasium.Env: `gymnasium.make("nacelle/CartPole-v1")`."""
import re

import gymnasium
import numpy as np

from nacelle.engine import ENVIRONMENTS
from nacelle.vector import Env


class SingleEnv(gymnasium.Env):
    """One copy of an environment of one agent. Of thousands make_vec makes much more. What a step returns is the caller's own,
    as learners that keep it for later want it, but with `copy=False`."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, source, render_mode=None, device=None, copy=True, **settings):
        device = device or ("auto" if settings.get("engine") else "cpu")
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f'render_mode is {render_mode!r}; there is "rgb_array"')
        self.render_mode = render_mode
        self._one = Env(source, 1, device=device, copy=copy, **settings)
        self.observation_space = self._one.single_observation_space
        self.action_space = self._one.single_action_space

    def reset(self, *, seed=None, options=None):
        """Begins an episode; with a seed the same one each time."""
        super().reset(seed=seed)
        seen, info = self._one.reset(seed=seed, options=options)
        return self._row(seen), self._mask(info)

    def step(self, action):
        """One step. The observation of one that ends the episode is its last."""
        seen, reward, terminated, truncated, info = self._one.step((action if hasattr(action, "shape") else np.asarray(action))[None])
        ended = bool(terminated[0]), bool(truncated[0])
        # On a GPU it is there at each step.
        return (self._row(info.get("final_obs", seen) if any(ended) else seen), float(reward[0]), *ended, self._mask(info))

    def render(self):
        """The environment as an image, RGB."""
        return self._one.picture() if self.render_mode else None

    def close(self):
        """Lets go of the engine's arrays."""
        self._one.close()

    @staticmethod
    def _mask(info):
        return {"action_mask": info["action_mask"][0]} if "action_mask" in info else {}

    @staticmethod
    def _row(seen):
        return {name: part[0] for name, part in seen.items()} if isinstance(seen, dict) else seen[0]


def register_all():
    """Gives Gymnasium the shipped environments of one agent as nacelle/NAME-v1."""
    for path in sorted(ENVIRONMENTS.glob("*.cu")):
        text = path.read_text()
        name = re.search(r"NACELLE_ENV\((\w+)\)", text)
        if name and "struct Agent" not in text and "Group" not in text and "nacelle::Team" not in text:
            gymnasium.register(f"nacelle/{name[1]}-v1", "nacelle.single:SingleEnv",
                               vector_entry_point="nacelle.vector:Env", kwargs={"source": path.stem})
