"""rl_games: `register("cartpole")`, and `env_name: cartpole` in a configuration of theirs."""
import numpy as np
from rl_games.common import env_configurations, vecenv
from rl_games.common.ivecenv import IVecEnv

from nacelle.adapters import own, require
from nacelle.vector import Env


def register(name, source=None, **settings):
    """Gives rl_games an environment by a name, that of the source unless there is another. Its `num_actors` is the number
    of copies, and what a configuration has as `env_config` goes over these settings, which are those of Env, or parameters."""
    def made(_, num_actors, **config):
        return VecEnv(Env(source or name, num_actors, output="torch", **{**settings, **config}))

    vecenv.register(f"nacelle {name}", made)
    env_configurations.register(name, {"vecenv_type": f"nacelle {name}", "env_creator": lambda **config: made(name, 1, **config)})


class VecEnv(IVecEnv):
    """An environment of one agent on tensors, with `time_outs` for rl_games' value_bootstrap."""

    def __init__(self, env):
        self.env, self._own, self._masks = require(env, "torch", "rl_games"), own(env), None

    def reset(self):
        seen, info = self.env.reset()
        self._masks = info.get("action_mask")
        return self._shown(seen)

    def step(self, actions):
        shape = self.env.action_space.shape
        seen, rewards, terminated, truncated, info = self.env.step(actions.reshape(shape))
        self._masks = info.get("action_mask")
        return self._shown(seen), self._own(rewards), terminated | truncated, {"time_outs": truncated & ~terminated}

    def _shown(self, seen):
        return {"obs": {name: self._own(part) for name, part in seen.items()} if isinstance(seen, dict) else self._own(seen)}

    def has_action_masks(self):
        """Whether there are masks; a configuration's `use_action_masks` uses them."""
        return self._masks is not None

    def get_action_masks(self):
        """What each environment allows now."""
        return np.asarray(self._masks.cpu(), bool)

    def get_env_info(self):
        """Both spaces, of one environment."""
        return {"observation_space": self.env.single_observation_space, "action_space": self.env.single_action_space}

    def seed(self, seed):
        """Begins everything anew."""
        self.env.reset(seed=seed)
