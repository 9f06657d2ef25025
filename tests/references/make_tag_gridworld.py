#!/usr/bin/env python3
"""Makes tag_gridworld.json: discrete Tag, written from its rules alone (see README.md).

Taggers 0..K-1 and one runner, agent K, walk on the cells 0..L of a square; all move at once.
"""
import random

from team_tables import Columns, digits, rows, write

LIMIT = 100
MOVES = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
DEFAULTS = {"wall_hit_penalty": 0.1, "tag_reward_for_tagger": 10, "tag_penalty_for_runner": 5,
            "step_cost_for_tagger": 0.01}


class Rules:
    def __init__(self, taggers, length, observe_all, params):
        self.taggers, self.length, self.observe_all = taggers, length, observe_all
        self.agents = taggers + 1
        self.params = {**DEFAULTS, **params}
        self.constants = {"taggers": taggers, "length": length, "observe_all": int(observe_all)}
        self.given = params


def step(rules, cells, actions):
    """Cells after the step, rewards, and whether the runner was tagged."""
    p = rules.params
    after, reward = [], []
    for agent, ((x, y), action) in enumerate(zip(cells, actions)):
        wanted = x + MOVES[action][0], y + MOVES[action][1]
        there = tuple(min(max(c, 0), rules.length) for c in wanted)
        after.append(there)
        reward.append(-p["wall_hit_penalty"] if there != wanted else 0)
    runner = after[-1]
    tagged = runner in after[:-1]
    for agent in range(rules.agents):
        if agent < rules.taggers:
            reward[agent] += p["tag_reward_for_tagger"] if tagged else -p["step_cost_for_tagger"]
        else:
            reward[agent] += -p["tag_penalty_for_runner"] if tagged else p["step_cost_for_tagger"]
    return after, reward, tagged


def observe(rules, cells, t):
    kinds = [0] * rules.taggers + [1]
    scaled = [(x / rules.length, y / rules.length) for x, y in cells]
    if rules.observe_all:
        shared = [x for x, _ in scaled] + [y for _, y in scaled] + kinds
        return [shared + [int(i == me) for i in range(rules.agents)] + [t / LIMIT]
                for me in range(rules.agents)]
    seen = []
    for me in range(rules.agents):
        other = rules.agents - 1
        if me == other:
            squares = [(x - cells[me][0]) ** 2 + (y - cells[me][1]) ** 2 for x, y in cells[:-1]]
            other = squares.index(min(squares))         # the first of the nearest
        seen.append([*scaled[me], *scaled[other], kinds[me], t / LIMIT])
    return seen


def state_of(cells):
    return {"agent.x": [x for x, _ in cells], "agent.y": [y for _, y in cells]}


def outcome_of(rules, cells, reward, tagged, t):
    return {**state_of(cells), "reward": [digits(r) for r in reward], "terminated": int(tagged),
            "truncated": int(t == LIMIT and not tagged)}


def anywhere(rules, rng):
    return [(rng.randint(0, rules.length), rng.randint(0, rules.length))
            for _ in range(rules.agents)]


def scene(rules, rng, number):
    """Cells and actions of one step: each kind of them in turn."""
    length, cells = rules.length, anywhere(rules, rng)
    actions = [rng.randrange(5) for _ in cells]
    kind, direction = number % 8, 1 + number // 8 % 4
    dx, dy = MOVES[direction]
    if kind in (1, 2):                                  # against one wall: the runner, a tagger
        who = rules.taggers if kind == 1 else rng.randrange(rules.taggers)
        x, y = cells[who]
        wall = length if dx + dy > 0 else 0
        cells[who], actions[who] = ((wall, y) if dx else (x, wall)), direction
    elif kind in (3, 4):                                # one tagger steps on the runner, or several
        runner = (rng.randint(1, length - 1), rng.randint(1, length - 1))
        cells[-1], actions[-1] = runner, 0
        for who in rng.sample(range(rules.taggers), 1 if kind == 3 else min(3, rules.taggers)):
            cells[who], actions[who] = (runner[0] - dx, runner[1] - dy), direction
    elif kind == 5:                                     # both clamped, tagged in the wall's cell
        wall = length if dx + dy > 0 else 0
        place = (wall, rng.randint(0, length)) if dx else (rng.randint(0, length), wall)
        cells[-1], actions[-1] = place, direction
        cells[0], actions[0] = place, direction
    elif kind == 6:                                     # tagger and runner change places: no tag
        runner = (rng.randint(1, length - 1), rng.randint(1, length - 1))
        cells[-1], cells[0] = runner, (runner[0] + dx, runner[1] + dy)
        actions[-1], actions[0] = direction, (2, 1, 4, 3)[direction - 1]
    elif kind == 7:                                     # taggers equally far from the runner
        x, y = rng.randint(1, length - 1), rng.randint(1, length - 1)
        far = [(x + a, y + b) for a, b in ((1, 0), (0, -1), (-1, 0), (0, 1))]
        cells = [rng.choice(far) for _ in range(rules.taggers)] + [(x, y)]
        actions = [0] * rules.agents
    return cells, actions


