"""The command line as a user meets it: what it prints, where, and how it ends."""
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import cases
from bench import CPU, LONGEST, Skip, case, main, plain_only, setting


@case
def every_command_explains_itself(bench):
    whole = bench.good('--help')
    for command in ('new', 'train', 'resume', 'eval', 'inspect', 'draw', 'bench', 'check', 'plugins'):
        assert command in whole, whole
        text = bench.good(command, '--help')
        assert f'nacelle {command}' in text and '--json' in text, text
    assert re.fullmatch(r'nacelle \d+\.\d+\.\d+\n', bench.good('--version'))


@case
def a_wrong_command_line_ends_with_2(bench):
    for line in cases.WRONG_LINES.split('\n')[1:-1]:
        result = bench.run(*line.split())
        assert result.status == 2 and result.out == '' and '--help' in result.err, result


@case
def a_word_that_a_command_does_not_know_is_answered_with_the_one_that_is_meant(bench):
    for line, said in cases.UNKNOWN_WORDS.items():
        result = bench.run(*line.split())
        assert result.status == 2 and result.err.split('\n')[0] == said, result
    assert bench.run().err.startswith('nacelle: which command? (there is: new, train, '), bench.run()
    hidden = bench.run('watch', 'cartpole', '--insid', '3')
    assert '--inside' not in hidden.err, hidden


@case
def an_environment_that_is_not_there_is_answered_with_what_there_is(bench):
    for name, pattern in cases.NAMES.items():
        bench.refused(pattern, 'inspect', name)


@case
def a_file_that_is_no_environment_is_refused_in_one_line(bench):
    for name, (content, pattern) in cases.FILES.items():
        path = bench.write(f'bad/{name}.cu', content if isinstance(content, bytes) else bench.cartpole(content))
        bench.refused(rf'.*bad/{name}\.cu{pattern}', 'inspect', path, *CPU)


@case
def a_configuration_is_refused_with_its_file_and_path(bench):
    for name, (text, pattern) in cases.SETTINGS.items():
        path = bench.write(f'bad/{name}.json', text)
        bench.refused(rf'.*bad/{name}\.json{pattern}', 'train', 'cartpole', path, '--out', 'refused', *CPU)
    bench.refused(r'nowhere\.json: does not exist', 'train', 'cartpole', 'nowhere.json', '--out', 'refused')
    bench.refused(r'\.: is a directory', 'train', 'cartpole', '.', '--out', 'refused')
    assert not (bench.folder / 'refused').exists()


@case
def a_learner_and_a_sink_are_refused_by_their_names(bench):
    for name, (text, pattern) in cases.PLUGIN_SETTINGS.items():
        path = bench.write(f'bad/{name}.json', text)
        bench.refused(pattern, 'train', 'cartpole', path, '--out', 'refused', *CPU)


@case
def an_assignment_is_refused_like_the_file(bench):
    for assignment, pattern in cases.ASSIGNMENTS.items():
        bench.refused(pattern, 'inspect', 'cartpole', *CPU, '--set', assignment)


@case
def check_blames_the_configuration_and_not_the_environment(bench):
    for assignment, pattern in {**cases.ASSIGNMENTS, **cases.MORE_ASSIGNMENTS}.items():
        bench.refused(pattern, 'check', 'cartpole', *CPU, '--set', assignment)


@case
def a_constant_may_be_true_or_false(bench):
    def told(value):
        [one] = bench.lines('inspect', 'tag_gridworld', *CPU, *setting(env__count=2, env__constants__observe_all=value))
        return {key: one[key] for key in ('observation_width', 'constants')}

    assert told('false') == told('0') != told('true') == told('1')
    assert told('false')['observation_width'] == 6, told('false')


