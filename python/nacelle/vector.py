"""Environments of one agent as a gymnasium.vector.VectorEnv."""
import json
import tempfile
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from nacelle.engine import configuration, shared_engine
from nacelle.spaces import action_space, observation_space


class Arrays:
    """The arrays of an environment by name: `env.arrays["state.x"]` is the engine's memory itself."""

    def __init__(self, batch):
        self._batch = batch

    def __getitem__(self, name):
        array = self._batch.array(name)
        if array.__dlpack_device__()[0] == 1:
            return np.from_dlpack(array)
        return array

    def __iter__(self):
        return iter(self._batch.names())


class Env(gymnasium.vector.VectorEnv):
    """Copies of one environment, side by side. With `copy=False` a step returns the engine's own arrays, which
    the next step overwrites; otherwise arrays of the caller's own."""

    def __init__(self, source, num_envs=None, *, device="auto", engine=None, copy=True, settings=None, **params):
        changes = {"env": {"params": params}}
        if num_envs is not None:
            changes["env"]["count"] = num_envs
        self._batch = (engine or shared_engine(device)).load(
            json.dumps({key: value for key, value in _over(configuration(source, changes), settings).items()
                        if key in ("env", "seed", "hooks")}))
        self.description = json.loads(self._batch.describe())
        if self.description["is_team"]:
            raise ValueError(f'{self.description["name"]} is a team of agents, and make_vec is for one agent')
        self.num_envs = self.description["count"]
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}
        self.render_mode = None
        self._copy = copy
        self.single_observation_space = observation_space(self.description)
        self.single_action_space = action_space(self.description)
        batched = gymnasium.vector.utils.batch_space
        self.observation_space = batched(self.single_observation_space, self.num_envs)
        self.action_space = batched(self.single_action_space, self.num_envs)
        self.arrays = Arrays(self._batch)
        self._action_shape = self.action_space.shape
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
        """A new episode in every environment; with a seed everything begins anew."""
        if options:
            raise ValueError(f"reset takes no options here, not {sorted(options)}")
        super().reset(seed=seed)
        self._open().reset(seed)
        return self._own(self._obs), {}

    def step(self, actions):
        """One step of all environments. An episode that has ended begins anew in the same step; its last observation
        is in info["final_obs"] where info["_final_obs"] is true."""
        if not isinstance(actions, np.ndarray):
            actions = np.asarray(actions)
        if actions.shape != self._action_shape:
            raise ValueError(f"actions have the shape {actions.shape}; {self._action_shape} is taken")
        ended = self._open().step_with(np.ascontiguousarray(actions))
        info = {}
        if ended:
            done = self._terminated | self._truncated
            info = {"final_obs": self._own(self._final_obs), "_final_obs": done,
                    "final_info": {"episode": {"r": self._return.copy(), "l": self._length.copy()}},
                    "_final_info": done}
        own = self._own
        return own(self._obs), own(self._reward), own(self._terminated), own(self._truncated), info

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

    def close_extras(self, **_):
        """Lets go of the engine's arrays; those that are held elsewhere stay valid."""
        self._batch = None

    def _open(self):
        if self._batch is None:
            raise RuntimeError("the environment is closed: make another one")
        return self._batch

    def _own(self, value):
        if not self._copy:
            return value
        return {key: part.copy() for key, part in value.items()} if isinstance(value, dict) else value.copy()

    def _find_arrays(self):
        names = {field["name"] for field in self.description["fields"]}
        find = lambda role: {name.partition(".")[2] or "obs": self.arrays[name] for name in names
                             if name.partition(".")[0] == role and 0 not in self.arrays[name].shape}
        seen, last = find("obs"), find("final_obs")
        single = not isinstance(self.single_observation_space, gymnasium.spaces.Dict)
        self._obs = next(iter(seen.values())) if single else seen
        self._final_obs = next(iter(last.values())) if single else last
        self._reward, self._terminated = self.arrays["reward"], self.arrays["terminated"]
        self._truncated = self.arrays["truncated"]
        self._return, self._length = self.arrays["episode.return"], self.arrays["episode.length"]


def _over(settings, changes):
    from nacelle.engine import merge
    merge(settings, changes or {})
    return settings


def make_vec(source, num_envs=None, *, device="auto", **settings):
    """Makes many copies of an environment: a name ("cartpole") or the path of a .cu. Other keywords are parameters."""
    if device != "cpu" and shared_engine(device).backend == "cuda":
        raise NotImplementedError('on a GPU make_vec is not there yet: device="cpu"')
    return Env(source, num_envs, device=device, **settings)
