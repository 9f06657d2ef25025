"""Names of environments: what lies in the working directory comes first, and what is looked up is said."""
import json
import re
import shutil
import subprocess

from bench import CPU, case, main, setting

QUICK = ('--only', 'host compiler', *CPU)


@case
def new_and_check_agree_about_a_folder_without_env_sources(bench):
    text = bench.good('new', 'pond', '--out', '.')
    assert re.search(r'^nacelle check pond +hold', text, re.M), text
    text = bench.good('check', 'pond', *QUICK)
    assert text.startswith(f'pond  ({bench.folder.resolve()}/pond.cu)\n') and 'pond passes' in text, text
    [told] = bench.lines('inspect', 'pond', *CPU)
    assert told['environment'] == 'Pond', told
    bench.refused(r'pond: is there already: .*/pond\.cu \(.*', 'new', 'pond')
    bench.good('new', 'ponds', '--out', 'elsewhere')


@case
def the_file_that_lies_here_wins_and_one_line_says_so(bench):
    bench.write('cartpole.cu', bench.cartpole([('time_limit = 500', 'time_limit = 7')]))
    here = bench.folder.resolve()
    said = f'cartpole: {here}/cartpole.cu is taken; the other one, {here}/env_sources/cartpole.cu, has to be named by its path\n'
    for words in (('inspect', 'cartpole', '--json', *CPU), ('check', 'cartpole', '--json', *QUICK),
                  ('bench', 'cartpole', '--json', '--envs', '64,128', '--kind', 'step', '--repetitions', '1', '--graph-steps', '2', *CPU),
                  ('watch', 'cartpole', '--json', '--steps', '2', '--pace', '0', *CPU)):
        result = bench.run(*words)
        assert result.status == 0 and result.err == said, result
    [told] = map(json.loads, bench.run('inspect', 'cartpole', '--json', *CPU).out.splitlines())
    assert told['time_limit'] == 7, told
    [told] = bench.lines('inspect', 'env_sources/cartpole.cu', *CPU)
    assert told['time_limit'] == 500, told
    (bench.folder / 'cartpole.cu').unlink()


@case
def what_others_could_have_put_here_is_not_run_by_its_name(bench):
    path = bench.write('lent.cu', bench.cartpole([]))
    path.chmod(0o666)
    place = re.escape(str(path.resolve()))
    bench.refused(rf'{place}: can be written by other users, so that its name alone does not run it \(\./lent\.cu does\)',
                  'inspect', 'lent', *CPU)
    bench.write('asks.json', '{"env": {"source": "lent"}}')
    bench.refused(rf'asks\.json: env\.source: {place}: can be written by other users, .*', 'bench', '--config', 'asks.json', '--envs', '64', *CPU)
    own = bench.write('own.cu', bench.cartpole([]))     # else all that is shipped would be checked
    result = bench.run('check', *QUICK, '--json')
    assert f'{path.resolve()} can be written by other users: lent is not checked\n' in result.err and '"lent"' not in result.out, result
    own.unlink()
    [told] = bench.lines('inspect', './lent.cu', *CPU)
    assert told['environment'] == 'CartPole', told
    path.unlink()


@case
def a_folder_of_environments_is_looked_at_like_the_working_directory(bench):
    own = bench.folder / 'env_sources'
    (own / 'pendulum.cu').chmod(0o666)
    bench.write('env_sources/helper.h', '').chmod(0o666)
    bench.write('env_sources/own.cu', '#include "helper.h"\n' + bench.cartpole([]))
    (own / 'tag_duel.json').chmod(0o666)
    for words in (('inspect', 'pendulum'), ('train', 'pendulum'), ('watch', 'pendulum', '--steps', '1'), ('check', 'pendulum', *QUICK[:2])):
        result = bench.run(*words, *CPU)
        assert result.status == 1 and 'pendulum.cu: can be written by other users, so that its name alone does not run it (env_sources/pendulum.cu does)' in result.err, result
    for name, file in (('own', 'helper.h'), ('tag_duel', 'tag_duel.json')):
        bench.refused(rf'.*/env_sources/{file}: can be written by other users, so that .*', 'inspect', name, *CPU)
    assert bench.lines('inspect', 'env_sources/pendulum.cu', *CPU)[0]['environment'] == 'Pendulum'
    for name in ('own.cu', 'helper.h'):
        (own / name).unlink()
    for name in ('pendulum.cu', 'tag_duel.json'):
        (own / name).chmod(0o644)


