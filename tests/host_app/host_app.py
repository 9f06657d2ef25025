"""A program is built against the installed engine by pkg-config alone, and runs."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def run(command, **options):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode != 0:
        raise RuntimeError(f'{" ".join(map(str, command))}\n{result.stdout}')
    return result.stdout


def only(root, name):
    found = sorted(root.rglob(name))
    if len(found) != 1:
        raise RuntimeError(f'{name} was installed {len(found)} times')
    return found[0]


def build_and_run(build, compiler, folder):
    installed, program = folder / 'installed', folder / 'host'
    run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', installed])
    settings = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=str(installed),
                    PKG_CONFIG_PATH=f'{only(installed, "nacelle.pc").parent}:{os.environ.get("PKG_CONFIG_PATH", "")}')
    flags = run(['pkg-config', '--cflags', '--libs', 'nacelle'], env=settings).split()
    run([compiler, '-Wall', '-Wextra', '-Wpedantic', '-Werror', Path(__file__).with_name('host.cpp'), '-o', program, *flags])
    libraries = only(installed, 'libnacelle.so').parent
    settings['LD_LIBRARY_PATH'] = f'{libraries}:{os.environ.get("LD_LIBRARY_PATH", "")}'
    # Elsewhere than in the source tree, so that nothing of it is found by accident.
    said = run([program, only(installed, 'csv.so'), only(installed, 'cartpole.cu'), only(installed, 'random_search.so')],
               env=settings, cwd=folder)
    return said + act_elsewhere(folder, installed, libraries)


def act_elsewhere(folder, installed, libraries):
    """The run that the program left acts from C where there is nothing but the library: no compiler, cache or plugin."""
    program, elsewhere = folder / 'policy', folder / 'elsewhere'
    run(['cc', '-std=c99', '-Wall', '-Wextra', '-pedantic', '-Werror', '-I', only(installed, 'nacelle.hpp').parent.parent,
         Path(__file__).with_name('policy.c'), '-o', program, '-L', libraries, '-lnacelle'])
    elsewhere.mkdir()
    shutil.copytree(folder / 'trained' / 'checkpoints', elsewhere / 'pole' / 'checkpoints')
    return run([program, 'pole'], env={'LD_LIBRARY_PATH': str(libraries), 'PATH': '/nonexistent'}, cwd=elsewhere)


def main():
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(build_and_run(sys.argv[1], sys.argv[2], Path(folder)), end='')
        except RuntimeError as error:
            print(f'FAILED a host application builds and runs\n{error}\n0 passed, 1 failed, 0 skipped')
            return 1
    print('ok a host application builds and runs\n1 passed, 0 failed, 0 skipped')
    return 0


raise SystemExit(main())
