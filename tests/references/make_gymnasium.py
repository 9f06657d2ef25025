#!/usr/bin/env python3
"""Makes the reference tables of the classic control environments from Gymnasium (see README.md).

Every state is put into Gymnasium's environment as the float64 of a float32, its own step() runs on
it, and what comes out is written down. Steps whose flags or angles hang on the last bits of a
float are drawn again, so that a float32 implementation must agree on every flag.
"""
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import gymnasium
import numpy as np

FOLDER = Path(__file__).resolve().parent
MARGIN = 2e-5                   # from any threshold, or the step is drawn again
STEPS = 400                     # single steps from restored states
OBSERVED = 200                  # of these, the first, with their observation: it keeps tables small
TRAJECTORIES = 4                # by random actions, the last by a policy with some skill
PI = math.pi


@dataclass
class Reference:
    name: str
    id: str
    state: tuple                # names, in the order of Gymnasium's state
    action: str
    draw_action: Callable       # rng -> action
    regions: tuple              # rng -> state, each a part of the valid range; drawn in turn
    start: Callable             # rng -> state at an episode's start
    margin: Callable            # before, after -> distance from the nearest threshold
    skilled: Callable           # state -> the action of a policy that gets somewhere
    length: int                 # of a random trajectory, if it does not end before
    continuous: bool = False
    skilled_length: int = 150


def uniform(*ranges):
    return lambda rng: [rng.uniform(low, high) for low, high in ranges]


def around(*sides, width=1e-3):
    """A number within `width` of one of the given ones."""
    return lambda rng: rng.choice(sides) + width * rng.uniform(-1, 1)


def mixed(*parts):
    """A state of numbers drawn one by one: a function, or a pair of bounds."""
    return lambda rng: [p(rng) if callable(p) else rng.uniform(*p) for p in parts]


THETA = 12 * 2 * PI / 360


def cartpole_margin(before, after):
    return min(abs(abs(after[0]) - 2.4), abs(abs(after[2]) - THETA))


CARTPOLE = Reference(
    "cartpole", "CartPole-v1", ("x", "x_dot", "theta", "theta_dot"), "push",
    draw_action=lambda rng: int(rng.integers(2)),
    regions=(
        uniform((-2.4, 2.4), (-3, 3), (-THETA, THETA), (-3.5, 3.5)),
        uniform(*[(-0.05, 0.05)] * 4),
        mixed(around(-2.4, 2.4, width=0.05), (-3, 3), (-THETA, THETA), (-3.5, 3.5)),
        mixed((-2.4, 2.4), (-3, 3), around(-THETA, THETA, width=0.05), (-3.5, 3.5)),
        mixed(around(-2.4, 2.4), (-0.1, 0.1), around(-THETA, THETA), (-0.1, 0.1)),
    ),
    start=uniform(*[(-0.05, 0.05)] * 4),
    margin=cartpole_margin,
    skilled=lambda s: int(s[2] + 0.3 * s[3] > 0),
    length=80, skilled_length=60)    # unstable: an error grows tenfold in half a second


def car_margin(goal):
    def margin(before, after):
        velocity = after[1] if after[1] else 1e-3               # 0 where the wall stopped it
        raw = before[0] + velocity
        wall = 1 if after[0] == np.float32(-1.2) or after[0] == -1.2 else abs(raw + 1.2)
        return min(abs(after[0] - goal), abs(velocity), wall)
    return margin


def car_regions(goal):
    return (
        uniform((-1.2, 0.6), (-0.07, 0.07)),
        uniform((-0.6, -0.4), (-0.01, 0.01)),
        mixed(around(-1.2, width=0.05), (-0.07, 0.01)),         # into the wall
        mixed(around(goal, width=0.05), (-0.02, 0.07)),         # over the goal, and back
        mixed((-1.2, 0.6), around(-0.07, 0.07)),                # at the speed limit
        mixed(around(0.6, width=0.01), (-0.01, 0.07)),          # against the right end
    )


