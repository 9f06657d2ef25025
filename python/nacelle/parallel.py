"""One team as a pettingzoo.ParallelEnv."""
import numpy as np

from nacelle.team import TeamEnv

try:
    from pettingzoo import ParallelEnv
except ImportError:
    ParallelEnv = None


def parallel_env(source, *, render_mode=None, device="cpu", **settings):
    """One team as a pettingzoo.ParallelEnv: its agents are "tagger_0", "tagger_1", ..., by the policy that decides for
    them. Of thousands of teams make_vec makes much more. Other keywords are those of TeamEnv, or parameters."""
    if ParallelEnv is None:
        raise ModuleNotFoundError("PettingZoo is not installed: pip install pettingzoo")
    return Team(source, render_mode, device, settings)


def _fitting(action, place, agent):
    action = np.asarray(action)
    if not np.can_cast(action.dtype, place.dtype, "same_kind"):
        raise TypeError(f"the action of {agent} is of {action.dtype}; {place.dtype} is taken")
    if action.shape != place.shape:
        raise ValueError(f"the action of {agent} has the shape {action.shape}; {place.shape} is taken")
    return action


class Team(ParallelEnv or object):
    """One copy of an environment of a team. Those who leave the game are in `agents` no longer; reset's options mean
    nothing here."""

    def __init__(self, source, render_mode, device, settings):
        self._one = TeamEnv(source, 1, device=device, render_mode=render_mode, **settings)
        name = self._one.description["name"]
        self.metadata = {"name": name, "render_modes": ["rgb_array"], "render_fps": 30, "is_parallelizable": True}
        self.render_mode = render_mode
        self._places = {f"{policy}_{i}": (policy, i) for policy, count in self._one.policies.items() for i in range(count)}
        self.possible_agents, self.agents, self._masks = list(self._places), [], {}
        self.observation_spaces = {agent: self._one.single_observation_space[policy] for agent, (policy, _) in self._places.items()}
        self.action_spaces = {agent: self._one.single_action_space[policy] for agent, (policy, _) in self._places.items()}

    def observation_space(self, agent):
        """What an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent):
        """What an agent does."""
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        """Begins an episode; with a seed the same one each time."""
        del options
        seen, info = self._one.reset(seed=seed)
        self._masks = info.get("action_mask", {})
        self.agents = [agent for agent in self.possible_agents if self._of(info.get("plays"), agent, True)]
        return self._all(seen), self._infos(info)

    def step(self, actions):
        """One step with an action for each of `agents`."""
        if not self.agents:
            raise ValueError("no agent plays: reset() begins an episode")
        if set(actions) != set(self.agents):
            raise ValueError(f"actions are of {sorted(actions)}; those of {self.agents} are taken")
        given = {policy: self._allowed(policy, space) for policy, space in self._one.action_space.items()}
        for agent, action in actions.items():
            policy, place = self._places[agent]
            given[policy][0, place] = _fitting(action, given[policy][0, place], agent)
        seen, reward, terminated, truncated, info = self._one.step(given)
        self._masks = info.get("action_mask", {})
        ended = bool(info["_final_obs"][0]) if "_final_obs" in info else False
        seen = self._all(info["final_obs"] if ended else seen)
        over, cut = self._all(terminated, bool), self._all(truncated, bool)
        results = seen, self._all(reward, float), over, cut, self._infos({} if ended else info)
        self.agents = [agent for agent in self.agents if not over[agent] and not cut[agent]]
        return results

    def _allowed(self, policy, space):
        """An action for each of a policy's agents, as those who have left have none: the lowest, or the first that their masks
        allow."""
        actions = np.zeros(space.shape, space.dtype)
        if hasattr(space, "low"):
            actions[...] = space.low
        if policy in self._masks:
            one = self._one.single_action_space[policy]
            choices = one.nvec if hasattr(one, "nvec") else [one.n]
            parts = np.split(self._masks[policy], np.cumsum(choices)[:-1], axis=-1)
            actions[...] = np.stack([part.argmax(-1) for part in parts], axis=-1).reshape(actions.shape)
        return actions

    def render(self):
        """The team as an image, RGB."""
        return self._one.picture() if self.render_mode else None

    def close(self):
        """Lets go of the engine's arrays."""
        self._one.close()

    def _of(self, arrays, agent, otherwise=None):
        """An agent's own part of what a policy's agents have."""
        policy, place = self._places[agent]
        if arrays is None or policy not in arrays:
            return otherwise
        part = arrays[policy]
        return {name: each[0, place] for name, each in part.items()} if isinstance(part, dict) else part[0, place]

    def _all(self, arrays, kind=lambda value: value):
        return {agent: kind(self._of(arrays, agent)) for agent in self.agents}

    def _infos(self, info):
        """The mask of what an agent may do, and whether what it does next counts."""
        infos = {agent: {} for agent in self.agents}
        for agent, its in infos.items():
            for name in ("action_mask", "acts"):
                value = self._of(info.get(name), agent)
                if value is not None:
                    its[name] = value if name == "action_mask" else bool(value)
        return infos
