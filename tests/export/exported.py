"""Policies as ONNX, safetensors and C act as the library does with the run's checkpoint."""
import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
TOOL, COMPILER = BUILD / 'tools' / 'nacelle', sys.argv[3]
OWN = ROOT / 'tests' / 'algorithms' / 'environments'
ROWS, NEAR = 10000, 1e-5
# Where tools/nacelle test installs what these need (tools/build/setup.sh); in front, since they want a newer NumPy than a
# system may have.
DATA = Path(os.environ.get('XDG_DATA_HOME') or Path.home() / '.local' / 'share') / 'nacelle' / 'test-python'
THERE = DATA / 'lib' / f'python3.{sys.version_info.minor}' / 'site-packages'
sys.path[:0] = [folder for folder in (*os.environ.get('NACELLE_TEST_PYTHON', '').split(':'), str(THERE)) if folder]

# Every way to lay out a network, to bend and to act; the environments are those of tests/algorithms.
CODES = '[{"one_hot":5},{"conv":6,"size":2,"padding":1},{"conv":4,"size":[2,3],"stride":2},16]'
RUNS = {
    'squashed': (OWN / 'mixed.cu', 'default', 'learner.horizon=8', 'policies.default.hidden=[17,33,8]', 'policies.default.activation=silu',
                 'policies.default.gains.choice=1', 'policies.default.squash=true', 'policies.default.initial_deviation=0.6'),
    'separate': (OWN / 'mixed.cu', 'default', 'learner.horizon=8', 'policies.default.hidden=[24,24]', 'policies.default.activation=gelu',
                 'policies.default.gains.choice=1', 'policies.default.trunk=separate', 'policies.default.deviation=state'),
    'remembers': (OWN / 'mixed.cu', 'default', 'learner.horizon=8', 'policies.default.hidden=[{"gru":12},9,{"mingru":7}]',
                  'policies.default.activation=relu', 'policies.default.gains.choice=1', 'policies.default.trunk=separate'),
    'sees': (OWN / 'gallery.cu', 'guide', 'learner.horizon=8', f'policies.guide.hidden={CODES}', 'policies.guide.activation=tanh',
             'policies.guide.gains.choice=1', 'policies.guide.trunk=separate'),
    'looks': (OWN / 'gallery.cu', 'guide', 'learner.horizon=8', 'policies.guide.hidden=[{"conv":5,"size":2},{"gru":8}]',
              'policies.guide.gains.choice=1'),
    'searched': ('cartpole', 'default', 'learner.name=random_search', 'learner.episodes=4', 'learner.steps=20'),
}


