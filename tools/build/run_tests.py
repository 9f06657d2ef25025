"""Runs the test programs of a build folder and adds up what they say.

Each program's last line is `N passed, N failed, N skipped`; one that ends without it has crashed,
and that is one failure. Each skip has a line `skipped: NAME: REASON`. A reason that is not in
tests/skip_reasons.txt is a failure, too."""
import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LAST = re.compile(r'^(\d+) passed, (\d+) failed, (\d+) skipped$')
REASONS = Path(__file__).resolve().parents[2] / 'tests' / 'skip_reasons.txt'
CASE = re.compile(r'^took ([\d.]+) s: (.*)$', re.MULTILINE)       # of a test case: seconds of processors


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('build', type=Path)
    parser.add_argument('names', nargs='*', help='only these')
    parser.add_argument('--label', default='', help='put before each name')
    parser.add_argument('--counts', type=Path, help='where to write the three sums')
    parser.add_argument('--failures', type=Path, help='where to add what the programs said that failed')
    parser.add_argument('--skips', type=Path, help='where to add the kind of each skip, a line each')
    parser.add_argument('--times', type=Path, help='where to add how long each program took')
    parser.add_argument('--briefly', action='store_true', help='leave out programs and cases that take long for what quicker ones look at, too')
    parser.add_argument('--half', choices=['plain', 'sanitized'],
                        help='of all tests: those of the suites `host` and `both`, or those that are not of `host`')
    parser.add_argument('--targets', action='store_true', help='print what to build for these tests instead')
    return parser.parse_args()


def read_reasons(path):
    """A pattern of the lines of skips, for each kind of reason."""
    kind, kinds = None, {}
    for line in path.read_text().splitlines():
        if line.startswith(' '):
            kinds[kind].append(line.strip())
        elif line and not line.startswith('#'):
            kind = line
            kinds[kind] = []
    return {kind: re.compile(f'skipped: (.*: )?({"|".join(f"({one})" for one in patterns)})') for kind, patterns in kinds.items()}


def kinds_of_skips(output, skipped, reasons):
    """The kinds of a program's skips, and a line for each skip without a known reason."""
    lines = [line for line in output.splitlines() if line.startswith('skipped: ')]
    kinds = [next((kind for kind, pattern in reasons.items() if pattern.fullmatch(line)), None) for line in lines]
    wrong = [f'FAILED: no reason of tests/{REASONS.name}: {line}' for line, kind in zip(lines, kinds) if not kind]
    wrong += ['FAILED: skipped without a line that says why'] * (skipped - len(lines))
    return [kind for kind in kinds if kind], wrong


def introspect(build, what):
    return json.loads((build / 'meson-info' / f'intro-{what}.json').read_text())


def chosen(build, names, half=None):
    tests = introspect(build, 'tests')
    if half == 'plain':
        tests = [test for test in tests if not is_of(test, 'host')]
    if half == 'sanitized':
        tests = [test for test in tests if is_of(test, 'host') or is_of(test, 'both')]
    known = [test['name'] for test in tests]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f'there is no test {unknown[0]!r}; there is: {", ".join(sorted(known))}', file=sys.stderr)
        raise SystemExit(2)
    # Those of the suite `on_request` run only where they are named. Of the host's there is one, `fuzz`, which sanitizers want.
    return [test for test in tests
            if test['name'] in names or not names and (half == 'sanitized' or not is_of(test, 'on_request'))]


def is_of(test, suite):
    return any(its.split(':')[-1] == suite for its in test['suite'])


def targets_of(build, tests):
    """What ninja must build for these tests, as it names files."""
    wanted = {target for test in tests for target in test['depends']}
    yield 'build.ninja'
    for target in introspect(build, 'targets'):
        if target['id'] in wanted:
            yield from (os.path.relpath(name, build.resolve()) for name in target['filename'])


def sanitized(build):
    options = {option['name']: option['value'] for option in introspect(build, 'buildoptions')}
    return options['b_sanitize'] != 'none'


def environment(build, test, depth):
    # What one program has compiled no other compiles again, in this build or in another: entries are found by all
    # that they were made from. The same place as in tests/env/workbench.h.
    cache = Path(tempfile.gettempdir()) / f'nacelle-tests-{os.geteuid()}'
    changes = {'XDG_CACHE_HOME': str(cache), 'UBSAN_OPTIONS': 'print_stacktrace=1'}
    if sanitized(build):
        changes['CUDA_VISIBLE_DEVICES'] = ''        # the driver and the sanitizers want the same addresses
        # Up to g++ 13 and clang 16 the runtime takes a thread-local block of a loaded library, where it begins at an
        # unlucky place in its page, for one with a header of an old libc; the leak checker then crashes at the end.
        changes['ASAN_OPTIONS'] = 'intercept_tls_get_addr=0'
    settings = {**os.environ, **changes, **test['env']}
    settings.pop('NACELLE_TEST_DEPTH', None)
    return {**settings, **({'NACELLE_TEST_DEPTH': depth} if depth else {})}     # for cases of programs: tests/support/thorough.h


