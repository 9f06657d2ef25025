"""Runs of several processes, on CPUs by Gloo, for the tests beside this file."""
import array
import json
import shutil
import socket
import struct
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


def place(rank, ranks, port):
    return {'RANK': str(rank), 'LOCAL_RANK': str(rank), 'WORLD_SIZE': str(ranks), 'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': str(port)}


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def started(bench, rank, ranks, port, *arguments, memory=None):
    limit = ('prlimit', f'--data={memory}') if memory else ()
    return subprocess.Popen([*limit, bench.program, *map(str, arguments)], cwd=bench.folder, env={**bench.settings, **place(rank, ranks, port)},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
