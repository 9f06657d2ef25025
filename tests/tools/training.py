"""Small runs that tests of runs and of checkpoints begin, stop, copy and compare."""
import json
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

from bench import CPU, setting

# An iteration of 12,800 steps that takes half a millisecond, and a population that never stops moving.
SMALL = setting(learner__name='random_search', learner__steps=50, env__count=256, solved__return=1000, solved__episodes=100,
                run__checkpoint_every=2000000)
SHORT = (*CPU, *SMALL, '--episodes', '10')


# Who always does the same gets nothing: a policy without memory has to draw.
FLIP = """#include <nacelle/env.h>
struct Flip {
    static constexpr int time_limit = 20;
    struct Params {};
    struct State { int last; };
    struct Action { nacelle::Discrete<2> way; };
    struct Obs { float nothing; };
    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {rng.below(2)}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        const bool other = a.way != s.last;
        s.last = a.way;
        return {.reward = other ? 1.0f : 0.0f};
    }
    static Obs observe(const State&, const Params&) { return {0.0f}; }
};
NACELLE_ENV(Flip)
"""


# A choice is paid what a table says.
BET = """#include <nacelle/env.h>
struct Bet {
    struct Params { float scale = 1; nacelle::Table<float, 2> pays; };
    struct State { int bet; };
    struct Action { nacelle::Discrete<2> on; };
    struct Obs { float nothing; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s = {0}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng&) {
        s.bet = a.on;
        return {.reward = p.scale * p.pays(s.bet), .terminated = true};
    }
    static Obs observe(const State&, const Params&) { return {0.0f}; }
};
NACELLE_ENV(Bet)
"""


def npy_file(*values):
    """The bytes of a .npy file of single floats."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack(f'<{len(values)}f', *values)


def bet(bench, out, steps=32768):
    """A finished run of it."""
    bench.write('bet.cu', BET)
    bench.write('pays.npy', npy_file(1, 3))
    if not (bench.folder / out).exists():
        bench.good('train', './bet.cu', *CPU, '--quiet', '--episodes', '10', '--out', out,
                   *setting(env__count=64, env__params__pays='pays.npy', learner__horizon=16, run__total_steps=steps, run__evaluate_every=1))
    return bench.folder / out


# A run of more than a second, which a test can break off.
MANY_STEPS = 30000000


def train(bench, out, *more, steps=4000000):
    return bench.good('train', 'cartpole', *SHORT, *setting(run__total_steps=steps), '--out', out, *more)


def whole(bench, name='whole', steps=4000000, *more):
    """A finished run, made once."""
    if not (bench.folder / name).exists():
        train(bench, name, *more, steps=steps)
    return bench.folder / name


def copy(bench, name):
    shutil.rmtree(bench.folder / name, ignore_errors=True)
    return Path(shutil.copytree(whole(bench), bench.folder / name))


def content(out):
    return {path.name: path.read_bytes() for path in sorted((out / 'checkpoints').iterdir())}


def hashed(data):
    """FNV-1a in 128 bits over the length and the bytes."""
    state = 0x6c62272e07bb014262b821756295c58d
    for byte in len(data).to_bytes(8, 'little') + data:
        state = (state ^ byte) * (1 << 88 | 0x13b) % (1 << 128)
    return f'{state:032x}'


def sealed(told):
    """A checkpoint's JSON with the checksum of what it says now."""
    told = {key: value for key, value in told.items() if key != 'seal'}
    return {**told, 'seal': hashed(json.dumps(told, sort_keys=True, separators=(',', ':')).encode())}


def newest(out, kind):
    return sorted((out / 'checkpoints').glob(f'step-*.{kind}'))[-1]


def wait_for(running, there):
    end = time.monotonic() + 60
    while not there():
        assert running.poll() is None and time.monotonic() < end, running.args
        time.sleep(0.01)


def going_on(bench, out, settings, backend=CPU):
    """How a run is begun, or gone on with where it was not killed before it left anything."""
    if (bench.folder / out / 'config.json').exists():
        return ['resume', out, *backend, '--episodes', '10']
    return ['train', 'cartpole', *backend, *settings, '--out', out]


def kill_and_resume(bench, out, begun, times, chances):
    """How often a run was killed before it came to its end. begun(kill) is what goes on with it. It is killed soon after it began, or
    soon after it saved: how fast a machine is changes when that is, not whether it happens."""
    for kill in range(times):
        words, before, saves = begun(kill), set(saved(bench.folder / out)), chances.randrange(4)
        with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            while running.poll() is None and len(set(saved(bench.folder / out)) - before) < saves:
                time.sleep(0.001)
            time.sleep(chances.uniform(0, 0.01 if saves else 0.35))
            running.kill()
            _, err = running.communicate()
        assert running.returncode in (0, -signal.SIGKILL), (words, err)
        if running.returncode == 0:
            return kill
    return times


def saved(out):
    """The names of what lies in a run's folder of checkpoints."""
    return [path.name for path in out.glob('checkpoints/step-*.json')]


def different(found, wanted):
    """The names of files that only one has, or that differ."""
    return sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))


def tensors(path):
    data = path.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:8 + size])
    return {name: (about['dtype'], data[8 + size:][slice(*about['data_offsets'])])
            for name, about in header.items() if name != '__metadata__'}


def metrics_without_times(out):
    lines = map(json.loads, (out / 'metrics.jsonl').read_text().splitlines())
    return [{name: value for name, value in line.items() if name != 'seconds' and not name.endswith('steps_per_second')} for line in lines]


def goes_on_to_the_same_bytes(bench, environment, settings, out='broken', plugins=()):
    """A run that is killed after a save and resumed ends with the bytes and the metrics of a whole run, for any number of threads."""
    train = ('train', environment, *CPU, *plugins, '--quiet', '--episodes', '8', *setting(**{'run__report_every': 1, **settings}))
    whole, broken = bench.folder / f'{out}-whole', bench.folder / out
    bench.good(*train, '--threads', '1', '--out', whole)
    with subprocess.Popen([bench.program, *map(str, train), '--threads', '2', '--out', broken], cwd=bench.folder, env=bench.settings,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        wait_for(running, lambda: len(saved(broken)) > 1)
        running.kill()
        running.communicate()
    assert running.returncode == -signal.SIGKILL, running.returncode
    bench.good('resume', broken, *CPU, *plugins, '--quiet', '--episodes', '8')
    assert content(broken) == content(whole)
    for mine, its in zip(metrics_without_times(broken), metrics_without_times(whole), strict=True):
        assert mine == its, {name: (mine.get(name), its.get(name)) for name in {*mine, *its} if mine.get(name) != its.get(name)}


def has_libtorch(bench):
    return any(one.get('id') == 'nacelle.torch' for one in bench.lines('plugins'))