@case
def inspect_shows_the_groups_and_the_policies_of_a_team(bench):
    [swarm] = bench.lines('inspect', 'pursuit_swarm', *CPU, *setting(env__count=2, env__constants__preys=40))
    assert [(one['name'], one['agents']) for one in swarm['groups']] == [('predator', 32), ('prey', 40)], swarm
    assert [(one['name'], one['agents']) for one in swarm['policies']] == [('predator', 32), ('prey', 40)], swarm
    assert swarm['agents'] == 72 and swarm['threads_per_environment'] == 1 and swarm['shared_bytes_per_block'] == 0
    constants = swarm['constants']
    assert (constants['predators'], constants['preys'], constants['time_limit']) == (32, 40, 500), constants
    assert constants['grid'] == 'computed: grid_for(predators + preys)', constants
    [tag] = bench.lines('inspect', 'tag_gridworld', *CPU, *setting(env__count=2))
    assert [(one['name'], one['agents']) for one in tag['policies']] == [('tagger', 4), ('runner', 1)], tag
    assert tag['constants']['observe_all'] is True, tag
    text = bench.good('inspect', 'pursuit_swarm', *CPU)
    for line in (r'  predator +32 agents, 41 numbers observed', r'  prey +224 agents, 41 numbers observed',
                 r'  grid +computed: grid_for\(predators \+ preys\)', r'each environment on one thread of the CPU'):
        assert re.search(f'^{line}$', text, re.MULTILINE), text
    assert 'groups' not in bench.good('inspect', 'cartpole', *CPU)


@case
def a_learner_for_one_agent_refuses_a_team_with_what_there_is(bench):
    pattern = r"random_search: TagGridworld is a team of 5 agents, .* a team needs a learner of its own, .*'nacelle plugins'.*"
    bench.refused(pattern, 'train', 'tag_gridworld', *CPU, *setting(env__count=64, learner__name='random_search'), '--out',
                  'refused_team')
    assert not (bench.folder / 'refused_team').exists()


@case
def bench_counts_the_steps_of_every_agent(bench):
    quick = (*CPU, '--repetitions', '2', '--graph-steps', '3', '--rollout-steps', '4', '--envs', '32')
    rows = bench.lines('bench', 'cartpole', 'tag_gridworld', 'pursuit_swarm', *quick)
    assert [row['agents'] for row in rows] == [1, 1, 5, 5, 256, 256], rows
    for row in rows:
        assert abs(row['agent_steps_per_second'] / (row['agents'] * row['steps_per_second']) - 1) < 1e-9, row
    text = bench.good('bench', 'tag_gridworld', *quick)
    assert re.search(r'^environment +kind +envs +agents +steps .*agent steps/s', text, re.MULTILINE), text


@case
def more_environments_than_fit_are_refused_with_the_number_that_fits(bench):
    found = re.search(r'^MemAvailable: +(\d+) kB$', Path('/proc/meminfo').read_text(), re.MULTILINE)
    if found and int(found[1]) > 64 << 20:
        raise Skip('a billion environments fit here')
    path = bench.write('tiny.json', '{"env": {"count": 1000000000}}')
    bench.refused(cases.TOO_MANY, 'inspect', 'cartpole', *CPU, '--config', path)
    bench.refused(cases.TOO_MANY, 'inspect', 'cartpole', *CPU, *setting(env__count=1000000000))


@case
def a_gpu_that_is_not_there_is_said_so(bench):
    if bench.run('inspect', 'cartpole', '--backend', 'cuda').status == 0:
        raise Skip('there is a GPU')
    bench.refused(r'(cuda|NVRTC).*: .{10,}', 'inspect', 'cartpole', '--backend', 'cuda')
    # Nobody insisted: the CPU takes over, and the reason is on the screen.
    text = bench.good('inspect', 'cartpole')
    assert re.search(r'^on cpu: .*(no GPU|the GPU is not used): .{5,}$', text, re.MULTILINE), text


@case
def a_machine_without_a_compiler_is_told_what_to_install(bench):
    inspect, fresh = ('inspect', 'cartpole', *CPU), str(bench.folder / 'fresh')
    for path in (str(bench.folder / 'empty'), ''):
        bench.refused(cases.NO_COMPILER, *inspect, PATH=path, CXX=None, XDG_CACHE_HOME=fresh)
    bench.refused(r'host backend: no C\+\+ compiler: tried \$CXX \(/nowhere/c\+\+\), .*', *inspect,
                  PATH=str(bench.folder / 'empty'), CXX='/nowhere/c++', XDG_CACHE_HOME=fresh)


