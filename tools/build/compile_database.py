"""Makes the build's compile commands fit for editors: the environments are added, and what only GCC
understands is left out, since clangd and clang-tidy read them.

usage: compile_database.py COMPILER ROOT OUTPUT DEPFILE, in the build folder"""
import json
import shlex
import sys
from pathlib import Path

GCC_ALONE = {'-fno-gnu-unique', '-fpch-preprocess', '-Winvalid-pch', '-Wno-restrict', '-Wno-stringop-overflow',
             '-Wno-stringop-overread'}


def readable(command):
    """Without GCC's own flags, and without its precompiled headers, each an -include with its file."""
    arguments = []
    words = iter(shlex.split(command))
    for word in words:
        if word == '-include':
            next(words)
        elif word not in GCC_ALONE:
            arguments.append(word)
    return arguments


compiler, root, output, depfile = sys.argv[1], *map(Path, sys.argv[2:])
entries = [{'directory': entry['directory'], 'file': entry['file'], 'arguments': readable(entry['command'])}
           for entry in json.loads(Path('compile_commands.json').read_text())]
sources = root / 'env_sources'
for source in sorted(sources.rglob('*.cu')):
    entries.append({'directory': str(root), 'file': str(source), 'arguments': [
        compiler, '-x', 'c++', '-std=c++20', '-Wall', '-Wextra', f'-I{root / "sdk"}', '-c', str(source)]})
# The folder's time changes when an environment appears or goes.
inputs = [Path('compile_commands.json'), sources]
depfile.write_text(f'{output}: ' + ' '.join(str(path).replace(' ', '\\ ') for path in inputs) + '\n')
output.write_text(json.dumps(entries, indent=1) + '\n')
