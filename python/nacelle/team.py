"""Environments of teams: dicts of arrays, by the policy that decides for the agents."""
from collections.abc import Mapping

import gymnasium

from nacelle.copies import Copies, loaded, weakly
from nacelle.spaces import action_space, names_of, observation_space


class PolicyAgents:
    """The agents of one policy: which rows of their group they are, and what one of them sees and does."""

    def __init__(self, description, policy):
        self.name, self.group, self.of, self.ids = policy["name"], policy["group"], policy["of"], policy["ids"]
        self.agents = len(self.ids)
        strides = {after - before for before, after in zip(self.ids, self.ids[1:])} or {1}
        self.shares_memory = len(strides) == 1
        self.rows = slice(self.ids[0], self.ids[-1] + 1, strides.pop()) if self.shares_memory else None
        self.observation_space = observation_space(description, self.group)
        self.action_space = action_space(description, self.group)
        names = lambda role: names_of(description, role, self.group)
        self.seen, self.last = names("obs"), names("final_obs")
        self.reward = next(iter(names("reward").values()))
        self.total = self.reward.removesuffix("reward") + "episode.return"
        self.mask, self.turn, self.ended = (next(iter(names(role).values()), None) for role in ("mask", "turn", "ended"))

    def part(self, array, environments):
        """Its agents' rows of a group's array, as [environments, agents, ...]."""
        return array.reshape((environments, self.of, *array.shape[1:]))[:, self.rows]

    def observations(self, arrays, names, environments):
        """What its agents see: an array, or a dict of them."""
        parts = {part: self.part(arrays[name], environments) for part, name in names.items()}
        return parts if len(parts) > 1 else next(iter(parts.values()))


class TeamEnv(Copies):
    """Copies of one environment of a team, its by its. What a step takes and returns are dicts by policy, of arrays
    [environments, agents, ...]: `env.policies` has the number of agents of each. `output`, `copy` and `reload_on_save` are those of Env.
    An episode that ends begins anew in the same step."""

    def __init__(self, source, num_envs=None, *, device="auto", engine=None, output="numpy", copy=None, render_mode=None,
                 settings=None, reload_on_save=False, **params):
        self._begin(loaded(source, num_envs, device, engine, settings, params), output, copy, render_mode, reload_on_save)
        if not self.description["is_team"]:
            raise ValueError(f"{self.description['name']} has one agent: nacelle.Env is for it")
        self._all = [PolicyAgents(self.description, policy) for policy in self.description["policies"]]
        self.policies = {its.name: its.agents for its in self._all}
        self.single_observation_space = {its.name: its.observation_space for its in self._all}
        self.single_action_space = {its.name: its.action_space for its in self._all}
        batched = lambda spaces: gymnasium.spaces.Dict(
            {name: self._batched(space, self.policies[name]) for name, space in spaces.items()})
        self.observation_space, self.action_space = batched(self.single_observation_space), batched(self.single_action_space)
        self._find_arrays()

    def reset(self, *, seed=None, options=None):
        """A new episode in every environment; with a seed everything begins anew. With options={"reset_mask": mask}
        only where the mask is true."""
        mask = self._mask(options)
        self._begin_anew(mask, seed)
        return self._shown()

    def _shown(self):
        """What the teams show now."""
        seen, _, _, _, info = self._door.read()[:5]
        return dict(seen), dict(info)

    def step(self, actions):
        """One step of all teams, with an action for each agent, also for those who wait or are out."""
        door = self._door
        if door is None:
            self._open()
        if self._watches:
            self._take_save()
            door = self._door
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions are a dict by policy, of {list(self.policies)}, not of the type {type(actions).__name__}")
        if len(actions) != len(self._all) or any(its.name not in actions for its in self._all):
            raise ValueError(f"actions are of {sorted(actions)}; those of {list(self.policies)} are taken")
        given = [self._shaped(actions[its.name], self.action_space[its.name].shape, f"actions of {its.name}") for its in self._all]
        ended, (seen, reward, terminated, truncated, masks, done, last, total, length) = door.step(given)
        info = dict(masks)
        if ended is not False:
            info["final_obs"], info["_final_obs"] = dict(last), done
            info["final_info"], info["_final_info"] = {"episode": {"r": dict(total), "l": length}}, done
        return dict(seen), dict(reward), dict(terminated), dict(truncated), info

    def close(self):
        """Lets go of the engine's arrays; those that are held elsewhere stay valid."""
        self.close_extras()

    def _batched(self, space, agents):
        batch = gymnasium.vector.utils.batch_space
        return batch(batch(space, agents), self.num_envs)

    def _find_arrays(self):
        early = {"terminated": None, "truncated": None}
        late = {"episode.length": None}
        for its in self._all:
            if not its.shares_memory:
                its.rows = self._door.places(its.ids)
            early |= dict.fromkeys([*its.seen.values(), its.reward, *filter(None, (its.mask, its.turn, its.ended))])
            late |= dict.fromkeys([*its.last.values(), its.total])
        self._names = [*early, *late]
        computes = any(its.turn or not its.shares_memory for its in self._all)
        self._door.find(self._names, len(late), weakly(self._packed), "copies" if computes else "views")

    def _packed(self, arrays):
        """Arrays in the engine's order: by policy observations, rewards, both flags, what info always has, whether an
        episode has ended, and by policy its last observations, returns, and its length."""
        arrays, door = dict(zip(["done", *self._names], arrays)), self._door
        part = lambda its, name: its.part(arrays[name], self.num_envs)
        by_policy = lambda what, of=self._all: {its.name: what(its) for its in of}
        cut = by_policy(lambda its: door.spread(arrays["truncated"], its.agents))
        # Who leaves the game has come to an end, also where the others play on.
        over = by_policy(lambda its: part(its, its.ended) & ~cut[its.name] if its.ended else
                         door.spread(arrays["terminated"], its.agents))
        masked, turned = ([its for its in self._all if getattr(its, kind)] for kind in ("mask", "turn"))
        info = {"action_mask": by_policy(lambda its: door.as_mask(part(its, its.mask)), masked)} if masked else {}
        if turned:
            info["acts"] = by_policy(lambda its: part(its, its.turn) == 0, turned)
            info["plays"] = by_policy(lambda its: part(its, its.turn) != 2, turned)
        return (by_policy(lambda its: its.observations(arrays, its.seen, self.num_envs)),
                by_policy(lambda its: part(its, its.reward)), over, cut, info, arrays["done"],
                by_policy(lambda its: its.observations(arrays, its.last, self.num_envs)),
                by_policy(lambda its: part(its, its.total)), arrays["episode.length"])
