"""What tests of the command line share: a folder of their own, the program, and the sum at the end."""
import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

LONGEST = 600       # seconds that one command may take
LONG_CASE = 2       # seconds of processors; as in tests/support/main.cpp
CPU = ('--backend', 'cpu')
TESTS = []


def case(test):
    TESTS.append(test)
    return test


class Skip(Exception):
    pass


def plain_only(reason):
    """For a case that shows nothing more where code is instrumented, and takes minutes there. `tools/nacelle test --all` does not
    run what is of the suite `host` plainly: a program that has such a case is of `both`, or of neither."""
    def decorated(test):
        @functools.wraps(test)
        def checked(bench):
            if bench.sanitized:
                raise Skip(f'the plain build has it: {reason}')
            test(bench)
        return checked
    return decorated


def by_name(test):
    """For a case that takes long: the name of its part runs it, as in tests/support/thorough.h."""
    @functools.wraps(test)
    def checked(bench):
        if 'NACELLE_TEST_DEPTH' in os.environ:
            raise Skip('takes long; the name of its part runs it')
        test(bench)
    return checked


class Result:
    def __init__(self, arguments, done):
        self.arguments, self.status = arguments, done.returncode
        self.out, self.err = done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')

    def __str__(self):
        return (f'nacelle {" ".join(map(str, self.arguments))}\nended with {self.status}\n'
                f'standard output:\n{self.out}\nstandard error:\n{self.err}')


class Bench:
    """A folder with our environments in it, and the program."""

    def __init__(self, options, folder):
        self.root, self.folder = options.root, Path(folder)
        self.program = options.build / 'tools' / 'nacelle'
        self.settings = dict(os.environ)
        built_with = json.loads((options.build / 'meson-info' / 'intro-buildoptions.json').read_text())
        # Instrumented builds run everything many times slower, what they compile too.
        self.sanitized = next(one['value'] for one in built_with if one['name'] == 'b_sanitize') != 'none'
        shutil.copytree(self.root / 'env_sources', self.folder / 'env_sources')
        (self.folder / 'empty').mkdir()

    def run(self, *arguments, cwd=None, **changed):
        settings = {key: value for key, value in {**self.settings, **changed}.items() if value is not None}
        done = subprocess.run([self.program, *map(str, arguments)], cwd=cwd or self.folder, env=settings,
                              capture_output=True, timeout=LONGEST)
        return Result(arguments, done)

    def good(self, *arguments, **changed):
        result = self.run(*arguments, **changed)
        assert result.status == 0 and result.err == '', result
        return result.out

    def lines(self, *arguments, **changed):
        """What --json prints: nothing but objects, one a line."""
        objects = [json.loads(line) for line in self.good(*arguments, '--json', **changed).splitlines()]
        assert objects and all(isinstance(one, dict) for one in objects), objects
        return objects

    def refused(self, pattern, *arguments, **changed):
        """It ends with 1 and one line on standard error, at most with an excerpt of a file below it."""
        result = self.run(*arguments, **changed)
        assert result.status == 1 and result.out == '', result
        first, *rest = result.err.rstrip('\n').split('\n')
        assert re.fullmatch(pattern, first), f'{result}\nwanted: {pattern}'
        assert len(rest) <= 1 and all(re.match(r' +\d+ \| ', line) for line in rest), result

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def cartpole(self, changes):
        """The text of cartpole.cu with some of it replaced."""
        text = (self.root / 'env_sources' / 'cartpole.cu').read_text()
        for old, new in changes:
            assert old in text, f'cartpole.cu has no {old!r}'
            text = text.replace(old, new)
        return text


def setting(**values):
    """--set for each value; `__` stands for a dot."""
    return [word for key, value in values.items() for word in ('--set', f'{key.replace("__", ".")}={value}')]


def processor_seconds():
    """Of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def outcome(test, bench):
    try:
        test(bench)
    except Skip as reason:
        return 'skipped:', f': {reason}'
    except (AssertionError, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return 'FAILED', '\n    ' + (str(error) or repr(error)).replace('\n', '\n    ')
    return 'ok', ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', type=Path, required=True)
    parser.add_argument('--build', type=Path, required=True)
    parser.add_argument('--only', default='', help='a part of the names of the tests to be run')
    options = parser.parse_args()
    options.root, options.build = options.root.resolve(), options.build.resolve()
    counts = {'ok': 0, 'FAILED': 0, 'skipped:': 0}
    with tempfile.TemporaryDirectory(prefix='nacelle-tools-') as folder:
        bench = Bench(options, folder)
        for test in (one for one in TESTS if options.only in one.__name__):
            name, began, before = test.__name__.replace('_', ' '), time.monotonic(), processor_seconds()
            word, more = outcome(test, bench)
            counts[word] += 1
            seconds = f'   {time.monotonic() - began:.1f} s' if word == 'ok' else ''
            print(word, name + seconds + more, flush=True)
            if (took := processor_seconds() - before) > LONG_CASE:
                print(f'took {took:.1f} s: {name}', flush=True)
    print(f'{counts["ok"]} passed, {counts["FAILED"]} failed, {counts["skipped:"]} skipped')
    return 1 if counts['FAILED'] else 0
