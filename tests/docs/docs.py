"""Every code block of the documentation works as it stands there.

A block's tag says what is done with it, in the order of the text and in one folder per document:

    cpp env name=NAME            written to env_sources/NAME.cu; `nacelle inspect NAME` accepts it
        same-as=FILE             ... and it is that file of the repository, less its comments
        without=draw             ... and less that function
    cpp env name=NAME fails      `nacelle inspect NAME` refuses it
    cpp plugin name=NAME         written to my_plugins/NAME.cpp and compiled; `nacelle plugins` lists it
    cpp host                     compiled against the engine's library, and run
    c host                       the same, as C99
    python [file=PATH]           is written to the path and run, where there is NumPy
    sh run                       every command is run; `tools/nacelle test` is not
    sh run torch                 the same, where the build has the learners on LibTorch
    cpp torch file=PATH          is written to the path, where it has them
    sh                           is left alone: commands that install
    cpp installed, cmake, meson, sh installed
                                 are built and run against an installed tree by tests/install
    json [file=PATH]             parses; is written to the path
    text                         is left alone
    text error                   is what the refusal before it printed

A block without a tag, or with another one, is a failure: nothing escapes."""
import argparse
import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from blocks import blocks_of

LONGEST = 300       # seconds that one command may take


class Failure(Exception):
    pass


class Skip(Exception):
    pass


processors = threading.local()      # .seconds: what the commands of this thread's block have taken of processors


def run(command, folder, settings, wanted=0):
    """What the command printed on standard output and on standard error, once it ended as wanted."""
    shown = command if isinstance(command, str) else ' '.join(map(str, command))
    with tempfile.TemporaryFile('w+') as output, tempfile.TemporaryFile('w+') as errors:
        process = subprocess.Popen(command, cwd=folder, env=settings, stdout=output, stderr=errors, shell=isinstance(command, str))
        too_late = threading.Event()

        def end():
            too_late.set()
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

        timer = threading.Timer(LONGEST, end)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        processors.seconds += usage.ru_utime + usage.ru_stime
        if too_late.is_set():
            raise Failure(f'{shown}\nran for more than {LONGEST} s')
        output.seek(0)
        errors.seek(0)
        said, complained = output.read(), errors.read()
    if process.returncode != wanted:
        raise Failure(f'{shown}\nended with {process.returncode}, not {wanted}\n{said}{complained}')
    return said, complained


def without_comments(text):
    """The code alone, its white space evened out."""
    return ' '.join(re.sub(r'//[^\n]*', '', text).split())


def without_function(text, name):
    """The text less the static function of this name: up to the brace that stands below its first line's beginning."""
    return re.sub(rf'\n( *)static \w+ {name}\(.*?\n\1}}\n', '\n', text, flags=re.DOTALL) if name else text


def commands_of(text):
    joined = text.replace('\\\n', ' ')
    return [line.strip() for line in joined.splitlines() if line.strip() and not line.strip().startswith('#')]