def run(build, test, depth):
    """Output, the three counts, kinds of skips, seconds, and seconds of processors of the program and its children."""
    began = time.monotonic()
    process = subprocess.Popen(test['cmd'], cwd=test['workdir'] or build, env=environment(build, test, depth), text=True,
                               errors='replace', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    too_late = threading.Event()

    def end():
        too_late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(test['timeout'], end)
    timer.start()
    output = process.stdout.read()
    timer.cancel()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    ending = f'ended after {test["timeout"]} s\n' if too_late.is_set() else ''
    lines = output.splitlines()
    match = LAST.match(lines[-1]) if lines and not ending else None
    counts = [int(number) for number in match.groups()] if match else [0, 1, 0]
    if not match:
        output += ending or f'crashed: {describe(process.returncode)}\n'
    elif process.returncode != 0 and counts[1] == 0:
        counts[1] = 1
        output += f'failed after its tests: {describe(process.returncode)}\n'
    # A program that was ended has one failure, whatever it said before.
    kinds, wrong = kinds_of_skips(output, counts[2], read_reasons(REASONS)) if match else ([], [])
    counts[1] += len(wrong)
    counts[2] = len(kinds)
    output += ''.join(f'{line}\n' for line in wrong)
    return output, counts, kinds, time.monotonic() - began, usage.ru_utime + usage.ru_stime


def describe(status):
    return signal.Signals(-status).name if status < 0 else f'exit status {status}'


def shortened(output, most=100):
    """What is said of the tests that failed, and how it ended."""
    parts = re.split(r'^={20,}\n', output, flags=re.MULTILINE)
    told = ''.join([part for part in parts[:-1] if 'ERROR' in part] + parts[-1:])
    lines = [line for line in told.splitlines() if not line.startswith(('ok ', 'skipped: ', 'took '))]
    return ''.join(f'    {line}\n' for line in lines[-most:])


def report(options, test, output, counts, kinds, seconds, processor):
    name = f'{options.label} {test["name"]}'.strip()
    passed, failed, skipped = counts
    line = f'{name:<20} {passed} passed, {failed} failed, {skipped} skipped   {seconds:.1f} s, {processor:.1f} s of processors'
    print(line)
    if failed:
        print(output)
        if options.failures:
            with options.failures.open('a') as file:
                file.write(f'{line}\n{shortened(output)}')
    else:
        print(''.join(f'    {line}\n' for line in output.splitlines() if line.startswith('skipped: ')), end='')
    sys.stdout.flush()
    add_skips(options, kinds)
    if options.times:
        with options.times.open('a') as file:
            file.write(f'{processor:8.1f} {seconds:8.1f}  {name}\n')
            for seconds, case in CASE.findall(output):
                file.write(f'{float(seconds):8.1f}           {name}: {case}\n')


def add_skips(options, kinds):
    if options.skips and kinds:
        with options.skips.open('a') as file:
            file.write(''.join(f'{kind}\n' for kind in kinds))


def main():
    options = arguments()
    # A shell's background job ignores Ctrl-C, and what nohup starts a hang-up. The programs that tests interrupt must
    # not inherit that, and a program that is started has no handlers.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    tests = chosen(options.build, options.names, options.half)
    if options.targets:
        print(' '.join(targets_of(options.build, tests)))
        return 0
    sums = [0, 0, 0]

    def run_and_report(test):
        # What is of both halves has run in the other at length.
        brief = options.briefly or options.half == 'sanitized' and is_of(test, 'both')
        result = run(options.build, test, 'brief' if brief else '' if options.names else 'all')
        report(options, test, *result)
        for index in range(3):
            sums[index] += result[1][index]

    if options.briefly:
        for test in tests:
            if is_of(test, 'thorough'):
                print(f'skipped: {test["name"]}: takes long; tools/nacelle test --all runs it, and so does its name')
                sums[2] += 1
                add_skips(options, ['takes long'])
        tests = [test for test in tests if not is_of(test, 'thorough')]
    # The longest first, so that no core waits for one at the end; those that want the machine alone
    # come last, one after the other.
    tests.sort(key=lambda test: -test['priority'])
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(run_and_report, (test for test in tests if test['is_parallel'])))
    for test in tests:
        if not test['is_parallel']:
            run_and_report(test)
    if options.counts:
        options.counts.write_text(' '.join(map(str, sums)) + '\n')
    return 1 if sums[1] else 0


if __name__ == "__main__":
    raise SystemExit(main())