MOUNTAIN_CAR = Reference(
    "mountain_car", "MountainCar-v0", ("position", "velocity"), "throttle",
    draw_action=lambda rng: int(rng.integers(3)),
    regions=car_regions(0.5),
    start=mixed((-0.6, -0.4), (0, 0)),
    margin=car_margin(0.5),
    skilled=lambda s: 2 if s[1] >= 0 else 0,
    length=150)

MOUNTAIN_CAR_CONTINUOUS = Reference(
    "mountain_car_continuous", "MountainCarContinuous-v0", ("position", "velocity"), "force",
    draw_action=lambda rng: rng.choice([rng.uniform(-1, 1), -1, 0, 1], p=[0.7, 0.1, 0.1, 0.1]),
    regions=car_regions(0.45),
    start=mixed((-0.6, -0.4), (0, 0)),
    margin=car_margin(0.45),
    skilled=lambda s: 1.0 if s[1] >= 0 else -1.0,
    length=120, continuous=True)


def acrobot_margin(before, after):
    height = -math.cos(after[0]) - math.cos(after[0] + after[1])
    return min(PI - abs(after[0]), PI - abs(after[1]), abs(height - 1))


SLOW, FAST = (-2, 2), (-5, 5)
ACROBOT = Reference(
    "acrobot", "Acrobot-v1", ("theta1", "theta2", "omega1", "omega2"), "torque",
    draw_action=lambda rng: int(rng.integers(3)),
    regions=(
        uniform((-PI, PI), (-PI, PI), FAST, FAST),
        uniform(*[(-0.1, 0.1)] * 4),
        uniform((-PI, PI), (-PI, PI), SLOW, SLOW),
        mixed(around(-PI, PI, width=0.3), around(-PI, PI, width=0.3), SLOW, SLOW),
        mixed((-PI, PI), (-PI, PI), around(-4 * PI, 4 * PI, width=0.5), (-9 * PI, 9 * PI)),
        mixed((-PI, PI), (-PI, PI), (-4 * PI, 4 * PI), around(-9 * PI, 9 * PI, width=0.5)),
    ),
    start=uniform(*[(-0.1, 0.1)] * 4),
    margin=acrobot_margin,
    skilled=lambda s: 2 if s[3] >= 0 else 0,
    length=40)

PENDULUM = Reference(
    "pendulum", "Pendulum-v1", ("theta", "omega"), "torque",
    draw_action=lambda rng: rng.choice([rng.uniform(-2, 2), -2, 0, 2], p=[0.7, 0.1, 0.1, 0.1]),
    regions=(
        uniform((-PI, PI), (-8, 8)),
        uniform((-PI, PI), (-1, 1)),
        mixed(around(-3 * PI, -PI, PI, 3 * PI, width=0.01), (-8, 8)),   # where the cost wraps
        mixed((-PI, PI), around(-8, 8, width=0.2)),                     # at the speed limit
        uniform((-30, 30), (-8, 8)),                                    # after whole turns
        mixed(around(0, width=0.05), (-0.5, 0.5)),
    ),
    start=mixed((-PI, PI), (-1, 1)),
    margin=lambda before, after: 1,
    skilled=lambda s: 2.0 if s[1] >= 0 else -2.0,
    length=80, continuous=True)

ALL = (CARTPOLE, MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS, ACROBOT, PENDULUM)


def short(x):
    """The float64 of the float32 nearest to x in four decimals, which is short to write."""
    return float(np.float32(round(float(x), 4)))


def plain(text):
    """The number of a decimal text, without the .0 of a whole one."""
    x = float(text)
    return int(x) if x == int(x) else x


def digits(x, count=8):
    return plain(f"{float(x):.{count}g}")


def as_float32(x):
    return plain(str(np.float32(x)))            # the shortest decimal that gives the same float32


def step(env, state, action):
    """Gymnasium's step from a restored state: state, observation, reward, terminated."""
    env.reset(seed=0)                   # clears what Gymnasium keeps beside the state
    env.state = np.array(state, dtype=np.float64)
    given = np.array([action], dtype=np.float64) if isinstance(action, float) else action
    observation, reward, terminated, truncated, _ = env.step(given)
    assert not truncated
    return [float(x) for x in env.state], observation, float(reward), bool(terminated)