class Document:
    """One document's folder: what a user would have around him, with what its blocks add."""

    def __init__(self, options, folder):
        self.root, self.build, self.compiler = options.root, options.build, options.compiler
        self.folder = Path(folder)
        self.nacelle = self.build / 'tools' / 'nacelle'
        self.settings = dict(os.environ)
        self.refusal = None
        for name in ('env_sources', 'my_plugins', 'include/nacelle'):
            (self.folder / name).mkdir(parents=True)
        for file in (self.root / 'env_sources').iterdir():
            if file.suffix in ('.cu', '.json', '.npy'):
                (self.folder / 'env_sources' / file.name).symlink_to(file)
        (self.folder / 'sdk').symlink_to(self.root / 'sdk')
        (self.folder / 'build').symlink_to(self.build)
        for header in ('nacelle.hpp', 'policy.h'):
            (self.folder / 'include' / 'nacelle' / header).symlink_to(self.root / 'engine' / header)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)            # it may be a link into the repository
        path.write_text(text)
        return path

    def check(self, block):
        actions = {'cpp env': self.environment, 'cpp env fails': self.refused_environment, 'cpp plugin': self.plugin,
                   'cpp host': self.host, 'c host': self.host_in_c, 'python': self.python, 'sh run': self.shell, 'sh run torch': self.shell_on_torch, 'cpp torch': self.file_for_torch, 'sh': lambda block: None, 'json': self.settings_file, 'text': lambda block: None,
                   'text error': self.error_text}
        actions |= dict.fromkeys(('cpp installed', 'cmake', 'meson', 'sh installed'), lambda block: None)
        action = actions.get(' '.join(block.words))
        if action is None:
            raise Failure(f'there is no such tag; there is: {", ".join(actions)}')
        action(block)

    def inspect(self, block, wanted):
        name = block.values['name']
        self.write(f'env_sources/{name}.cu', block.text)
        return run([self.nacelle, 'inspect', f'env_sources/{name}.cu', '--backend', 'cpu'], self.folder, self.settings, wanted)

    def environment(self, block):
        self.inspect(block, 0)
        original = block.values.get('same-as')
        if not original:
            return
        text = without_function((self.root / original).read_text(), block.values.get('without'))
        if without_comments(block.text) != without_comments(text):
            raise Failure(f'it differs from {original}')

    def refused_environment(self, block):
        _, self.refusal = self.inspect(block, 1)

    def error_text(self, block):
        if self.refusal is None:
            raise Failure('nothing was refused before it')
        if block.text.strip() != self.refusal.strip():
            raise Failure(f'what was printed is\n{self.refusal}')

    def plugin(self, block):
        name = block.values['name']
        source = self.write(f'my_plugins/{name}.cpp', block.text)
        library = source.with_suffix('.so')
        run([self.compiler, '-std=c++20', '-Wall', '-Wextra', '-Werror', '-fPIC', '-shared', '-fvisibility=hidden',
             '-fno-gnu-unique', '-I', 'sdk', source, '-o', library], self.folder, self.settings)
        listing, _ = run([self.nacelle, 'plugins', '--folder', 'my_plugins', '--json'], self.folder, self.settings)
        lines = [json.loads(line) for line in listing.splitlines()]
        mine = [line for line in lines if Path(line['path']).name == library.name and 'my_plugins' in line['path']]
        if len(mine) != 1 or 'id' not in mine[0]:
            raise Failure(f'it is not listed as a plugin: {mine}')

    def host(self, block):
        source = self.write('host.cpp', block.text)
        engine = self.build / 'engine'
        run([self.compiler, '-std=c++20', '-Wall', '-Wextra', '-Wno-missing-field-initializers', '-Werror', '-I', 'include',
             source, '-o', 'host', '-L', engine, '-lnacelle', f'-Wl,-rpath,{engine}'], self.folder, self.settings)
        run([self.folder / 'host'], self.folder, self.settings)

    def host_in_c(self, block):
        source = self.write('host.c', block.text)
        engine = self.build / 'engine'
        run(['cc', '-std=c99', '-Wall', '-Wextra', '-pedantic', '-Werror', '-I', 'include', source, '-o', 'host_in_c', '-L', engine,
             '-lnacelle', f'-Wl,-rpath,{engine}'], self.folder, self.settings)
        run([self.folder / 'host_in_c'], self.folder, self.settings)

    def python(self, block):
        path = self.write(block.values.get('file', 'block.py'), block.text)
        if importlib.util.find_spec('numpy') is None:
            raise Skip('NumPy is not installed (python3-numpy)')
        run([sys.executable, '-B', path], self.folder, self.settings)

    def shell(self, block):
        for command in commands_of(block.text):
            words = command.split()
            if words[:2] == ['tools/nacelle', 'test']:
                continue
            if words[0] == 'tools/nacelle':
                command = command.replace(words[0], str(self.nacelle), 1)
            run(command, self.folder, self.settings)

    def require_torch(self):
        listing, _ = run([self.nacelle, 'plugins', '--json'], self.folder, self.settings)
        if not any(json.loads(line).get('id') == 'nacelle.torch' for line in listing.splitlines()):
            raise Skip('the build has no learners on LibTorch (tools/nacelle torch)')

    def shell_on_torch(self, block):
        self.require_torch()
        block.text = block.text.replace('$(tools/nacelle torch', f'$({self.root}/tools/nacelle torch')
        self.shell(block)

    def file_for_torch(self, block):
        self.require_torch()
        self.write(block.values['file'], block.text)

    def settings_file(self, block):
        try:
            json.loads(block.text)
        except ValueError as error:
            raise Failure(str(error)) from None
        if 'file' in block.values:
            self.write(block.values['file'], block.text)


def check_document(path, options):
    """What was found in one document: a line each, and how many blocks work, do not, and were skipped."""
    lines, passed, failed, skipped = [], 0, 0, 0
    name = path.relative_to(options.root).as_posix()
    with tempfile.TemporaryDirectory(prefix='nacelle-docs-') as folder:
        document = Document(options, folder)
        for block in blocks_of(path.read_text()):
            title, processors.seconds = f'{name}:{block.line} {block.title}', 0.0
            try:
                document.check(block)
            except Skip as reason:
                skipped += 1
                lines.append(f'skipped: {title}: {reason}')
            except (Failure, KeyError, OSError) as error:
                failed += 1
                lines.append(f'FAILED {title}\n    ' + str(error).strip().replace('\n', '\n    '))
            else:
                passed += 1
                lines.append(f'ok {title}')
            if processors.seconds >= 1:
                lines.append(f'took {processors.seconds:.1f} s: {title}')
    # A document without blocks would pass by saying nothing.
    if passed + failed == 0:
        lines.append(f'FAILED {name} has no code')
        failed = 1
    return lines, passed, failed, skipped


PLANTED = '''```
no tag
```
```cpp env name=wrong
struct {
```
```cpp env name=right fails
#include <nacelle/env.h>
```
```text error
another text
```
```json
{"open": 1
```
```sh run
false
```
```cpp
no kind
```
```text
fine
'''


def planted_faults_are_found(options):
    """A document in which every block but one is wrong."""
    with tempfile.TemporaryDirectory(prefix='nacelle-docs-') as folder:
        document = Document(options, folder)
        wrong = []
        for block in blocks_of(PLANTED):
            try:
                document.check(block)
            except Failure:
                wrong.append(block.title)
    return wrong == ['(no tag)', 'cpp env name=wrong', 'text error', 'json', 'sh run', 'cpp', '(never closed)']


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', type=Path, required=True)
    parser.add_argument('--build', type=Path, required=True)
    parser.add_argument('--compiler', default='c++')
    parser.add_argument('documents', nargs='+')
    options = parser.parse_args()
    options.root, options.build = options.root.resolve(), options.build.resolve()
    sums, processors.seconds = [0, 0, 0], 0.0
    good = planted_faults_are_found(options)
    print('ok' if good else 'FAILED', 'planted faults are found')
    sums[0 if good else 1] += 1
    # A document has a folder of its own, so that none waits for another.
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for lines, *counts in pool.map(lambda name: check_document(options.root / name, options), options.documents):
            print('\n'.join(lines), flush=True)
            sums = [total + count for total, count in zip(sums, counts)]
    print(f'{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped')
    return 1 if sums[1] else 0


raise SystemExit(main())
