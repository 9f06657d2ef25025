"""Runs of several processes, on CPUs by Gloo, for the tests beside this file."""
import array
import json
import shutil
import socket
import struct
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'tools'))
from bench import CPU, Skip, setting  # noqa: E402

HORIZON, ITERATIONS = 16, 4
SMALL = {'learner__horizon': HORIZON, 'learner__minibatches': 2, 'policies__default__hidden': '[16,16]', 'run__evaluate_every': 0,
         'run__stagger': 'false', 'solved__return': 'null', 'run__keep': 100}


def needs_gloo(bench):
    if not any(one.get('id') == 'nacelle.gloo' for one in bench.lines('plugins')):
        raise Skip("this build has no Gloo: 'tools/nacelle torch' installs LibTorch and builds it")


# Gloo, with some functions replaced by `change`.
CHANGED = """#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <nacelle/plugin/manifest.h>
#include <string>
#include <unistd.h>
@CODE@
struct Changed {
    static constexpr const char* kind = "communicator/1";
    static constexpr const char* name = "@NAME@";
    static const void* table() {
        static nacelle_communicator functions;
        const auto get = reinterpret_cast<decltype(&nacelle_plugin_get)>(dlsym(dlopen("@GLOO@", RTLD_NOW), "nacelle_plugin_get"));
        functions = *static_cast<const nacelle_communicator*>(get("communicator/1", "gloo"));
        change(functions);
        return &functions;
    }
};
NACELLE_PLUGIN("test.@NAME@", "1.0.0", "Gloo with changes", Changed)
"""


def changed_gloo(bench, name, code):
    """Makes a plugin folder `name` with a communicator of the same name."""
    (bench.folder / name).mkdir(exist_ok=True)
    text = CHANGED.replace('@CODE@', code).replace('@NAME@', name).replace('@GLOO@', str(bench.program.parents[1] / 'plugins' / 'gloo.so'))
    # The engine opens the libraries that a plugin needs, and Gloo's plugin needs LibTorch.
    libtorch = subprocess.run([bench.root / 'tools' / 'nacelle', 'torch', '--flags'], capture_output=True, text=True, check=True).stdout
    subprocess.run(['c++', '-std=c++20', '-x', 'c++', '-', '-shared', '-fPIC', '-fvisibility=hidden', '-I', bench.root / 'sdk', '-Wl,--no-as-needed',
                    *shlex.split(libtorch), '-o', f'{name}/{name}.so'], cwd=bench.folder, input=text, text=True, check=True)


def words(environment, envs, ranks, **changed):
    """A run with a checkpoint after each iteration, of so many environments in each rank."""
    each = envs * changed.pop('shared_by', ranks) * HORIZON
    settings = {**SMALL, 'env__count': envs, 'run__checkpoint_every': each, 'run__total_steps': ITERATIONS * each, **changed}
    there = {key: value for key, value in settings.items() if value is not None}
    return ('train', environment, *CPU, '--threads', '1', '--quiet', '--episodes', '1', *setting(**there))


def trained(bench, out, environment, envs, ranks, **changed):
    shutil.rmtree(bench.folder / out, ignore_errors=True)
    result = bench.run(*words(environment, envs, ranks, **changed), '--out', out, *(('--ranks', ranks) if ranks > 1 else ()))
    assert result.status == 0 and result.err == '', result
    return bench.folder / out


def tensors(path):
    data = path.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    return {name: (about['dtype'], about['shape'], data[8 + size:][slice(*about['data_offsets'])])
            for name, about in json.loads(data[8:8 + size]).items() if name != '__metadata__'}


def checkpoints(out):
    return sorted((out / 'checkpoints').glob('step-*.safetensors'))


def same(some, others, least=ITERATIONS - 1):
    """All that checkpoints hold, to the bit."""
    assert [path.name for path in checkpoints(some)] == [path.name for path in checkpoints(others)], (some, others)
    assert len(checkpoints(some)) >= least, checkpoints(some)
    for path in checkpoints(some):
        mine, its = tensors(path), tensors(others / 'checkpoints' / path.name)
        assert mine.keys() == its.keys(), mine.keys() ^ its.keys()
        for name, found in mine.items():
            assert found[:2] == its[name][:2], (name, found[:2], its[name][:2])
            assert found[2] == its[name][2], f'{path.name}: {name} differs'


def apart(some, others, name):
    """How far numbers near 1 lie from one another in each checkpoint, at most."""
    def numbers(path):
        return array.array('f', tensors(path)[name][2])
    return [max(abs(x - y) for x, y in zip(numbers(path), numbers(others / 'checkpoints' / path.name), strict=True)) for path in checkpoints(some)]


def agree(bench, environment, envs, ranks, **changed):
    needs_gloo(bench)
    same(trained(bench, 'several', environment, envs, ranks, **changed),
         trained(bench, 'one', environment, envs * ranks, 1, learner__shards=ranks, **changed))


def place(rank, ranks, port, address='127.0.0.1'):
    return {'RANK': str(rank), 'LOCAL_RANK': str(rank), 'WORLD_SIZE': str(ranks), 'MASTER_ADDR': address, 'MASTER_PORT': str(port)}


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def started(bench, rank, ranks, port, *arguments, limit=None, address='127.0.0.1'):
    """One of several ranks, as a launcher starts it; `limit` is an option of prlimit."""
    limited = ('prlimit', limit) if limit else ()
    return subprocess.Popen([*limited, bench.program, *map(str, arguments)], cwd=bench.folder,
                            env={**bench.settings, **place(rank, ranks, port, address)},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def launched(bench, *arguments, **more):
    """Two ranks without a launcher that would end them together."""
    port = free_port()
    return [started(bench, rank, 2, port, *arguments, **more) for rank in range(2)]
