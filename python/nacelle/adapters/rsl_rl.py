"""rsl_rl: `OnPolicyRunner(VecEnv(nacelle.make_vec("pendulum", 64, output="torch")), ...)`."""
import gymnasium
import torch
from rsl_rl.env import VecEnv as Base
from tensordict import TensorDict

from nacelle.adapters import own, require


class VecEnv(Base):
    """An environment of one agent for rsl_rl, with `time_outs`. Observations are the group "policy", or the parts where
    there are several. Its policies choose real numbers: those beyond a bound count as the bound, and of a choice the largest of
    as many numbers as there are choices is taken."""

    def __init__(self, env):
        self._env = require(env, "torch", "rsl_rl")
        self._own, space = own(env), env.single_action_space
        self.num_envs, self.cfg = env.num_envs, dict(env.description)
        self.device = env.arrays["reward"].device
        self.max_episode_length = env.description["time_limit"]
        self._length = torch.zeros(env.num_envs, dtype=torch.long, device=self.device)
        if isinstance(space, gymnasium.spaces.Box):
            self.num_actions, self._choices = space.shape[0], None
            self._low, self._high = (torch.as_tensor(bound, device=self.device) for bound in (space.low, space.high))
        else:
            self._choices = [int(space.n)] if isinstance(space, gymnasium.spaces.Discrete) else space.nvec.tolist()
            self.num_actions = sum(self._choices)
        self._seen, _ = env.reset()

    def get_observations(self):
        """What all environments show."""
        parts = self._seen if isinstance(self._seen, dict) else {"policy": self._seen}
        return TensorDict({name: self._own(part) for name, part in parts.items()}, batch_size=[self.num_envs], device=self.device)

    def step(self, actions):
        """Observations, rewards, whether episodes have ended, and by their time limit."""
        self._seen, rewards, terminated, truncated, _ = self._env.step(self._taken(actions))
        done = terminated | truncated
        self._length = (self._length + 1) * ~done
        return self.get_observations(), self._own(rewards), done.long(), {"time_outs": truncated & ~terminated}

    @property
    def episode_length_buf(self):
        """The steps of the episodes that are under way."""
        return self._length

    @episode_length_buf.setter
    def episode_length_buf(self, lengths):
        raise ValueError("episodes have the lengths that their steps gave them: learn() takes init_at_random_ep_len=False")

    def _taken(self, actions):
        if self._choices is None:
            return torch.clamp(actions, self._low, self._high)
        # -1 is no choice: the environment refuses it.
        chosen = [part.argmax(1).masked_fill(part.isnan().any(1), -1) for part in actions.split(self._choices, dim=1)]
        return chosen[0] if isinstance(self._env.single_action_space, gymnasium.spaces.Discrete) else torch.stack(chosen, 1)
