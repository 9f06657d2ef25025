"""The set-up runs no module of the working directory or among temporary files, and installs from PyPI only locked wheels."""
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'tools'))

from bench import Skip, case, main  # noqa: E402

# Modules that pip, venv, Meson and the set-up import.
STRANGERS = ('argparse', 'ensurepip', 'importlib', 'json', 'logging', 'numpy', 'os', 'pip', 'subprocess', 'sysconfig', 'typing', 'venv')
PYTHON = re.compile(r'(?:python3|python"|"\$installer")(?= -)')


def hostile_folder(bench, name):
    """A folder of modules that write their names into a file when somebody imports them."""
    folder = bench.folder / name
    folder.mkdir()
    for name in STRANGERS:
        package = folder / name
        package.mkdir(exist_ok=True)
        for file in ('__init__.py', '__main__.py'):
            (package / file).write_text(f"open({str(bench.folder / 'ran')!r}, 'a').write('{name} ')\nraise SystemExit(1)\n")
    return folder


def those_that_ran(bench):
    told = bench.folder / 'ran'
    names = told.read_text().split() if told.exists() else []
    told.unlink(missing_ok=True)
    return names


def shell(bench, commands, root, folder, **changed):
    """Runs functions of the set-up. PyPI is out of reach, so that nothing is installed."""
    scripts = sorted((bench.root / 'tools/build').glob('*.sh'), key=lambda path: path.name != 'build.sh')
    files = '\n'.join(f'. {shlex.quote(str(path))}' for path in scripts)
    settings = {**os.environ, 'XDG_DATA_HOME': str(bench.folder / 'data'), 'PIP_NO_INDEX': '1', 'PIP_FIND_LINKS': '', **changed}
    done = subprocess.run(['sh', '-uc', f'root={shlex.quote(str(root))}\n{files}\nlocks={bench.root}/tools/build/locks\n{commands}'], cwd=folder,
                          env=settings, capture_output=True, text=True, timeout=500)
    return done.stdout + done.stderr


@case
def no_module_of_the_working_directory_or_among_temporary_files_runs(bench):
    folder, temporary = hostile_folder(bench, 'hostile'), hostile_folder(bench, 'temporary')
    # The planted modules run without -I.
    subprocess.run(['python3', '-c', 'import json'], cwd=folder)
    assert those_that_ran(bench) == ['json']
    project = bench.folder / 'project'
    project.mkdir()
    (project / 'meson.build').write_text("project('one')\npython = import('python').find_installation()\n")
    said = shell(bench, '''
toolkit() { :; }
may_install() { return 1; }
has_gpu() { return 1; }
wants_python=yes
missing_packages
install_test_packages
has_python_headers
(install_python)
test -x "$python_folder/bin/python" && echo made
(test_python)
(make_adapters)
(download_torch "$python_folder/torch")
(download_nccl "$python_folder/nccl")
"$(meson_command)" --version
run_meson setup "$root/build" "$root"
run_meson configure "$root/build" -Dprefix=/one
root=${locks%/tools/build/locks}
run_tests --help
''', project, folder, TMPDIR=str(temporary))
    assert those_that_ran(bench) == [], said
    assert {path.name for path in temporary.iterdir()} == set(STRANGERS), list(temporary.iterdir())
    # Each function began, and pip found none of its packages.
    assert 'made\n' in said and said.count('No matching distribution') >= 5, said
    assert (project / 'build/build.ninja').exists() and 'usage: run_tests.py' in said, said


@case
def every_call_of_python_is_isolated(bench):
    scripts = [bench.root / 'tools/nacelle', *sorted((bench.root / 'tools/build').glob('*.sh'))]
    lines = [(path.name, line.strip(), found.end()) for path in scripts for line in path.read_text().splitlines()
             for found in PYTHON.finditer(line.strip())]
    assert len(lines) > 10, lines
    assert not [one for one in lines if not one[1][one[2]:].startswith(' -I')], lines


@case
def a_file_whose_name_is_an_option_is_only_read(bench):
    folder = bench.folder / 'options'
    folder.mkdir()
    (folder / '-ew written.json').write_text('{"run": {"communicator": "mine"}, "learner": {"name": "torch_ppo"}}')
    said = shell(bench, "named_communicator '-ew written.json'\nnames_torch train '-ew written.json' && echo torch", bench.root, folder)
    assert said == 'mine\ntorch\n', said
    assert sorted(path.name for path in folder.iterdir()) == ['-ew written.json']


