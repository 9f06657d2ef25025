"""Every header brings what it uses.

A public header of the SDK compiles when it is the only include, with each compiler that is here: authors bring
their own. Of the engine's headers, each name is looked up in what the header includes (names.py), and all of them
compile as one text in the order of their names and in the opposite one."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from names import missing, read_headers

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


def compiled(title, compiler, flags, includes, folder):
    source = Path(folder) / (title.replace('/', '_').replace(' ', '_') + '.cpp')
    source.write_text(''.join(f'#include <{include}>\n' for include in includes))
    result = subprocess.run([compiler, *STRICT, *flags, str(source)], capture_output=True, text=True)
    return title, result.returncode == 0, result.stderr


def jobs(options):
    root = options.root
    sdk = [f'-I{root / "sdk"}']
    for header in sorted((root / 'sdk' / 'nacelle').rglob('*.h')):
        name = header.relative_to(root / 'sdk').as_posix()
        if 'device' not in header.parts:
            for compiler in compilers(options.compiler):
                yield f'{compiler} {name}', compiler, sdk, [name]
    engine = list(read_headers(root, [('engine', '.')]))
    for title, names in (('all of the engine', engine), ('all of the engine, backwards', engine[::-1])):
        yield title, options.compiler, sdk + [f'-I{root}', *options.flag], names


def looked_up(root):
    headers = read_headers(root, [('engine', '.'), ('sdk', 'sdk')])
    for name, found in missing(headers):
        if name.startswith('engine/'):
            yield name, not found, ''.join(f'    it includes nothing that has {one}\n' for one in found)


PLANTED = {
    'engine/given.h': '#pragma once\n#include <string>\nclass Given final {};\nint given_by(int);\n',
    'engine/good.h': '#include "engine/given.h"\n#include <vector>\nclass Ahead;\n'
                     'std::vector<std::string> good(Given, Ahead*);\ninline int one() { return given_by(1); }\n',
    'engine/type.h': 'void type(Given);\n',
    'engine/call.h': 'inline int call() { return given_by(1); }\n',
    'engine/standard.h': '#include "engine/given.h"\nstd::vector<int> standard();\n',
    'engine/unknown.h': 'std::nonsense unknown();\n',
}


def planted_faults_are_found():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PLANTED.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        Path(folder, 'sdk').mkdir()
        wrong = [name for name, good, _ in looked_up(Path(folder)) if not good]
    return 'planted faults', wrong == [f'engine/{name}.h' for name in ('call', 'standard', 'type', 'unknown')], f'    {wrong}\n'


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda job: compiled(*job, folder), jobs(options)))
    found = [planted_faults_are_found(), *looked_up(options.root)]
    results += found
    failed = 0
    for name, passed, output in results:
        print('ok' if passed else 'FAILED', name)
        if not passed:
            failed += 1
            print(output)
    # Finding no header at all would make every check pass.
    if len(found) < 100:
        print('FAILED there are hardly any headers')
        failed += 1
    skipped = 0
    if 'clang++' not in compilers(options.compiler):
        print('skipped: clang++: it is not installed')
        skipped = 1
    print(f'{sum(passed for _, passed, _ in results)} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 0


sys.exit(main())
