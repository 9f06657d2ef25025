"""skrl: `Wrapper(nacelle.make_vec("cartpole", 64, output="torch"))` in place of skrl's wrap_env."""
import gymnasium
from skrl.envs.wrappers.torch import Wrapper as Base
from skrl.utils.spaces.torch import flatten_tensorized_space, tensorize_space

from nacelle.adapters import own, require


class Wrapper(Base):
    """An environment of one agent for skrl's agents and trainers, on tensors alone."""

    def __init__(self, env):
        super().__init__(require(env, "torch", "skrl"))
        self._own, self._seen, self._info = own(env), None, None
        self._device = env.arrays["reward"].device
        self._discrete = isinstance(env.single_action_space, gymnasium.spaces.Discrete)

    @property
    def observation_space(self):
        """What one environment shows."""
        return self._env.single_observation_space

    @property
    def action_space(self):
        """What one environment takes."""
        return self._env.single_action_space

    def reset(self):
        """Begins all environments once. Later they begin anew by themselves, and this returns what they show."""
        if self._seen is None:
            seen, self._info = self._env.reset()
            self._seen = self._flat(seen)
        return self._seen, self._info

    def step(self, actions):
        """Columns of tensors: observations, rewards, terminated, truncated; and info."""
        actions = actions.reshape(-1) if self._discrete else actions.reshape(self._env.action_space.shape)
        seen, rewards, terminated, truncated, self._info = self._env.step(actions)
        self._seen = self._flat(seen)
        return self._seen, *(self._own(part).view(-1, 1) for part in (rewards, terminated, truncated)), self._info

    def state(self):
        """There is no state for a critic alone."""
        return None

    def render(self, *args, **kwargs):
        """An image of each environment."""
        return self._env.render()

    def close(self):
        self._env.close()

    def _flat(self, seen):
        space = self.observation_space
        if isinstance(space, gymnasium.spaces.Dict):
            return flatten_tensorized_space(tensorize_space(space, {name: self._own(part) for name, part in seen.items()}, device=self.device))
        return self._own(seen).reshape(self.num_envs, -1)
