#!/usr/bin/env python3
"""Makes tag_continuous.json: continuous Tag, written from its rules alone (see README.md).

The first agents are taggers, the others runners. A step is drawn again where float32 could take
another turn than float64: `Risk` keeps the distance from the nearest threshold.
"""
import math
import random

from tag_continuous_rules import LIMIT, TURN, Risk, Rules, everyone, some, step
from team_tables import Columns, digits, exact, float32, rows, short, write

NEAR = 1e-4                     # from any threshold, for one step
NEAR_ALONG = 1e-3               # and along a trajectory, where errors grow
KINDS = 12                      # of scenes for single steps
FIELDS = ("x", "y", "speed", "direction", "acceleration", "in_game")


def state_of(agents, number):
    return {"agent." + name: [number(agent[k]) for agent in agents]
            for k, name in enumerate(FIELDS)}


def start_of(agents, clock):
    """What an episode in the middle has: the clock, and who was out already."""
    start = {"episode.length": clock, **state_of(agents, exact)}
    if not all(agent[5] for agent in agents):
        start["turn"] = [0 if agent[5] else 2 for agent in agents]
    return start


def outcome_of(rules, before, after, reward, nobody, t):
    over = nobody or t == LIMIT
    return {"reward": [digits(r) for r in reward], "terminated": int(nobody),
            "truncated": int(t == LIMIT and not nobody),
            "turn": [0 if agent[5] else 2 for agent in after],
            "ended": [int(over or not now[5]) if then[5] else None
                      for then, now in zip(before, after)]}


def actions_of(actions):
    return {"action.accelerate": [a for a, _ in actions], "action.turn": [b for _, b in actions]}


def draw_action(rules, rng):
    return rng.randint(0, rules.levels[0]), rng.randint(0, rules.levels[1])


def draw_agent(rules, rng, tagger):
    p = rules.params
    top = p["max_speed"] * (p["tagger_skill"] if tagger else p["runner_skill"])
    return [short(rng.uniform(0, p["length"])), short(rng.uniform(0, p["length"])),
            short(rng.uniform(0, top)), short(rng.uniform(0, TURN - 1e-3)),
            short(rng.uniform(-3, 3) * p["max_acceleration"]), 1]


