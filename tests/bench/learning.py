"""Trains each task of tasks.py from several seeds, and evaluates each last policy on seeds that it never met.

    tests/bench/learning.py                                        all of them, ten seeds each
    tests/bench/learning.py cartpole pendulum --seeds 3 --jobs 4 -- --backend cpu

It passes where the lower end of the 95 % interval of the mean return over 1,000 episodes lies above the task's bound,
for every seed. Taggers get at most 10 an episode, and that for a catch: 9 are catches in nine episodes of ten.
What stands behind `--` goes to `nacelle train`, too. Tasks whose names begin with torch need LibTorch."""
import argparse
import json
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from command import PROGRAM, arguments_of, evaluated, last_row
from tasks import TASKS


def trained(program, name, seed, more):
    """What a run from this seed came to."""
    task = TASKS[name]
    with tempfile.TemporaryDirectory() as folder:
        run = f'{folder}/run'
        settings = [word for value in task.settings for word in ('--set', value)]
        train = last_row(program, ['train', task.source(folder), '--out', run, '--seed', str(seed), *settings, *more], 'result')
        found = evaluated(program, run, seed, more)
    return {'task': name, 'environment': task.environment, 'seed': seed, 'steps': train['steps'], 'train_seconds': train['train_seconds'],
            'return': found['mean_return'], 'interval': found['return_interval'], 'length': found['mean_length']}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('tasks', nargs='*', choices=[[], *TASKS], help='all of them where none is named')
    parser.add_argument('--seeds', type=int, default=10)
    parser.add_argument('--jobs', type=int, default=1, help='runs at a time; their times are then not those of one alone')
    parser.add_argument('--program', default=PROGRAM)
    parser.add_argument('--rows', help='a file for a JSON object per run')
    arguments, more = arguments_of(parser)
    names = arguments.tasks or list(TASKS)
    passed = True
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {name: [pool.submit(trained, arguments.program, name, seed, more) for seed in range(1, arguments.seeds + 1)] for name in names}
        for name in names:
            rows = [run.result() for run in runs[name]]
            if arguments.rows:
                with open(arguments.rows, 'a', encoding='utf-8') as file:
                    file.writelines(json.dumps(row) + '\n' for row in rows)
            lows, bound = [row['return'] - row['interval'] for row in rows], TASKS[name].bound
            good = sum(low >= bound for low in lows)
            passed = passed and good == len(rows)
            print(f'{name}: {good} of {len(rows)} above {bound}; lowest {min(lows):.2f}, mean return '
                  f'{statistics.mean(row["return"] for row in rows):.2f}; {rows[0]["steps"]} steps, training '
                  f'{statistics.median(row["train_seconds"] for row in rows):.3f} s (median)', flush=True)
    sys.exit(not passed)


if __name__ == '__main__':
    main()