def nacelle(*words, cwd):
    done = subprocess.run([TOOL, *words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def train(name, folder):
    env, _, *settings = RUNS[name]
    settings = [*settings, 'env.count=32', 'run.total_steps=2000', 'run.evaluate_every=0', 'solved.return=null']
    nacelle('train', env, '--quiet', '--backend', 'cpu', '--episodes', '2', '--out', name,
            *[word for setting in settings for word in ('--set', setting)], cwd=folder)


class Played:
    """A policy as the library plays it."""
    library = None

    def __init__(self, path, name):
        if not Played.library:
            Played.library = ctypes.CDLL(BUILD / 'engine' / 'libnacelle.so')
        ours = Played.library
        ours.nacelle_policy_open.restype, ours.nacelle_policy_error.restype = ctypes.c_void_p, ctypes.c_char_p
        self.policy = ctypes.c_void_p(ours.nacelle_policy_open(str(path).encode(), name.encode(), None))
        assert self.policy, ours.nacelle_policy_error()
        for number in ('inputs', 'choices', 'parts', 'memory'):
            function = getattr(ours, f'nacelle_policy_{number}')
            function.restype = ctypes.c_size_t
            setattr(self, number, function(self.policy))

    def act(self, np, seen, masks, memory):
        actions = np.zeros((len(seen), self.parts), 'f4')
        status = Played.library.nacelle_policy_act_remembering(
            self.policy, ctypes.c_size_t(len(seen)), at(seen), at(masks) if self.choices else None, at(memory) if self.memory else None,
            at(actions))
        assert status == 0, Played.library.nacelle_policy_error()
        return actions


def at(array):
    return ctypes.c_void_p(array.ctypes.data)


def in_c(name, played, folder):
    """The header's functions for many rows; the compiler may warn of nothing."""
    masks, memory = ('masks + i * CHOICES, ' if played.choices else ''), ('&state, ' if played.memory else '')
    (folder / f'{name}.c').write_text(f'''#include "{name}.h"
#define CHOICES {played.choices}
void run(unsigned long rows, const float *obs, const unsigned char *masks, float *memory, float *outputs, float *actions);
void run(unsigned long rows, const float *obs, const unsigned char *masks, float *memory, float *outputs, float *actions) {{
    unsigned long i;
    (void)masks;
    (void)memory;
    for (i = 0; i < rows; ++i) {{
        const float *row = obs + i * {played.inputs};
        {f"""{name}_memory state, before;
        unsigned long j;
        for (j = 0; j < {played.memory}; ++j) state.h[j] = before.h[j] = memory[i * {played.memory} + j];""" if played.memory else ''}
        {name}_outputs(row, {memory.replace('state', 'before')}outputs + i * {name.upper()}_OUTPUTS);
        {name}_act(row, {masks}{memory}actions + i * {played.parts});
        {f'for (j = 0; j < {played.memory}; ++j) memory[i * {played.memory} + j] = state.h[j];' if played.memory else ''}
    }}
}}
''')
    made = folder / f'{name}.so'
    done = subprocess.run([*COMPILER.split(), '-x', 'c', '-std=c99', '-Wall', '-Wextra', '-Werror', '-pedantic', '-O1', '-nostdlib', '-shared',
                           '-fPIC', f'{name}.c', '-o', made], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(made)


def require_near(np, what, found, wanted):
    apart = np.abs(found - wanted) / np.maximum(1, np.abs(wanted))
    assert apart.max() <= NEAR, f'{what}: {apart.max()} apart'


def require_same_actions(np, what, found, wanted, scores, discrete):
    """Choices are equal but where two scores are as good as equal."""
    for part, columns in enumerate(discrete):
        if columns is None:
            require_near(np, what, found[:, part], wanted[:, part])
            continue
        rows = np.arange(len(found))
        mine, theirs = (scores[:, columns][rows, chosen[:, part].astype(int)] for chosen in (found, wanted))
        assert np.abs(mine - theirs).max() <= NEAR, f'{what}: other choices'


def parts_of(told):
    """The columns of each discrete part among the outputs, and those of means."""
    discrete, means, first = [], [], 0
    for part in told['actions']:
        width = part.get('choices', 1)
        discrete.append(slice(first, first + width) if 'choices' in part else None)
        means += [] if 'choices' in part else [first]
        first += width
    return discrete, means, first


def value_of(np, tensors, told, x, memory):
    """The value of rows without images, from the arrays alone."""
    network, curve = told['network'], {'silu': lambda x: x / (1 + np.exp(-x)), 'relu': lambda x: np.maximum(x, 0), 'tanh': np.tanh,
                                       'gelu': lambda x: .5 * x * (1 + np.tanh(.7978845608 * x * (1 + .044715 * x * x)))}
    f, s = curve[network['activation']], lambda x: 1 / (1 + np.exp(-x))
    if 'normaliser' in told:
        bound = told['normaliser']['bound']
        x = np.clip((x - tensors['policy/normaliser.mean']) * tensors['policy/normaliser.scale'], -bound, bound)
    last, at = len(network['sizes']) - 2, 0
    for layer in range(last + 1):
        own = f'value/layers.{layer}'
        own = own if own + '.weight' in tensors else f'policy/layers.{layer}'
        dense = lambda x, name: x @ tensors[name + '.weight'].T + tensors[name + '.bias']
        cell, y = (network.get('cells') or ['linear'] * last + ['linear'])[layer] if layer < last else 'linear', dense(x, own)
        if cell == 'linear':
            x = f(y) if layer < last else y
            continue
        width = network['sizes'][layer + 1]
        h = memory[:, at:at + width]
        if cell == 'gru':
            more = dense(h, own + '.memory')
            r, z = s(y[:, :width] + more[:, :width]), s(y[:, width:2 * width] + more[:, width:2 * width])
            n = np.tanh(y[:, 2 * width:] + r * more[:, 2 * width:])
            x = n + z * (h - n)
        else:
            x = h + s(y[:, :width]) * (f(y[:, width:]) - h)
        memory[:, at:at + width] = x
        at += width
    return x


def compare(name, folder, np, onnx, runtime):
    import json
    policy = RUNS[name][1]
    train(name, folder)
    checkpoint = name + '@latest'
    for form in ('onnx', 'safetensors', 'c'):
        nacelle('export', checkpoint, '--to', form, '--policy', policy, '--out', f'{name}.{"h" if form == "c" else form}', cwd=folder)
    [*_, saved] = sorted((folder / name / 'checkpoints').glob('step-*.json'))
    told = json.loads(saved.read_text())['policies'][policy]
    ours, others = Played(saved, policy), [Played(folder / f'{name}.{form}', policy) for form in ('onnx', 'safetensors')]
    header, session = in_c(name, ours, folder), None
    if runtime:
        model = onnx.load(folder / f'{name}.onnx')
        onnx.checker.check_model(model, full_check=True)
        session = runtime.InferenceSession(folder / f'{name}.onnx')
        names = [value.name for value in session.get_outputs()]
    data = (folder / f'{name}.safetensors').read_bytes()
    size = int.from_bytes(data[:8], 'little')
    tensors = {key: np.frombuffer(data[8 + size:][slice(*told_of['data_offsets'])], '<f4').reshape(told_of['shape'])
               for key, told_of in json.loads(data[8:8 + size]).items() if key != '__metadata__'}
    discrete, means, columns = parts_of(told)
    outputs = columns + (len(means) if told.get('draws') else 0)
    steps, dice = (5 if ours.memory else 1), np.random.default_rng()
    rows = ROWS // steps
    codes = told['network'].get('convolutions', {}).get('one_hot')
    memories = [np.zeros((rows, ours.memory), 'f4') for _ in range(2 + len(others))]
    fed = {'memory': memories[0].copy(), 'value_memory': memories[0].copy()}
    value_memory = np.zeros((rows, ours.memory))
    for step in range(steps):
        seen = (dice.integers(-1, 6, (rows, ours.inputs)) if codes else dice.normal(0, 2, (rows, ours.inputs))).astype('f4')
        masks = (dice.random((rows, ours.choices)) < 0.7).astype('u1')
        wanted = ours.act(np, seen, masks, memories[0])
        assert len(np.unique(wanted[:, 0])) > 1
        for other, memory in zip(others, memories[1:]):
            assert (other.act(np, seen, masks, memory) == wanted).all(), 'a file that was read back plays something else'
        out, done = np.zeros((rows, outputs), 'f4'), np.zeros_like(wanted)
        header.run(ctypes.c_ulong(rows), at(seen), at(masks), at(memories[-1]), at(out), at(done))
        require_same_actions(np, 'C', done, wanted, out, discrete)
        if ours.memory:
            require_near(np, "C's memory", memories[-1], memories[0])
        if not session:
            continue
        inputs = {'observations': seen, 'masks': masks.astype(bool), **fed}
        found = dict(zip(names, session.run(None, {i.name: inputs[i.name] for i in session.get_inputs()})))
        require_same_actions(np, 'ONNX', found['actions'], wanted, out, discrete)
        scores = [column for part in discrete if part for column in range(part.start, part.stop)]
        for key, where in (('logits', scores), ('means', means), ('log_deviations', range(columns, outputs))):
            assert (key in found) == (len(where) > 0), names
            if len(where):
                bounds = told['log_deviation'] if key == 'log_deviations' else (-np.inf, np.inf)
                require_near(np, key, found[key], np.clip(out[:, list(where)], *bounds))
        fed = {'memory': found.get('next_memory'), 'value_memory': found.get('next_value_memory')}
        if ours.memory:
            require_near(np, "ONNX's memory", fed['memory'], memories[0])
        assert ('value' in found) == (name != 'searched'), names
        if 'value' in found and 'convolutions' not in told['network']:
            require_near(np, 'value', found['value'], value_of(np, tensors, told, seen.astype('f8'), value_memory))


def main():
    try:
        import numpy as np
    except ImportError:
        print('skipped: exported policies: NumPy is not installed (python3-numpy)')
        print('0 passed, 0 failed, 1 skipped')
        return 0
    try:
        import onnx
        import onnxruntime as runtime
    except ImportError as missing:
        print(f'skipped: exported policies run by onnxruntime: {missing} (PyPI: onnx, onnxruntime)')
        onnx = runtime = None
    failed = 0
    with tempfile.TemporaryDirectory(prefix='nacelle-export-') as made:
        folder = Path(made)
        (folder / 'env_sources').symlink_to(ROOT / 'env_sources')
        # What other tests have compiled is found there.
        os.environ['XDG_CACHE_HOME'] = str(Path(tempfile.gettempdir()) / f'nacelle-tests-{os.geteuid()}')
        for name in RUNS:
            try:
                compare(name, folder, np, onnx, runtime)
                print(f'ok {name}')
            except AssertionError as error:
                print(f'FAILED {name}: {error}')
                failed += 1
    print(f'{len(RUNS) - failed} passed, {failed} failed, {int(runtime is None)} skipped')
    return int(failed > 0)


raise SystemExit(main())
