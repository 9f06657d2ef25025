"""Writes a C++ source that carries every header of a folder, or its files of other kinds, as data.

The texts are arrays of characters: a string literal may hold no more than 64 KiB everywhere."""
import argparse
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', type=Path, required=True, help='what the names are relative to')
    parser.add_argument('--folder', required=True, help='the folder under the root to embed')
    parser.add_argument('--suffix', action='append', help='kinds of file to embed (default: .h)')
    parser.add_argument('--declared-in', required=True, help='the header that declares the function')
    parser.add_argument('--element', default='nacelle::EmbeddedFile', help='another type of two members: name and text')
    parser.add_argument('--sized', action='store_true', help='it begins with its size')
    parser.add_argument('--function', required=True, help='the function to define, with its namespace')
    parser.add_argument('--output', type=Path, required=True)
    parser.add_argument('--depfile', type=Path, required=True)
    return parser.parse_args()


def array(index, text):
    numbers = [str(byte if byte < 128 else byte - 256) for byte in text] + ['0']
    lines = [','.join(numbers[start:start + 32]) for start in range(0, len(numbers), 32)]
    return f'const char text_{index}[] = {{\n' + ',\n'.join(lines) + '};\n'


def source(options, headers):
    parts = [f'#include "{options.declared_in}"\n', '\nnamespace {\n']
    for index, header in enumerate(headers):
        parts.append(f'\n// {header.relative_to(options.root).as_posix()}\n' + array(index, header.read_bytes()))
    parts.append(f'\nconst {options.element} headers[] = {{\n')
    size = f'sizeof({options.element}), ' if options.sized else ''
    for index, header in enumerate(headers):
        parts.append(f'    {{{size}"{header.relative_to(options.root).as_posix()}", text_{index}}},\n')
    parts.append(f'}};\n\n}}\n\nstd::span<const {options.element}> {options.function}() {{ return headers; }}\n')
    return ''.join(parts)


def escaped(path):
    return str(path).replace('\\', '\\\\').replace(' ', '\\ ').replace('#', '\\#').replace('$', '$$')


options = arguments()
folder = options.root / options.folder
suffixes = options.suffix or ['.h']
headers = sorted(path for path in folder.rglob('*') if path.suffix in suffixes and path.is_file())
if not headers:
    raise SystemExit(f'{folder}: there is nothing to embed')
# Folders are inputs as well: their time changes when a header appears or goes.
inputs = headers + [folder] + sorted(path for path in folder.rglob('*') if path.is_dir())
options.depfile.write_text(f'{escaped(options.output)}: ' + ' '.join(escaped(path) for path in inputs) + '\n')
text = source(options, headers)
if not options.output.exists() or options.output.read_text() != text:
    options.output.write_text(text)