def make_steps(rules, rng, count, observed):
    before, after = Columns(), Columns()
    for number in range(count):
        cells, actions = scene(rules, rng, number)
        clock = LIMIT - 1 if number % 5 == 4 else rng.randrange(LIMIT - 1)
        before.add_named({"episode.length": clock, **state_of(cells), "action.move": actions})
        cells, reward, tagged = step(rules, cells, actions)
        after.add_named(outcome_of(rules, cells, reward, tagged, clock + 1))
        seen = observe(rules, cells, clock + 1)
        after.add(obs=rows(seen) if number < observed else None)
    return {"before": before, "after": after}


def chase(rules, cells, rng):
    """Taggers go for the runner half of the time; the runner walks at random."""
    actions = []
    for x, y in cells[:-1]:
        dx, dy = cells[-1][0] - x, cells[-1][1] - y
        towards = [1 if dx > 0 else 2] * (dx != 0) + [3 if dy > 0 else 4] * (dy != 0)
        actions.append(rng.choice(towards) if towards and rng.random() < 0.5 else rng.randrange(5))
    return actions + [rng.randrange(5)]


def make_trajectory(rules, rng, cells, skilled):
    start, actions, after = state_of(cells), Columns(), Columns()
    tagged, t = False, 0
    while not tagged and t < LIMIT:
        chosen = chase(rules, cells, rng) if skilled else [rng.randrange(5) for _ in cells]
        cells, reward, tagged = step(rules, cells, chosen)
        t += 1
        actions.add(action__move=chosen)
        after.add_named(outcome_of(rules, cells, reward, tagged, t))
        shown = t == 1 or t % 50 == 0 or tagged
        after.add(obs=rows(observe(rules, cells, t)) if shown else None)
    return {"start": start, "actions": actions, "after": after}


def make_case(about, rules, rng, steps, observed, reset_is_fixed=False):
    half = rules.length // 2
    fixed = [(half, half)] * rules.taggers + [(0, 0)]
    uniform = [(rng.randint(1, rules.length - 1), rng.randint(1, rules.length - 1))
               for _ in range(rules.agents)]
    case = {"about": about, "constants": rules.constants, "params": rules.given}
    if reset_is_fixed:
        case["reset"] = {**state_of(fixed), "obs": rows(observe(rules, fixed, 0))}
    case["steps"] = make_steps(rules, rng, steps, observed)
    case["trajectories"] = [make_trajectory(rules, rng, fixed, rules.agents > 5),
                            make_trajectory(rules, rng, uniform, True)]
    return case


def main():
    rng = random.Random(1)
    other = {"wall_hit_penalty": 0.5, "tag_reward_for_tagger": 3, "tag_penalty_for_runner": 7,
             "step_cost_for_tagger": 0.25}
    write("tag_gridworld", __file__, [
        make_case("the defaults, everyone seen", Rules(4, 100, True, {}), rng, 64, 24, True),
        make_case("a small field, own and nearest seen", Rules(4, 7, False, other), rng, 96, 48),
        make_case("12 agents, everyone seen", Rules(11, 12, True, other), rng, 48, 8, True),
        make_case("12 agents, own and nearest seen", Rules(11, 9, False, {}), rng, 48, 24, True),
    ])


if __name__ == "__main__":
    main()
