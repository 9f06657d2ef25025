#!/usr/bin/env python3
"""Runs the tests for a GPU in parallel, from an unpacked archive of `tools/nacelle test --bundle`. NVRTC comes from a CUDA
toolkit or from the wheels of this Python, LibTorch and NCCL from the wheels. The last line is `N passed, N failed, N skipped`."""
import argparse
import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / 'tools' / 'build'), str(HERE / 'tests' / 'gpu')]
sys.dont_write_bytecode = True

import run_tests  # noqa: E402

import jobs  # noqa: E402
import machine  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)), help='processes in parallel; the default is one for each core')
    parser.add_argument('--only', default='', help='a regular expression for the names of the tests to be run')
    parser.add_argument('--list', action='store_true', help='print the names of the tests instead')
    parser.add_argument('--each', type=float, default=420, help='limit for one test, in seconds')
    parser.add_argument('--seconds', type=float, default=480, help='limit for the whole run: unfinished tests are ended and fail')
    return parser.parse_args()


class Run:
    """The counts of finished tests, and the remaining time."""

    def __init__(self, options):
        self.options, self.began = options, time.monotonic()
        self.counts, self.took, self.failed, self.lock = [0, 0, 0], [], [], threading.Lock()

    def one(self, job):
        left = self.options.seconds - (time.monotonic() - self.began)
        if job.skip:
            result = f'skipped: {job.skip}\n', [0, 0, 1], [], 0, 0
        elif left <= 0:
            result = f'not begun within {self.options.seconds:g} s, the limit for the whole run\n', [0, 1, 0], [], 0, 0
        else:
            test = {'cmd': job.command, 'env': job.environment, 'workdir': str(HERE / 'build'), 'timeout': round(min(left, self.options.each), 1)}
            result = run_tests.run(HERE / 'build', test, False)
        with self.lock:
            run_tests.report(SimpleNamespace(label='', failures=None, times=None, skips=None), {'name': job.name}, *result)
            self.counts = [one + other for one, other in zip(self.counts, result[1])]
            self.took.append((result[3], job.name))
            if result[1][1]:
                self.failed.append(job.name)


def main():
    options = arguments()
    here = machine.Machine(HERE)
    for line in here.description():
        print(line, flush=True)
    wanted = [job for job in jobs.all_jobs(here) if re.search(options.only, job.name)]
    if options.list:
        print('\n'.join(job.name for job in wanted))
        return 0
    run = Run(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run.one, (job for job in wanted if not job.alone)))
    for job in wanted:
        if job.alone:
            run.one(job)
    print('\nlongest, in seconds:')
    for seconds, name in sorted(run.took, reverse=True)[:12]:
        print(f'{seconds:8.1f}  {name}')
    for name in run.failed:
        print(f'FAILED: {name}')
    print(f'{time.monotonic() - run.began:.0f} s in all, {options.jobs} in parallel')
    passed, failed, skipped = run.counts
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 0


raise SystemExit(main())
