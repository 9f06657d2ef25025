"""What is made of the metrics of many runs: `plot` and `compare`."""
import json
import random
import re
import struct
import xml.etree.ElementTree as xml

from bench import CPU, case, main, setting
from training import SMALL

SEARCH = (*CPU, *SMALL, *setting(run__total_steps=256000, run__report_every=2, run__stagger='false'), '--episodes', '8')
SVG = '{http://www.w3.org/2000/svg}'


def three(bench):
    """Three seeds, trained once; the environment lies where a test may change it."""
    if not (bench.folder / 'three').exists():
        bench.write('pole.cu', bench.cartpole([]))
        bench.good('train', 'pole.cu', *SEARCH, '--seeds', '3', '--out', 'three')
    return bench.folder / 'three'


def metrics(out):
    return [json.loads(line) for line in (out / 'metrics.jsonl').read_text().splitlines()]


def write_run(bench, name, values, steps=None, seconds=True):
    """A run with these values of a metric: what `plot` needs of one."""
    steps = steps or [1000 * (i + 1) for i in range(len(values))]
    rows = [{'step': step, 'episodes': 4, 'episode.return': value} | ({'seconds': step / 1000} if seconds else {})
            for step, value in zip(steps, values)]
    bench.write(f'{name}/config.json', json.dumps({'env': {'source': '/x/made.cu'}, 'learner': {'name': 'ppo'}, 'seed': 1}))
    bench.write(f'{name}/metrics.jsonl', ''.join(json.dumps(row) + '\n' for row in rows))


def texts(path):
    return [one.text for one in xml.parse(path).iter(SVG + 'text')]


@case
def a_plot_has_axes_a_legend_and_a_band_over_seeds(bench):
    three(bench)
    text = bench.good('plot', 'three')
    assert text.endswith('written to three.svg\n'), text
    words = texts(bench.folder / 'three.svg')
    assert {'episode.return', 'steps of all environments', 'three: mean of 3 seeds, 95 % interval', '100 k', '0'} <= set(words), words
    root = xml.parse(bench.folder / 'three.svg').getroot()
    assert len(list(root.iter(SVG + 'polygon'))) == 1, 'one band'
    # Of one seed: a line without a band.
    bench.good('plot', 'three/seed-2', '--x', 'seconds', '--out', 'one.svg')
    root = xml.parse(bench.folder / 'one.svg').getroot()
    assert not list(root.iter(SVG + 'polygon')) and {'seed-2', 'seconds of training'} <= set(texts(bench.folder / 'one.svg'))


@case
def several_runs_and_metrics_make_panels_with_a_colour_each(bench):
    three(bench)
    two = ('three', 'three/seed-1', '--metric', 'episode.return', '--metric', 'evaluation.return')
    bench.good('plot', *two)
    root = xml.parse(bench.folder / 'three-compared.svg').getroot()
    words = [one.text for one in root.iter(SVG + 'text')]
    assert 'evaluation.return' in words and words.count('seed-1') == 1 and words.count('steps of all environments') == 1, words
    assert len(list(root.iter(SVG + 'polygon'))) == 2
    colours = {one.get('stroke') for one in root.iter(SVG + 'line')}
    assert {'#0072b2', '#d55e00'} <= colours, colours
    [told] = bench.lines('plot', *two, '--out', 'two.png', '--size', '600')
    png = (bench.folder / 'two.png').read_bytes()
    assert png[:8] == b'\x89PNG\r\n\x1a\n' and max(struct.unpack('>II', png[16:24])) == 600, png[:24]
    assert [(one['run'], one['metric'], one['runs']) for one in told['curves']] == [
        ('three', 'episode.return', 3), ('seed-1', 'episode.return', 1),
        ('three', 'evaluation.return', 3), ('seed-1', 'evaluation.return', 1)], told