@case
def settings_that_others_could_have_put_beside_an_environment_are_not_taken(bench):
    bench.write('mine.cu', bench.cartpole([]))
    bench.write('mine.json', '{"env": {"count": 3}}').chmod(0o666)
    bench.refused(r'.*/mine\.json: can be written by other users, so that its settings are not taken \(--config .*/mine\.json takes them\)', 'inspect', 'mine', *CPU)
    assert bench.lines('inspect', 'mine', '--config', 'mine.json', *CPU)[0]['envs'] == 3
    (bench.folder / 'mine.cu').chmod(0o666)
    assert bench.lines('inspect', './mine.cu', *CPU)[0]['envs'] == 3     # whoever wrote the settings may write the environment, too
    for name in ('mine.cu', 'mine.json'):
        (bench.folder / name).unlink()


@case
def a_table_of_steps_that_others_could_have_put_beside_an_environment_is_not_taken(bench):
    bench.write('mine.cu', bench.cartpole([]))
    table = bench.write('mine.test.json', '{"steps": 3}')
    words = ('check', 'mine', '--only', 'test table', *CPU)
    assert bench.run(*words).status == 1
    table.chmod(0o666)
    result = bench.run(*words)
    assert result.status == 0 and 'mine.test.json can be written by other users' in result.out, result
    for name in ('mine.cu', 'mine.test.json'):
        (bench.folder / name).unlink()


@case
def a_copy_of_the_program_takes_nothing_that_others_could_put_around_it(bench):
    for name in ('tree/build/tools', 'tree/build/meson-info', 'tree/build/plugins', 'tree/env_sources', 'tree/none'):
        (bench.folder / name).mkdir(parents=True)
    tree = bench.folder / 'tree'
    copy = shutil.copy(bench.program, tree / 'build' / 'tools')
    shutil.copy(bench.program.parents[1] / 'plugins' / 'jsonl.so', tree / 'build' / 'plugins' / 'mine.so')
    bench.write('tree/env_sources/pond.cu', bench.cartpole([]))

    def found():
        plugins, known = (subprocess.run([copy, *words], cwd=tree / 'none', capture_output=True, text=True)
                          for words in (('plugins',), ('inspect', 'pond', *CPU)))
        return 'mine.so' in plugins.stdout, known.returncode == 0

    assert found() == (True, True)
    for path, mode, expected in (('build/plugins', 0o1777, (False, True)), ('build/plugins/mine.so', 0o666, (False, True)),
                                 ('env_sources', 0o777, (True, False)), ('env_sources/pond.cu', 0o666, (True, False))):
        usual = (tree / path).stat().st_mode & 0o777
        (tree / path).chmod(mode)
        assert found() == expected, path
        (tree / path).chmod(usual)
    # Who can change the program need not put anything beside it.
    (tree / 'build').chmod(0o777)
    assert found() == (True, True)
    shutil.rmtree(tree)


@case
def an_include_that_others_could_put_there_is_not_waited_for(bench):
    shared = bench.folder / 'shared'
    shared.mkdir()
    bench.write('mine/pond.cu', '#include "../shared/more.h"\n' + bench.cartpole([]))
    shared.chmod(0o777)
    bench.refused(r'.*/shared/more\.h: is not there, and its folder can be written by other users, so that its name alone does not run it .*',
                  'inspect', 'pond', *CPU, cwd=bench.folder / 'mine')
    # A file that is too large to be looked at is not left to the compiler.
    shared.chmod(0o755)
    large = bench.write('shared/more.h', '')
    with large.open('r+b') as file:
        file.truncate((64 << 20) + 1)
    bench.refused(r'.*/shared/more\.h: has more than 64 MiB, and cannot be included', 'inspect', 'pond', *CPU, cwd=bench.folder / 'mine')
    shutil.rmtree(shared)


