"""Trains each environment by the configuration that lies beside it, from several seeds, and evaluates each last policy
on seeds that it never met.

    tests/bench/learning.py                                        all of them, ten seeds each
    tests/bench/learning.py cartpole pendulum --seeds 3 -- --backend cpu

It passes where the lower end of the 95 % interval of the mean return over 1,000 episodes lies above the bound below,
for every seed. Taggers get at most 10 an episode, and that for a catch: 9 are catches in nine episodes of ten.
What stands behind `--` goes to `nacelle train`, too."""
import argparse
import json
import statistics
import sys
import tempfile

from command import PROGRAM, ROOT, last_row

BOUNDS = {'cartpole': 475, 'acrobot': -100, 'pendulum': -200, 'mountain_car_continuous': 90, 'mountain_car': -130,
          'tag_gridworld': 9}
CONFIGURATIONS = {'tag_gridworld': [str(ROOT / 'env_sources/tag_chase.json')]}


def trained(program, name, seed, more):
    """What a run from this seed came to."""
    with tempfile.TemporaryDirectory() as folder:
        run = f'{folder}/run'
        train = last_row(program, ['train', name, *CONFIGURATIONS.get(name, []), '--out', run, '--seed', str(seed), *more], 'result')
        backend = [word for at, word in enumerate(more) if '--backend' in (word, more[at - 1] if at else '')]
        found = last_row(program, ['eval', run, '--checkpoint', 'latest', '--episodes', '1000', '--seed',
                                   str(1_000_000 + seed), *backend], 'evaluation')
    return {'environment': name, 'seed': seed, 'steps': train['steps'], 'train_seconds': train['train_seconds'],
            'return': found['mean_return'], 'interval': found['return_interval'], 'length': found['mean_length']}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('environments', nargs='*', choices=[[], *BOUNDS], help='all of them where none is named')
    parser.add_argument('--seeds', type=int, default=10)
    parser.add_argument('--program', default=PROGRAM)
    parser.add_argument('--rows', help='a file for a JSON object per run')
    here, _, more = ' '.join(sys.argv[1:]).partition(' -- ')
    arguments, more = parser.parse_args(here.split()), more.split()
    passed = True
    for name in arguments.environments or BOUNDS:
        rows = []
        for seed in range(1, arguments.seeds + 1):
            rows.append(trained(arguments.program, name, seed, more))
            if arguments.rows:
                with open(arguments.rows, 'a', encoding='utf-8') as file:
                    file.write(json.dumps(rows[-1]) + '\n')
        lows = [row['return'] - row['interval'] for row in rows]
        good = sum(low >= BOUNDS[name] for low in lows)
        passed = passed and good == len(rows)
        print(f'{name}: {good} of {len(rows)} above {BOUNDS[name]}; lowest {min(lows):.2f}, mean return '
              f'{statistics.mean(row["return"] for row in rows):.2f}; {rows[0]["steps"]} steps, training '
              f'{statistics.median(row["train_seconds"] for row in rows):.3f} s (median)', flush=True)
    sys.exit(not passed)


if __name__ == '__main__':
    main()
