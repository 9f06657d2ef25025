#!/usr/bin/env python3
"""Makes rooms.json: walks through houses of 16 rooms, written from the rules at the head of
env_sources/rooms.cu (see README.md). The houses here are our own; some keys and locked doors are
marked as trodden, which nobody can have done, so that the mark is seen to go with them.
"""
import random
from collections import deque

from team_tables import Columns, digits, write

SIDE, LIMIT = 64, 1000
WALL, FLOOR, DOOR, LOCKED, KEY, GOAL = range(6)
TRODDEN = 128
AHEAD = ((1, 0), (0, -1), (-1, 0), (0, 1))                  # east, north, west, south
LEFT, RIGHT, FORWARD, PICK_UP, OPEN = range(5)
DEFAULTS = {"step_cost": 0.0005, "key_reward": 0.1, "door_reward": 0}


def cell(thing, colour=0, trodden=False):
    return thing + 16 * colour + TRODDEN * trodden


def thing(byte):
    return byte & 15


def colour(byte):
    return byte >> 4 & 7


class Walk:
    def __init__(self, grid, x, y, facing, keys, params):
        self.grid, self.x, self.y, self.facing, self.keys = grid, x, y, facing, keys
        self.params = {**DEFAULTS, **params}
        self.reward, self.over = 0.0, False

    def there(self):
        dx, dy = AHEAD[self.facing]
        return self.x + dx, self.y + dy

    def front(self):
        x, y = self.there()
        return self.grid[y][x]

    def may(self):
        """What the mask allows."""
        front = self.front()
        held = self.keys >> (colour(front) - 1) & 1 if colour(front) else 0
        return [1, 1, 1, int(thing(front) == KEY), int(thing(front) == LOCKED and held)]

    def act(self, action):
        allowed, front, (x, y) = self.may(), self.front(), self.there()
        self.reward = -self.params["step_cost"]
        if action == LEFT:
            self.facing = (self.facing + 1) % 4
        elif action == RIGHT:
            self.facing = (self.facing - 1) % 4
        elif action == FORWARD and thing(front) not in (WALL, LOCKED, KEY):
            if thing(front) == DOOR and front < TRODDEN:
                self.reward += self.params["door_reward"]
            self.x, self.y = x, y
            self.grid[y][x] |= TRODDEN
            if thing(front) == GOAL:
                self.reward += 1
                self.over = True
        elif action == PICK_UP and allowed[PICK_UP]:
            self.keys |= 1 << colour(front) - 1
            self.grid[y][x] = cell(FLOOR)
            self.reward += self.params["key_reward"]
        elif action == OPEN and allowed[OPEN]:
            self.grid[y][x] = cell(DOOR)

    def image(self):
        (ax, ay), (rx, ry) = AHEAD[self.facing], AHEAD[(self.facing - 1) % 4]
        pixels = []
        for row in range(11):
            for column in range(11):
                far, right = 10 - row, column - 5
                x, y = self.x + far * ax + right * rx, self.y + far * ay + right * ry
                byte = self.grid[y][x] if 0 <= x < SIDE and 0 <= y < SIDE else 0
                pixels += [thing(byte), colour(byte), byte >> 7]
        return pixels

    def state(self):
        return {"state.x": self.x, "state.y": self.y, "state.keys": self.keys,
                "state.facing": self.facing}

    def flat_map(self):
        return [byte for row in self.grid for byte in row]


def build(rng, locked):
    """A house whose walls have doors in most places; keys, locked doors and a goal anywhere."""
    grid = [[cell(WALL if x % 16 == 0 or y % 16 == 0 or SIDE - 1 in (x, y) else FLOOR)
             for x in range(SIDE)] for y in range(SIDE)]
    for i in range(4):
        for j in range(1, 4):
            for across in (False, True):
                if rng.random() < 0.85:
                    place = (16 * i + rng.randint(2, 13), 16 * j)
                    x, y = place if across else place[::-1]
                    kind = (LOCKED, rng.randint(1, 4)) if rng.random() < locked else (DOOR, 0)
                    grid[y][x] = cell(*kind, trodden=rng.random() < 0.2)
    for number in range(10):
        x, y = free(grid, rng)
        grid[y][x] = cell(KEY, 1 + number % 4, rng.random() < 0.3)
    x, y = free(grid, rng)
    grid[y][x] = cell(GOAL)
    return grid


def free(grid, rng):
    while True:
        x, y = rng.randrange(SIDE), rng.randrange(SIDE)
        if thing(grid[y][x]) == FLOOR and grid[y][x] < TRODDEN:
            return x, y


def route(walk, wanted):
    """The cells to the nearest one that `wanted(x, y)` names, or None."""
    come, queue = {(walk.x, walk.y): None}, deque([(walk.x, walk.y)])
    while queue:
        place = queue.popleft()
        for dx, dy in AHEAD:
            x, y = place[0] + dx, place[1] + dy
            if (x, y) in come:
                continue
            come[x, y] = place
            byte = walk.grid[y][x]
            if wanted(x, y):
                path = [(x, y)]
                while come[path[-1]] != (walk.x, walk.y):
                    path.append(come[path[-1]])
                return path[::-1]
            if thing(byte) in (FLOOR, DOOR):
                queue.append((x, y))
    return None


