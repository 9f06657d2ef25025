"""Compares the learning curves of the fused `ppo` with those of `torch_ppo`, which computes its gradients by autograd.

    tests/bench/curves.py                       CartPole, Pendulum, grid Tag and Rooms, five seeds each
    tests/bench/curves.py cartpole --seeds 3 --jobs 4 -- --backend cpu

Both train by the settings that have the name, in f32, to its last step, with five evaluations on the way. It
passes where the 95 % intervals of both means over the seeds overlap at every evaluation."""
import argparse
import json
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from command import PROGRAM, arguments_of, last_row
from tasks import SOURCES

NAMES = 'cartpole', 'pendulum', 'tag_chase', 'rooms_short'
POINTS = 5
STUDENT = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}   # 97.5 % of n - 1 degrees of freedom


def shipped(name):
    """The settings of this name: those of its environment, and its own over them."""
    own = json.loads((SOURCES / f'{name}.json').read_text())
    environment = own.get('env', {}).get('source')
    usual = shipped(environment) if environment else {}
    return {key: usual.get(key, {}) | own.get(key, {}) for key in usual | own}


def curve(program, name, learner, seed, more):
    """Pairs of steps and returns, one for each evaluation."""
    settings = shipped(name)
    with tempfile.TemporaryDirectory() as folder:
        iteration = settings['env'].get('count', 4096) * settings['learner'].get('horizon', 128)
        every = max(1, settings['run']['total_steps'] // iteration // POINTS)
        words = [f'learner.name={learner}', 'policies.default.precision=f32', 'solved.return=null', f'run.evaluate_every={every}',
                 'solved.episodes=200']
        last_row(program, ['train', name, '--out', f'{folder}/run', '--seed', str(seed), '--episodes', '1',
                           *(part for word in words for part in ('--set', word)), *more], 'result')
        lines = [json.loads(line) for line in (Path(folder) / 'run/metrics.jsonl').read_text().splitlines()]
    return [(line['step'], line['evaluation.return']) for line in lines if 'evaluation.return' in line][:POINTS]


def interval(values):
    return STUDENT[len(values)] * statistics.stdev(values) / len(values) ** 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('environments', nargs='*', choices=[[], *NAMES])
    parser.add_argument('--seeds', type=int, default=5, choices=list(STUDENT))
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--program', default=PROGRAM)
    arguments, more = arguments_of(parser)
    names = arguments.environments or NAMES
    passed = True
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {(name, learner): [pool.submit(curve, arguments.program, name, learner, seed, more) for seed in range(1, arguments.seeds + 1)]
                for name in names for learner in ('ppo', 'torch_ppo')}
        for name in names:
            both = [list(zip(*(run.result() for run in runs[name, learner]))) for learner in ('ppo', 'torch_ppo')]
            for fused, other in zip(*both, strict=True):
                (a, b), (da, db) = zip(*((statistics.mean(found), interval(found)) for found in ([value for _, value in point] for point in (fused, other))))
                equal = abs(a - b) <= da + db
                passed = passed and equal
                print(f'{name} after {fused[0][0]}: ppo {a:.2f} +- {da:.2f}, torch_ppo {b:.2f} +- {db:.2f}{"" if equal else "  DIFFERENT"}', flush=True)
    sys.exit(not passed)


if __name__ == '__main__':
    main()
