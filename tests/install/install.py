"""An installed tree works wherever it lies: the program, applications and plugins that are built against it.

The build is installed into a folder and moved, and the blocks of docs/embedding.md are built there in a home without
files. Nothing of the source tree or of the build is named."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import debian

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'docs'))
from blocks import blocks_of     # noqa: E402

CASES = []
TRAIN = ['train', 'cartpole', '--backend', 'cpu', '--episodes', '20', '--out', 'run']
SETTINGS = {'learner.name': 'random_search', 'learner.steps': 50, 'env.count': 32, 'solved.return': 'null', 'run.total_steps': 3200,
            'run.sinks': '["jsonl", "best"]'}


def case(test):
    CASES.append(test)
    return test


class Skip(Exception):
    pass


class Tree:
    """What is installed, after it was moved, and a folder to work in."""

    def __init__(self, root, build, compiler, folder):
        self.root, self.build, self.compiler, self.folder = root, build, compiler, folder
        self.prefix = folder / 'moved'
        staged, home = folder / 'staged', folder / 'home'
        self.run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', staged])
        built_with = json.loads((build / 'meson-info/intro-buildoptions.json').read_text())
        option = {one['name']: one['value'] for one in built_with}
        shutil.move(staged / option['prefix'].lstrip('/'), self.prefix)
        shutil.rmtree(staged)
        self.torch = option['torch']
        self.libraries = self.prefix / option['libdir']
        home.mkdir()
        self.settings = {**os.environ, 'HOME': str(home), 'PATH': f'{self.prefix / "bin"}:{os.environ["PATH"]}',
                         'PKG_CONFIG_PATH': str(self.libraries / 'pkgconfig')}
        self.settings.setdefault('XDG_CACHE_HOME', str(folder / 'cache'))
        self.settings.pop('LD_LIBRARY_PATH', None)

    def files(self):
        """Below the prefix, with `lib/any` for the folder of libraries."""
        for path in sorted(self.prefix.rglob('*')):
            if path.is_symlink() or path.is_file():
                inside = path.is_relative_to(self.libraries)
                yield f'lib/any/{path.relative_to(self.libraries)}' if inside else str(path.relative_to(self.prefix))

    def project(self, name):
        """A folder with the files of docs/embedding.md and the plugin of sdk/plugins.md."""
        project = self.folder / name
        project.mkdir()
        for block in blocks_of((self.root / 'docs/embedding.md').read_text()):
            if 'file' in block.values:
                (project / block.values['file']).write_text(block.text)
        [best] = [block for block in blocks_of((self.root / 'sdk/plugins.md').read_text()) if block.values.get('name') == 'best']
        (project / 'best.cpp').write_text(best.text)
        return project

    def run(self, command, cwd=None, **changed):
        settings = {**getattr(self, 'settings', os.environ), **changed}
        done = subprocess.run(command if isinstance(command, str) else [str(part) for part in command], cwd=cwd or self.folder,
                              env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              shell=isinstance(command, str))
        assert done.returncode == 0, f'{command}\nended with {done.returncode}\n{done.stdout}'
        return done.stdout


def application_works(tree, program):
    """It runs elsewhere, by its own path alone."""
    elsewhere = tree.folder / f'from {program.parent.name}'
    elsewhere.mkdir(exist_ok=True)
    told = tree.run([program], cwd=elsewhere)
    assert told == '256 environments on the cpu\n' or told == '256 environments on the cuda\n', told


def plugin_works(tree, plugin):
    [mine] = [line for line in listed_plugins(tree, '--folder', plugin.parent) if line.get('id') == 'example.best']
    assert mine['path'] == str(plugin), mine


def listed_plugins(tree, *more):
    return [json.loads(line) for line in tree.run(['nacelle', 'plugins', '--json', *more]).splitlines()]


@case
def the_program_finds_its_own_plugins_and_environments_after_a_move(tree):
    paths = {Path(line['path']) for line in listed_plugins(tree)}
    assert {path.name for path in paths} >= {'ppo.so', 'a2c.so', 'random_search.so', 'csv.so', 'jsonl.so'}, paths
    assert {path.parent for path in paths} == {tree.libraries / 'nacelle/plugins'}, paths
    link = tree.folder / 'linked'
    link.symlink_to(tree.prefix / 'bin/nacelle')
    picture = tree.run([link, 'draw', 'pendulum', '--backend', 'cpu', '--json'])
    assert json.loads(picture)['out'] == 'pendulum.svg', picture
    [told] = [json.loads(line) for line in tree.run(['nacelle', 'inspect', 'cartpole', '--backend', 'cpu', '--json']).splitlines()]
    assert str(tree.prefix / 'share/nacelle/env_sources/cartpole.cu') in json.dumps(told), told


@case
def folders_beside_an_installed_program_are_not_taken_for_those_of_a_build(tree):
    beside = [tree.prefix / 'plugins', tree.folder / 'env_sources']
    for folder in beside:
        folder.mkdir()
    shutil.copy(tree.libraries / 'nacelle/plugins/csv.so', beside[0] / 'csv.so')
    (beside[1] / 'stray.cu').write_text('')
    elsewhere = tree.folder / 'nowhere'
    elsewhere.mkdir()
    done = subprocess.run([tree.prefix / 'bin/nacelle', 'inspect', 'zzz'], cwd=elsewhere, env=tree.settings, capture_output=True, text=True)
    assert done.returncode == 1 and 'cartpole' in done.stderr and 'stray' not in done.stderr, done.stderr
    assert not [line for line in listed_plugins(tree) if Path(line['path']).parent == beside[0]]
    for folder in beside:
        shutil.rmtree(folder)


@case
def an_application_and_a_plugin_are_built_by_cmake(tree):
    if not shutil.which('cmake'):
        raise Skip('CMake is not installed')
    project = tree.project('with_cmake')
    tree.run(['cmake', '-B', 'out', f'-DCMAKE_PREFIX_PATH={tree.prefix}', f'-DCMAKE_CXX_COMPILER={tree.compiler}'], cwd=project)
    tree.run(['cmake', '--build', 'out'], cwd=project)
    application_works(tree, project / 'out/app')
    plugin_works(tree, project / 'out/best.so')
    [version] = (tree.libraries / 'cmake/nacelle').glob('*Version.cmake')
    one, two, three = map(int, tree.run(['nacelle', '--version']).split()[-1].split('.'))
    for asked, fits in {f'{one}.{two}': True, f'{one}.{two}.{three}': True, f'{one}.{two}.{three + 1}': False,
                        f'{one}.{two + 1}': False, f'{one + 1}': False}.items():
        script = f'set(PACKAGE_FIND_VERSION {asked})\ninclude({version})\nmessage(STATUS "${{PACKAGE_VERSION_COMPATIBLE}}")\n'
        (project / 'asks.cmake').write_text(script)
        assert ('TRUE' in tree.run(['cmake', '-P', 'asks.cmake'], cwd=project)) == fits, asked


@case
def an_application_and_a_plugin_are_built_by_meson(tree):
    project = tree.project('with_meson')
    tree.run(['meson', 'setup', 'out'], cwd=project, CXX=tree.compiler)
    tree.run(['meson', 'compile', '-C', 'out'], cwd=project)
    application_works(tree, project / 'out/app')
    plugin_works(tree, project / 'out/best.so')


@case
def an_application_and_a_plugin_are_built_by_pkg_config(tree):
    project = tree.project('with_pkg_config')
    commands = [block.text for block in blocks_of((tree.root / 'docs/embedding.md').read_text()) if block.words == ['sh', 'installed']]
    assert commands
    for text in commands:
        tree.run('set -e\n' + text, cwd=project)
    application_works(tree, project / 'app')
    plugin_works(tree, project / 'best.so')
    # A plugin of others takes part in a run.
    settings = [word for key, value in SETTINGS.items() for word in ('--set', f'{key}={value}')]
    tree.run(['nacelle', *TRAIN, *settings, '--plugins', project], cwd=project)
    assert (project / 'run/best.txt').exists() and (project / 'run/metrics.jsonl').exists(), list((project / 'run').iterdir())


@case
def every_call_of_the_library_works_with_strict_warnings(tree):
    flags = tree.run(['pkg-config', '--cflags', '--libs', 'nacelle']).split()
    assert any(str(tree.prefix) in flag for flag in flags) and not any(str(tree.build) in flag for flag in flags), flags
    # The language's version is the program's own choice; one that is too old is told in a line.
    assert not any(flag.startswith('-std') for flag in flags), flags
    old = tree.run(f'{tree.compiler} -std=c++17 -fsyntax-only {Path(__file__).with_name("host.cpp")} {" ".join(flags)} || true')
    assert 'nacelle.hpp needs C++20: compile with -std=c++20' in old, old
    for version in ('c++20', 'c++23'):
        tree.run([tree.compiler, f'-std={version}', '-Wall', '-Wextra', '-Wpedantic', '-Werror', Path(__file__).with_name('host.cpp'),
                  '-o', 'host', *flags])
    plugins = tree.libraries / 'nacelle/plugins'
    print(tree.run([tree.folder / 'host', plugins / 'csv.so', tree.prefix / 'share/nacelle/env_sources/cartpole.cu',
                    plugins / 'random_search.so'], LD_LIBRARY_PATH=str(tree.libraries)), end='')
    # The run that the program left acts from C where there is nothing but the library: no compiler, cache or plugin.
    tree.run(['cc', '-std=c99', '-Wall', '-Wextra', '-pedantic', '-Werror', Path(__file__).with_name('policy.c'), '-o', 'policy',
              *flags])
    elsewhere = tree.folder / 'elsewhere'
    shutil.copytree(tree.folder / 'trained/checkpoints', elsewhere / 'pole/checkpoints')
    print(tree.run([tree.folder / 'policy', 'pole'], cwd=elsewhere, LD_LIBRARY_PATH=str(tree.libraries), PATH='/nonexistent'), end='')


@case
def no_installed_library_looks_into_a_folder_of_the_builder(tree):
    libraries = [path for path in tree.libraries.rglob('*.so*') if not path.is_symlink()]
    assert len(libraries) > 5, libraries
    for path in [tree.prefix / 'bin/nacelle', *libraries]:
        for line in tree.run(['readelf', '-d', path]).splitlines():
            assert not re.search(r'\((RPATH|RUNPATH)\)(?!.*\[\$ORIGIN)', line), (path, line)
    # The user who trains says where LibTorch is, not the plugin.
    if not tree.torch:
        raise Skip('this build has no learners on LibTorch')
    words = ['nacelle', *TRAIN[:-1], 'on-torch', '--quiet', '--set', 'learner.name=torch_ppo', '--set', 'run.total_steps=2000']
    told = tree.run(f'{shlex.join(words)} || true')
    assert "torch.so: cannot be loaded: " in told and "('tools/nacelle torch' installs LibTorch" in told, told
    tree.run(words, NACELLE_TORCH=tree.torch)


@case
def a_build_takes_its_own_plugins_and_not_the_installed_ones(tree):
    lines = [json.loads(line) for line in tree.run([tree.build / 'tools/nacelle', 'plugins', '--json']).splitlines()]
    assert {Path(line['path']).parent for line in lines} == {tree.build / 'plugins', tree.build / 'algorithms'}, lines


@case
def a_folder_that_cannot_be_written_is_refused_before_anything_is_built(tree):
    script = tree.root / 'tools/nacelle'
    for words, status, said in ((['/dev/null/x'], 1, 'nacelle: /dev/null/x cannot be written: /dev/null is no folder of yours; '
                                                     'name one that is: tools/nacelle install ~/.local\n'),
                                (['--frob'], 2, 'usage: tools/nacelle install [FOLDER]\n'), (['one', 'two'], 2, 'usage: ')):
        done = subprocess.run([script, 'install', *words], cwd=tree.folder, capture_output=True, text=True)
        assert done.returncode == status and done.stderr.startswith(said) and done.stdout == '', done
    assert 'uninstall' in tree.run([script, 'install', '--help'])


@case
def the_debian_packages_take_every_installed_file_once(tree):
    found = list(debian.faults(tree.root, list(tree.files())))
    assert not found, '\n'.join(found)


def outcome(test, tree):
    began = time.monotonic()
    try:
        test(tree)
    except Skip as reason:
        return 'skipped:', f': {reason}'
    except (AssertionError, OSError, ValueError, KeyError) as error:
        return 'FAILED', '\n    ' + (str(error) or repr(error)).replace('\n', '\n    ')
    return 'ok', f'   {time.monotonic() - began:.1f} s'


def main(root, build, compiler):
    counts = {'ok': 0, 'FAILED': 0, 'skipped:': 0}
    with tempfile.TemporaryDirectory(prefix='nacelle-install-') as folder:
        tree = Tree(Path(root).resolve(), Path(build).resolve(), compiler, Path(folder).resolve())
        for test in CASES[:2]:      # what the second puts there is not there for others
            counts[report(test, outcome(test, tree))] += 1
        with ThreadPoolExecutor(2) as pool:
            for test, told in zip(CASES[2:], pool.map(lambda one: outcome(one, tree), CASES[2:])):
                counts[report(test, told)] += 1
    print(f'{counts["ok"]} passed, {counts["FAILED"]} failed, {counts["skipped:"]} skipped')
    return 1 if counts['FAILED'] else 0


def report(test, told):
    word, more = told
    print(word, test.__name__.replace('_', ' ') + more, flush=True)
    return word


raise SystemExit(main(*sys.argv[1:]))
