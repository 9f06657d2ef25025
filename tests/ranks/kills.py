"""Ends a rank of two again and again, as it trains: the other one says so and ends, and the run goes on from a checkpoint that is whole.

python3 tests/ranks/kills.py --program build/tools/nacelle --backend cuda --kills 100 --at-once 12

Several pairs share the GPUs, which wait for their turns: so an iteration has few sums, and the watch has patience. After --seconds no
more is begun, and what was done is told.
"""
import argparse
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SETTINGS = {'solved.return': 'null', 'run.evaluate_every': 0, 'learner.horizon': 32, 'learner.epochs': 1, 'learner.minibatches': 2, 'run.keep': 2}
SOON = 30    # seconds
BETWEEN = 4    # iterations from one checkpoint to the next


def words(options, more):
    its = {**SETTINGS, 'learner.name': f'"{options.learner}"', 'run.rank_timeout': 5 if options.at_once == 1 else 15, **more}
    own = [word for key, value in its.items() for word in ('--set', f'{key}={value}')]
    return [*own, '--backend', options.backend, '--ranks', '2', '--threads', '1', '--quiet', '--episodes', '1']


def checkpoints(run):
    return sorted((run / 'checkpoints').glob('step-*.json'))


def process_of(parent, rank):
    """Of a rank that `nacelle train --ranks` has started."""
    for child in Path(f'/proc/{parent}/task/{parent}/children').read_text().split():
        if f'RANK={rank}'.encode() in Path(f'/proc/{child}/environ').read_bytes().split(b'\0'):
            return int(child)
    raise AssertionError(f'rank {rank} is not there')


def end_one(options, run, what, rank, after):
    """Seconds from the signal to the end of the others, or an AssertionError."""
    settings = {'env.count': options.envs, 'run.total_steps': 10**13, 'run.checkpoint_every': options.envs * 32 * 2 * BETWEEN}
    parent = subprocess.Popen([options.program, 'train', 'cartpole', *words(options, settings), '--out', run],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        limit = time.monotonic() + 120
        while len(checkpoints(run)) < 2:
            assert parent.poll() is None and time.monotonic() < limit, 'no checkpoint'
            time.sleep(0.05)
        time.sleep(after)
        began = time.monotonic()
        os.kill(process_of(parent.pid, rank), what)
        said = parent.communicate(timeout=SOON + 10)[1]
    finally:
        if parent.poll() is None:
            parent.terminate()
            said = parent.communicate()[1]
    took = time.monotonic() - began
    assert took < SOON and parent.returncode != 0, (took, parent.returncode, said)
    assert re.search(r'rank \d on \S+ (ends: rank \d on .*(is gone|has not answered)|was ended by signal)', said), said
    last = int(re.search(r'(\d+)', checkpoints(run)[-1].stem)[1])
    done = subprocess.run([options.program, 'resume', run, *words(options, {'run.total_steps': last + options.envs * 32 * 4})],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert int(re.search(r'(\d+)', checkpoints(run)[-1].stem)[1]) > last, 'resume did not go on'
    return took


class Kills:
    """What is to be done, by as many threads as do it at once."""

    def __init__(self, options, folder):
        chance = random.Random(options.seed)
        self.options, self.folder, self.lock = options, Path(folder), threading.Lock()
        self.left = [(number, what, chance.randrange(2), chance.random())
                     for number, what in enumerate([signal.SIGSTOP] * options.hangs + [signal.SIGKILL] * options.kills)]
        self.done, self.failed, self.times, self.began = collections.Counter(), 0, [], time.monotonic()

    def one_by_one(self):
        while True:
            with self.lock:
                if not self.left or time.monotonic() - self.began > self.options.seconds:
                    return
                number, what, rank, after = self.left.pop(0)
            self.end(number, what, rank, after)

    def end(self, number, what, rank, after):
        run, fault, took = self.folder / f'run-{number}', None, 0
        try:
            took = end_one(self.options, run, what, rank, after)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as failure:
            fault = failure
        shutil.rmtree(run, ignore_errors=True)
        with self.lock:
            self.done[what] += 1
            self.times.append(took)
            if fault:
                self.failed += 1
                print(f'FAIL {number} {what.name} of rank {rank} after {after:.2f} s: {str(fault)[:400]}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--program', default='build/tools/nacelle')
    parser.add_argument('--backend', default='cuda')
    parser.add_argument('--learner', default='ppo', help='or another that has a horizon, as torch_ppo')
    parser.add_argument('--kills', type=int, default=100)
    parser.add_argument('--hangs', type=int, default=1)
    parser.add_argument('--envs', type=int, default=1024)
    parser.add_argument('--at-once', type=int, default=1, help='pairs of ranks beside one another')
    parser.add_argument('--seconds', type=float, default=1e9, help='after which no more is begun')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kills = Kills(options, folder)
        threads = [threading.Thread(target=kills.one_by_one) for _ in range(options.at_once)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    print(f'{"FAIL" if kills.failed else "PASS"}: {kills.done[signal.SIGSTOP]} hangs and {kills.done[signal.SIGKILL]} kills,'
          f' {kills.failed} not as they should be; the others ended within {max(kills.times, default=0):.1f} s;'
          f' {time.monotonic() - kills.began:.0f} s in all')
    print(f'{sum(kills.done.values()) - kills.failed} passed, {kills.failed} failed, 0 skipped')
    return int(kills.failed > 0)


if __name__ == '__main__':
    sys.exit(main())
