#!/usr/bin/env python3
"""Makes pursuit_swarm.json: predators and prey on a torus, written from the rules at the head of
env_sources/pursuit_swarm.cu (see README.md). Everyone is compared with everyone, no cells but for
the order among equals. A step is drawn again where float32 could take another turn than float64.
"""
import math
import random

from team_tables import Columns, digits, exact, float32, rows, short, write

LIMIT = 500
NEAR = 5e-5                     # from any threshold, in cells
GROUPS = ("predator", "prey")
DEFAULTS = {"predator_speed": 0.12, "prey_speed": 0.1, "predator_turn": 0.3, "prey_turn": 0.6,
            "thrust_rate": 0.2, "sight": 1, "reach": 0.1}
PLACES = [number / 4 for number in range(-4, 5)]            # actions that are short to write


class Rules:
    def __init__(self, predators, preys, seen, grid, params):
        self.counts, self.seen, self.grid, self.given = (predators, preys), seen, grid, params
        self.constants = {"predators": predators, "preys": preys, "seen": seen, "grid": grid}
        self.params = {**DEFAULTS, **params}

    def of(self, group, what):
        return self.params[f"{GROUPS[group]}_{what}"]


class Risk:
    """The least distance from a threshold, in cells. What lies on it exactly was made to."""

    def __init__(self, grid):
        self.least, self.grid = 1.0, grid

    def at(self, distance):
        if distance != 0:
            self.least = min(self.least, abs(distance) * self.grid)

    def wrapped(self, x):
        self.at(x - round(x))
        return x - math.floor(x)


def across(d):
    """The short way round."""
    return d - math.floor(d + 0.5)


def found(rules, me, others, within, risk, skip=None, most=None):
    """(distance, id) of the others nearer than `within`, the nearest first; among equals, in the
    order in which the 3 x 3 cells are looked through."""
    def cell(c):
        return int(c * rules.grid)

    def place(d):
        return (d + 1) % rules.grid                         # -1, 0, 1 become 0, 1, 2

    listed = []
    for i, other in enumerate(others):
        dx, dy = across(other[0] - me[0]), across(other[1] - me[1])
        far = math.hypot(dx, dy)
        if i != skip:
            risk.at(far - within)
        if i != skip and far < within:
            row, column = place(cell(other[1]) - cell(me[1])), place(cell(other[0]) - cell(me[0]))
            assert row < 3 and column < 3
            listed.append((far, row, column, i))
    listed.sort()
    kept = listed[:most]
    for (a, *_), (b, *_) in zip(listed, listed[1:len(kept) + 1]):
        risk.at(b - a)
    return [(one[0], one[3]) for one in kept]


def step(rules, world, actions, risk):
    """World after the step, rewards of both groups."""
    moved = ([], [])
    for group, (bodies, chosen) in enumerate(zip(world, actions)):
        top = rules.of(group, "speed")
        for (x, y, heading, speed), (turn, thrust) in zip(bodies, chosen):
            heading += rules.of(group, "turn") * turn
            speed = min(max(speed + rules.params["thrust_rate"] * top * thrust, 0), top)
            x = risk.wrapped(x + speed / rules.grid * math.cos(heading))
            y = risk.wrapped(y + speed / rules.grid * math.sin(heading))
            moved[group].append((x, y, heading, speed))
    reward = [0] * rules.counts[0], [0] * rules.counts[1]
    preys = list(moved[1])
    for i, (x, y, heading, _) in enumerate(moved[1]):
        near = found(rules, moved[1][i], moved[0], rules.params["reach"] / rules.grid, risk, most=1)
        if near:
            reward[1][i] = -1
            reward[0][near[0][1]] += 1
            preys[i] = (risk.wrapped(x + 0.5), risk.wrapped(y + 0.5), heading, 0)
    return (moved[0], preys), reward


def observe(rules, world, group, me, risk):
    x, y, heading, speed = world[group][me]
    sight = rules.params["sight"] / rules.grid
    row = []
    for kind in range(2):
        near = found(rules, world[group][me], world[kind], sight, risk,
                     skip=me if kind == group else None, most=rules.seen)
        for _, i in near:
            other = world[kind][i]
            dx, dy = across(other[0] - x), across(other[1] - y)
            c, s = math.cos(heading), math.sin(heading)
            row += [(dx * c + dy * s) / sight, (dy * c - dx * s) / sight,
                    math.cos(other[2] - heading), math.sin(other[2] - heading)]
        row += [0] * (4 * (rules.seen - len(near)))
    return row + [speed / rules.of(group, "speed")]


def state_of(world, number):
    return {f"{name}.body.{field}": [number(body[k]) for body in bodies]
            for name, bodies in zip(GROUPS, world)
            for k, field in enumerate(("at.x", "at.y", "heading", "speed"))}


def actions_of(actions):
    return {f"{name}.action.{field}": [exact(action[k]) for action in chosen]
            for name, chosen in zip(GROUPS, actions) for k, field in enumerate(("turn", "thrust"))}


def outcome_of(reward, caught, t):
    return {"predator.reward": reward[0], "prey.reward": reward[1], "state.caught": caught,
            "terminated": 0, "truncated": int(t == LIMIT)}


def seen_of(rules, world, risk, chosen):
    return {f"{name}.obs": rows([observe(rules, world, group, i, risk) if chosen(i) else None
                                 for i in range(rules.counts[group])])
            for group, name in enumerate(GROUPS)}


def draw_world(rules, rng, start=False):
    return tuple([(short(rng.random() * 0.9999), short(rng.random() * 0.9999),
                   short(rng.uniform(-3.1, 3.1)),
                   0.0 if start else short(rng.random() * rules.of(group, "speed")))
                  for _ in range(count)] for group, count in enumerate(rules.counts))