@case
def inspect_shows_what_the_engine_made_of_a_file(bench):
    text = bench.good('inspect', 'cartpole', *CPU)
    for line in (r'  gravity +9\.8', r'  action\.push +one of 2', r'  obs +f32 +\[512, 4\] +8192 bytes'):
        assert re.search(f'^{line}$', text, re.MULTILINE), text
    [told] = bench.lines('inspect', 'cartpole', *CPU)
    assert (told['environment'], told['envs'], told['time_limit'], told['from_cache']) == ('CartPole', 512, 500, True)
    assert told['actions'] == [{'name': 'action.push', 'count': 1, 'choices': 2}]
    arrays = {one['name']: (one['type'], one['shape']) for one in told['arrays']}
    assert arrays['state.theta'] == ('f32', [512]) and arrays['obs'] == ('f32', [512, 4])
    assert arrays['terminated'] == ('b8', [512])
    [mazes] = bench.lines('inspect', 'mazes', *CPU, *setting(env__count=3))
    assert mazes['parameters']['mazes'] == 'table'
    assert {'name': 'obs.image', 'type': 'u8', 'shape': [3, 9, 9], 'bytes': 243} in mazes['arrays']


@case
def a_path_and_a_name_find_the_same_environment(bench):
    def told(environment):
        [one] = bench.lines('inspect', environment, *CPU)
        return {key: value for key, value in one.items() if key not in ('compile_milliseconds', 'from_cache')}

    assert told('pendulum') == told('env_sources/pendulum.cu') == told(bench.folder / 'env_sources' / 'pendulum.cu')


@case
def an_assignment_does_what_the_file_does_and_goes_before_it(bench):
    def parameters(*arguments):
        [told] = bench.lines('inspect', 'cartpole', *CPU, *arguments)
        return told['envs'], told['parameters'], told['arrays']

    path = bench.write('given.json', '{"env": {"count": 7, "params": {"gravity": 3.5, "force": {"uniform": [1, 2]}}}}')
    by_file = parameters('--config', path)
    assert by_file[0] == 7 and by_file[1]['gravity'] == 3.5
    assert {'name': 'param.force', 'type': 'f32', 'shape': [7], 'bytes': 28} in by_file[2]
    assert by_file == parameters(*setting(env__count=7, env__params__gravity=3.5, env__params__force='{"uniform":[1,2]}'))
    both = parameters('--config', path, *setting(env__count=9))
    assert both[0] == 9 and both[1] == by_file[1]


@case
def bench_prints_a_row_for_each_environment_count_and_kind(bench):
    quick = (*CPU, '--repetitions', '2', '--graph-steps', '3', '--rollout-steps', '4')
    rows = bench.lines('bench', 'cartpole', 'pendulum', '--envs', '64,128', *quick)
    assert [(row['environment'], row['envs'], row['kind']) for row in rows] == [
        (name, envs, kind) for name in ('CartPole', 'Pendulum') for envs in (64, 128) for kind in ('step', 'rollout')]
    for row in rows:
        assert 0 < row['slowest'] <= row['steps_per_second'] <= row['fastest'] and row['bytes_per_step'] > 0, row
    steps = ('bench', '--envs', '640', '--kind', 'step', *quick)
    assert [row['kind'] for row in bench.lines(*steps)] == ['step']
    assert len(bench.good('bench', '--envs', '64', *quick).splitlines()) == 4
    # The same work leaves the same observations, whatever the number of threads.
    assert len({bench.lines(*steps, '--threads', threads)[0]['checksum'] for threads in (1, 2, 3)}) == 1


# Trainings that take milliseconds.
TINY = (*CPU, '--repetitions', '2', *setting(env__count=32, learner__horizon=8))


