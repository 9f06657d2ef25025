"""Ends a rank of two again and again, as it trains: the other one says so and ends, and the run goes on from a checkpoint that is whole.

python3 tests/ranks/kills.py --program build/tools/nacelle --backend cuda --kills 100
"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTINGS = {'solved.return': 'null', 'run.evaluate_every': 0, 'run.rank_timeout': 5, 'learner.horizon': 32, 'run.keep': 2}
SOON = 30    # seconds


def words(options, more):
    own = [word for key, value in {**SETTINGS, **more}.items() for word in ('--set', f'{key}={value}')]
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
    settings = {'env.count': options.envs, 'run.total_steps': 10**13, 'run.checkpoint_every': options.envs * 32 * 2 * 8}
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--program', default='build/tools/nacelle')
    parser.add_argument('--backend', default='cuda')
    parser.add_argument('--kills', type=int, default=100)
    parser.add_argument('--hangs', type=int, default=1)
    parser.add_argument('--envs', type=int, default=1024)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    failed, times = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number, what in enumerate([signal.SIGSTOP] * options.hangs + [signal.SIGKILL] * options.kills):
            run, rank, after = Path(folder) / 'run', chance.randrange(2), chance.random()
            try:
                times.append(end_one(options, run, what, rank, after))
            except AssertionError as fault:
                failed += 1
                print(f'FAIL {number} {what.name} of rank {rank} after {after:.2f} s: {fault}')
            shutil.rmtree(run, ignore_errors=True)
    print(f'{"FAIL" if failed else "PASS"}: {options.hangs} hangs and {options.kills} kills, {failed} not as they should be;'
          f' the others ended within {max(times, default=0):.1f} s')
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main())
