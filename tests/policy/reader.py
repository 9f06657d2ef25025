"""The reader of docs/policies.md, which needs NumPy alone, acts as the library does."""
import ctypes
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / 'tests' / 'docs'))
from blocks import blocks_of    # noqa: E402

# Every way to lay out weights and to bend an action; the environments and networks are those of tests/algorithms.
MIXED = ROOT / 'tests' / 'algorithms' / 'environments' / 'mixed.cu'
RUNS = {
    'squashed': (MIXED, 'learner.horizon=8', 'policies.default.hidden=[17,33,8]', 'policies.default.activation=silu',
                 'policies.default.gains.choice=1', 'policies.default.squash=true', 'policies.default.initial_deviation=0.6'),
    'separate': (MIXED, 'learner.horizon=8', 'policies.default.hidden=[64,64]', 'policies.default.activation=gelu',
                 'policies.default.gains.choice=1', 'policies.default.trunk=separate', 'policies.default.deviation=state'),
    'remembers': (MIXED, 'learner.horizon=8', 'policies.default.hidden=[{"gru":12},9,{"mingru":7}]', 'policies.default.activation=relu',
                  'policies.default.gains.choice=1', 'policies.default.trunk=separate'),
    'with_replay': ('pendulum', 'learner.name=sac', 'policies.default.hidden=[17,9]', 'learner.batch=64', 'learner.warm_up=128'),
    'searched': ('cartpole', 'learner.name=random_search', 'learner.episodes=4', 'learner.steps=20'),
}


def library():
    found = ctypes.CDLL(BUILD / 'engine' / 'libnacelle.so')
    found.nacelle_policy_open.restype = ctypes.c_void_p
    found.nacelle_policy_open.argtypes = [ctypes.c_char_p] * 3
    found.nacelle_policy_error.restype = ctypes.c_char_p
    for name in ('inputs', 'parts', 'memory'):
        function = getattr(found, f'nacelle_policy_{name}')
        function.restype, function.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    found.nacelle_policy_act_remembering.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_void_p] * 4]
    return found


def train(name, folder):
    env, *settings = RUNS[name]
    settings = [*settings, 'env.count=32', 'run.total_steps=2000', 'run.evaluate_every=0', 'solved.return=null']
    done = subprocess.run([BUILD / 'tools' / 'nacelle', 'train', env, '--quiet', '--backend', 'cpu', '--episodes', '2', '--out', name,
                           *[word for setting in settings for word in ('--set', setting)]],
                          cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / name


def compare(name, folder, np, reader):
    run, ours = train(name, folder), library()
    [*_, checkpoint] = sorted((run / 'checkpoints').glob('step-*.json'))
    policy = ours.nacelle_policy_open(str(checkpoint).encode(), None, None)
    assert policy, ours.nacelle_policy_error()
    act, rows, memory = reader.load(checkpoint), 500, ours.nacelle_policy_memory(policy)
    assert act.memory == memory, (act.memory, memory)
    mine, its = np.zeros((rows, memory)), np.zeros((rows, memory), 'f4')
    for step in range(3 if memory else 1):
        seen = np.random.default_rng().normal(0, 2, (rows, ours.nacelle_policy_inputs(policy))).astype('f4')
        wanted = np.zeros((rows, ours.nacelle_policy_parts(policy)), 'f4')
        status = ours.nacelle_policy_act_remembering(policy, rows, seen.ctypes.data, None, its.ctypes.data if memory else None,
                                                     wanted.ctypes.data)
        assert status == 0, ours.nacelle_policy_error()
        apart = np.abs(act(seen, mine) - wanted).max()
        assert apart < 1e-4 and len(np.unique(wanted[:, 0])) > 1, (apart, wanted[:5])


def main():
    if importlib.util.find_spec('numpy') is None:
        print('skipped: the reader of docs/policies.md: NumPy is not installed (python3-numpy)')
        print('0 passed, 0 failed, 1 skipped')
        return 0
    import numpy as np
    [text] = [block.text for block in blocks_of((ROOT / 'docs' / 'policies.md').read_text()) if block.values.get('file') == 'reader.py']
    failed = 0
    with tempfile.TemporaryDirectory(prefix='nacelle-policy-') as made:
        folder = Path(made)
        (folder / 'env_sources').symlink_to(ROOT / 'env_sources')
        (folder / 'reader.py').write_text(text)
        sys.path.insert(0, made)
        sys.dont_write_bytecode = True
        import reader
        # What other tests have compiled is found there.
        os.environ['XDG_CACHE_HOME'] = str(Path(tempfile.gettempdir()) / f'nacelle-tests-{os.geteuid()}')
        for name in RUNS:
            try:
                compare(name, folder, np, reader)
                print(f'ok {name}')
            except AssertionError as error:
                print(f'FAILED {name}: {error}')
                failed += 1
    print(f'{len(RUNS) - failed} passed, {failed} failed, 0 skipped')
    return int(failed > 0)


raise SystemExit(main())
