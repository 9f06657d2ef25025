"""`nacelle new`: what it writes can be checked and trained as it is, and what it refuses."""
import json
import re

from bench import CPU, case, main, setting

# pond and meet are those of the documentation, whose tests compile the same.
KINDS = {'pond': (), 'tide': ('--continuous',), 'meet': ('--team',), 'long_flock': ('--team', '--continuous')}
STRUCTS = {'pond': 'Pond', 'tide': 'Tide', 'meet': 'Meet', 'long_flock': 'LongFlock'}

# Names, and what is said of them.
NAMES = {
    '': r"the name: is empty \(for example 'pond' or 'big_pond'\)",
    'big pond': r"big pond: has a space in it \(for example 'big_pond'\)",
    'while': r"while: is a word of C\+\+ \(for example .*\)",
    'state': r"state: is what every environment has inside, as 'struct State' \(.*\)",
    '3d': r"3d: begins with a digit \(for example 'd'\)",
    'ponds/new': r'ponds/new: is a path, not a name \(name the folder with --out DIR\)',
    'BigPond': r"BigPond: has a capital letter in it: .* \(for example 'big_pond'\)",
    'pond.cu': r"pond\.cu: is a file's name \(leave out the '\.cu': 'pond'\)",
    'pönd': r"pönd: has letters beyond a to z in it: letters, digits and _ only \(for example 'p_nd'\)",
    'big-pond': r"big-pond: has a '-' in it: letters, digits and _ only \(for example 'big_pond'\)",
    '_pond': r"_pond: has a _ that stands between no two words \(for example 'pond'\)",
    'big__pond': r"big__pond: has a _ .* \(for example 'big_pond'\)",
    'a' * 49: r'a+: has more than 48 letters .*',
    'cartpole': r'cartpole: is there already: .*cartpole\.cu \(choose another name, or remove that file\)',
}

# Changes of pond.test.json, and what `check` then says.
TABLES = {
    r"pond\.test\.json:1:\d+: the file ends .*": lambda text: '{"steps": [',
    r"pond\.test\.json: stepps: a test table has no 'stepps' \(did you mean 'steps'\?\)":
        lambda text: text.replace('"steps"', '"stepps"'),
    r'pond\.test\.json: steps: expected a list of 1 to 10000 steps': lambda text: '{"steps": []}',
    r"pond\.test\.json: steps\[0\]\.befor: a step has no 'befor' \(did you mean 'before'\?\)":
        lambda text: text.replace('"before"', '"befor"', 1),
    r'pond\.test\.json: steps\[0\]\.after: says nothing that could be wrong':
        lambda text: '{"steps": [{"before": {"state.x": 1}}]}',
    r"pond\.test\.json: steps\[0\]\.before\.state\.z: Pond has no such array to write \(there is: state\.x, .*\)":
        lambda text: text.replace('"state.x"', '"state.z"', 1),
    r'pond\.test\.json: steps\[0\]\.before\.reward: Pond has no such array to write .*':
        lambda text: text.replace('"state.x"', '"reward"', 1),
    r'pond\.test\.json: steps\[0\]\.after\.obs: expected 4 numbers, found 3':
        lambda text: text.replace('[0.52, 0, 0.02, 0]', '[0.52, 0, 0.02]'),
    r'pond\.test\.json: steps\[0\]\.before\.state\.x: expected numbers, true or false \(lists of them\)':
        lambda text: text.replace('"state.x": 0.5', '"state.x": "far"', 1),
    r'pond\.test\.json: steps\[0\]\.actions\.action\.push: 5 is no choice of Pond \(there are 0 to 4\)':
        lambda text: text.replace('"action.push": 1', '"action.push": 5', 1),
    r'pond\.test\.json: tolerance: expected a number from 0 to 1, found 2':
        lambda text: text.replace('1e-5', '2'),
    r"pond\.test\.json: env\.params\.friction: Pond has no parameter 'friction' \(.*\)":
        lambda text: text.replace('"steps"', '"params": {"friction": 1}, "steps"'),
    r'the edge stops it: state\.x is 1, expected 0\.97 \(1 of the 4 steps of pond\.test\.json come out otherwise\)':
        lambda text: text.replace('"state.x": 1,', '"state.x": 0.97,'),
    r'a push to the right moves it right: obs\[2\] is 0\.02, expected 0\.03 \(1 of the 4 .*':
        lambda text: text.replace('[0.52, 0, 0.02, 0]', '[0.52, 0, 0.03, 0]'),
    r'a push to the right moves it right: .* \(2 of the 4 .*':
        lambda text: text.replace('"steps"', '"params": {"push": 0.01}, "steps"'),
}


