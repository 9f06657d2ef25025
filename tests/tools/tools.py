"""The command line as a user meets it: what it prints, where, and how it ends."""
import re
from pathlib import Path

import cases
from bench import CPU, Skip, case, main, setting


@case
def every_command_explains_itself(bench):
    whole = bench.good('--help')
    for command in ('new', 'train', 'resume', 'eval', 'match', 'inspect', 'runs', 'plot', 'compare', 'sweep', 'draw', 'bench', 'check', 'plugins'):
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
def what_is_no_assignment_is_a_wrong_command_line(bench):
    for assignment, said in cases.NO_ASSIGNMENTS.items():
        for command in (['train', 'cartpole'], ['resume', 'nothing'], ['eval', 'nothing'], ['inspect', 'cartpole'], ['match', 'a', 'b']):
            result = bench.run(*command, '--set', 'env.count=2', '--set', assignment)
            assert result.status == 2 and result.out == '' and result.err.split('\n')[0] == said, result


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
    # A window of 9 x 9 cells counts, too.
    [mazes] = bench.lines('inspect', 'mazes', *CPU, *setting(env__count=2))
    assert mazes['observation_width'] == 83, mazes


@case
def what_would_be_lost_without_a_word_is_refused(bench):
    tiny = ('train', 'cartpole', *CPU, *setting(env__count=8, run__total_steps=64), '--out', 'lost')
    bench.refused(r'.*run\.sinks\[1\]: writes the file of sinks\[0\], metrics\.csv \(a sink that is named twice has two files: .*\)',
                  *tiny, *setting(run__sinks='["csv", {"name": "csv", "file": "./metrics.csv"}]'))
    bench.refused(r'.*env\.params\.gravity: 1e-50 does not fit in f32', *tiny, *setting(env__params__gravity='1e-50'))
    assert bench.run(*tiny, *setting(env__params='{"force":5,"force":6}')).status == 2
    bench.refused(r'--set env\.source=pendulum: the environment is named already: cartpole \(one of both\)', *tiny, *setting(env__source='pendulum'))
    told = bench.run(*tiny, *setting(learner__frob=1))
    assert told.status == 1 and told.err.count('minibatches') == told.err.count('ordered_sums') == 1, told
    assert not (bench.folder / 'lost').exists()


@case
def a_learner_for_one_agent_refuses_a_team_with_what_there_is(bench):
    pattern = r"random_search: TagGridworld is a team of 5 agents, .* a team needs a learner of its own, .*'nacelle plugins'.*"
    bench.refused(pattern, 'train', 'tag_gridworld', *CPU, *setting(env__count=64, learner__name='random_search'), '--out',
                  'refused_team')
    assert not (bench.folder / 'refused_team').exists()


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


raise SystemExit(main())
