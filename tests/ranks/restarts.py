"""torchrun starts ranks again where one has died: the run goes on from its newest checkpoint and ends with the bytes of one that nobody disturbed.

python3 tests/ranks/restarts.py --program build/tools/nacelle --backend cuda --python python3

The Python is one that has torch, whose torchrun this is.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trained import checkpoints, free_port, place

LONGEST = 120    # seconds
# What docs/ranks.md has, with settings.
AGAIN = """#!/bin/sh
echo "$TORCHELASTIC_RESTART_COUNT" >> "$FOLDER/starts-$RANK"
if [ -f "$FOLDER/run/config.json" ]; then exec {program} resume "$FOLDER/run" {words}; fi
exec {program} train cartpole --out "$FOLDER/run" {words} {settings}
"""


def has_torchrun(python):
    return subprocess.run([python, '-c', 'import torch.distributed.run'], capture_output=True, check=False).returncode == 0


def process_of(rank, folder):
    """Of a rank whose command is this run's, among all processes."""
    for one in Path('/proc').glob('[0-9]*'):
        try:
            words = (one / 'environ').read_bytes().split(b'\0')
            program = os.readlink(one / 'exe')
        except OSError:
            continue
        if f'FOLDER={folder}'.encode() in words and f'RANK={rank}'.encode() in words and program.endswith('/nacelle'):
            return int(one.name)
    raise AssertionError(f'rank {rank} is not there')


def restarted(program, backend, python, folder, environment, iterations=400, envs=64):
    """Seconds until a run of two ranks, of which one is killed, is through; an AssertionError where it is not as it should be."""
    folder, each = Path(folder), 2 * envs * 16
    settings = {'env.count': envs, 'learner.horizon': 16, 'learner.epochs': 1, 'learner.minibatches': 2, 'run.total_steps': each * iterations,
                'run.checkpoint_every': each * (iterations // 20), 'run.evaluate_every': 0, 'run.keep': 1000, 'solved.return': 'null'}
    text = AGAIN.format(program=Path(program).resolve(), words=f'--backend {backend} --threads 1 --quiet --episodes 1',
                        settings=' '.join(f"--set {key}='{value}'" for key, value in settings.items()))
    (folder / 'again.sh').write_text(text)
    variables = {**environment, 'OMP_NUM_THREADS': '1'}
    began = time.monotonic()
    agent = subprocess.Popen([python, '-m', 'torch.distributed.run', '--nproc-per-node', '2', '--max-restarts', '3', '--no-python', 'sh',
                              str(folder / 'again.sh')], env={**variables, 'FOLDER': str(folder)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True)
    try:
        while len(checkpoints(folder / 'run')) < 2:
            assert agent.poll() is None and time.monotonic() - began < LONGEST, f'no checkpoint: {agent.communicate()[0] if agent.poll() else ""}'
            time.sleep(0.02)
        os.kill(process_of(1, folder), signal.SIGKILL)
        said = agent.communicate(timeout=LONGEST)[0]
    finally:
        if agent.poll() is None:
            agent.terminate()
            agent.communicate()
    took = time.monotonic() - began
    assert agent.returncode == 0, said
    for rank in range(2):
        assert (folder / f'starts-{rank}').read_text().split() == ['0', '1'], (folder / f'starts-{rank}').read_text()
    port, calm = free_port(), folder / 'calm'
    calm.mkdir()
    both = [subprocess.Popen(['sh', str(folder / 'again.sh')], env={**variables, **place(rank, 2, port), 'FOLDER': str(calm)},
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank in range(2)]
    errors = [one.communicate(timeout=LONGEST)[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], errors
    last, wanted = checkpoints(folder / 'run')[-1], checkpoints(calm / 'run')[-1]
    assert last.name == wanted.name and last.read_bytes() == wanted.read_bytes(), (last.name, wanted.name)
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--program', default='build/tools/nacelle')
    parser.add_argument('--backend', default='cuda')
    parser.add_argument('--python', default=sys.executable)
    parser.add_argument('--iterations', type=int, default=400, help='enough that a rank is killed before the last one: on a GPU some 10,000')
    options = parser.parse_args()
    if not has_torchrun(options.python):
        print(f'skipped: {options.python} has no torchrun\n0 passed, 0 failed, 1 skipped')
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            took = restarted(options.program, options.backend, options.python, folder, os.environ, options.iterations)
            print(f'PASS: a killed rank was started again, and the run was through after {took:.1f} s\n1 passed, 0 failed, 0 skipped')
        except (AssertionError, OSError, subprocess.TimeoutExpired) as fault:
            print(f'FAIL: {str(fault)[-1500:]}\n0 passed, 1 failed, 0 skipped')
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
