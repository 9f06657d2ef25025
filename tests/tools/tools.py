"""The command line as a user meets it: what it prints, where, and how it ends."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

LONGEST = 600       # seconds that one command may take


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return f'ended with {self.status}\nstandard output:\n{self.out}\nstandard error:\n{self.err}'


class Skip(Exception):
    pass


class Bench:
    """A folder with our environments in it, and the program."""

    def __init__(self, options, folder):
        self.root, self.build, self.folder = options.root, options.build, Path(folder)
        self.program = self.build / 'tools' / 'nacelle'
        shutil.copytree(self.root / 'env_sources', self.folder / 'env_sources')
        (self.folder / 'empty').mkdir()
        self.settings = dict(os.environ, XDG_CACHE_HOME=str(self.build / 'tests' / 'tools-cache'))

    def run(self, *arguments, **changed):
        settings = {key: value for key, value in {**self.settings, **changed}.items() if value is not None}
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, env=settings, capture_output=True,
                              timeout=LONGEST)
        return Result(done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace'))

    def good(self, *arguments, **changed):
        result = self.run(*arguments, **changed)
        assert result.status == 0, f'{" ".join(map(str, arguments))}\n{result}'
        assert result.err == '', f'{" ".join(map(str, arguments))}\n{result}'
        return result.out

    def lines(self, *arguments):
        """What --json prints: nothing but objects, one a line."""
        objects = [json.loads(line) for line in self.good(*arguments, '--json').splitlines()]
        assert objects and all(isinstance(one, dict) for one in objects), objects
        return objects

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def cartpole(self, *changes):
        """The text of cartpole.cu with some of it replaced."""
        text = (self.root / 'env_sources' / 'cartpole.cu').read_text()
        for old, new in changes:
            assert old in text, f'cartpole.cu has no {old!r}'
            text = text.replace(old, new)
        return text

    def refused(self, pattern, *arguments, **changed):
        """One line on standard error that is all of `pattern`, an excerpt at most below it, and 1."""
        result = self.run(*arguments, **changed)
        shown = f'{" ".join(map(str, arguments))}\n{result}\nwanted: {pattern}'
        assert result.status == 1 and result.out == '', shown
        first, *rest = result.err.rstrip('\n').split('\n')
        assert re.fullmatch(pattern, first), shown
        assert all(re.match(r' +\d+ \| ', line) for line in rest) and len(rest) <= 1, shown


COMMANDS = ('train', 'inspect', 'bench', 'plugins')


def every_command_explains_itself(bench):
    whole = bench.good('--help')
    for command in COMMANDS:
        assert command in whole
        text = bench.good(command, '--help')
        assert f'nacelle {command}' in text and '--json' in text, text
    assert re.fullmatch(r'nacelle \d+\.\d+\.\d+\n', bench.good('--version'))


def a_wrong_command_line_ends_with_2(bench):
    for arguments in ([], ['frobnicate'], ['inspect'], ['train'], ['inspect', 'cartpole', '--frob'], ['inspect', 'cartpole', 'more', 'words'],
                      ['inspect', 'cartpole', '--backend', 'tpu'], ['inspect', 'cartpole', '--threads', '-1'], ['inspect', 'cartpole', '--seed', 'x'],
                      ['bench', '--envs', '0'], ['bench', '--envs', '-5'], ['bench', '--envs', 'many'], ['bench', '--kind', 'walk'],
                      ['bench', '--repetitions', '0'], ['train', 'cartpole', '--episodes', '0'], ['train', 'cartpole', '--out'], ['plugins', '--folder']):
        result = bench.run(*arguments)
        assert result.status == 2 and result.out == '' and '--help' in result.err, f'{arguments}\n{result}'


def an_environment_that_is_not_there_is_answered_with_what_there_is(bench):
    bench.refused(r"cartpol: there is no such environment \(did you mean 'cartpole'\?\)", 'inspect', 'cartpol')
    bench.refused(r'zzz: there is no such environment \(there is: acrobot, cartpole, mazes, .*pendulum\)', 'inspect', 'zzz')
    bench.refused(r'nowhere/pole\.cu: no such file', 'inspect', 'nowhere/pole.cu')
    bench.refused(r'\./env_sources: is a directory, not an environment \(name a \.cu file\)', 'inspect', './env_sources')
    bench.refused(r'env\.source: no environment is named', 'inspect', '')


def a_file_that_is_no_environment_is_refused_in_one_line(bench):
    cases = {
        'empty': (b'', r'.*empty\.cu: error: the file is empty'),
        'noise': (bytes(range(256)) * 8, r'.*noise\.cu:1: error: this is no text: it has NUL bytes'),
        'none': (bench.cartpole(('NACELLE_ENV(CartPole)', '')), r'.*none\.cu: error: the file has no NACELLE_ENV\(Name\)'),
        'two': (bench.cartpole() + 'struct Other {};\nNACELLE_ENV(Other)\n', r'.*two\.cu:48: error: the file has two environments: CartPole and Other'),
        'semicolon': (bench.cartpole(('s.x += p.dt * s.x_dot;', 's.x += p.dt * s.x_dot')), r".*semicolon\.cu:3[34]: error: expected ';'.*"),
        'member': (bench.cartpole(('p.dt * s.x_dot', 'p.dt * s.xdot')), r".*member\.cu:33: error: .*'?xdot'?.*"),
        'long': (bench.cartpole(('struct State { float x', 'struct State { float big[1000]; float x')),
                 r'.*long\.cu:46: error: State has an array of more than 64 elements: use nacelle::Array<T, sizes\.\.\.>, which is not copied'),
        'bits': (bench.cartpole(('struct State { float x', 'struct State { unsigned alive : 1; float x')),
                 r'.*bits\.cu:13: error: a bit-field cannot be an array: use a whole number \(uint8_t alive\)'),
        'team': (bench.cartpole(('struct State {', 'struct Agent { float y; };\n    struct State {')), r'.*team\.cu:47: error: teams of agents \(struct Agent, using Agents\) are not in this version'),
    }
    for name, (content, pattern) in cases.items():
        path = bench.write(f'bad/{name}.cu', content)
        bench.refused(pattern, 'inspect', path, '--backend', 'cpu')


def a_configuration_is_refused_with_its_file_and_path(bench):
    cases = {
        'truncated': ('{"env": {"count": 4', r'.*truncated\.json:1:20: the file ends before the last \'}\''),
        'empty': ('', r'.*empty\.json:1:1: the file is empty'),
        'twice': ('{"env": {"count": 1, "count": 2}}', r".*twice\.json: 'env\.count' stands twice"),
        'key': ('{"env": {"conut": 4}}', r".*key\.json: env\.conut: env has no 'conut' \(did you mean 'count'\?\)"),
        'top': ('{"lerner": {}}', r".*top\.json: lerner: the configuration has no 'lerner' \(did you mean 'learner'\?\)"),
        'type': ('{"env": {"count": "many"}}', r'.*type\.json: env\.count: expected a whole number from 1 to \d+, found "many"'),
        'negative': ('{"env": {"count": -4}}', r'.*negative\.json: env\.count: expected a whole number from 1 to \d+, found -4'),
        'fraction': ('{"env": {"count": 2.5}}', r'.*fraction\.json: env\.count: expected a whole number from 1 to \d+, found 2\.5'),
        'param': ('{"env": {"params": {"gravty": 3}}}', r".*param\.json: env\.params\.gravty: CartPole has no parameter 'gravty' \(did you mean 'gravity'\?\)"),
        'bounds': ('{"env": {"params": {"gravity": {"uniform": [3, 1]}}}}', r'.*bounds\.json: env\.params\.gravity\.uniform: low is above high: \[3,1\]'),
        'constant': ('{"env": {"constants": {"walls": 1}}}', r".*constant\.json: env\.constants\.walls: cartpole\.cu has no constant 'walls'"),
        'learner': ('{"learner": {"name": "alchemy"}}', r'alchemy: there is no such learner \(there is: random_search\)'),
        'setting': ('{"learner": {"elit": 0.2}}', r'random_search: elit: there is no such setting \(there is: .*elite.*\)'),
        'sink': ('{"run": {"sinks": ["jsnol"]}}', r"jsnol: there is no such sink \((there is: csv, jsonl|did you mean 'jsonl'\?)\)"),
    }
    for name, (text, pattern) in cases.items():
        path = bench.write(f'bad/{name}.json', text)
        bench.refused(pattern, 'train', 'cartpole', path, '--out', 'refused', '--backend', 'cpu')
    bench.refused(r'nowhere\.json: does not exist', 'train', 'cartpole', 'nowhere.json', '--out', 'refused')
    bench.refused(r'\.: is a directory', 'train', 'cartpole', '.', '--out', 'refused')
    assert not (bench.folder / 'refused' / 'metrics.jsonl').exists()


def an_assignment_is_refused_like_the_file(bench):
    inspect = ('inspect', 'cartpole', '--backend', 'cpu', '--set')
    bench.refused(r'--set env\.count: has no \'=\' .*', *inspect, 'env.count')
    bench.refused(r'--set =3: the path has an empty part .*', *inspect, '=3')
    bench.refused(r'.*env\.count: expected a whole number from 1 to \d+, found -5', *inspect, 'env.count=-5')
    bench.refused(r'.*env\.conut: env has no \'conut\' \(did you mean \'count\'\?\)', *inspect, 'env.conut=5')
    bench.refused(r'.*env\.params\.gravity: expected a number, found "much"', *inspect, 'env.params.gravity=much')


def more_environments_than_fit_are_refused_with_the_number_that_fits(bench):
    pattern = r'.*env\.count: CartPole takes (\d+) bytes per environment; 1000000000 of them are .*, and .* are free \(at most [1-9]\d* fit\)'
    bench.write('tiny.json', '{"env": {"count": 1000000000}}')
    free = next(int(line.split()[1]) for line in Path('/proc/meminfo').read_text().splitlines() if line.startswith('MemAvailable'))
    if free > 64 << 20:
        raise Skip('a billion environments fit here')
    bench.refused(pattern, 'inspect', 'cartpole', '--backend', 'cpu', '--config', 'tiny.json')
    bench.refused(pattern, 'inspect', 'cartpole', '--backend', 'cpu', '--set', 'env.count=1000000000')


def a_gpu_that_is_not_there_is_said_so(bench):
    result = bench.run('inspect', 'cartpole', '--backend', 'cuda')
    if result.status == 0:
        raise Skip('there is a GPU')
    bench.refused(r'(cuda|NVRTC).*: .{10,}', 'inspect', 'cartpole', '--backend', 'cuda')
    # Nobody insisted: the CPU takes over and the reason is on the screen.
    assert re.search(r'^on cpu: .*(no GPU|the GPU is not used): .{5,}$', bench.good('inspect', 'cartpole'), re.MULTILINE)


def a_machine_without_a_compiler_is_told_what_to_install(bench):
    for path in (bench.folder / 'empty', ''):
        bench.refused(r"host backend: no C\+\+ compiler: tried \$CXX \(not set\), g\+\+, c\+\+, clang\+\+ on PATH \(install one, for example with 'apt install g\+\+'\)",
                      'inspect', 'cartpole', '--backend', 'cpu', PATH=str(path), CXX=None, XDG_CACHE_HOME=str(bench.folder / 'fresh'))
    bench.refused(r'host backend: no C\+\+ compiler: tried \$CXX \(/nowhere/c\+\+\), .*', 'inspect', 'cartpole', '--backend', 'cpu',
                  PATH=str(bench.folder / 'empty'), CXX='/nowhere/c++', XDG_CACHE_HOME=str(bench.folder / 'fresh'))


def inspect_shows_what_the_engine_made_of_a_file(bench):
    text = bench.good('inspect', 'cartpole', '--backend', 'cpu')
    assert re.search(r'^  gravity +9\.8$', text, re.MULTILINE) and re.search(r'^  action\.push +one of 2$', text, re.MULTILINE), text
    assert re.search(r'^  obs +f32 +\[4096, 4\] +65536 bytes$', text, re.MULTILINE), text
    [told] = bench.lines('inspect', 'cartpole', '--backend', 'cpu')
    assert told['environment'] == 'CartPole' and told['envs'] == 4096 and told['time_limit'] == 500 and told['from_cache']
    arrays = {one['name']: one for one in told['arrays']}
    assert arrays['state.theta']['shape'] == [4096] and arrays['obs']['shape'] == [4096, 4] and arrays['terminated']['type'] == 'b8'
    assert told['actions'] == [{'name': 'action.push', 'count': 1, 'choices': 2}]
    [mazes] = bench.lines('inspect', 'mazes', '--backend', 'cpu', '--set', 'env.count=3')
    assert mazes['parameters']['mazes'] == 'table' and {'name': 'obs.image', 'type': 'u8', 'shape': [3, 9, 9], 'bytes': 243} in mazes['arrays']


def a_path_and_a_name_find_the_same_environment(bench):
    [named], [by_path] = bench.lines('inspect', 'pendulum', '--backend', 'cpu'), bench.lines('inspect', 'env_sources/pendulum.cu', '--backend', 'cpu')
    for told in (named, by_path):
        del told['compile_milliseconds'], told['from_cache']
    assert named == by_path
    # From elsewhere the folder beside the program's own is searched, or that of the installation.
    assert bench.run('inspect', bench.folder / 'env_sources' / 'pendulum.cu', '--backend', 'cpu').status == 0


def an_assignment_does_what_the_file_does_and_goes_before_it(bench):
    def parameters(*arguments):
        [told] = bench.lines('inspect', 'cartpole', '--backend', 'cpu', *arguments)
        return {key: told[key] for key in ('envs', 'parameters', 'arrays')}

    bench.write('given.json', '{"env": {"count": 7, "params": {"gravity": 3.5, "force": {"uniform": [1, 2]}}}}')
    by_file = parameters('--config', 'given.json')
    assert by_file['envs'] == 7 and by_file['parameters']['gravity'] == 3.5
    assert {'name': 'param.force', 'type': 'f32', 'shape': [7], 'bytes': 28} in by_file['arrays']
    assert by_file == parameters('--set', 'env.count=7', '--set', 'env.params.gravity=3.5', '--set', 'env.params.force={"uniform":[1,2]}')
    both = parameters('--config', 'given.json', '--set', 'env.count=9')
    assert both['envs'] == 9 and both['parameters'] == by_file['parameters']


def bench_prints_a_row_for_each_environment_count_and_kind(bench):
    quick = ('--backend', 'cpu', '--repetitions', '2', '--graph-steps', '3', '--rollout-steps', '4')
    rows = bench.lines('bench', 'cartpole', 'pendulum', '--envs', '64,128', *quick)
    assert [(row['environment'], row['envs'], row['kind']) for row in rows] == [
        (name, envs, kind) for name in ('CartPole', 'Pendulum') for envs in (64, 128) for kind in ('step', 'rollout')]
    for row in rows:
        assert 0 < row['slowest'] <= row['steps_per_second'] <= row['fastest'] and row['backend'] == 'cpu' and row['bytes_per_step'] > 0, row
    assert [row['kind'] for row in bench.lines('bench', '--envs', '64', '--kind', 'step', *quick)] == ['step']
    assert len(bench.good('bench', '--envs', '64', *quick).splitlines()) == 4
    # The same work leaves the same observations, whatever the number of threads.
    sums = {bench.lines('bench', '--envs', '640', '--kind', 'step', '--threads', threads, *quick)[0]['checksum'] for threads in (1, 2, 3)}
    assert len(sums) == 1, sums


def plugins_are_listed_with_what_they_offer(bench):
    listed = {one['id']: one for one in bench.lines('plugins') if 'id' in one}
    offers = {offer['kind'] + ' ' + offer['name'] for one in listed.values() for offer in one['offers']}
    assert {'sink/1 jsonl', 'sink/1 csv', 'hook/1 levels', 'learner/1 random_search'} <= offers, offers
    bench.write('refused_plugins/nonsense.so', 'no library')
    [first, *_] = bench.lines('plugins', '--folder', 'refused_plugins')
    assert first['path'].endswith('refused_plugins/nonsense.so') and first['refused'] == 'is no shared library', first
    text = bench.good('plugins', '--folder', 'refused_plugins')
    assert 'nonsense.so\n  refused: is no shared library\n' in text and 'offers sink/1 csv\n' in text


def training_cartpole_on_the_cpu_solves_it(bench):
    *progress, result = bench.lines('train', 'cartpole', '--backend', 'cpu', '--seed', '1', '--out', 'solved')
    assert result['kind'] == 'result' and result['solved'] and not result['interrupted'], result
    assert result['mean_length'] >= 475 and result['episodes'] == 1000 and result['backend'] == 'cpu', result
    assert progress and [line['iteration'] for line in progress] == list(range(1, len(progress) + 1))
    assert progress[-1]['evaluation.return'] >= 475 and result['steps'] == progress[-1]['step'] <= 20000000


def a_run_leaves_its_settings_its_source_and_its_metrics(bench):
    bench.write('run.json', '{"seed": 3, "env": {"count": 256}, "run": {"total_steps": 200000, "sinks": ["jsonl", "csv"]}}')
    text = bench.good('train', 'cartpole', 'run.json', '--set', 'solved.return=1000', '--backend', 'cpu', '--out', 'left', '--episodes', '10')
    out = bench.folder / 'left'
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob('*') if path.is_file()) == ['config.json', 'metrics.csv', 'metrics.jsonl', 'source/cartpole.cu']
    assert (out / 'source' / 'cartpole.cu').read_bytes() == (bench.root / 'env_sources' / 'cartpole.cu').read_bytes()
    kept = json.loads((out / 'config.json').read_text())
    assert kept['seed'] == 3 and kept['env']['count'] == 256 and kept['solved'] == {'return': 1000, 'episodes': 100} and kept['learner']['name'] == 'random_search'
    metrics = [json.loads(line) for line in (out / 'metrics.jsonl').read_text().splitlines()]
    assert [line['step'] for line in metrics] == [128000, 256000] and all(line['episode.length'] > 0 for line in metrics)
    table = (out / 'metrics.csv').read_text().splitlines()
    assert len(table) == 3 and table[0].startswith('step,') and table[0].count(',') == table[1].count(',')
    assert re.search(r'^Ended after 256000 steps: return .* over 10 episodes', text, re.MULTILINE) and 'results in left' in text
    # What is kept is a configuration itself.
    bench.good('train', 'cartpole', 'left/config.json', '--backend', 'cpu', '--out', 'left_again', '--episodes', '10')


def a_seed_repeats_a_run(bench):
    def metrics(seed, threads):
        lines = bench.lines('train', 'cartpole', '--backend', 'cpu', '--seed', seed, '--threads', threads, '--set', 'env.count=256', '--set', 'run.total_steps=200000',
                            '--set', 'solved.return=1000', '--out', f'seed-{seed}-{threads}', '--episodes', '10')
        return [{key: value for key, value in line.items() if 'second' not in key and key != 'out'} for line in lines]

    assert metrics(5, 1) == metrics(5, 3) != metrics(6, 1)


def runs_without_a_directory_are_numbered(bench):
    for number in (1, 2):
        text = bench.good('train', 'pendulum', '--backend', 'cpu', '--set', 'env.count=64', '--set', 'run.total_steps=1', '--episodes', '2')
        assert f'results in runs/pendulum-{number}' in text and (bench.folder / 'runs' / f'pendulum-{number}' / 'config.json').exists(), text


def an_interrupt_ends_a_run_in_order(bench):
    command = [bench.program, 'train', 'pendulum', '--backend', 'cpu', '--set', 'env.count=64', '--set', 'run.total_steps=9000000000', '--json', '--out', 'stopped', '--episodes', '2']
    with subprocess.Popen(command, cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        first = json.loads(running.stdout.readline())
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=LONGEST)
    result = json.loads(out.splitlines()[-1])
    assert first['kind'] == 'progress' and running.returncode == 0 and err == '', err
    assert result['kind'] == 'result' and result['interrupted'] and not result['solved'], result
    assert (bench.folder / 'stopped' / 'metrics.jsonl').read_text().endswith('}\n')


TESTS = [every_command_explains_itself, a_wrong_command_line_ends_with_2, an_environment_that_is_not_there_is_answered_with_what_there_is,
         a_file_that_is_no_environment_is_refused_in_one_line, a_configuration_is_refused_with_its_file_and_path, an_assignment_is_refused_like_the_file,
         more_environments_than_fit_are_refused_with_the_number_that_fits, a_gpu_that_is_not_there_is_said_so,
         a_machine_without_a_compiler_is_told_what_to_install, inspect_shows_what_the_engine_made_of_a_file, a_path_and_a_name_find_the_same_environment,
         an_assignment_does_what_the_file_does_and_goes_before_it, bench_prints_a_row_for_each_environment_count_and_kind,
         plugins_are_listed_with_what_they_offer, training_cartpole_on_the_cpu_solves_it, a_run_leaves_its_settings_its_source_and_its_metrics,
         a_seed_repeats_a_run, runs_without_a_directory_are_numbered, an_interrupt_ends_a_run_in_order]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', type=Path, required=True)
    parser.add_argument('--build', type=Path, required=True)
    options = parser.parse_args()
    options.root, options.build = options.root.resolve(), options.build.resolve()
    counts = {'ok': 0, 'FAILED': 0, 'skipped:': 0}
    with tempfile.TemporaryDirectory(prefix='nacelle-tools-') as folder:
        bench = Bench(options, folder)
        for test in TESTS:
            word, more = 'ok', ''
            try:
                test(bench)
            except Skip as reason:
                word, more = 'skipped:', f': {reason}'
            except (AssertionError, OSError, ValueError, KeyError, StopIteration, subprocess.TimeoutExpired) as error:
                word, more = 'FAILED', '\n    ' + (str(error) or repr(error)).replace('\n', '\n    ')
            counts[word] += 1
            print(word, test.__name__.replace('_', ' ') + more, flush=True)
    print(f'{counts["ok"]} passed, {counts["FAILED"]} failed, {counts["skipped:"]} skipped')
    return 1 if counts['FAILED'] else 0


raise SystemExit(main())