def draw_actions(rules, rng):
    return tuple([(rng.choice(PLACES), rng.choice(PLACES)) for _ in range(count)]
                 for count in rules.counts)


def scene(rules, rng, number):
    """World, actions and the clock before one step: each kind of them in turn."""
    world, actions, kind = draw_world(rules, rng), draw_actions(rules, rng), number % 6
    if kind == 1:                                           # where the sides meet
        world = tuple([((short(0.04 * rng.uniform(-1, 1)) % 1, y, h, s) if rng.random() < 0.5 else
                        (x, short(0.04 * rng.uniform(-1, 1)) % 1, h, s))
                       for x, y, h, s in bodies] for bodies in world)
        world = tuple([tuple(map(float32, body)) for body in bodies] for bodies in world)
    elif kind == 2:                                         # prey around one, or in a corner
        reach = rules.params["reach"] / rules.grid
        x, y = world[0][1][:2] if number % 12 == 2 else (0.01, 0.99)
        world[0][1] = (short(x), short(y), *world[0][1][2:])
        for i in range(min(8, rules.counts[1])):
            a, far = rng.uniform(0, 2 * math.pi), reach * rng.uniform(0.2, 1.5)
            place = [float32((c + far * f) % 1) for c, f in ((x, math.cos(a)), (y, math.sin(a)))]
            world[1][i] = (*place, *world[1][i][2:])
    elif kind == 3:                                         # equals: at rest, on a lattice of 1/64
        for group, bodies in enumerate(world):
            bodies[:] = [(rng.randrange(64) / 64, rng.randrange(64) / 64, h, 0.0)
                         for _, _, h, _ in bodies]
            actions[group][:] = [(turn, 0.0) for turn, _ in actions[group]]
        # Four predators around one prey, in as many cells where a corner of cells is their middle.
        edge = round(64 / rules.grid) / 64
        around = [(edge + dx / 64, edge + dy / 64) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        rng.shuffle(around)
        world[1][0] = (edge, edge, *world[1][0][2:])
        for i, place in enumerate(around):
            world[0][i] = (*place, *world[0][i][2:])
        # As far as reach and sight from one prey, to the last bit: that is not nearer.
        world[1][1] = (0.75, 0.75, *world[1][1][2:])
        for i, within in ((4, "reach"), (5, "sight")):
            far = rules.params[within] / rules.grid
            world[0][i] = (0.75 + far * (i == 4), 0.75 + far * (i == 5), *world[0][i][2:])
    elif kind == 4:                                         # at the bounds of the speed
        for group, bodies in enumerate(world):
            top = float32(rules.of(group, "speed"))
            bodies[:] = [(x, y, h, rng.choice((0.0, top))) for x, y, h, _ in bodies]
    return world, actions, LIMIT - 1 if kind == 5 else rng.randrange(LIMIT - 1)


def make_steps(rules, rng, count, observed):
    before, after, number, most = Columns(), Columns(), 0, 0
    while number < count:
        world, actions, clock = scene(rules, rng, number)
        risk = Risk(rules.grid)
        then, reward = step(rules, world, actions, risk)
        seen = seen_of(rules, then, risk, lambda i: True)
        if risk.least < NEAR or (number % 6 == 2 and max(reward[0]) < 2):
            continue
        before.add_named({"episode.length": clock, "state.caught": number,
                          **state_of(world, exact), **actions_of(actions)})
        after.add_named({**state_of(then, digits),
                         **outcome_of(reward, number + sum(reward[0]), clock + 1)})
        after.add_named(seen if number < observed else dict.fromkeys(seen))
        most = max(most, *reward[0])
        number += 1
    print(rules.constants, "at most", most, "caught by one in a step")
    return {"before": before, "after": after}


def make_trajectory(rules, rng, world, steps, chosen):
    """None where no actions were found that stay clear of every threshold."""
    start, chosen_actions, after = state_of(world, exact), Columns(), Columns()
    caught = 0
    for t in range(1, steps + 1):
        for _ in range(200):
            actions, risk = draw_actions(rules, rng), Risk(rules.grid)
            then, reward = step(rules, world, actions, risk)
            seen = seen_of(rules, then, risk, chosen) if t == steps else None
            if risk.least >= NEAR:
                break
        else:
            return None
        world, caught = then, caught + sum(reward[0])
        chosen_actions.add_named(actions_of(actions))
        state = state_of(world, digits)
        after.add_named(state if t == steps else dict.fromkeys(state))
        after.add_named(outcome_of(reward, caught, t))
        after.add_named(seen or {"predator.obs": None, "prey.obs": None})
    print("  caught along", steps, "steps:", caught)
    return {"start": start, "actions": chosen_actions, "after": after}


def trajectories(rules, rng, count, steps, chosen):
    made = []
    while len(made) < count:
        one = make_trajectory(rules, rng, draw_world(rules, rng, start=len(made) == 0), steps,
                              chosen)
        made += [one] if one else []
    return made


def main():
    rng = random.Random(3)
    small = Rules(6, 20, 3, 4, {"predator_speed": 0.5, "prey_speed": 0.25, "predator_turn": 1.5,
                                "prey_turn": 2, "thrust_rate": 0.5, "sight": 0.75, "reach": 0.5})
    large = Rules(60, 200, 5, 9, {})
    write("pursuit_swarm", __file__, [
        {"about": "6 and 20", "constants": small.constants, "params": small.given,
         "steps": make_steps(small, rng, 12, 6),
         "trajectories": trajectories(small, rng, 2, 12, lambda i: True)},
        {"about": "60 and 200 with the defaults", "constants": large.constants,
         "params": large.given,
         "trajectories": trajectories(large, rng, 2, 5, lambda i: i % 12 == 3)},
    ])


if __name__ == "__main__":
    main()
