#!/usr/bin/env python3
"""Makes connect_four.json: games of Connect Four, written from the rules at the head of
env_sources/connect_four.cu (see README.md). A board is a list of columns, each a list of players.
"""
import random

from team_tables import Columns, write

COLUMNS, ROWS = 7, 6
DIRECTIONS = {"upright": (0, 1), "level": (1, 0), "rising": (1, 1), "falling": (1, -1)}


def at(board, column, row):
    inside = 0 <= column < COLUMNS and 0 <= row < len(board[column])
    return board[column][row] if inside else None


def lines(board, column, row):
    """The lengths of the lines through a stone."""
    player, found = at(board, column, row), {}
    for name, (dx, dy) in DIRECTIONS.items():
        length = 1
        for way in (1, -1):
            x, y = column + way * dx, row + way * dy
            while at(board, x, y) == player:
                length, x, y = length + 1, x + way * dx, y + way * dy
        found[name] = length
    return found


class Game:
    def __init__(self, first):
        self.board, self.player, self.moves = [[] for _ in range(COLUMNS)], first, 0
        self.reward, self.over, self.how = [0, 0], False, None

    def open(self):
        return [c for c in range(COLUMNS) if len(self.board[c]) < ROWS]

    def play(self, column, draw_reward):
        me = self.player
        self.moves, self.player = self.moves + 1, 1 - me
        if column not in self.open():
            self.over, self.how = True, {"refused": 1}
            self.reward[me], self.reward[1 - me] = -1, 1
            return
        self.board[column].append(me)
        won = {name: n for name, n in lines(self.board, column, len(self.board[column]) - 1).items()
               if n >= 4}
        if won:
            self.over, self.how = True, won
            self.reward[me], self.reward[1 - me] = 1, -1
        elif not self.open():
            self.over, self.how = True, {"draw": 1}
            self.reward = [draw_reward, draw_reward]

    def stones(self):
        return [sum(1 << 7 * c + r for c in range(COLUMNS)
                    for r, owner in enumerate(self.board[c]) if owner == player)
                for player in range(2)]

    def mask(self):
        """Of the player who acts; nobody asks what the other may do."""
        mine = [int(c in self.open()) for c in range(COLUMNS)]
        return [mine if self.player == i else None for i in range(2)]

    def observe(self, me):
        cells = [(c, r) for c in range(COLUMNS) for r in range(ROWS)]
        return ([int(at(self.board, c, r) == me) for c, r in cells] +
                [int(at(self.board, c, r) == 1 - me) for c, r in cells] + [int(self.player == me)])

    def runs_over(self):
        """Whether four stones stand in a line only if each column went on in the next one."""
        flat = [at(self.board, c, r) for c in range(COLUMNS) for r in range(ROWS)]
        return any(flat[i] is not None and all(flat[i + k * d] == flat[i] for k in range(4))
                   for d in (1, ROWS - 1, ROWS + 1) for i in range(len(flat) - 3 * d))


def random_game(rng, first, draw_reward, refused=False):
    """The moves of a game, and how it ended. `refused`: someone plays a full column on purpose."""
    game, moves, ran_over = Game(first), [], False
    while not game.over:
        full = [c for c in range(COLUMNS) if c not in game.open()]
        moves.append(rng.choice(full if refused and full else game.open()))
        game.play(moves[-1], draw_reward)
        ran_over |= not game.over and game.runs_over()
    return moves, game, ran_over


def search(rng, first, draw_reward, wanted, refused=False):
    while True:
        moves, game, ran_over = random_game(rng, first, draw_reward, refused)
        if wanted(game, ran_over):
            return moves


def record(rng, first, moves, draw_reward):
    game, actions, after = Game(first), Columns(), Columns()
    waits = [int(game.player != i) for i in range(2)]
    start = {"state.stones": game.stones(), "state.to_move": first, "state.moves": 0,
             "state.winner": -1, "turn": waits}
    for number, move in enumerate(moves):
        other = rng.randrange(COLUMNS)                      # of who waits: it must not count
        actions.add(action__column=[move if i == game.player else other for i in range(2)])
        game.play(move, draw_reward)
        shown = number % 8 == 3 or game.over
        after.add(state__stones=game.stones(), state__to_move=game.player, state__moves=game.moves,
                  state__winner=-1, turn=[int(game.player != i) for i in range(2)],
                  reward=game.reward, terminated=int(game.over), truncated=0,
                  ended=[int(game.over)] * 2, mask=game.mask(),
                  obs=[game.observe(i) for i in range(2)] if shown else None)
    assert game.over
    print(f"  player {first} begins, {len(moves)} moves, {game.how}, {game.reward}")
    return {"start": start, "actions": actions, "after": after}


def main():
    rng = random.Random(4)
    wanted = []
    for direction in DIRECTIONS:
        for winner in range(2):
            wanted.append(lambda game, _, d=direction, w=winner:
                          game.how == {d: 4} and game.reward[w] == 1)
    wanted += [
        lambda game, _: max(game.how.values()) >= 5,        # more than four in a row
        lambda game, _: sum(n >= 4 for n in game.how.values()) >= 2,
        lambda game, _: game.moves == 42 and "draw" not in game.how,    # the last stone wins
        lambda game, ran_over: ran_over and game.moves > 20,
        lambda game, ran_over: ran_over,
        lambda game, _: True,
        lambda game, _: True,
    ]

    def refuses(game, _):
        return "refused" in game.how

    def draws(game, _):
        return "draw" in game.how

    print("with the default reward of a draw")
    games = [record(rng, i // 2 % 2, search(rng, i // 2 % 2, 0, one), 0)
             for i, one in enumerate(wanted)]
    games += [record(rng, first, search(rng, first, 0, refuses, refused=True), 0)
              for first in range(2)]
    games.append(record(rng, 0, search(rng, 0, 0, draws), 0))
    print("with a reward of its own")
    drawn = [record(rng, first, search(rng, first, 0.25, draws), 0.25) for first in range(2)]
    drawn.append(record(rng, 1, search(rng, 1, 0.25, lambda *_: True), 0.25))
    write("connect_four", __file__, [
        {"about": "whole games", "constants": {}, "params": {}, "trajectories": games},
        {"about": "draws that pay", "constants": {}, "params": {"draw_reward": 0.25},
         "trajectories": drawn},
    ])


if __name__ == "__main__":
    main()
