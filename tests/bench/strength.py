"""Trains both sides of a team game by the settings beside it, and measures each against a side that acts at random.

    tests/bench/strength.py                                   all games, five seeds each
    tests/bench/strength.py tag_gridworld --seeds 1 --jobs 1 -- --backend cpu

Each line is a ratio of means or a share, with the lower end of its 95 % interval for the worst seed. It passes where that end
reaches the bound for every seed. `random` is a policy before its first update, which draws each choice alike."""
import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from command import PROGRAM, arguments_of, evaluated, last_row


@dataclass
class Measure:
    """What is looked at, and by whom both sides are played: over what, or as it is."""
    about: str
    metric: str         # 'length', or what the environment's `Log` has
    sides: tuple        # 'trained' or 'random', in the order of the game's policies
    against: tuple      # the sides whose mean it is divided by; none: a share
    bound: float


@dataclass
class Game:
    policies: tuple
    measures: tuple


BOTH, FIRST, SECOND, NONE = ('trained', 'trained'), ('trained', 'random'), ('random', 'trained'), ('random', 'random')


def tag(life):
    """Grid Tag, whose runner lives so many times as long as a random one."""
    return Game(('tagger', 'runner'), (
        Measure('caught, taggers against a random runner', 'caught', FIRST, (), 0.95),
        Measure("a runner's life before random taggers, over a random one's", 'length', SECOND, NONE, life)))


def swarm(catches):
    return Game(('predator', 'prey'), (
        Measure('prey caught, over what random predators catch', 'caught', FIRST, NONE, catches),))


# By the names of their settings.
GAMES = {
    'tag_gridworld': tag(2), 'tag_duel': tag(3), 'pursuit_swarm': swarm(3), 'pursuit_wild': swarm(4),
    'tag_continuous': Game(('tagger', 'runner'), (
        Measure('runners tagged, over what random taggers tag', 'tags', FIRST, NONE, 1.6),
        Measure("runners' life before trained taggers, over random ones'", 'life', BOTH, FIRST, 1.5))),
}


class Played:
    """Both sides trained from one seed, and what evaluations of them say."""
    def __init__(self, program, name, seed, more, folder):
        self.program, self.game, self.seed, self.more, self.folder = program, GAMES[name], seed, more, folder
        self.found = {}
        for run, changes in (('trained', []), ('random', ['--set', 'learner.learning_rate=0', '--set', 'run.total_steps=1'])):
            last_row(program, ['train', name, '--out', f'{folder}/{run}', '--seed', str(seed), '--episodes', '1', *changes, *more], 'result')

    def evaluation(self, sides):
        if sides not in self.found:
            run = 'random' if sides == NONE else 'trained'
            settings = [word for name, side in zip(self.game.policies, sides, strict=True) if sides != NONE and side == 'random'
                        for word in ('--set', f'policies.{name}.train="random"')]
            self.found[sides] = evaluated(self.program, f'{self.folder}/{run}', self.seed, self.more, '--sampled', *settings)
        return self.found[sides]

    def mean(self, metric, sides):
        row = self.evaluation(sides)
        if metric == 'length':
            return row['mean_length'], row['length_interval']
        return row['log'][metric]['mean'], row['log'][metric]['interval']

    def measured(self, measure):
        """The value and its half interval: of a ratio by the relative errors of both."""
        mean, interval = self.mean(measure.metric, measure.sides)
        if not measure.against:
            return mean, interval
        below, apart = self.mean(measure.metric, measure.against)
        return mean / below, mean / below * ((interval / max(mean, 1e-9)) ** 2 + (apart / below) ** 2) ** 0.5


def measured(program, name, seed, more):
    with tempfile.TemporaryDirectory() as folder:
        played = Played(program, name, seed, more, folder)
        return [played.measured(measure) for measure in GAMES[name].measures], played.found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('games', nargs='*', choices=[[], *GAMES])
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--program', default=PROGRAM)
    parser.add_argument('--details', action='store_true', help='every evaluation, too')
    arguments, more = arguments_of(parser)
    names = arguments.games or list(GAMES)
    passed = True
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {name: [pool.submit(measured, arguments.program, name, seed, more) for seed in range(1, arguments.seeds + 1)] for name in names}
        for name in names:
            results = [run.result() for run in runs[name]]
            for at, measure in enumerate(GAMES[name].measures):
                lows = [values[at][0] - values[at][1] for values, _ in results]
                passed = passed and min(lows) >= measure.bound
                print(f'{name}: {measure.about}: {", ".join(f"{values[at][0]:.3f}" for values, _ in results)}; lowest {min(lows):.3f}, '
                      f'bound {measure.bound}', flush=True)
            for _, found in results if arguments.details else ():
                for sides, row in found.items():
                    print(f'    {sides}: length {row["mean_length"]:.1f},', {key: round(value['mean'], 3) for key, value in row['log'].items()})
    sys.exit(not passed)


if __name__ == '__main__':
    main()
