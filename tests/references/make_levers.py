#!/usr/bin/env python3
"""Makes levers.json: shifts of Levers, written from the rules at the head of env_sources/levers.cu (see README.md). The
lamps of the next step are drawn by the engine and are not compared, but for the start of a shift, which says them.
"""
import random

from team_tables import Columns, digits, write

ROOMS, COLOURS = 2, 4


class Shift:
    def __init__(self, length, lamps, boxes=0, steps=0):
        self.length, self.lamps, self.boxes, self.steps = length, lamps, boxes, steps
        self.reward, self.over = 0, False

    def pull(self, positions):
        self.boxes += all(p == lamp for p, lamp in zip(positions, self.lamps))
        self.steps += 1
        self.over = self.steps == self.length
        self.reward = digits(self.boxes / self.length, 9) if self.over else 0

    def after(self):
        time = digits(self.steps / self.length, 9)
        seen = [[None] * COLOURS + [time]] * ROOMS
        overview = [digits(self.boxes / self.length, 9), time] + [None] * (ROOMS * COLOURS)
        return dict(state__boxes=self.boxes, reward=[self.reward] * ROOMS, terminated=int(self.over),
                    truncated=0, obs=seen, **{'global': overview})


def positions_for(rng, lamps):
    """Right in both rooms, in one, or anything."""
    right = [rng.random() < 0.6 for _ in lamps]
    return [lamp if good else rng.randrange(COLOURS) for lamp, good in zip(lamps, right)]


def steps(rng, length, count):
    before, after = Columns(), Columns()
    for number in range(count):
        done = length - 1 if number % 3 == 0 else rng.randrange(length)
        shift = Shift(length, [rng.randrange(COLOURS) for _ in range(ROOMS)], rng.randint(0, done), done)
        before.add(state__lamp=shift.lamps, state__boxes=shift.boxes, episode__length=done)
        positions = positions_for(rng, shift.lamps)
        before.add(action__position=positions)
        shift.pull(positions)
        after.add(**shift.after())
    return {"before": before, "after": after}


def one_step(rng, length):
    """A shift of one step, whose lamps are known."""
    shift = Shift(length, [rng.randrange(COLOURS) for _ in range(ROOMS)])
    start = {"state.lamp": shift.lamps, "state.boxes": 0}
    actions, after = Columns(), Columns()
    actions.add(action__position=shift.lamps)
    shift.pull(shift.lamps)
    after.add(**shift.after())
    return {"start": start, "actions": actions, "after": after}


def main():
    rng = random.Random(8)
    write("levers", __file__, [
        {"about": f"a shift of {length} steps", "constants": {"shift": length}, "params": {},
         "reset": {"state.boxes": 0}, "steps": steps(rng, length, 200),
         "trajectories": [one_step(rng, length) for _ in range(4)]}
        for length in (256, 7)])


main()