def towards(walk, rng, wanted, tried):
    """An action on the way to a key or a locked door, where all that is not possible is tried
    first, or to the goal. `tried` holds (place, keys, action)."""
    def untried(x, y):
        kind = thing(walk.grid[y][x])
        order = {KEY: (FORWARD, OPEN, PICK_UP), LOCKED: (FORWARD, PICK_UP, OPEN)}.get(kind, ())
        return [action for action in order if ((x, y), walk.keys, action) not in tried]

    def goal(x, y):
        return thing(walk.grid[y][x]) == GOAL

    path = (route(walk, untried) if wanted == "things" else None) or route(walk, goal)
    if path is None:
        return rng.randrange(5)
    direction = AHEAD.index((path[0][0] - walk.x, path[0][1] - walk.y))
    if walk.facing != direction:
        return LEFT if (direction - walk.facing) % 4 < 3 else RIGHT
    action = (untried(*path[0]) or [FORWARD])[0]
    tried.add((path[0], walk.keys, action))
    return action


def record(about, walk, rng, steps, wanted, noise, clock=0, every=8):
    """Noise: how often a random action comes instead, which is often one that is not possible."""
    start = {"episode.length": clock, **walk.state(), "state.map": walk.flat_map()}
    actions, after, tried = Columns(), Columns(), set()
    done = {"refused": 0, "keys": 0, "doors": 0, "wrong key": 0, "first": 0, "again": 0}
    for number in range(1, steps + 1):
        random_one = rng.random() < noise
        action = rng.randrange(5) if random_one else towards(walk, rng, wanted, tried)
        event = action in (PICK_UP, OPEN)
        done["refused"] += event and not walk.may()[action]
        done["keys"] += action == PICK_UP and walk.may()[action]
        done["doors"] += action == OPEN and walk.may()[action]
        done["wrong key"] += (action == OPEN and thing(walk.front()) == LOCKED and walk.keys > 0
                              and not walk.may()[action])
        passed = "again" if walk.front() >= TRODDEN else "first"
        done[passed] += action == FORWARD and thing(walk.front()) == DOOR
        walk.act(action)
        late = clock + number == LIMIT and not walk.over
        last = number == steps or walk.over or late
        shown = number % every == 0 or event and not number % 2 or last
        actions.add(action__act=action)
        whole_map = walk.flat_map() if last and not walk.over and not late else None
        after.add_named({"reward": digits(walk.reward), "terminated": int(walk.over),
                         "truncated": int(late), "mask": walk.may(),
                         "obs": [walk.keys >> k & 1 for k in range(4)],
                         "obs.image": walk.image() if shown else None,
                         **walk.state(), "state.map": whole_map})
        if last:
            break
    print(f"  {about}: {len(after['reward'])} steps, {done}, at the goal: {walk.over}")
    return {"start": start, "actions": actions, "after": after}, walk.over, done


def search(about, rng, params, locked, keys, corner, steps, wanted, noise, enough, **more):
    while True:
        grid = build(rng, locked)
        x, y = corner or free(grid, rng)
        if thing(grid[y][x]) != FLOOR:
            continue
        grid[y][x] |= TRODDEN
        walk = Walk(grid, x, y, rng.randrange(4), keys, params)
        made, over, done = record(about, walk, rng, steps, wanted, noise, **more)
        if enough(over, done):
            return made


def main():
    rng = random.Random(5)
    params = {"step_cost": 0.125, "key_reward": 0.5, "door_reward": 0.25}

    def not_over(over, done):
        return not over

    def busy(over, done):
        return done["keys"] >= 3 and done["doors"] >= 2 and done["wrong key"] >= 1 and not over

    cases = [
        {"about": "the defaults", "constants": {}, "params": {}, "trajectories": [
            search("keys and doors", rng, {}, 0.6, 0, None, 160, "things", 0.15, busy, every=16),
            search("to the goal", rng, {}, 0.5, 0, None, 120, "goal", 0.1,
                   lambda over, done: over and done["doors"] == 0, every=16)]},
        {"about": "other rewards", "constants": {}, "params": params, "trajectories": [
            search("the north-west corner", rng, params, 0.6, 5, (1, 1), 60, "things", 0.5,
                   not_over, every=8),
            search("the south-east corner, to the limit", rng, params, 0.6, 10, (62, 62), 60,
                   "things", 0.6, not_over, clock=LIMIT - 40, every=8),
            search("through doors, some of them twice", rng, params, 0.1, 0, None, 80, "goal", 0.2,
                   lambda over, done: done["doors"] == 0 and done["first"] >= 2 and done["again"] >= 1, every=40)]},
    ]
    write("rooms", __file__, cases)


if __name__ == "__main__":
    main()
