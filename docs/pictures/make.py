"""Makes the pictures of the README and of docs/environments anew: docs/pictures/make.py [FOLDER]

By `nacelle draw`, `nacelle play` and `nacelle plot`, from a run on this machine's CPU, and from tests/bench/results: h200.json, and
the curves there."""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NACELLE = ROOT / 'build' / 'tools' / 'nacelle'
SIZE = '280'
# With enough steps for something to have happened.
DRAWN = {'rooms': 150, 'tag_continuous': 40, 'pursuit_swarm': 60, 'connect_four': 14, 'mazes': 30, 'cartpole': 12, 'mountain_car': 60,
         'mountain_car_continuous': 60, 'pendulum': 15, 'levers': 100, 'tag_gridworld': 30}
RESULTS = ROOT / 'tests/bench/results'
INK, GRID, OURS, THEIRS = '#333', '#ddd', '#2a6f97', '#bbb'
# Steps of whole teams a second, one launch a step, WarpDrive 2.7 on the same GPU (docs/speed.md).
TEAMS = (('grid Tag, 5 agents', 'TagGridworld', 5, 201e6), ('grid Tag, 105', 'TagGridworld', 105, 131e6),
         ('grid Tag, 1,000', 'TagGridworld', 1000, 7.2e6), ('continuous Tag, 5', 'TagContinuous', 5, 102e6),
         ('continuous Tag, 105', 'TagContinuous', 105, 0.59e6))


def nacelle(folder, *words):
    return subprocess.run([NACELLE, *map(str, words)], cwd=folder, check=True, capture_output=True, text=True).stdout


def svg(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n')


def text(x, y, words, anchor='start'):
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{INK}" text-anchor="{anchor}">{words}</text>'


def agents_of(row):
    return row.get('agents', 1)


def speed(rows):
    """Teams beside WarpDrive, on a scale by factors of ten."""
    low, high = 5.5, 9.2
    def width(value): return 380 * (math.log10(value) - low) / (high - low)
    parts = []
    for power in range(6, 10):
        x = 150 + width(10.0 ** power)
        parts += [f'<path d="M{x:.0f} 10V205" stroke="{GRID}"/>', text(x, 220, {6: '1 M', 7: '10 M', 8: '100 M', 9: '1 B'}[power], 'middle')]
    for i, (name, environment, agents, theirs) in enumerate(TEAMS):
        ours = max(row['steps_per_second'] for row in rows if row['environment'] == environment and agents_of(row) == agents
                   and row['kind'] == 'step')
        y = 16 + 38 * i
        parts += [text(144, y + 18, name, 'end'), f'<rect x="150" y="{y}" width="{width(ours):.0f}" height="13" fill="{OURS}"/>',
                  f'<rect x="150" y="{y + 14}" width="{width(theirs):.0f}" height="13" fill="{THEIRS}"/>']
    parts += [text(10, 240, 'steps of whole teams a second, one launch a step, one H200; each mark is ten times the one before'),
              f'<rect x="150" y="250" width="12" height="12" fill="{OURS}"/>', text(166, 260, 'Nacelle'),
              f'<rect x="240" y="250" width="12" height="12" fill="{THEIRS}"/>', text(256, 260, 'WarpDrive 2.7')]
    return svg(720, 270, parts)


def curves(out, folder):
    """By `nacelle plot`, from what record_curves.py found: for each seed a run with these readings alone."""
    out.mkdir(exist_ok=True)
    for path in sorted((RESULTS / 'curves').glob('*.json')):
        whole = json.loads(path.read_text())
        metrics = [name for name, points in next(iter(whole['seeds'].values())).items() if isinstance(points, list)]
        for seed, row in whole['seeds'].items():
            run = Path(folder, path.stem, f'seed-{seed}')
            run.mkdir(parents=True)
            (run / 'config.json').write_text('{}')
            steps = {}
            for name in metrics:
                for step, value in row[name]:
                    steps.setdefault(step, {'step': step})[name] = value
            (run / 'metrics.jsonl').write_text(''.join(json.dumps(steps[step]) + '\n' for step in sorted(steps)))
        words = [word for name in metrics for word in ('--metric', name)]
        nacelle(folder, 'plot', path.stem, *words, '--size', '480', '--out', out / f'{path.stem}.svg')


def main(out):
    for name, steps in DRAWN.items():
        nacelle(ROOT, 'draw', name, '--steps', steps, '--size', SIZE, '--out', out / f'{name}.svg', '--backend', 'cpu')
    with tempfile.TemporaryDirectory() as folder:
        run = ['--backend', 'cpu', '--quiet', '--out']
        nacelle(ROOT, 'train', 'acrobot', *run, Path(folder, 'acrobot'))
        nacelle(ROOT, 'eval', Path(folder, 'acrobot'), '--episodes', '64', '--record', '1', '--backend', 'cpu', '--record-to', Path(folder, 'a.recording'))
        nacelle(ROOT, 'play', Path(folder, 'a.recording'), '--out', out / 'acrobot.gif', '--size', SIZE, '--fps', '15')
        nacelle(ROOT, 'train', 'cartpole', *run, Path(folder, 'cartpole'), '--seeds', '10', '--set', 'run.report_every=1',
                '--set', 'solved.return=null', '--set', 'run.total_steps=300000')
        nacelle(folder, 'plot', 'cartpole', '--metric', 'evaluation.return', '--size', '640', '--out', out / 'curve.svg')
        curves(out / 'curves', Path(folder, 'recorded'))
    (out / 'speed.svg').write_text(speed(json.loads((RESULTS / 'h200.json').read_text())['rows']))
    print(sum(path.stat().st_size for path in out.rglob('*.*')), 'bytes')


main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
