"""Stable-Baselines3: `PPO("MlpPolicy", VecEnv(nacelle.make_vec("cartpole", 64)))`."""
import time

import numpy as np
from stable_baselines3.common import vec_env
from stable_baselines3.common.monitor import Monitor

from nacelle.adapters import require


class VecEnv(vec_env.VecEnv):
    """An environment of one agent as the VecEnv that Stable-Baselines3 trains in. Its infos have the returns and lengths of
    episodes, as a Monitor's; with masks it is one for MaskablePPO of sb3-contrib."""

    def __init__(self, env):
        self.env = require(env, "numpy", "Stable-Baselines3")
        if not env.copies:
            raise ValueError("Stable-Baselines3 looks at an observation after the next step: make the environment with copy=True")
        self._began, self._actions, self._info = time.time(), None, env._shown()[1]
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self):
        if any(self._options):
            raise ValueError("the environments have no options for reset")
        seen, self._info = self.env.reset(seed=self._seeds[0])
        self._reset_seeds()
        return seen

    def step_async(self, actions):
        self._actions = actions

    def step_wait(self):
        seen, rewards, terminated, truncated, self._info = self.env.step(self._actions)
        infos = [{} for _ in range(self.num_envs)]
        if "final_obs" not in self._info:
            return seen, rewards, np.zeros(self.num_envs, bool), infos
        last, done, episode = self._info["final_obs"], self._info["_final_obs"], self._info["final_info"]["episode"]
        elapsed = round(time.time() - self._began, 6)
        for i in np.flatnonzero(done):
            infos[i] = {"terminal_observation": {name: part[i] for name, part in last.items()} if isinstance(last, dict) else last[i],
                        "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                        "episode": {"r": float(episode["r"][i]), "l": int(episode["l"][i]), "t": elapsed}}
        return seen, rewards, done, infos

    def action_masks(self):
        """What each environment allows now, as MaskablePPO asks for it."""
        if "action_mask" not in self._info:
            raise AttributeError(f"{self.env.description['name']} has no masks")
        return list(self._info["action_mask"].astype(bool))

    def get_attr(self, attr_name, indices=None):
        if attr_name == "action_masks":
            return self.action_masks()
        return [getattr(self.env, attr_name)] * len(self._get_indices(indices))

    def set_attr(self, attr_name, value, indices=None):
        self._require_all(indices)
        setattr(self.env, attr_name, value)

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[i] for i in self._get_indices(indices)]
        self._require_all(indices)
        return [getattr(self.env, method_name)(*method_args, **method_kwargs)] * self.num_envs

    def env_is_wrapped(self, wrapper_class, indices=None):
        # Its infos have what a Monitor adds.
        return [wrapper_class is Monitor] * len(self._get_indices(indices))

    def get_images(self):
        return list(self.env.render() or ())

    def close(self):
        self.env.close()

    def _require_all(self, indices):
        if len(set(self._get_indices(indices))) != self.num_envs:
            raise ValueError("all environments are one here: leave indices out")