@case
def bench_measures_training_as_it_is_configured(bench):
    given = bench.write('given.json', '{"learner": {"name": "ppo", "epochs": 3, "minibatches": 2}, '
                                      '"policies": {"default": {"hidden": [16], "trunk": "separate"}}}')
    [row] = bench.lines('bench', 'cartpole', given, '--train', *TINY)
    assert (row['environment'], row['kind'], row['envs'], row['steps'], row['repetitions']) == ('CartPole', 'train', 32, 8, 2), row
    assert row['configuration'] == ('ppo 3 epochs x 2 minibatches, [16] tanh separate f32, '
                                    'observations and returns normalised'), row
    assert row['settings']['learner']['epochs'] == 3 and row['settings']['env']['count'] == 32, row
    assert row['settings']['policies']['default']['hidden'] == [16] and row['updates'] == 6, row
    for part in (row, row['rollout'], row['update']):
        assert 0 < part['slowest'] <= part['steps_per_second'] <= part['fastest'], row
    assert row['update']['teraflops'] > 0 and row['seconds'] > 0 and row['iterations'] >= 1, row
    # Its settings are a configuration themselves, and name the environment.
    again = bench.write('again.json', json.dumps(row['settings']))
    [same] = bench.lines('bench', again, '--train', *CPU, '--repetitions', '1')
    assert same['settings'] == row['settings'], same
    counts = [row['envs'] for row in bench.lines('bench', 'cartpole', '--train', *TINY, '--envs', '8,16')]
    assert counts == [8, 16], counts
    heading = bench.good('bench', 'cartpole', '--train', *TINY).splitlines()[1].split()
    assert {'rollout/s', 'update/s', 'TFLOP/s', 'configuration'} <= set(heading), heading


@case
def bench_says_which_training_is_refused_and_measures_the_others(bench):
    wrong = setting(policies__default__squash='true')
    [first, second] = bench.lines('bench', 'cartpole', 'pendulum', '--train', *TINY, *wrong)
    assert 'CartPole has no continuous actions' in first['refused'] and first['environment'] == 'cartpole', first
    assert 'steps_per_second' not in first and second['steps_per_second'] > 0 and 'refused' not in second, (first, second)
    text = bench.good('bench', 'cartpole', 'pendulum', '--train', *TINY, *wrong)
    assert re.search(r'^cartpole +32 refused: ppo: policies\.default\.squash: ', text, re.MULTILINE), text
    # Alone it is what the command has to say, as everywhere.
    bench.refused(r'ppo: .*squash: .*', 'bench', 'cartpole', '--train', *TINY, *wrong)
    bench.refused(r".*cartpole\.json: env\.conut: env has no 'conut' .*", 'bench', 'cartpole', '--train', *setting(env__conut=4), *CPU)


@case
def bench_has_a_standard_table_of_trainings(bench):
    # Misspelt, so that every row is refused before its kernels are compiled, if not for tensor cores on a CPU.
    result = bench.run('bench', '--train', *CPU, *setting(learner__horzion=4), '--json')
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert result.status == 1 and result.err == '' and len(rows) >= 10, result
    for row in rows:
        reason = 'bf16 needs a GPU' if ' bf16' in row['configuration'] else 'horzion: '
        assert reason in row['refused'] and row['backend'] == 'cpu', row
    assert {row['environment'] for row in rows} == {'cartpole', 'tag_gridworld', 'tag_continuous'}, rows
    told = [row['configuration'] for row in rows]
    assert len({(row['environment'], row['envs'], text) for row, text in zip(rows, told)}) == len(rows), told
    for wanted in ('[64, 64] tanh shared bf16', '[64, 64] tanh separate bf16', '[64, 64] tanh shared f32', '[256, 256]'):
        assert any(wanted in text for text in told), wanted
    assert all('4 epochs x 4 minibatches' in text for text in told), told
    bench.refused(r'bench: the standard table has its own numbers of environments \(.*\)', 'bench', '--train', *CPU, '--envs', '64')


@case
@plain_only('a script calls what other cases call')
def results_keep_one_row_for_what_was_measured_twice(bench):
    results = bench.folder / 'results.json'

    def record(*words, status=0):
        command = [sys.executable, '-B', bench.root / 'tests' / 'bench' / 'record.py', '--program', bench.program, results, *words]
        done = subprocess.run(command, cwd=bench.folder, env=bench.settings, capture_output=True, text=True, timeout=LONGEST)
        assert done.returncode == status, done
        return done.stderr, json.loads(results.read_text())['rows']

    training = ('bench', 'cartpole', 'pendulum', '--train', *TINY)
    first = record(*training)[1]
    assert [row['environment'] for row in first] == ['CartPole', 'Pendulum'], first
    assert all(re.fullmatch(r'\d{4}-\d\d-\d\d', row['date']) and row['kind'] == 'train' for row in first), first
    record('bench', 'cartpole', '--envs', '64', *CPU, '--repetitions', '2', '--kind', 'step')
    # Two rows make way for fresh ones, of which one is refused and leaves what was there.
    said, rows = record(*training, *setting(policies__default__squash='true'))
    assert 'cartpole: ppo' in said and 'refused: ' in said, said
    assert [(row['environment'], row['kind']) for row in rows] == [('CartPole', 'train'), ('Pendulum', 'train'), ('CartPole', 'step')], rows
    assert rows[0] == first[0] and rows[1]['seconds'] != first[1]['seconds'], rows


