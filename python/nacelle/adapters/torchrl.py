"""TorchRL: `Env(nacelle.make_vec("cartpole", 64, output="torch"))` is an EnvBase."""
import gymnasium
import torch
from tensordict import TensorDict
from torchrl.data import Bounded, Categorical, Composite, MultiCategorical, Unbounded
from torchrl.envs import EnvBase

from nacelle.adapters import own, require


class Env(EnvBase):
    """An environment of one agent as TorchRL's batch-locked environment of `num_envs` copies."""

    def __init__(self, env):
        self._env = require(env, "torch", "TorchRL")
        self._own = own(env)
        super().__init__(device=env.arrays["reward"].device, batch_size=torch.Size([env.num_envs]))
        space = env.single_observation_space
        parts = dict(space.spaces) if isinstance(space, gymnasium.spaces.Dict) else {"observation": space}
        self.observation_spec = Composite({name: self._spec(part) for name, part in parts.items()}, shape=self.batch_size)
        if any(field["role"] == "mask" for field in env.description["fields"]):
            choices = sum(field["choices"] for field in env.description["fields"] if field["role"] == "action")
            self.observation_spec["action_mask"] = Categorical(2, shape=(*self.batch_size, choices), dtype=torch.bool, device=self.device)
        self.action_spec = self._spec(env.single_action_space)
        self.reward_spec = Unbounded(shape=(*self.batch_size, 1), device=self.device)
        flag = lambda: Categorical(2, shape=(*self.batch_size, 1), dtype=torch.bool, device=self.device)
        self.full_done_spec = Composite(done=flag(), terminated=flag(), truncated=flag(), shape=self.batch_size)
        self._begun = None      # what the environments show, where an episode has ended that of the next one

    def _spec(self, space):
        settings = {"device": self.device}
        if isinstance(space, gymnasium.spaces.Discrete):
            return Categorical(int(space.n), shape=self.batch_size, **settings)
        if isinstance(space, gymnasium.spaces.MultiDiscrete):
            return MultiCategorical(space.nvec.tolist(), shape=(*self.batch_size, len(space.nvec)), **settings)
        shape, dtype = (*self.batch_size, *space.shape), getattr(torch, space.dtype.name)
        if dtype is torch.float32 and (abs(space.low) == float("inf")).any():
            return Unbounded(shape=shape, dtype=dtype, **settings)
        low, high = (torch.as_tensor(bound).expand(shape) for bound in (space.low, space.high))
        return Bounded(low=low, high=high, shape=shape, dtype=dtype, **settings)

    def _shown(self, seen, info):
        parts = dict(seen) if isinstance(seen, dict) else {"observation": seen}
        shown = TensorDict({name: self._own(part) for name, part in parts.items()}, batch_size=self.batch_size, device=self.device)
        if "action_mask" in info:
            shown["action_mask"] = info["action_mask"].bool()
        return shown

    def _reset(self, tensordict=None, **settings):
        """Those that have ended have begun anew in the engine, and are shown."""
        mask = tensordict.get("_reset", None) if tensordict is not None else None
        if self._begun is None or mask is None or mask.all() and not self._ended.any():
            self._begun = self._shown(*self._env.reset())
        else:
            running = mask.reshape(-1) & ~self._ended
            if running.any():
                self._begun = self._shown(*self._env.reset(options={"reset_mask": running}))
        self._ended = torch.zeros(self.batch_size, dtype=torch.bool, device=self.device)
        flags = {name: torch.zeros((*self.batch_size, 1), dtype=torch.bool, device=self.device) for name in ("done", "terminated", "truncated")}
        return self._begun.clone().update(flags)

    def _step(self, tensordict):
        seen, reward, terminated, truncated, info = self._env.step(tensordict["action"])
        self._begun = self._shown(seen, info)
        self._ended, after = terminated | truncated, self._begun.clone()
        if "final_obs" in info:
            last = self._shown(info["final_obs"], {})
            for name, part in last.items():
                after[name] = torch.where(self._ended.view(-1, *[1] * (part.ndim - 1)), part, after[name])
        column = lambda part: self._own(part).view(-1, 1)
        return after.update({"reward": column(reward), "done": self._ended.view(-1, 1), "terminated": column(terminated),
                             "truncated": column(truncated)})

    def _set_seed(self, seed):
        self._begun = self._shown(*self._env.reset(seed=seed))
        self._ended = torch.zeros(self.batch_size, dtype=torch.bool, device=self.device)
