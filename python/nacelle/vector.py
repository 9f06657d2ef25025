"""Environments of one agent as a gymnasium.vector.VectorEnv."""
import json
import tempfile
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from nacelle.engine import configuration, merge, shared_engine
from nacelle.outputs import opened
from nacelle.spaces import TYPES, action_space, observation_space


class Arrays:
    """The arrays of an environment by name. `env.arrays["state.x"]` is the engine's memory itself, but a copy where NumPy
    cannot share it; assignment writes it."""

    def __init__(self, batch, door):
        self._batch, self._door = batch, door

    def __getitem__(self, name):
        return self._door.one(name)

    def __setitem__(self, name, values):
        array = self._batch.array(name)
        filled = np.empty(array.shape, TYPES[array.dtype])
        filled[...] = values
        self._door.ordered(lambda: array.write_from(filled))

    def __iter__(self):
        return iter(self._batch.names())


class Env(gymnasium.vector.VectorEnv):
    """Copies of one environment, side by side. `output` is the library of the arrays that a step returns: "numpy",
    "torch" or "jax". They are the caller's own with `copy=True`, and the engine's, which the next step overwrites, with
    `copy=False`; the default is True, and False for "torch"."""

    def __init__(self, source, num_envs=None, *, device="auto", engine=None, output="numpy", copy=None,
                 autoreset_mode=AutoresetMode.SAME_STEP, render_mode=None, settings=None, **params):
        changes = {"env": {"params": params}}
        if num_envs is not None:
            changes["env"]["count"] = num_envs
        asked = configuration(source, changes)
        merge(asked, settings or {})
        self._batch = (engine or shared_engine(device)).load(
            json.dumps({key: asked[key] for key in ("env", "seed", "hooks") if key in asked}))
        self.description = json.loads(self._batch.describe())
        name = self.description["name"]
        if self.description["is_team"]:
            raise ValueError(f"{name} is a team of agents, and make_vec is for one agent")
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f'render_mode is {render_mode!r}; there is "rgb_array"')
        if render_mode and not self.description["has_draw"]:
            raise ValueError(f'{name} has no draw(), and render_mode="rgb_array" is its picture')
        self._mode = AutoresetMode(autoreset_mode)
        if self._mode is not AutoresetMode.SAME_STEP and (output != "numpy" or copy is False):
            raise ValueError(f'autoreset_mode {self._mode.value} is for output="numpy" with copies; '
                             f'{AutoresetMode.SAME_STEP.value} is for all')
        self.num_envs = self.description["count"]
        self.metadata = {"autoreset_mode": self._mode, "render_modes": ["rgb_array"], "render_fps": 30}
        self.render_mode = render_mode
        self.single_observation_space = observation_space(self.description)
        self.single_action_space = action_space(self.description)
        batched = gymnasium.vector.utils.batch_space
        self.observation_space = batched(self.single_observation_space, self.num_envs)
        self.action_space = batched(self.single_action_space, self.num_envs)
        self._door = opened(output, self._batch, copy)
        self.arrays = Arrays(self._batch, self._door)
        self._action_shape = self.action_space.shape
        self._ended = np.zeros(self.num_envs, bool)     # those whose new episode the caller has not seen
        self._find_arrays()

    @classmethod
    def from_source(cls, text, num_envs=64, **settings):
        """An environment from the text of a .cu, for notebooks."""
        folder = tempfile.TemporaryDirectory(prefix="nacelle-")
        path = Path(folder.name) / "source.cu"
        path.write_text(text)
        env = cls(str(path), num_envs, **settings)
        env._folder = folder
        return env

    def reset(self, *, seed=None, options=None):
        """A new episode in every environment; with a seed everything begins anew. With options={"reset_mask": mask}
        only where the mask is true."""
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        if options:
            raise ValueError(f'reset takes the option "reset_mask", not {sorted(options)}')
        batch = self._open()
        if mask is None:
            super().reset(seed=seed)
            self._door.ordered(lambda: batch.reset(seed))
            self._ended[:] = False
        else:
            self._reset_some(mask, seed)
        seen, _, _, _, masks = self._door.read()[:5]
        self._show_last(seen, self._ended)
        return self._fresh(seen), dict(masks)

    def step(self, actions):
        """One step of all environments. What becomes of an episode that has ended is the autoreset mode's."""
        if getattr(actions, "shape", None) != self._action_shape:
            actions = self._shaped(actions)
        if self._door is None:
            self._open()
        if self._mode is not AutoresetMode.SAME_STEP:
            return self._step_and_hold(actions)
        ended, (seen, reward, terminated, truncated, masks, done, last, total, length) = self._door.step((actions,))
        info = masks.copy()
        if ended is not False:
            info["final_obs"], info["_final_obs"] = self._fresh(last), done
            info["final_info"], info["_final_info"] = {"episode": {"r": total, "l": length}}, done
        return self._fresh(seen), reward, terminated, truncated, info

    def check(self):
        """Raises for an action of the GPU's memory that was not allowed, or a reward or an observation that is not
        finite, in a step before. Waits for the device."""
        self._open().check()

    def param(self, name):
        """A parameter, as a configuration writes it."""
        return json.loads(self._open().param(name))

    def set_param(self, name, value):
        """Sets a parameter to a number, or to a distribution as a configuration writes it."""
        self._open().set_param(name, json.dumps(value))

    def reload(self):
        """Compiles the source as it is now and goes on in that version. False where nothing has changed."""
        changed = self._open().reload()
        if changed:
            self._find_arrays()
        return changed

    def picture(self, which=0, pixels=480):
        """One environment as an image, RGB [height, width, 3]."""
        width, height, rgb = self._open().picture(which, pixels)
        return np.frombuffer(rgb, np.uint8).reshape(height, width, 3)

    def render(self):
        """An image of each environment, where it was made with render_mode="rgb_array"."""
        return tuple(self.picture(which) for which in range(self.num_envs)) if self.render_mode else None

    def close_extras(self, **_):
        """Lets go of the engine's arrays; those that are held elsewhere stay valid."""
        self._batch = self._door = self.arrays = None

    def _open(self):
        if self._batch is None:
            raise RuntimeError("the environment is closed: make another one")
        return self._batch

    def _find_arrays(self):
        fields = [field for field in self.description["fields"] if field["count"]]
        of = lambda role: {field["name"].partition(".")[2] or "obs": field["name"] for field in fields if field["role"] == role}
        self._seen_names, self._last_names = of("obs"), of("final_obs")
        self._masks = list(of("mask").values())
        late = [*self._last_names.values(), "episode.return", "episode.length"]
        self._late = len(late)
        self._door.find([*self._seen_names.values(), "reward", "terminated", "truncated", *self._masks, *late], self._late,
                        self._packed)

    def _packed(self, arrays):
        """Arrays in their order: observations, rewards, both flags, the masks as info has them, whether an episode has
        ended, and its last observation, return and length."""
        named = isinstance(self.single_observation_space, gymnasium.spaces.Dict)
        alone = lambda names, parts: dict(zip(names, parts)) if named else parts[0]
        count = len(self._seen_names)
        done, *arrays = arrays
        reward, terminated, truncated, *masks = arrays[count:-self._late]
        *last, total, length = arrays[-self._late:]
        info = {"action_mask": masks[0].view(np.int8) if isinstance(masks[0], np.ndarray) else masks[0]} if masks else {}
        return (alone(self._seen_names, arrays[:count]), reward, terminated, truncated, info, done,
                alone(self._last_names, last), total, length)

    @staticmethod
    def _fresh(seen):
        return dict(seen) if type(seen) is dict else seen

    def _shaped(self, actions):
        if not hasattr(actions, "shape"):
            actions = np.asarray(actions)
        if tuple(actions.shape) != self._action_shape:
            raise ValueError(f"actions have the shape {tuple(actions.shape)}; {self._action_shape} is taken")
        return actions

    def _reset_some(self, mask, seed):
        if seed is not None:
            raise ValueError("a seed begins every environment anew: reset takes it without a reset_mask")
        mask = np.asarray(mask.cpu() if hasattr(mask, "cpu") else mask)
        if mask.dtype != bool or mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask is {mask.dtype} {mask.shape}; bool ({self.num_envs},) is taken")
        # Those that have ended have begun anew in the engine.
        chosen = np.flatnonzero(mask & ~self._ended)
        if chosen.size:
            self._door.ordered(lambda: self._batch.reset_some(chosen.tolist()))
        self._ended &= ~mask

    def _step_and_hold(self, actions):
        """One step where an episode's end is shown first, and the next one's beginning later."""
        batch, late = self._open(), np.flatnonzero(self._ended)
        if late.size and self._mode is AutoresetMode.DISABLED:
            raise ValueError(f'environment {late[0]} has ended: reset(options={{"reset_mask": mask}}) begins its next episode')
        if late.size:
            actions = np.array(actions)
            actions[late] = 0 if np.issubdtype(actions.dtype, np.integer) else self.action_space.low[late]
        _, result = self._door.step((actions,))
        if late.size:
            batch.reset_some(late.tolist())
            result = self._door.read()
        seen, reward, terminated, truncated, masks = result[:5]
        reward[late] = 0
        self._ended = terminated | truncated
        self._show_last(seen, self._ended)
        return self._fresh(seen), reward, terminated, truncated, dict(masks)

    def _show_last(self, seen, ended):
        """Puts an ended episode's last observation in the place of the next one's first."""
        if ended.any():
            parts = seen if isinstance(seen, dict) else {key: seen for key in self._seen_names}
            for key, part in parts.items():
                part[ended] = self._door.one(self._last_names[key])[ended]


def make_vec(source, num_envs=None, *, device="auto", **settings):
    """Makes many copies of an environment: a name ("cartpole") or the path of a .cu. Other keywords are those of Env, or
    parameters."""
    return Env(source, num_envs, device=device, **settings)