@case
def a_curve_is_the_mean_where_all_seeds_have_it(bench):
    write_run(bench, 'made/seed-1', [0, 10, 20, 30])
    write_run(bench, 'made/seed-2', [4, 24], [1000, 3000])
    text = bench.good('plot', 'made')
    assert text.splitlines()[0] == 'made, episode.return: drawn up to 3 k steps, which all 2 runs have; the longest has 4 k steps', text
    [told] = bench.lines('plot', 'made')
    [curve] = told['curves']
    assert (curve['from'], curve['to'], curve['longest'], curve['last']) == (1000, 3000, 4000, 22), curve
    # The band of two values: Student's factor of one degree is 12.7, so that half of it is 6.35 times the distance.
    polygon = next(xml.parse(bench.folder / 'made.svg').getroot().iter(SVG + 'polygon'))
    heights = [float(pair.split(',')[1]) for pair in polygon.get('points').split()]
    ends, begins = abs(heights[239] - heights[240]), abs(heights[0] - heights[-1])
    assert abs(ends / begins - 1) < 0.01 and begins > 0, (ends, begins)
    [by_time] = bench.lines('plot', 'made', '--x', 'seconds')
    assert (by_time['curves'][0]['from'], by_time['curves'][0]['to']) == (1, 3), by_time
    # What was read while no episode had ended is no return.
    bench.write('made/seed-1/metrics.jsonl', (bench.folder / 'made/seed-1/metrics.jsonl').read_text().replace('"episodes": 4', '"episodes": 0', 1))
    assert bench.lines('plot', 'made')[0]['curves'][0]['from'] == 2000


@case
def a_long_run_is_drawn_with_its_peaks_and_no_more_corners_than_can_be_seen(bench):
    values = [float(i % 7) for i in range(30000)]
    values[12345] = 99.0
    write_run(bench, 'long', values)
    bench.good('plot', 'long')
    lines = list(xml.parse(bench.folder / 'long.svg').getroot().iter(SVG + 'line'))
    curve = [one for one in lines if one.get('stroke') == '#0072b2']
    assert 500 < len(curve) < 1100, len(curve)
    high = min(float(one.get('y1')) for one in curve)
    assert 50 <= high < 65, high
    # Of several runs: the mean of what was read around each place.
    for seed in (1, 2):
        write_run(bench, f'long-ones/seed-{seed}', [float(i % 2 * 10) for i in range(30000)])
    [told] = bench.lines('plot', 'long-ones')
    assert abs(told['curves'][0]['last'] - 5) < 0.2, told


def patched(before, lines):
    """The text after the hunks of a unified diff."""
    old, new, at = before.splitlines(), [], 0
    for line in lines:
        if line.startswith('@@'):
            first, count = (int(part) for part in (re.match(r'@@ -(\d+)(?:,(\d+))? ', line).groups(default='1')))
            begin = first - 1 if count else first
            new += old[at:begin]
            at = begin
        elif line[0] == '+':
            new.append(line[1:])
        else:
            assert old[at] == line[1:], (old[at], line)
            new += [old[at]] if line[0] == ' ' else []
            at += 1
    return new + old[at:]


@case
def a_difference_of_lines_makes_one_text_of_the_other(bench):
    chances = random.Random(3)
    for number in range(12):
        before = [str(chances.randrange(9)) for _ in range(chances.randrange(40))]
        after = [line if chances.random() < 0.8 else str(chances.randrange(9)) for line in before if chances.random() < 0.9]
        after[chances.randrange(len(after) + 1):0] = ['new'] * chances.randrange(3)
        for name, text in (('a', before), ('b', after)):
            write_run(bench, f'lines-{number}/{name}', [1, 2])
            bench.write(f'lines-{number}/{name}/source/0/x.cu', ''.join(line + '\n' for line in text))
        found = [one for one in bench.lines('compare', f'lines-{number}/a', f'lines-{number}/b') if one['kind'] == 'source']
        lines = found[0]['lines'] if found else []
        assert bool(found) == (before != after) and patched('\n'.join(before), lines) == after, (before, after, lines)


@case
def a_table_serves_as_the_lines_do(bench):
    bench.good('train', 'cartpole', *SEARCH, *setting(run__sinks='["csv"]'), '--out', 'table')
    bench.good('train', 'cartpole', *SEARCH, *setting(run__sinks='[{"name":"jsonl","file":"other.jsonl"}]'), '--out', 'lines')
    [[a], [b]] = ([one for one in bench.lines('plot', name)[0]['curves']] for name in ('table', 'lines'))
    assert {**a, 'run': ''} == {**b, 'run': ''}, (a, b)


