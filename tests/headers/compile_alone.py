"""Every public header of the SDK, and every header of the engine, compiles when it is the only include.

The SDK's are tried with each compiler that is here, since authors bring their own."""
import argparse
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Vectors wider than the plain instruction set's are only ever inlined: no ABI is involved.
STRICT = ['-std=c++20', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-Wno-psabi', '-fsyntax-only']


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('root', type=Path)
    parser.add_argument('--compiler', default='g++', help='the compiler of this build')
    parser.add_argument('--flag', action='append', default=[], help='a further flag for the engine\'s headers')
    return parser.parse_args()


def compilers(first):
    """The build's own, then g++ and clang++, each program once."""
    found = {}
    for name in (first, 'g++', 'clang++'):
        path = shutil.which(name)
        if path:
            found.setdefault(os.path.realpath(path), name)
    return list(found.values())


def compile_alone(compiler, flags, include, folder):
    source = Path(folder) / ('_'.join((compiler, include)).replace('/', '_') + '.cpp')
    source.write_text(f'#include <{include}>\n')
    result = subprocess.run([compiler, *STRICT, *flags, str(source)], capture_output=True, text=True)
    return f'{compiler} {include}', result.returncode == 0, result.stderr


def jobs(options):
    root = options.root
    sdk = [f'-I{root / "sdk"}']
    for header in sorted((root / 'sdk' / 'nacelle').rglob('*.h')):
        if 'detail' in header.parts:
            continue
        for compiler in compilers(options.compiler):
            yield compiler, sdk, header.relative_to(root / 'sdk').as_posix()
    for header in sorted([*(root / 'engine').rglob('*.h'), *(root / 'engine').glob('*.hpp')]):
        yield options.compiler, sdk + [f'-I{root}', *options.flag], header.relative_to(root).as_posix()


def main():
    options = arguments()
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda job: compile_alone(*job, folder), jobs(options)))
    for name, passed, output in results:
        print('ok' if passed else 'FAILED', name)
        if not passed:
            failed += 1
            print(output)
    # Finding no header at all would make every check pass.
    if not results:
        print('FAILED there are no headers')
        failed = 1
    skipped = 0
    if 'clang++' not in compilers(options.compiler):
        print('skipped: clang++: it is not installed')
        skipped = 1
    print(f'{sum(passed for _, passed, _ in results)} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 0


raise SystemExit(main())