class Columns:
    """Columns under the engine's names of arrays."""

    def __init__(self, reference):
        self.reference = reference
        self.data = {}

    def add(self, name, value):
        self.data.setdefault(name, []).append(value)

    def add_state(self, state, as_number):
        for name, x in zip(self.reference.state, state):
            self.add("state." + name, as_number(x))

    def add_action(self, action):
        self.add("action." + self.reference.action, as_float32(action))

    def add_outcome(self, after, reward, terminated):
        self.add_state(after, digits)
        self.add("reward", digits(reward))
        self.add("terminated", int(terminated))


def draw_action(reference, rng):
    action = reference.draw_action(rng)
    return short(action) if reference.continuous else action


def make_steps(reference, env, rng):
    before, after = Columns(reference), Columns(reference)
    made = 0
    while made < STEPS:
        state = [short(x) for x in reference.regions[made % len(reference.regions)](rng)]
        action = draw_action(reference, rng)
        then, observation, reward, terminated = step(env, state, action)
        if reference.margin(state, then) < MARGIN:
            continue
        before.add_state(state, as_float32)
        before.add_action(action)
        after.add_outcome(then, reward, terminated)
        if made < OBSERVED:
            after.add("obs", [digits(x, 7) for x in observation])
        made += 1
    return {"before": before.data, "after": after.data}


def make_trajectory(reference, env, rng, policy, length):
    """None where a step comes too near to a threshold for float32."""
    start, actions, after = Columns(reference), Columns(reference), Columns(reference)
    state, terminated = [short(x) for x in reference.start(rng)], False
    start.add_state(state, as_float32)
    while not terminated and len(actions.data.get("action." + reference.action, ())) < length:
        action = policy(state)
        then, _, reward, terminated = step(env, state, action)
        if reference.margin(state, then) < MARGIN:
            return None
        actions.add_action(action)
        after.add_outcome(then, reward, terminated)
        state = then
    return {"start": start.data, "actions": actions.data, "after": after.data}


def holding(reference, rng):
    """A policy of random actions, each held for some steps so that they add up to something."""
    held, left = None, 0

    def policy(_):
        nonlocal held, left
        if left == 0:
            held, left = draw_action(reference, rng), int(rng.integers(1, 8))
        left -= 1
        return held
    return policy


def make_trajectories(reference, env, rng):
    made = []
    while len(made) < TRAJECTORIES:
        last = len(made) == TRAJECTORIES - 1
        policy = reference.skilled if last else holding(reference, rng)
        length = reference.skilled_length if last else reference.length
        trajectory = make_trajectory(reference, env, rng, policy, length)
        made += [trajectory] if trajectory else []
    return made


def text(value, indent=""):
    """JSON with one column per line."""
    if isinstance(value, dict):
        lines = [f"{indent}  {json.dumps(k)}: {text(v, indent + '  ')}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and isinstance(value[0], dict):
        return "[" + ", ".join(text(v, indent) for v in value) + "]"
    return json.dumps(value, separators=(",", ":"))


def main():
    for reference in ALL:
        env = gymnasium.make(reference.id).unwrapped
        rng = np.random.default_rng(1)
        table = {
            "environment": reference.id,
            "gymnasium": gymnasium.__version__,
            "script": Path(__file__).name,
            "steps": make_steps(reference, env, rng),
            "trajectories": make_trajectories(reference, env, rng),
        }
        path = FOLDER / f"{reference.name}.json"
        path.write_text(text(table) + "\n")
        after = table["steps"]["after"]
        lengths = [len(t["after"]["reward"]) for t in table["trajectories"]]
        print(f"{path.name}: {path.stat().st_size} bytes, {sum(after['terminated'])} of "
              f"{STEPS} steps end an episode, trajectories of {lengths}")


if __name__ == "__main__":
    main()
