#!/usr/bin/env python3
"""Makes env_sources/mazes.npy: 4096 mazes of 15 x 15 cells, from the easiest to the hardest.

Each is 7 x 7 rooms with walls between them. A depth-first walk opens a passage into every room;
then a part of the walls left falls, from all of them (one open hall) to none (one way only). A
maze is the harder, the longer the shortest way from the cell that is farthest from the goal.
Bytes: 0 floor, 1 wall, 2 goal. Needs Python alone; the same bytes come out every time.
"""
from collections import deque
from pathlib import Path
from random import Random
from statistics import mean
from struct import pack

COUNT, SIDE = 4096, 15
FLOOR, WALL, GOAL = range(3)
DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))
OUTPUT = Path(__file__).resolve().parents[2] / "env_sources" / "mazes.npy"


def pick(rng, items):
    return items[int(rng.random() * len(items))]   # only random() is the same in every Python


def carve(rng, openness):
    maze = [[WALL] * SIDE for _ in range(SIDE)]
    rooms = range(1, SIDE, 2)
    path = [(pick(rng, rooms), pick(rng, rooms))]
    maze[path[0][1]][path[0][0]] = FLOOR
    while path:
        x, y = path[-1]
        ways = [(dx, dy) for dx, dy in DIRECTIONS
                if x + 2 * dx in rooms and y + 2 * dy in rooms
                and maze[y + 2 * dy][x + 2 * dx] == WALL]
        if not ways:
            path.pop()
            continue
        dx, dy = pick(rng, ways)
        maze[y + dy][x + dx] = maze[y + 2 * dy][x + 2 * dx] = FLOOR
        path.append((x + 2 * dx, y + 2 * dy))
    for y in range(1, SIDE - 1):
        for x in range(1, SIDE - 1):
            if maze[y][x] == WALL and rng.random() < openness:
                maze[y][x] = FLOOR
    return maze


def distances(maze, goal):
    found, queue = {goal: 0}, deque([goal])
    while queue:
        x, y = queue.popleft()
        for dx, dy in DIRECTIONS:
            there = (x + dx, y + dy)
            if maze[there[1]][there[0]] != WALL and there not in found:
                found[there] = found[x, y] + 1
                queue.append(there)
    return found


def make(rng, openness):
    """A maze with its difficulty in front, to sort by."""
    maze = carve(rng, openness)
    goal = pick(rng, [(x, y) for y in range(1, SIDE, 2) for x in range(1, SIDE, 2)])
    maze[goal[1]][goal[0]] = GOAL
    ways = distances(maze, goal).values()
    return max(ways), mean(ways), maze


def main():
    rng = Random(1)
    mazes = sorted(make(rng, (1 - i / (COUNT - 1)) ** 2) for i in range(COUNT))
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({COUNT}, {SIDE}, {SIDE}), }}"
    header = header.ljust(117) + "\n"              # magic, version, length and header: 128 bytes
    cells = b"".join(bytes(row) for _, _, maze in mazes for row in maze)
    OUTPUT.write_bytes(b"\x93NUMPY\x01\x00" + pack("<H", len(header)) + header.encode() + cells)
    farthest = [maze[0] for maze in mazes]
    print(f"{OUTPUT.name}: {COUNT} mazes, farthest cell {farthest[0]} to {farthest[-1]} steps away")


if __name__ == "__main__":
    main()