def scene(rules, rng, number):
    """Agents, actions and the clock before one step: each kind of them in turn."""
    p, length = rules.params, rules.params["length"]
    agents = [draw_agent(rules, rng, i < rules.taggers) for i in range(rules.agents)]
    actions = [draw_action(rules, rng) for _ in agents]
    kind, often, clock = number % KINDS, number // KINDS % 2, rng.randrange(LIMIT - 1)
    close = p["tagging_distance"] * length
    if kind in (1, 2, 3, 9):                # runners around the taggers, slow; 3: in the last step
        for i in range(rules.taggers, rules.agents):
            at = agents[0 if kind == 2 else rng.randrange(rules.taggers)]
            wide = 0.5 if kind in (2, 9) else 2
            agents[i][:2] = [short(c + wide * close * rng.uniform(-1, 1)) for c in at[:2]]
        for i, agent in enumerate(agents):
            agent[:2] = [short(min(max(c, 0), length)) for c in agent[:2]]
            agent[2] = short(0.1 * close * rng.random())
            agent[4], actions[i] = 0.0, (0, actions[i][1])
        clock = LIMIT - 1 if kind == 3 else clock
    elif kind == 4:                                         # over the edges, at each side in turn
        for agent in agents:
            side = rng.randrange(4)
            agent[side // 2] = short(length * (side % 2) + (0.2 - 0.4 * (side % 2)) * rng.random())
            agent[2] = short(rng.uniform(0.3, 0.9) * p["max_speed"])
    elif kind == 5:                                         # about the bounds of the speed
        for i, agent in enumerate(agents):
            top = p["max_speed"] * (p["tagger_skill"] if i < rules.taggers else p["runner_skill"])
            agent[2] = short(rng.choice((0, top, 0.05 * top, 0.95 * top)))
            agent[4] = short(rng.choice((-0.2, -0.05, 0, 0.05, 0.2)) * top)
    elif kind == 6:                                         # about where the direction wraps
        for agent in agents:
            agent[3] = short(rng.choice((0, 0.01, 0.3, TURN - 0.3, TURN - 0.01)))
    elif kind == 7:                                         # some runners are out of the game
        for i in range(rules.taggers + 1, rules.agents):
            agents[i][5] = rng.randrange(2)
            agents[i][2:4] = [v * agents[i][5] for v in agents[i][2:4]]
        agents[-1][5], agents[-1][2], agents[-1][3] = 0, 0.0, 0.0
        agents[-1][4] = 0.0625                              # as one has who went out just now
        clock = LIMIT - 1 if often == 0 else clock
    elif kind == 8:                                         # at rest, equally far from each other
        middle = short(length / 2)
        around = ((0, 0), (1, 0), (0, -1), (-1, 0), (0, 1))
        for i, agent in enumerate(agents):
            dx, dy = around[i % 5]
            far = length / 16 * (3 + i // 5)
            agent[:3] = [middle + dx * far, middle + dy * far, 0.0]
            agent[4], actions[i] = 0.0, (0, actions[i][1])
    elif kind in (10, 11):          # two taggers in reach of a runner; 11: equally far from it
        middle, far = agents[-1], float32(0.5 ** math.ceil(-math.log2(0.3 * close)))
        middle[:2] = [length / 4, length / 4]
        dx, dy = rng.choice(((far, 0), (0, far), (far, far)))
        ratio = 1 if kind == 11 else rng.choice((0.5, -0.5, 1.5, -2))
        for i, share in ((0, 1), (1, -1 if kind == 11 else ratio)):
            agents[i][:2] = [length / 4 + share * dx, length / 4 + share * dy]
        for i in (0, 1, -1):
            agents[i][2], agents[i][4], actions[i] = 0.0, 0.0, (0, actions[i][1])
    if kind == 9:                                           # everyone is tagged, or was before
        clock = LIMIT - 1 if often == 1 else clock
    return agents, actions, clock


def make_steps(rules, rng, count, observed, chosen=everyone):
    before, after, number = Columns(), Columns(), 0
    events = {"tags": 0, "double": 0, "terminated": 0}
    while number < count:
        agents, actions, clock = scene(rules, rng, number)
        risk = Risk()
        then, reward, seen, nobody = step(rules, agents, actions, clock + 1, risk)
        tags = [r // rules.params["tag_reward_for_tagger"] for r in reward[:rules.taggers]]
        wanted = {2: max(tags) >= 2, 3: max(tags) >= 1,
                  9: nobody or not rules.params["runner_exits"], 10: max(tags) >= 1,
                  11: tags[0] >= 1}
        if risk.least < NEAR or not wanted.get(number % KINDS, True):
            continue
        before.add_named({**start_of(agents, clock), "turn": [0 if a[5] else 2 for a in agents],
                          **actions_of(actions)})
        after.add_named({**state_of(then, digits),
                         **outcome_of(rules, agents, then, reward, nobody, clock + 1)})
        after.add(obs=rows([row if chosen(i) else None for i, row in enumerate(seen)])
                  if number in observed else None)
        events["tags"] += sum(tags) > 0
        events["double"] += max(tags) >= 2
        events["terminated"] += nobody
        number += 1
    print(rules.constants, events)
    return {"before": before, "after": after}


def draw_start(rules, rng):
    p = rules.params
    return [(short(rng.uniform(0, p["length"])), short(rng.uniform(0, p["length"])), 0.0,
             float32(rng.randrange(4) * math.pi / 2), 0.0, 1) for _ in range(rules.agents)]


def safe_step(rules, rng, agents, held, t):
    """One step of actions that stay clear of every threshold, or None."""
    for _ in range(400):
        actions = [draw_action(rules, rng) if rng.random() < 0.4 else old for old in held]
        risk = Risk()
        result = step(rules, agents, actions, t, risk)
        if risk.least >= NEAR_ALONG:
            return actions, result
    return None


def make_segments(rules, rng, first, length, segment, shown, observed):
    """A trajectory in parts; each begins with float32 states. None where it met a threshold."""
    made, agents, nobody, t = [], draw_start(rules, rng), False, first
    held = [draw_action(rules, rng) for _ in agents]
    while not nobody and t < first + length:
        agents = [tuple(float32(v) for v in agent) for agent in agents]
        start, actions, after = start_of(agents, t), Columns(), Columns()
        until = min(t + segment, first + length)
        while not nobody and t < until:
            safe = safe_step(rules, rng, agents, held, t + 1)
            if safe is None:
                return None
            t += 1
            held, (then, reward, seen, nobody) = safe
            whole = (t - first) % shown == 0 or nobody
            actions.add_named(actions_of(held))
            state = state_of(then, digits)
            outcome = outcome_of(rules, agents, then, reward, nobody, t)
            state["turn"] = outcome.pop("turn")
            after.add_named({name: column if whole else None for name, column in state.items()})
            after.add_named(outcome)
            after.add(obs=rows([row if observed(i) else None for i, row in enumerate(seen)])
                      if whole and (t == until or nobody) else None)
            agents = then
        made.append({"start": start, "actions": actions, "after": after})
    out = sum(not agent[5] for agent in agents)
    print(f"  from {first} to {t}: {out} out at the end")
    return made


def segments(rules, rng, *args, wanted=lambda parts: True):
    while True:
        parts = make_segments(rules, rng, *args)
        if parts and wanted(parts):
            return parts


def make_case(about, rules, steps, trajectories):
    return {"about": about, "constants": rules.constants, "params": rules.given, "steps": steps,
            "trajectories": trajectories}


OTHER = {"length": 5, "max_speed": 0.5, "max_acceleration": 0.2, "max_turn": 1.5,
         "tagger_skill": 1.25, "runner_skill": 0.75, "edge_hit_penalty": -0.5,
         "tagging_distance": 0.125, "tag_reward_for_tagger": 3, "tag_penalty_for_runner": -2,
         "step_penalty_for_tagger": -0.25, "step_reward_for_runner": 0.125,
         "end_of_game_reward_for_runner": 7}


def tagged_late(parts):
    return len(parts) > 1 and parts[-1]["after"]["terminated"][-1]


def main():
    rng = random.Random(2)
    small = {"taggers": 2, "runners": 3}
    cases = []

    rules = Rules({**small, "observe_all": 1}, {})
    cases.append(make_case("the defaults, everyone seen", rules,
                           make_steps(rules, rng, 24, range(12)),
                           segments(rules, rng, 0, 50, 25, 5, everyone)))

    # Fewer levels than by default, another number for each part.
    rules = Rules({**small, "observe_all": 0, "neighbours": 3, "acceleration_levels": 4,
                   "turn_levels": 7}, {**OTHER, "runner_exits": False})
    cases.append(make_case("the nearest seen, nobody leaves", rules,
                           make_steps(rules, rng, 24, range(12)),
                           segments(rules, rng, LIMIT - 50, 50, 25, 5, everyone)))

    rules = Rules({**small, "observe_all": 0, "neighbours": 2}, OTHER)
    cases.append(make_case("the nearest seen, runners leave, all tagged", rules,
                           make_steps(rules, rng, 24, range(12)),
                           segments(rules, rng, 0, 100, 25, 5, everyone, wanted=tagged_late)))

    rules = Rules({"taggers": 5, "runners": 20, "observe_all": 0, "neighbours": 10},
                  {"length": 8, "edge_hit_penalty": -0.25})
    cases.append(make_case("a larger team to the limit", rules,
                           make_steps(rules, rng, 12, (1, 7, 8), some),
                           segments(rules, rng, LIMIT - 100, 100, 25, 25, some)))
    write("tag_continuous", __file__, cases)


if __name__ == "__main__":
    main()