@case
def plugins_are_listed_with_what_they_offer(bench):
    listed = [one for one in bench.lines('plugins') if 'id' in one]
    offers = {offer['kind'] + ' ' + offer['name'] for one in listed for offer in one['offers']}
    assert {'sink/1 jsonl', 'sink/1 csv', 'sink/1 tensorboard', 'hook/1 levels', 'learner/1 ppo', 'learner/1 a2c',
            'learner/1 random_search'} <= offers, offers
    bench.write('refused_plugins/nonsense.so', 'no library')
    [first, *_] = bench.lines('plugins', '--folder', 'refused_plugins')
    assert first['path'].endswith('refused_plugins/nonsense.so') and first['refused'] == 'is no shared library', first
    text = bench.good('plugins', '--folder', 'refused_plugins')
    assert 'nonsense.so\n  refused: is no shared library\n' in text and 'offers sink/1 csv\n' in text, text


@case
@plain_only('it trains to the end; shorter runs take the same paths')
def training_cartpole_on_the_cpu_solves_it(bench):
    *progress, result = bench.lines('train', 'cartpole', *CPU, '--seed', '1', '--out', 'solved')
    assert result['kind'] == 'result' and result['solved'] and not result['interrupted'], result
    assert result['mean_length'] >= 480 and result['episodes'] == 1000 and result['backend'] == 'cpu', result
    assert progress and [line['iteration'] for line in progress] == list(range(1, len(progress) + 1)), progress
    assert progress[-1]['evaluation.return'] >= 490 and result['steps'] == progress[-1]['step'] < 600000, result
    assert {'loss.policy', 'loss.value', 'entropy', 'kl', 'explained_variance'} <= progress[-1].keys(), progress[-1]


@case
@plain_only('it trains to the end; shorter runs take the same paths')
def a_search_over_linear_policies_solves_cartpole_too(bench):
    # What cartpole.json recommends for its own learner is not for this one.
    search = setting(learner__name='random_search', env__count=4096, run__total_steps=20000000, solved__return=475,
                     solved__episodes=100)
    *_, result = bench.lines('train', 'cartpole', *CPU, *search, '--seed', '1', '--out', 'searched')
    assert result['solved'] and result['mean_length'] >= 450 and result['steps'] <= 20000000, result
    kept = json.loads((bench.folder / 'searched' / 'config.json').read_text())
    assert kept['learner']['name'] == 'random_search' and 'horizon' not in kept['learner'], kept
    assert not kept.get('policies'), kept


@case
def a_team_learns_with_a_network_for_each_of_its_policies(bench):
    small = setting(learner__name='ppo', learner__horizon=8, env__count=16, run__total_steps=512, run__evaluate_every=0,
                    policies__runner__hidden='[16]')
    *progress, result = bench.lines('train', 'tag_gridworld', *CPU, *small, '--episodes', '4', '--out', 'team')
    assert result['steps'] == 512 and result['episodes'] == 4, result
    assert {'tagger.loss.policy', 'runner.loss.policy', 'tagger.learning_rate'} <= progress[-1].keys(), progress[-1]
    policies = json.loads((bench.folder / 'team' / 'config.json').read_text())['policies']
    assert (policies['tagger']['hidden'], policies['runner']['hidden']) == ([64, 64], [16]), policies


