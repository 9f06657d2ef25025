"""Environments of one agent as a gymnasium.vector.VectorEnv."""
import json

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from nacelle.copies import Copies, loaded, weakly
from nacelle.spaces import action_space, names_of, observation_space
from nacelle.team import TeamEnv


class Env(Copies, gymnasium.vector.VectorEnv):
    """Copies of one environment, side by side. `output` is the library of the arrays that a step returns: "numpy",
    "torch" or "jax". They are the caller's own with `copy=True`, and the engine's, which the next step overwrites, with
    `copy=False`; the default is True, and False for "torch" where an episode begins anew in the same step. With `reload_on_save` a save of the source is compiled beside the
    steps, and the next step behind that runs it."""

    def __init__(self, source, num_envs=None, *, device="auto", engine=None, output="numpy", copy=None,
                 autoreset_mode=AutoresetMode.SAME_STEP, render_mode=None, settings=None, reload_on_save=False, **params):
        self.autoreset_mode = _mode(autoreset_mode)
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            if copy is False:
                raise ValueError(f"autoreset_mode {self.autoreset_mode.value} shows what the engine's arrays have no longer: copy=False is for "
                                 f"{AutoresetMode.SAME_STEP.value}")
            copy = True
        self._begin(loaded(source, num_envs, device, engine, settings, params), output, copy, render_mode, reload_on_save)
        if self.description["is_team"]:
            raise ValueError(f"{self.description['name']} is a team of agents: nacelle.make_vec makes a nacelle.TeamEnv of it")
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": ["rgb_array"], "render_fps": 30}
        self.single_observation_space = observation_space(self.description)
        self.single_action_space = action_space(self.description)
        batched = gymnasium.vector.utils.batch_space
        self.observation_space = batched(self.single_observation_space, self.num_envs)
        self.action_space = batched(self.single_action_space, self.num_envs)
        self._action_shape = self.action_space.shape
        self._ended = np.zeros(self.num_envs, bool)
        self._find_arrays()

    def reset(self, *, seed=None, options=None):
        """A new episode in every environment; with a seed everything begins anew. With options={"reset_mask": mask}
        only where the mask is true."""
        mask = self._mask(options)
        self._open()
        if mask is None:
            super().reset(seed=seed)
            self._begin_anew(None, seed)
            self._ended[:] = False
        else:
            self._begin_anew(mask & ~self._ended, seed)     # those that have ended have begun anew in the engine
            self._ended &= ~mask
        return self._shown()

    def _shown(self):
        """What the environments show now."""
        seen, _, _, _, masks, _, last = self._door.read()[:7]
        return self._held(seen, last), dict(masks)

    def step(self, actions):
        """One step of all environments. What becomes of an episode that has ended is the autoreset mode's."""
        if getattr(actions, "shape", None) != self._action_shape:
            actions = self._shaped(actions, self._action_shape)
        if self._door is None:
            self._open()
        if self._watches:
            self._take_save()
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            return self._step_and_hold(actions)
        ended, (seen, reward, terminated, truncated, masks, done, last, total, length) = self._door.step((actions,))
        info = masks.copy()
        if ended is not False:
            info["final_obs"], info["_final_obs"] = self._fresh(last), done
            info["final_info"], info["_final_info"] = {"episode": {"r": total, "l": length}}, done
        return self._fresh(seen), reward, terminated, truncated, info

    def _find_arrays(self):
        self._seen_names, self._last_names = names_of(self.description, "obs"), names_of(self.description, "final_obs")
        masks = list(names_of(self.description, "mask").values())
        late = [*self._last_names.values(), "episode.return", "episode.length"]
        self._late = len(late)
        self._door.find([*self._seen_names.values(), "reward", "terminated", "truncated", *masks, *late], self._late,
                        weakly(self._packed), "views" if masks else "nothing")

    def _packed(self, arrays):
        """Arrays in their order: observations, rewards, both flags, the masks as info has them, whether an episode has
        ended, and its last observation, return and length."""
        named = isinstance(self.single_observation_space, gymnasium.spaces.Dict)
        alone = lambda names, parts: dict(zip(names, parts)) if named else parts[0]
        count = len(self._seen_names)
        done, *arrays = arrays
        reward, terminated, truncated, *masks = arrays[count:-self._late]
        *last, total, length = arrays[-self._late:]
        info = {"action_mask": self._door.as_mask(masks[0])} if masks else {}
        return (alone(self._seen_names, arrays[:count]), reward, terminated, truncated, info, done,
                alone(self._last_names, last), total, length)

    @staticmethod
    def _fresh(seen):
        return dict(seen) if type(seen) is dict else seen

    def _step_and_hold(self, actions):
        """One step where an episode's end is shown first, and the next one's beginning later. On a GPU it waits, since the
        host has to know who has ended."""
        batch, door, late = self._open(), self._door, np.flatnonzero(self._ended)
        if late.size and self.autoreset_mode is AutoresetMode.DISABLED:
            raise ValueError(f'environment {late[0]} has ended: reset(options={{"reset_mask": mask}}) begins its next episode')
        if late.size:
            actions = door.where(self._ended, getattr(self.single_action_space, "low", 0), actions)
        _, result = door.step((actions,))
        if late.size:
            door.ordered(lambda: batch.reset_some(late.tolist()))
            result = door.read()
        seen, reward, terminated, truncated, masks, _, last = result[:7]
        if late.size:
            reward = door.where(self._ended, 0, reward)
        self._ended = door.flags(terminated | truncated)
        return self._held(seen, last), reward, terminated, truncated, dict(masks)

    def _held(self, seen, last):
        """Observations, with those that ended episodes have shown last in the place of the next ones' first."""
        if not self._ended.any():
            return self._fresh(seen)
        if type(seen) is dict:
            return {key: self._door.where(self._ended, last[key], part) for key, part in seen.items()}
        return self._door.where(self._ended, last, seen)


def _mode(asked):
    try:
        return AutoresetMode(asked)
    except ValueError:
        there = ", ".join(f"AutoresetMode.{mode.name}" for mode in AutoresetMode)
        raise ValueError(f"autoreset_mode is {asked!r}; there is {there}") from None


def make_vec(source, num_envs=None, *, device="auto", engine=None, settings=None, output="numpy", copy=None,
             autoreset_mode=AutoresetMode.SAME_STEP, render_mode=None, reload_on_save=False, **params):
    """Makes many copies of an environment: a name ("cartpole") or the path of a .cu. Of one agent it is an Env, of a team a
    TeamEnv. Other keywords are those of Env, or parameters."""
    batch = loaded(source, num_envs, device, engine, settings, params)
    if not json.loads(batch.describe())["is_team"]:
        return Env(batch, output=output, copy=copy, autoreset_mode=autoreset_mode, render_mode=render_mode, reload_on_save=reload_on_save)
    if _mode(autoreset_mode) is not AutoresetMode.SAME_STEP:
        raise ValueError("autoreset_mode is for environments of one agent: teams begin anew in the same step")
    return TeamEnv(batch, output=output, copy=copy, render_mode=render_mode, reload_on_save=reload_on_save)