@case
def settings_are_only_as_open_as_the_environment_beside_them(bench):
    """Both lie in a folder where anybody may add files; only the settings can be written by anybody."""
    folder = bench.folder / 'sticky'
    bench.write('sticky/mine.cu', bench.cartpole([]))
    bench.write('sticky/mine.json', '{"env": {"count": 3}}').chmod(0o666)
    folder.chmod(0o1777)
    bench.refused(r'.*/mine\.json: .*, so that its settings are not taken .*', 'inspect', 'sticky/mine.cu', *CPU)
    (folder / 'mine.json').chmod(0o644)
    assert bench.lines('inspect', 'sticky/mine.cu', *CPU)[0]['envs'] == 3
    shutil.rmtree(folder)


@case
def nothing_of_the_working_directory_is_linked_or_compiled_in(bench):
    """A linker looks for libgcc_s.so.1 where it starts, a compiler for headers and programs where a variable has an empty word."""
    there = bench.folder / 'hostile'
    there.mkdir()
    says = '__attribute__((constructor)) static void ran(void) { std::FILE* file = std::fopen("ran", "w"); if (file) std::fclose(file); }\n'
    bench.write('hostile/stdint.h', '#include_next <stdint.h>\n#ifdef __cplusplus\n#include <cstdio>\n' + says + '#endif\n')
    subprocess.run(['c++', '-x', 'c++', '-', '-c', '-fPIC', '-o', 'libgcc_s.so.1'], cwd=there, input='#include <cstdio>\n' + says, text=True, check=True)
    bench.write('hostile/as', '#!/bin/sh\n: >ran\n').chmod(0o755)
    env = str(bench.folder / 'env_sources' / 'cartpole.cu')
    for number, variables in enumerate(({}, {'CPATH': ':/nowhere'}, {'CPLUS_INCLUDE_PATH': '/nowhere:'}, {'COMPILER_PATH': ':/nowhere'})):
        settings = {**bench.settings, 'XDG_CACHE_HOME': str(bench.folder / f'cache-{number}'), **variables}
        done = subprocess.run([bench.program, 'watch', env, '--steps', '3', '--pace', '0', *CPU], cwd=there, env=settings, capture_output=True, text=True)
        assert done.returncode == 0 and not (there / 'ran').exists(), (variables, done)