def short(bench):
    """A run of seven iterations and without success: how long one is, and the words for it."""
    envs = 16 if bench.sanitized else 256
    words = setting(env__count=envs, learner__horizon=128, run__total_steps=200000 * envs // 256, solved__return=1000, solved__episodes=50)
    return envs * 128, (*CPU, '--episodes', '10', *words)


def best_steps(out):
    return json.loads((out / 'checkpoints' / 'best.json').read_text())['steps']


@case
def a_run_leaves_its_settings_its_source_and_its_metrics(bench):
    path = bench.write('run.json', '{"seed": 3, "run": {"sinks": ["jsonl", "csv"]}}')
    iteration, words = short(bench)
    text = bench.good('train', 'cartpole', path, *words, '--out', 'left')
    assert len(text.splitlines()) == 2, text        # no terminal: the sum alone
    assert re.search(rf'^Ended after {7 * iteration} steps: return .* over 10 episodes', text, re.MULTILINE), text
    out = bench.folder / 'left'
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob('*') if path.is_file())
    kept_steps = [number * iteration for number in (5, 6, 7)]
    assert files == sorted([f'checkpoints/best-step-{best_steps(out):015}.safetensors'] +
                           [f'checkpoints/step-{step:015}.{kind}' for step in kept_steps for kind in ('json', 'safetensors')] +
                           ['checkpoints/best.json', 'config.json', 'metrics.csv', 'metrics.jsonl', 'source/0/cartpole.cu']), files
    source = (bench.root / 'env_sources' / 'cartpole.cu').read_bytes()
    assert (out / 'source' / '0' / 'cartpole.cu').read_bytes() == source
    kept = json.loads((out / 'config.json').read_text())
    assert kept['seed'] == 3 and kept['env']['count'] == iteration // 128 and kept['learner']['name'] == 'ppo', kept
    assert kept['learner']['horizon'] == 128 and kept['learner']['learning_rate'] == {'linear': [0.002, 0]}, kept
    assert kept['policies']['default']['hidden'] == [64, 64], kept
    assert kept['solved'] == {'return': 1000, 'episodes': 50}, kept
    metrics = [json.loads(line) for line in (out / 'metrics.jsonl').read_text().splitlines()]
    assert [line['step'] for line in metrics] == [number * iteration for number in range(1, 8)], metrics
    assert all(line['episode.length'] > 0 for line in metrics), metrics
    table = (out / 'metrics.csv').read_text().splitlines()
    assert len(table) == 8 and table[0].startswith('step,') and table[0].count(',') == table[1].count(','), table
    assert kept['env']['params']['gravity'] == 9.8 and kept['env']['strict'] is False, kept
    total = kept['run']['total_steps']
    assert 6 * iteration < total <= 7 * iteration, kept
    assert kept['run'] == {'total_steps': total, 'evaluate_every': 1, 'report_every': 'auto', 'checkpoint_every': total // 10,
                           'keep': 3, 'sinks': ['jsonl', 'csv']}, kept
    # What is kept is a configuration itself.
    bench.good('train', 'cartpole', 'left/config.json', *CPU, '--out', 'left_again', '--episodes', '10')


@case
def a_seed_repeats_a_run(bench):
    def metrics(seed, threads):
        lines = bench.lines('train', 'cartpole', *short(bench)[1], '--seed', seed, '--threads', threads, '--out',
                            f'seed-{seed}-{threads}')
        return [{key: value for key, value in line.items() if 'second' not in key and key != 'out'} for line in lines]

    assert metrics(5, 1) == metrics(5, 3) != metrics(6, 1)


@case
def runs_without_a_directory_are_numbered(bench):
    for number in (1, 2):
        text = bench.good('train', 'cartpole', *short(bench)[1])
        assert f'results in runs/cartpole-{number}' in text, text
        assert (bench.folder / 'runs' / f'cartpole-{number}' / 'config.json').exists()


@case
def an_interrupt_ends_a_run_in_order(bench):
    endless = setting(env__count=64, run__total_steps=9000000000, solved__return=1000)
    command = [bench.program, 'train', 'cartpole', *CPU, *endless, '--json', '--out', 'stopped', '--episodes', '2']
    with subprocess.Popen(command, cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        first = json.loads(running.stdout.readline())
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=LONGEST)
    result = json.loads(out.splitlines()[-1])
    assert first['kind'] == 'progress' and running.returncode == 0 and err == '', err
    assert result['kind'] == 'result' and result['interrupted'] and not result['solved'], result
    assert (bench.folder / 'stopped' / 'metrics.jsonl').read_text().endswith('}\n')


raise SystemExit(main())