@case
def settings_of_another_user_install_no_libtorch_by_their_name(bench):
    if os.geteuid() != 0:
        raise Skip('only root can give a file to somebody else')
    folder = bench.folder / 'shared'
    for name in ('pole', 'env_sources/mast'):
        path = folder / f'{name}.json'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"x": "torch_ppo"}')
        asks = f'names_torch train {path.stem} && echo torch || echo none'
        assert shell(bench, asks, bench.root, folder) == 'torch\n'
        os.chown(path, 12345, 12345)
        assert shell(bench, asks, bench.root, folder) == 'none\n'


@case
def a_command_that_loads_no_learner_installs_no_libtorch_for_a_run(bench):
    run = bench.folder / 'strangers'
    run.mkdir()
    (run / 'config.json').write_text('{"learner": {"name": "torch_ppo"}}')
    words = 'inspect', 'runs', 'export', 'compare', 'plot', 'play', 'match', 'eval', 'resume'
    said = shell(bench, '\n'.join(f'names_torch {word} {shlex.quote(str(run))} && echo {word}' for word in words), bench.root, bench.folder)
    assert said == 'eval\nresume\n', said
    # A file without an end is read as far as settings can be long.
    with (run / 'config.json').open('wb') as file:
        file.truncate(1 << 40)
    assert shell(bench, f'names_torch eval {shlex.quote(str(run))} || echo none', bench.root, bench.folder) == 'none\n'


@case
def nothing_runs_from_a_folder_that_others_write(bench):
    data = bench.folder / 'theirs' / 'nacelle'
    (data / 'test-python').mkdir(parents=True)
    refused = lambda: shell(bench, 'set -e; require_own_data; echo goes on', bench.root, bench.folder, XDG_DATA_HOME=str(data.parent))
    assert refused() == 'goes on\n'
    (data / 'test-python').rmdir()
    assert refused() == 'goes on\n'
    data.rmdir()
    assert refused() == 'goes on\n'
    (data / 'test-python').mkdir(parents=True)
    for folder in data, data / 'test-python':
        folder.chmod(0o777)
        assert f'{folder} can be written by another user, and programs in {data} would run: set XDG_DATA_HOME' in refused() and 'goes on' not in refused()
        folder.chmod(0o755)
        if os.geteuid() == 0:
            for owner, group, mode in (65534, 0, 0o755), (0, 65534, 0o775):
                os.chown(folder, owner, group)
                folder.chmod(mode)
                assert f'{folder} can be written' in refused() and 'goes on' not in refused()
            os.chown(folder, 0, 0)
            folder.chmod(0o755)
    data.parent.chmod(0o777)        # another user could rename the folder
    assert f'{data.parent} can be written' in refused() and 'goes on' not in refused()
    data.parent.chmod(0o1777)
    assert refused() == 'goes on\n'
    assert '\n[ ! -e "$data_folder" ] || require_own_data\n' in (bench.root / 'tools/nacelle').read_text()


@case
def what_others_cannot_open_they_cannot_lock(bench):
    lock = bench.folder / 'one.lock'
    lock.touch(0o644)
    shell(bench, f'lock_file {shlex.quote(str(lock))}', bench.root, bench.folder)
    assert lock.stat().st_mode & 0o777 == 0o600
    scripts = '\n'.join(path.read_text() for path in (bench.root / 'tools/build').glob('*.sh'))
    opened, made = (re.findall(rf'{word} ?("\S+")\n', scripts) for word in ('exec [89]>', 'lock_file'))
    assert len(opened) == 2 and opened == made, (opened, made)


@case
def what_comes_from_pypi_is_locked_by_hashes(bench):
    folder = bench.root / 'tools/build/locks'
    for path in folder.glob('*.txt'):
        text = path.read_text()
        pins = [line for line in text.replace('\\\n', ' ').splitlines() if line and line[0] not in '#-']
        assert pins and all('==' in pin.split()[0] for pin in pins), path
        if path.name != 'adapters.txt':
            assert '--require-hashes' in text and '--only-binary :all:' in text and all('--hash=sha256:' in pin for pin in pins), path
    # No other call of pip than for a list, but for CleanRL's scripts, which are not run from there.
    calls = [line.strip() for path in (bench.root / 'tools/build').glob('*.sh') for line in path.read_text().splitlines() if '-m pip' in line]
    assert len(calls) == 2 and sum('-r "$locks/' in line for line in calls) == 1 and sum('cleanrl' in line or 'pip download' in line for line in calls) == 1, calls


raise SystemExit(main())