@case
def what_cannot_be_drawn_is_said_in_one_line(bench):
    three(bench)
    bench.refused(r"three: has no metric 'frob' \(there is: .*episode\.length, episode\.return, .*steps_per_second\)", 'plot', 'three', '--metric', 'frob')
    bench.refused(r'three: is named twice', 'plot', 'three', './three/')
    bench.refused(r'--out: x\.pdf is no kind of file .*\.svg or \.png\)', 'plot', 'three', '--out', 'x.pdf')
    bench.refused(r'nowhere: does not exist .*', 'plot', 'nowhere')
    bench.refused(r'empty: holds no run: .*', 'plot', 'empty')
    bench.refused(r'plot: can tell 14 curves apart, and 15 runs are named', 'plot', *(f'made-{i}' for i in range(15) if not write_run(bench, f'made-{i}', [1, 2])))
    write_run(bench, 'old', [1, 2], seconds=False)
    bench.refused(r"old: has no metric 'seconds' .*", 'plot', 'old', '--x', 'seconds')
    write_run(bench, 'apart/seed-1', [1, 2])
    write_run(bench, 'apart/seed-2', [1, 2], [5000, 6000])
    bench.refused(r"apart: its runs have no range of steps in common .*", 'plot', 'apart')
    bench.write('silent/config.json', json.dumps({'run': {'sinks': ['tensorboard']}}))
    bench.refused(r'silent: has no metrics that can be read: its run\.sinks are \["tensorboard"\] .*', 'plot', 'silent')
    bench.write('silent/config.json', '{}')
    bench.refused(r'silent/metrics\.jsonl: does not exist: the run has no metrics yet', 'plot', 'silent')
    for words in (('plot',), ('plot', 'three', '--x', 'hours'), ('plot', 'three', '--size', '0'), ('compare',), ('compare', 'three')):
        assert bench.run(*words).status == 2, words
    write_run(bench, 'flat', [7])
    bench.good('plot', 'flat', '--out', 'flat.png')
    # Each has the same one reading, and a name that is not of ASCII.
    for seed in (1, 2):
        write_run(bench, f'größe/seed-{seed}', [seed])
    [drawn] = bench.lines('plot', 'größe', '--out', 'one.svg')
    assert drawn['curves'][0]['last'] == 1.5 and drawn['curves'][0]['from'] == drawn['curves'][0]['to'], drawn
    assert '>größe' in (bench.folder / 'one.svg').read_text(encoding='utf-8')


@case
def a_comparison_tells_results_settings_and_lines_of_the_source(bench):
    out = three(bench)
    same = bench.good('compare', 'three/seed-1', 'three/seed-2')
    assert re.search(r'\nsetting +seed-1 +seed-2\nseed +1 +2\n', same) and 'the source of seed-2 is that of seed-1' in same, same
    bench.write('pole.cu', bench.cartpole([('s.x += p.dt * s.x_dot;', 's.x += p.dt * s.x_dot;    // changed\n        s.x = s.x;'),
                                           ('struct Obs', 'struct  Obs')]))
    bench.good('train', 'pole.cu', *SEARCH, *setting(solved__return=60, env__params__gravity=9), '--out', 'other')
    text = bench.good('compare', 'three', 'other')
    assert re.search(r'\nenv\.params\.gravity +9\.8 +9\n', text) and re.search(r'\nseed +3 seeds +1\n', text), text
    source = (bench.root / 'env_sources' / 'cartpole.cu').read_text().splitlines()
    changed = source.index('        s.x += p.dt * s.x_dot;')
    for line in ('--- three/pole.cu', '+++ other/pole.cu', '-        s.x += p.dt * s.x_dot;', '+        s.x += p.dt * s.x_dot;    // changed',
                 f'@@ -{changed - 1},5 +{changed - 1},6 @@', '+        s.x = s.x;'):
        assert f'\n{line}\n' in text, (line, text)
    assert text.count('\n@@ ') == 2, text
    lines = bench.lines('compare', 'three', 'other')
    group, one = (line for line in lines if line['kind'] == 'run')
    last = [[row for row in metrics(out / f'seed-{seed}') if 'evaluation.return' in row][-1] for seed in (1, 2, 3)]
    assert abs(group['last_return']['mean'] - sum(row['evaluation.return'] for row in last) / 3) < 1e-9, group
    assert (group['runs'], group['solved'], group['steps_to_solved'], group['return_of']) == (3, 0, None, 'evaluation'), group
    first = next(row for row in metrics(bench.folder / 'other') if row.get('evaluation.return', 0) >= 60)
    assert group['last_return']['interval'] > 0, group
    assert one['solved'] == 1 and one['steps_to_solved']['mean'] == first['step'] and one['seconds_to_solved']['mean'] == first['seconds'], one
    assert one['steps_per_second']['mean'] > 0 and one['steps_per_second']['interval'] is None, one    # of one run there is none
    values = {line['setting']: line['values'] for line in lines if line['kind'] == 'setting'}
    assert values['env.params.gravity'] == {'three': 9.8, 'other': 9.0} and values['solved.return'] == {'three': 1000, 'other': 60}, values
    [difference] = [line for line in lines if line['kind'] == 'source']
    assert difference['file'] == 'pole.cu' and '+        s.x = s.x;' in difference['lines'], difference


raise SystemExit(main())