def table_finding(bench, *more):
    lines = bench.run('check', 'pond', '--json', '--only', 'test table', *CPU, *more).out.splitlines()
    return next(one for one in map(json.loads, lines) if one.get('check') == 'test table')


@case
def four_kinds_are_written_where_environments_are(bench):
    for name, options in KINDS.items():
        [told] = bench.lines('new', name, *options)
        files = [f'env_sources/{name}{suffix}' for suffix in ('.cu', '.json', '.test.json')]
        assert told == {'name': name, 'struct': STRUCTS[name], 'environment': name, 'files': files}, told
        text = (bench.folder / files[0]).read_text()
        assert f'struct {STRUCTS[name]} {{' in text and f'NACELLE_ENV({STRUCTS[name]})' in text, text
        assert f'nacelle check {name} ' in text and 'keleton' not in text, text
        assert 'keleton' not in ''.join((bench.folder / file).read_text() for file in files[1:])


@case
def each_kind_passes_check(bench):
    only = ('--only', 'test table') if bench.sanitized else ()
    for name in KINDS:
        *findings, end = bench.lines('check', name, *CPU, *only)
        assert end['passes'] and end['advice'] == 0, findings
        [table] = [one for one in findings if one['check'] == 'test table']
        assert table['verdict'] == 'ok' and re.fullmatch(r'the [34] steps of \w+\.test\.json come out .*', table['what']), table


@case
def each_kind_is_learnt(bench):
    for name in KINDS:
        short = setting(run__total_steps=2048, env__count=16) if bench.sanitized else ()
        *_, end = bench.lines('train', name, *CPU, *short, '--out', f'learnt/{name}')
        assert end['solved'] or short, end
    # Small returns are not rounded to nothing.
    assert re.search(r': return -?\d\.\d{3} ± \d+\.\d{3}, length ', bench.good('eval', 'learnt/pond', '--episodes', '20', *CPU))


@case
def nothing_is_overwritten(bench):
    path = bench.folder / 'env_sources' / 'lake.json'
    path.write_text('{}')
    bench.refused(r'env_sources/lake\.json: is there already \(nothing is ever overwritten\)', 'new', 'lake')
    assert path.read_text() == '{}' and not (bench.folder / 'env_sources' / 'lake.cu').exists()
    bench.refused(r'pond: is there already: .*', 'new', 'pond', '--team')


@case
def a_bad_name_is_refused_with_a_better_one(bench):
    before = sorted((bench.folder / 'env_sources').iterdir())
    for name, pattern in NAMES.items():
        bench.refused(pattern, 'new', name)
    assert sorted((bench.folder / 'env_sources').iterdir()) == before


@case
def another_folder_is_made_and_its_environment_named_by_its_path(bench):
    text = bench.good('new', 'brook', '--out', 'my/own')
    assert re.search(r'^nacelle watch my/own/brook\.cu --web +see', text, re.M), text
    assert re.search(r'^nacelle check my/own/brook\.cu +hold', text, re.M), text
    # In a checkout it is the checkout's launcher that can be typed.
    bench.write('tools/nacelle', '')
    assert '\ntools/nacelle train my/own/creek.cu' in bench.good('new', 'creek', '--out', 'my/own')
    (bench.folder / 'tools').chmod(0o777)
    assert '\nnacelle train my/own/mere.cu' in bench.good('new', 'mere', '--out', 'my/own')
    (bench.folder / 'tools' / 'nacelle').unlink()
    assert (bench.folder / 'my' / 'own' / 'brook.test.json').exists()
    bench.refused(r'brook: is there already: .*', 'new', 'brook', '--out', 'my/own')
    bench.good('new', 'brook2', '--out', 'my/own')
    bench.write('flat', 'a file')
    bench.refused(r'flat: is no directory', 'new', 'stream', '--out', 'flat')


@case
def a_table_that_is_wrong_is_refused_with_its_place(bench):
    path = bench.folder / 'env_sources' / 'pond.test.json'
    text = path.read_text()
    for pattern, change in TABLES.items():
        assert change(text) != text, pattern
        path.write_text(change(text))
        found = table_finding(bench)
        assert found['verdict'] == 'refused' and re.fullmatch(pattern, found['what']), f'{found}\nwanted: {pattern}'
    path.write_text(text)
    # What a run sets does not change what the table says of the file.
    found = table_finding(bench, *setting(env__params__push=0.5))
    assert found['verdict'] == 'ok', found
    path.unlink()
    assert table_finding(bench)['verdict'] == 'skipped'
    path.write_text(text)


raise SystemExit(main())
