"""Trains with two ranks, by the memory of both and by their communicator, and with one that has all environments in two shards: all that
checkpoints hold has the same bytes.

python3 tests/ranks/splits.py --program build/tools/nacelle --backend cuda
"""
import argparse
import array
import concurrent.futures
import subprocess
import sys
import tempfile
from pathlib import Path

from trained import checkpoints, tensors

COMMON = {'learner.horizon': 32, 'learner.minibatches': 4, 'run.evaluate_every': 0, 'run.stagger': 'false', 'solved.return': 'null'}
ITERATIONS = 6
# What is changed for an environment, and how many of it a rank has. The last one goes layer by layer on a GPU, where sums are over all
# of a rank's samples: it is told and fails nothing.
CASES = {
    'bf16': ('cartpole', 512, {'policies.default.hidden': '[64,64]'}),
    'f32': ('cartpole', 512, {'policies.default.hidden': '[64,64]', 'policies.default.precision': '"f32"'}),
    'as they lie': ('cartpole', 512, {'learner.name': '"a2c"', 'learner.minibatches': 1, 'policies.default.hidden': '[64,64]'}),
    'by minibatch': ('pendulum', 512, {'learner.normalise_advantages': '"minibatch"', 'learner.advantage': '"vtrace"',
                                       'policies.default.trunk': '"separate"'}),
    'teams': ('tag_continuous', 64, {'env.constants.taggers': 2, 'env.constants.runners': 3, 'policies.default.hidden': '[32,32]'}),
    'critic': ('levers', 128, {'policies.default.critic': '{"sees": ["global", "own"], "hidden": [32]}'}),
    'pool': ('connect_four', 128, {'policies.default.hidden': '[64,64]', 'policies.default.opponents': '{"pool": 4, "every": 1, "sample": "hard"}'}),
    '256': ('cartpole', 512, {'policies.default.hidden': '[256,256]'}),
    'layers': ('cartpole', 512, {'policies.default.hidden': '[512,512]', 'policies.default.execution': '"streamed"'}),
}
MAY_DIFFER = ('256', 'layers')


def trained(options, folder, name, ranks, more):
    environment, envs, changed = CASES[name]
    out = Path(folder) / f'{name.replace(" ", "-")}-{ranks}-{len(more)}'
    each = 2 * envs * COMMON['learner.horizon']
    settings = {**COMMON, 'env.count': envs * 2 // ranks, 'run.total_steps': ITERATIONS * each, 'run.checkpoint_every': 2 * each, **changed,
                **more}
    if options.backend == 'cpu':
        settings.pop('policies.default.execution', None)
    words = [word for key, value in settings.items() for word in ('--set', f'{key}={value}')]
    done = subprocess.run([options.program, 'train', environment, '--backend', options.backend, '--threads', '1', '--quiet', '--episodes', '1',
                           '--out', out, *words, *(['--ranks', '2'] if ranks == 2 else [])],
                          capture_output=True, text=True, timeout=options.seconds, check=False)
    assert done.returncode == 0, f'{ranks} ranks, {more}: {done.stderr[-600:]}'
    return out


def difference(one, other):
    """In how many checkpoints, tensors and numbers they differ, and how far where they are floats."""
    paths, worst, names = [(one / 'checkpoints' / path.name, path) for path in checkpoints(other)], 0.0, []
    assert len(paths) > 1, paths
    for mine, its in paths:
        some, others = tensors(mine), tensors(its)
        assert some.keys() == others.keys(), some.keys() ^ others.keys()
        for name in (name for name in some if some[name] != others[name]):
            names.append(f'{its.stem[-7:]}:{name}')
            code = {'F32': 'f', 'F64': 'd'}.get(some[name][0], 'B')
            worst = max(worst, *(abs(x - y) for x, y in zip(*(array.array(code, its[name][2]) for its in (some, others)), strict=True)))
    return f'{len(names)} differ by up to {worst:.2g}: {" ".join(names)[:200]}' if names else ''


def compare(options, folder, name):
    runs = [(1, {'learner.shards': 2}), (2, {}), (2, {'run.peer_memory': 'false'})]
    with concurrent.futures.ThreadPoolExecutor(3) as at_once:
        try:
            one, memory, communicator = at_once.map(lambda run: trained(options, folder, name, *run), runs)
        except (AssertionError, subprocess.TimeoutExpired) as fault:
            return f'FAIL {name}: {str(fault)[-600:]}'
    found = [('two by memory and one', difference(memory, one)), ('by memory and by communicator', difference(memory, communicator))]
    said = '; '.join(f'{which}: {what}' for which, what in found if what)
    word = 'same' if not said else 'differs' if name in MAY_DIFFER else 'FAIL'
    return f'{word} {name}{": " if said else ""}{said}'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--program', default='build/tools/nacelle')
    parser.add_argument('--backend', default='cuda')
    parser.add_argument('--only', default='', help='names of cases, separated by commas')
    parser.add_argument('--at-once', type=int, default=3, help='cases beside one another')
    parser.add_argument('--seconds', type=float, default=120, help='that a run may take')
    options = parser.parse_args()
    names = options.only.split(',') if options.only else list(CASES)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.at_once) as at_once:
        said = []
        for line in at_once.map(lambda name: compare(options, folder, name), names):
            print(line, flush=True)
            said.append(line)
    failed = sum(line.startswith('FAIL') for line in said)
    print(f'{len(said) - failed} passed, {failed} failed, 0 skipped')
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main())
