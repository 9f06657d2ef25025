"""Whether learning in bf16 is learning in f32: trains from many seeds in each, on a GPU, and compares.

    tests/bench/precision.py                        cartpole and pendulum, twenty seeds each
    tests/bench/precision.py pendulum --seeds 40

It passes where the 95 % interval of the difference between the mean returns of the last policies lies within 5 % of the
range of returns, and that of the ratio of the steps until the policy first reaches the threshold within 0.8 and 1.25.
A policy is evaluated after each iteration; between two evaluations the return is taken to go straight."""
import argparse
import json
import math
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from command import PROGRAM, last_row

# Between which returns policies lie: a random one and the best. What counts as learnt.
TASKS = {'cartpole': {'range': (22, 500), 'threshold': 475}, 'pendulum': {'range': (-1230, -150), 'threshold': -200}}
MARGIN, RATIOS = 0.05, (0.8, 1.25)


def reached(metrics, threshold):
    """After how many steps the policy's return first was the threshold; nothing where it never was."""
    before = (0, None)
    for line in metrics.read_text().splitlines():
        row = json.loads(line)
        step, found = row['step'], row['evaluation.return']
        if found >= threshold:
            if before[1] is None:
                return step
            return before[0] + (step - before[0]) * (threshold - before[1]) / (found - before[1])
        before = (step, found)
    return None


def trained(program, name, precision, seed):
    with tempfile.TemporaryDirectory() as folder:
        run = f'{folder}/run'
        done = last_row(program, ['train', name, '--backend', 'cuda', '--quiet', '--out', run, '--seed', str(seed),
                                  '--set', f'policies.default.precision={precision}', '--set', 'run.report_every=1',
                                  '--set', 'run.evaluate_every=1', '--set', 'solved.return=1000'], 'result')
        return {'environment': name, 'precision': precision, 'seed': seed, 'return': done['mean_return'],
                'steps': done['steps'], 'reached': reached(Path(run, 'metrics.jsonl'), TASKS[name]['threshold'])}


def student(freedom):
    """The 97.5 % quantile of Student's distribution, by its expansion about the normal one; good from 5 on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def difference(one, other):
    """The 95 % interval of the difference of two means, by Welch's test."""
    parts = [statistics.variance(values) / len(values) for values in (one, other)]
    middle = statistics.mean(one) - statistics.mean(other)
    if not sum(parts):
        return middle, middle
    freedom = sum(parts)**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (one, other)))
    half = student(freedom) * math.sqrt(sum(parts))
    return middle - half, middle + half


def compared(name, rows):
    """Whether both precisions learn alike; says why."""
    task = TASKS[name]
    pairs = [[row for row in rows if row['precision'] == precision] for precision in ('bf16', 'f32')]
    missing = [f'{row["precision"]} from seed {row["seed"]}' for row in rows if row['reached'] is None]
    if missing:
        print(f'{name}: {task["threshold"]} was never reached in {", ".join(missing)}', flush=True)
        return False
    returns = difference(*([row['return'] for row in pair] for pair in pairs))
    ratio = [math.exp(end) for end in difference(*([math.log(row['reached']) for row in pair] for pair in pairs))]
    allowed = MARGIN * (task['range'][1] - task['range'][0])
    means = [statistics.mean(row['return'] for row in pair) for pair in pairs]
    steps = [statistics.median(row['reached'] for row in pair) for pair in pairs]
    print(f'{name}: return {means[0]:.2f} in bf16, {means[1]:.2f} in f32, difference in [{returns[0]:.2f}, {returns[1]:.2f}], '
          f'allowed {allowed:.1f}; {steps[0]:.0f} and {steps[1]:.0f} steps to {task["threshold"]} (medians), '
          f'ratio in [{ratio[0]:.3f}, {ratio[1]:.3f}]; {len(pairs[0])} seeds each', flush=True)
    return -allowed <= returns[0] and returns[1] <= allowed and RATIOS[0] <= ratio[0] and ratio[1] <= RATIOS[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('environments', nargs='*', choices=[[], *TASKS], help='both where none is named')
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--jobs', type=int, default=4, help='runs side by side')
    parser.add_argument('--program', default=PROGRAM)
    parser.add_argument('--rows', help='a file for a JSON object per run')
    arguments = parser.parse_args()
    passed = True
    for name in arguments.environments or TASKS:
        runs = [(arguments.program, name, precision, seed)
                for seed in range(1, arguments.seeds + 1) for precision in ('bf16', 'f32')]
        trained(*runs[0]), trained(*runs[1])                 # what both compile lies in the cache then
        with ThreadPoolExecutor(arguments.jobs) as pool:
            rows = list(pool.map(lambda run: trained(*run), runs))
        if arguments.rows:
            with open(arguments.rows, 'a', encoding='utf-8') as file:
                file.writelines(json.dumps(row) + '\n' for row in rows)
        passed = compared(name, rows) and passed
    sys.exit(not passed)


if __name__ == '__main__':
    main()
