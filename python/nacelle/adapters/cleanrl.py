"""CleanRL: in a script of theirs the line that makes `envs` becomes

    envs = nacelle.adapters.cleanrl.make("cartpole", args.num_envs)
"""
import gymnasium
import numpy as np

from nacelle.adapters import require
from nacelle.vector import Env


def make(source, num_envs, *, api="gymnasium", **settings):
    """Environments whose infos are lists, as CleanRL's scripts read them. `api="gym"` is for their older scripts, whose
    reset returns observations alone and whose step returns four values; there `import gym` becomes
    `import gymnasium as gym`. Other keywords are those of Env, or parameters."""
    if api not in ("gymnasium", "gym"):
        raise ValueError(f'api is {api!r}; there is "gymnasium" and "gym"')
    return (_Envs if api == "gymnasium" else _OldEnvs)(require(Env(source, num_envs, output="numpy", **settings), "numpy", "CleanRL"))


class _Envs(gymnasium.vector.VectorWrapper):
    def step(self, actions):
        seen, rewards, terminated, truncated, info = self.env.step(self._bounded(actions))
        if "final_info" in info:
            episode, done = info["final_info"]["episode"], info["_final_info"]
            info["final_info"] = [{"episode": {name: values[i:i + 1] for name, values in episode.items()}} if done[i] else None
                                  for i in range(self.num_envs)]
            info["final_observation"] = info.pop("final_obs")
        return seen, rewards, terminated, truncated, info

    def _bounded(self, actions):
        """Their policies of real numbers know no bounds."""
        space = self.action_space
        return np.clip(actions, space.low, space.high) if isinstance(space, gymnasium.spaces.Box) else actions


class _OldEnvs(_Envs):
    def reset(self, **settings):
        return super().reset(**settings)[0]

    def step(self, actions):
        seen, rewards, terminated, truncated, info = self.env.step(self._bounded(actions))
        done, infos = terminated | truncated, [{}] * self.num_envs     # one empty dict for all, which their scripts only read
        for i in np.flatnonzero(done):
            infos[i] = {"terminal_observation": info["final_obs"][i], "TimeLimit.truncated": bool(truncated[i]),
                        "episode": {name: values[i] for name, values in info["final_info"]["episode"].items()}}
        return seen, rewards, done, infos
