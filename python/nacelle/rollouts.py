"""Rollouts by a policy of PyTorch: on a GPU all their steps are one CUDA graph."""
from nacelle.vector import Env


class Rollout:
    """Steps of an environment by `act`, a module or a function: observations in, actions out, or a dict with "actions" and
    what else is to be kept; where the environment has masks it gets them, too. Each call takes `steps` steps and returns a
    dict of tensors [steps, environments, ...], which the next call overwrites: "observations", "rewards", "terminated",
    "truncated", "actions" and the rest of `act`'s; with final=True "final_observations", valid where an episode has ended; and
    "next_observations", after the last step, which are the engine's memory. No gradients are kept."""

    def __init__(self, env, act, steps=32, final=False):
        if not isinstance(env, Env):
            raise TypeError(f"a rollout takes a nacelle.Env, not {type(env).__name__}")
        if env.output != "torch" or env.copies:
            raise ValueError('a rollout takes an environment with output="torch", without copy=True')
        if not isinstance(steps, int) or steps < 1:
            raise ValueError(f"steps is {steps!r}; a whole number from 1 is taken")
        import torch
        self._torch, self._env, self._act, self._steps, self._final = torch, env, act, steps, final
        self._forget()

    def __call__(self):
        """The next steps."""
        env = self._env
        env._open()
        if env._watches:
            env._take_save()
        if self._outputs is not env._door._outputs:     # after a reload the arrays are others
            self._forget()
        with self._torch.no_grad():
            if not env._door._gpu:
                self._roll()
            elif not self._kept:
                self._roll_beside()
            else:
                self._replay()
        seen = env._door._shown[0]
        return {**self._shown(), "next_observations": dict(seen) if isinstance(seen, dict) else seen}

    def _forget(self):
        self._outputs, self._graph, self._kept = self._env._open() and self._env._door._outputs, None, {}

    def _roll_beside(self):
        """The first steps: libraries load what they run, as they may not in a capture, on a stream like a capture's."""
        cuda = self._torch.cuda
        side, here = cuda.Stream(), cuda.current_stream()
        side.wait_stream(here)
        with cuda.stream(side):
            self._roll()
        here.wait_stream(side)

    def _replay(self):
        if self._graph is None:
            graph = self._torch.cuda.CUDAGraph()
            with self._torch.cuda.graph(graph):
                self._roll()
            self._graph = graph
        # The graph runs on PyTorch's stream: behind what the engine's own has to do, which then waits for it.
        batch, stream = self._env._batch, self._env._door._stream()
        batch.make_wait(stream)
        self._graph.replay()
        batch.wait_for(stream)

    def _roll(self):
        # A save waits for the next call: a graph's arrays stay the same.
        watched, self._env._watches = self._env._watches, False
        try:
            self._take_steps()
        finally:
            self._env._watches = watched

    def _take_steps(self):
        seen, _, _, _, masks = self._env._door._shown[:5]
        for step in range(self._steps):
            self._keep(step, "observations", seen)
            acted = self._act(seen, masks["action_mask"]) if masks else self._act(seen)
            acted = dict(acted) if isinstance(acted, dict) else {"actions": acted}
            if "actions" not in acted:
                raise ValueError(f'the policy gave {sorted(acted)} and no "actions"')
            seen, rewards, terminated, truncated, info = self._env.step(acted["actions"])
            acted |= {"rewards": rewards, "terminated": terminated, "truncated": truncated}
            for name, values in acted.items():
                self._keep(step, name, values)
            if self._final:
                self._keep(step, "final_observations", info.get("final_obs", seen))

    def _keep(self, step, name, values):
        if isinstance(values, dict):
            for key, each in values.items():
                self._keep(step, (name, key), each)
            return
        if name not in self._kept:
            self._kept[name] = self._torch.empty((self._steps, *values.shape), dtype=values.dtype, device=values.device)
        self._kept[name][step].copy_(values)

    def _shown(self):
        shown = {}
        for name, values in self._kept.items():
            if isinstance(name, tuple):
                shown.setdefault(name[0], {})[name[1]] = values
            else:
                shown[name] = values
        return shown


def rollout(env, act, steps=32, final=False):
    """A Rollout of `steps` steps a call."""
    return Rollout(env, act, steps, final)
