"""Records how the environments that come with Nacelle are learned by the settings beside them, for docs/environments.

    tests/bench/record_curves.py cartpole levers            five seeds each, into tests/bench/results/curves
    tests/bench/record_curves.py rooms --seeds 1,2 --gpus 0,1
    tests/bench/record_curves.py --jobs 2 -- --backend cpu

Each seed is a run of its own, to the last step of the settings, also where it is solved sooner; readings are thinned to means
over equal parts of the steps. A seed takes the place of the one that was recorded before on the same device. docs/pictures/make.py
draws what lies here. What stands behind `--` goes to `nacelle train`, too."""
import argparse
import datetime
import json
import math
import os
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import Queue

from command import PROGRAM, ROOT, arguments_of, backend_of, last_row

RESULTS = ROOT / 'tests/bench/results/curves'
RETURN = ('evaluation.return',)
# The metrics of each environment that tell how it goes; a team whose sides both learn has a return of nothing.
METRICS = {
    'acrobot': RETURN, 'cartpole': RETURN, 'connect_four': ('elo',), 'levers': RETURN, 'mazes': ('log.solved',), 'mountain_car': RETURN,
    'mountain_car_continuous': RETURN, 'pendulum': RETURN, 'pursuit_swarm': ('log.caught',), 'pursuit_wild': ('log.caught',),
    'rooms': ('log.solved',), 'tag_chase': RETURN, 'tag_continuous': ('log.tags', 'log.life'), 'tag_duel': ('episode.length',),
    'tag_gridworld': ('episode.length',),
}
PARTS = 60


def rounded(value):
    return float(f'{value:.5g}')


def thinned(lines, metric):
    """Pairs of a step and a mean, at most PARTS of them."""
    points = [(line['step'], line[metric]) for line in lines if metric in line]
    last = points[-1][0]
    parts = {}
    for step, value in points:
        parts.setdefault(math.ceil(step * PARTS / last), []).append((step, value))
    return [[part[-1][0], rounded(statistics.mean(value for _, value in part))] for part in parts.values()]


def recorded(program, name, seed, gpus, more):
    """What a run from this seed said."""
    gpu = gpus.get()
    try:
        with tempfile.TemporaryDirectory() as folder:
            words = [program, 'train', name, '--seed', str(seed), '--out', f'{folder}/run', '--episodes', '1', '--quiet', '--set', 'solved.return=null',
                     *more]
            here = os.environ | ({} if gpu is None else {'CUDA_VISIBLE_DEVICES': gpu})
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True, env=here, cwd=ROOT)
            lines = [json.loads(line) for line in Path(folder, 'run/metrics.jsonl').read_text(encoding='utf-8').splitlines()]
    finally:
        gpus.put(gpu)
    about = {'date': datetime.date.today().isoformat(), 'seconds': rounded(lines[-1]['seconds'])}
    return about | {metric: thinned(lines, metric) for metric in METRICS[name]}


def keep(name, seed, device, row):
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f'{name}.json'
    old = json.loads(path.read_text(encoding='utf-8')) if path.exists() else {}
    seeds = old['seeds'] if old.get('device') == device else {}
    seeds[str(seed)] = row
    lines = ',\n'.join(f'  "{seed}": {json.dumps(seeds[seed])}' for seed in sorted(seeds, key=int))
    fresh = path.with_suffix('.fresh')
    fresh.write_text(f'{{"device": {json.dumps(device)}, "seeds": {{\n{lines}\n}}}}\n', encoding='utf-8')
    fresh.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('names', nargs='*', choices=[[], *METRICS], help='all of them where none is named')
    parser.add_argument('--seeds', default='1,2,3,4,5')
    parser.add_argument('--gpus', help='numbers of the GPUs that train, a run on each at a time')
    parser.add_argument('--jobs', type=int, default=1, help='runs at a time, where no GPUs are named')
    parser.add_argument('--program', default=PROGRAM)
    arguments, more = arguments_of(parser)
    places = arguments.gpus.split(',') if arguments.gpus else [None] * arguments.jobs
    gpus = Queue()
    for place in places:
        gpus.put(place)
    bench = ['bench', 'cartpole', '--kind', 'step', '--envs', '64', *backend_of(more)]
    device = last_row(arguments.program, bench, 'step')['device']
    with ThreadPoolExecutor(len(places)) as pool:
        runs = {pool.submit(recorded, arguments.program, name, seed, gpus, more): (name, seed)
                for name in arguments.names or METRICS for seed in map(int, arguments.seeds.split(','))}
        for run in as_completed(runs):
            (name, seed), row = runs[run], run.result()
            keep(name, seed, device, row)
            ends = ', '.join(f'{metric} {row[metric][-1][1]}' for metric in METRICS[name])
            print(f'{name}, seed {seed}: {ends}; {row["seconds"]} s', flush=True)


if __name__ == '__main__':
    main()
