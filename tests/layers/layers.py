"""No part of the tree includes what its layer may not: every #include line is held to table.py."""
import re
import sys
import tempfile
from pathlib import Path

from table import LAYERS, LIBRARIES, PLACES, SYSTEM_FILES, SYSTEM_FOLDERS, WORDS

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {'.h', '.hpp', '.cpp', '.cu', '.cuh'}


def layer_of(path):
    """The most exact layer that a path, relative to the root, lies in."""
    inside = [layer for layer in LAYERS if path.startswith(layer + '/')]
    return max(inside, key=len, default=None)


def reachable(layer):
    found = {layer}
    for below in LAYERS[layer]:
        found |= reachable(below)
    return found


def library_of(name):
    return next((library for start, library in LIBRARIES.items() if name.startswith(start)), None)


def is_system(name):
    if '/' in name:
        return any(name.startswith(folder) for folder in SYSTEM_FOLDERS)
    return '.' not in name or name in SYSTEM_FILES


def resolve(root, file, quoted, name):
    """The included file of ours, relative to the root, or None."""
    # An algorithm's kernels are included by the name they have on the device, and so are those that several of them share.
    device = root / Path(*file.relative_to(root).parts[:2]) / 'device'
    shared = [root / 'algorithms' / folder / 'device' for folder in ('policy_gradient', 'replay')]
    for folder in ([file.parent] if quoted else []) + [root, root / 'sdk', device, *shared]:
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return None


def fault(root, file, quoted, name):
    """What is wrong with one include, or None."""
    own = file.relative_to(root).as_posix()
    layer = layer_of(own)
    target = resolve(root, file, quoted, name)
    if target:
        other = layer_of(target)
        if other is None:
            return f'{layer} includes {name}, which is in no layer'
        return None if other in reachable(layer) else f'{layer} may not include {name}, which is in {other}'
    library = library_of(name)
    if library:
        allowed = any(own.startswith((place + '/', place + '.')) for place in PLACES[library])
        return None if allowed else f'{layer} may not include {name}, which is {library}'
    if quoted or name.startswith(('nacelle/', 'engine/')):
        return f'{name} is nowhere in the tree'
    return None if is_system(name) else f'{name} is not in the table of known headers'


def faults(root):
    for layer in sorted({name.split('/')[0] for name in LAYERS}):
        for file in sorted((root / layer).rglob('*')):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            for number, line in enumerate(file.read_text(errors='replace').splitlines(), 1):
                match = INCLUDE.match(line)
                wrong = match and fault(root, file, match[1] == '"', match[2])
                if wrong:
                    yield f'{file.relative_to(root).as_posix()}:{number}: {wrong}'


def words(root):
    """What is said where it may not be, in the engine and its command line."""
    for layer in ('engine', 'tools'):
        for file in sorted((root / layer).rglob('*')):
            name = file.relative_to(root).as_posix()
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            for number, line in enumerate(file.read_text(errors='replace').splitlines(), 1):
                for word, (places, instead) in WORDS.items():
                    if name not in places and re.search(word, line):
                        yield f'{name}:{number}: {line.strip()} (there is {instead})'


PLANTED = {
    'sdk/nacelle/env.h': ('#include <cmath>\n#include <nacelle/other.h>\n', []),
    'sdk/nacelle/other.h': ('#include "engine/base/low.h"\n', ['engine/base/low.h']),
    'engine/base/low.h': ('#include <nlohmann/json.hpp>\n#include <string>\n', ['nlohmann/json.hpp']),
    'engine/base/shared_library.cpp': ('#include <boost/dll.hpp>\n#include "engine/config/mid.h"\n', ['engine/config/mid.h']),
    'engine/config/mid.h': ('#include "low.h"\n#include "engine/base/low.h"\n#include <boost/any.hpp>\n', ['low.h', 'boost/any.hpp']),
    'engine/run/top.cpp': ('#include "engine/base/low.h"\n  #  include <cuda.h>\n#include <fmt/core.h>\n', ['cuda.h', 'fmt/core.h']),
    'plugins/sink/sink.cpp': ('#include <nacelle/env.h>\n#include "engine/base/low.h"\n', ['engine/base/low.h']),
    'algorithms/one/one.cpp': ('#include <one/one.h>\n#include "plugins/sink/sink.cpp"\n', ['plugins/sink/sink.cpp']),
    'algorithms/one/device/one/one.h': ('#include <one/missing.h>\n', ['one/missing.h']),
    'tools/main.cpp': ('#include "engine/run/top.h"\n#include <CLI/CLI.hpp>\n', ['engine/run/top.h']),
}


def planted_faults_are_found():
    """A small tree with known faults gives exactly those."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, (text, _) in PLANTED.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = list(faults(root))
    expected = [(name, header) for name, (_, wrong) in PLANTED.items() for header in wrong]
    missed = [f'missed: {name} includes {header}' for name, header in expected
              if not any(line.startswith(name + ':') and f'{header}' in line for line in found)]
    return missed + ([] if len(found) == len(expected) else [f'expected {len(expected)} faults: ' + '; '.join(found)])


def planted_words_are_found():
    lines = ['text = json.dump();', 'out << Json{{1}};', 'Json::parse(text);', 'std::regex form;', 'json_text(value); // Json of a parse']
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for layer in ('engine/config', 'tools'):
            (root / layer).mkdir(parents=True)
            (root / layer / 'json.cpp').write_text('\n'.join(lines))
        found = len(list(words(root)))
    return [] if found == 4 + 1 else [f'expected 5 words, found {found}']


def main(root):
    checks = {'planted faults are found': planted_faults_are_found(), 'the tree holds to the table': list(faults(root)),
              'planted words are found': planted_words_are_found(), 'text of others goes through few functions': list(words(root))}
    for name, wrong in checks.items():
        print('FAILED' if wrong else 'ok', name)
        print(''.join(f'    {line}\n' for line in wrong), end='')
    failed = sum(bool(wrong) for wrong in checks.values())
    print(f'{len(checks) - failed} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0


raise SystemExit(main(Path(sys.argv[1]).resolve()))