@case
def settings_are_named_in_place_of_their_environment(bench):
    bench.write('brisk.json', '{"env": {"source": "cartpole", "count": 8, "params": {"force": 12}}, "run": {"total_steps": 2048}}')
    here = bench.folder.resolve()
    for name in ('brisk', 'brisk.json', './brisk.json'):
        [told] = bench.lines('inspect', name, *CPU)
        assert told['environment'] == 'CartPole' and told['envs'] == 8, told
    quick = (*CPU, '--quiet', '--episodes', '4', *setting(solved__return='null'))
    bench.good('train', 'brisk', *quick)
    run = json.loads((here / 'runs/brisk-1/config.json').read_text())
    assert run['env']['params']['force'] == 12 and run['env']['source'].endswith('/cartpole.cu'), run
    # What a run was made of is a configuration that says whose it is, and makes it again.
    bench.good('train', 'runs/brisk-1/config.json', *quick)
    weights = [next((here / 'runs' / name / 'checkpoints').glob('step-*.safetensors')).read_bytes() for name in ('brisk-1', 'cartpole-1')]
    assert weights[0] == weights[1]
    # With a file of one's own over it; the shipped ones have names, too.
    bench.write('more.json', '{"env": {"count": 16}}')
    [told] = bench.lines('inspect', 'brisk', '--config', 'more.json', *CPU)
    assert told['envs'] == 16, told
    assert [bench.lines('inspect', name, *CPU)[0]['environment'] for name in ('tag_duel', 'rooms_short')] == ['TagGridworld', 'Rooms']
    # Those of another process, too, and below what is given there.
    bench.write('odd.json', '{"env": {"source": "cartpole", "params": {"forze": 1}}}')
    stepped = ('--steps', '3', '--pace', '0', *CPU)
    for words in (('watch', 'odd', *stepped), ('check', 'odd', *QUICK)):
        result = bench.run(*words)
        assert result.status == 1 and f"{here}/odd.json: env.params.forze: CartPole has no parameter 'forze'" in result.out + result.err, result
    for words in (('watch', 'brisk', *stepped), ('check', 'brisk', *QUICK)):
        bench.good(*words)
        result = bench.run(*words, *setting(env__params__farce=13))
        assert result.status == 1 and "has no parameter 'farce'" in result.out + result.err, result
    bench.refused(r"brisks: there is no such environment in .* \(did you mean 'brisk'\?\)", 'train', 'brisks', *CPU)
    bench.refused(rf'{re.escape(str(here))}/more\.json: does not say which environment its settings are for \("env": .*\)', 'train', 'more', *CPU)
    bench.refused(r'nowhere\.json: no such file \(a name, as nowhere, is .*\)', 'train', 'nowhere.json', *CPU)
    bench.refused(r'runs/brisk-1/: is a directory, not an environment \(its config\.json trains the settings of that run again\)', 'train', 'runs/brisk-1/', *CPU)
    result = bench.run('inspect', 'cartpole', '--config', 'env_sources/tag_duel.json', '--json', *CPU)
    assert result.err == 'env_sources/tag_duel.json: its settings are for tag_gridworld, and cartpole is taken\n', result
    # The nearest file of a name is meant, and one line says so.
    bench.write('acrobot.json', '{"env": {"source": "acrobot", "count": 3}}')
    result = bench.run('inspect', 'acrobot', '--json', *CPU)
    assert json.loads(result.out)['envs'] == 3 and result.err.startswith(f'acrobot: {here}/acrobot.json is taken; the other one, '), result
    # What is made has their name.
    bench.good('draw', 'tag_duel', *CPU)
    assert (here / 'tag_duel.svg').exists()
    bench.refused('tag_duel: is there already: .*', 'new', 'tag_duel')
    (here / 'acrobot.json').unlink()
    (here / 'brisk.json').chmod(0o666)
    bench.refused(rf'{re.escape(str(here))}/brisk\.json: can be written by other users, .* \(\./brisk\.json does\)', 'inspect', 'brisk', *CPU)
    for name in ('brisk', 'more', 'odd'):
        (here / f'{name}.json').unlink()


@case
def check_without_names_takes_what_lies_here(bench):
    bench.write('lake.cu', bench.cartpole([]))
    bench.write('lib/half.cu', '')
    bench.write('helper.cu', 'inline int twice(int x) { return 2 * x; }\n')
    result = bench.run('check', *QUICK)
    here = bench.folder.resolve()
    assert result.status == 0 and result.err == f'{here}: no NACELLE_ENV in helper.cu\n', result
    assert result.out.startswith(f'checks what lies in {here}: lake, pond\n\nlake  ({here}/lake.cu)\n'), result
    assert result.out.endswith('\n2 of 2 environments pass\n') and f'pond  ({here}/pond.cu)' in result.out, result
    bench.write('lake.cu', 'NACELLE_ENV(Lake)\n')
    result = bench.run('check', *QUICK)
    assert result.status == 1 and result.out.endswith('\n1 of 2 environments pass; refused: lake\n'), result
    # A folder of environments is the next choice where none lies here.
    (bench.folder / 'lake.cu').unlink()
    (bench.folder / 'pond.cu').unlink()
    for path in (bench.folder / 'env_sources').glob('*.cu'):
        if path.stem != 'pendulum':
            path.unlink()
    result = bench.run('check', *QUICK)
    assert result.status == 0 and result.out.startswith(f'checks what lies in {here}/env_sources: pendulum\n'), result


@case
def a_name_that_is_nowhere_is_answered_with_where_it_was_looked_for(bench):
    here = re.escape(str(bench.folder.resolve()))
    bench.write('river.cu', '')
    for command in ('train', 'inspect', 'check', 'watch', 'draw', 'bench'):
        bench.refused(rf"rivers: there is no such environment in {here}, {here}/env_sources( or|, ).* \(did you mean 'river'\?\)",
                      command, 'rivers', *CPU)


raise SystemExit(main())
