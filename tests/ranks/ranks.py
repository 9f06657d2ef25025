"""Several processes that train together, on CPUs by Gloo, beside one that has all of their environments."""
import array
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'tools'))
from bench import CPU, Skip, case, main, setting  # noqa: E402
from training import newest, wait_for  # noqa: E402

HORIZON, ITERATIONS = 16, 4
SMALL = {'learner__horizon': HORIZON, 'learner__minibatches': 2, 'policies__default__hidden': '[16,16]', 'run__evaluate_every': 0,
         'run__stagger': 'false', 'solved__return': 'null', 'run__keep': 100}
# What rounding leaves of weights and moments near 1, added up in another order.
TOLERANCE = 2e-6


def needs_gloo(bench):
    if not any(one.get('id') == 'nacelle.gloo' for one in bench.lines('plugins')):
        raise Skip("this build has no Gloo: 'tools/nacelle torch' installs LibTorch and builds it")


def words(environment, envs, ranks, **changed):
    """A run with a checkpoint after each iteration, of so many environments in each rank."""
    each = envs * changed.pop('shared_by', ranks) * HORIZON
    settings = {**SMALL, 'env__count': envs, 'run__checkpoint_every': each, 'run__total_steps': ITERATIONS * each, **changed}
    return ('train', environment, *CPU, '--threads', '1', '--quiet', '--episodes', '1', *setting(**settings))


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


def same(some, others):
    """Environments to the bit; what is learnt but for rounding."""
    assert [path.name for path in checkpoints(some)] == [path.name for path in checkpoints(others)], (some, others)
    assert len(checkpoints(some)) >= ITERATIONS - 1, checkpoints(some)
    for path in checkpoints(some):
        mine, its = tensors(path), tensors(others / 'checkpoints' / path.name)
        assert mine.keys() == its.keys(), mine.keys() ^ its.keys()
        for name, (kind, shape, found) in mine.items():
            assert (kind, shape) == its[name][:2], (name, shape, its[name][:2])
            if found == its[name][2]:
                continue
            assert 'default.' in name, f'{path.name}: {name} differs'
            code = {'F32': 'f', 'F64': 'd'}[kind]
            worst = max(abs(x - y) / max(1, abs(x)) for x, y in zip(array.array(code, found), array.array(code, its[name][2]), strict=True))
            assert worst < TOLERANCE, f'{path.name}: {name} differs by {worst}'


def agree(bench, environment, envs, ranks, **changed):
    needs_gloo(bench)
    same(trained(bench, 'several', environment, envs, ranks, **changed),
         trained(bench, 'one', environment, envs * ranks, 1, learner__shards=ranks, **changed))


@case
def two_ranks_learn_what_one_learns_from_all_their_environments(bench):
    agree(bench, 'cartpole', 8, 2, learner__normalise_advantages='"minibatch"')
    config = json.loads((bench.folder / 'several' / 'config.json').read_text())
    assert config['run']['ranks'] == 2 and config['env']['count'] == 8 and config['learner']['shards'] == 2, config


@case
def three_ranks_do(bench):
    agree(bench, 'cartpole', 8, 3, learner__name='"a2c"', learner__advantage='"vtrace"')


@case
def and_by_the_kernels_of_a_gpu(bench):
    agree(bench, 'cartpole', 8, 2, learner__emulate='true')


@case
def an_update_ends_early_on_all_ranks_or_on_none(bench):
    agree(bench, 'cartpole', 8, 2, learner__target_kl=0.0001)


@case
def a_run_goes_on_with_another_number_of_ranks(bench):
    needs_gloo(bench)
    whole = trained(bench, 'whole', 'cartpole', 8, 2)
    for ranks in (1, 2):
        cut = Path(shutil.copytree(whole, bench.folder / f'cut-{ranks}', dirs_exist_ok=True))
        for path in checkpoints(cut)[2:]:
            path.unlink()
            path.with_suffix('.json').unlink()
        result = bench.run('resume', cut, *CPU, '--threads', '1', '--quiet', '--episodes', '1', *(('--ranks', 2) if ranks == 2 else ()))
        assert result.status == 0 and result.err == '', result
        if ranks == 2:
            assert newest(cut, 'safetensors').read_bytes() == newest(whole, 'safetensors').read_bytes()
        same(whole, cut)
    result = bench.run('resume', whole, *CPU, '--ranks', 3)
    assert result.status == 1, result
    assert 'env.count: 8 environments for each of 2 ranks are 16, which cannot be dealt out to 3 ranks evenly' in result.err, result


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


@case
def ranks_that_a_launcher_started_find_one_another(bench):
    whole = trained(bench, 'launched-0', 'cartpole', 8, 2) if not needs_gloo(bench) else None
    port = free_port()
    both = [started(bench, rank, 2, port, *words('cartpole', 8, 2), '--out', 'launched') for rank in range(2)]
    said = [one.communicate(timeout=120) for one in both]
    assert [one.returncode for one in both] == [0, 0] and not said[0][1] + said[1][1], said
    assert said[0][0] and not said[1][0], said       # rank 0 tells of all
    assert newest(bench.folder / 'launched', 'safetensors').read_bytes() == newest(whole, 'safetensors').read_bytes()


@case
def ranks_of_other_settings_say_which(bench):
    needs_gloo(bench)
    port = free_port()
    both = [started(bench, rank, 2, port, *words('cartpole', 8, 2, learner__learning_rate=0.1 * (rank + 1)), '--out', 'other')
            for rank in range(2)]
    said = [one.communicate(timeout=120)[1] for one in both]
    assert [one.returncode for one in both] == [1, 1], said
    assert 'has other settings than rank 0: learner.learning_rate is 0.2 here and 0.1 on rank 0' in said[1], said
    assert 'rank 1: has other settings than rank 0' in said[0], said


LONG = {'run__total_steps': 10**12, 'run__rank_timeout': 5}


def pair(bench, out, **changed):
    """Two ranks, as a launcher starts them that does not care how they end."""
    needs_gloo(bench)
    shutil.rmtree(bench.folder / out, ignore_errors=True)
    port = free_port()
    return [started(bench, rank, 2, port, *words('cartpole', 8, 2, **{**LONG, **changed}), '--out', out) for rank in range(2)]


def ends(both, victim, what, wanted):
    """What the other rank says once one of them was killed or stopped."""
    try:
        began = time.monotonic()
        both[victim].send_signal(what)
        said = both[1 - victim].communicate(timeout=30)[1]
        assert both[1 - victim].returncode == 1 and time.monotonic() - began < 20, (said, both[1 - victim].returncode)
        assert wanted in said, said
    finally:
        for one in both:
            one.kill()
            one.communicate()


def saved(bench, out):
    return list((bench.folder / out / 'checkpoints').glob('step-*.json'))


def in_each_phase(bench, what, gone):
    host = socket.gethostname()
    both = pair(bench, 'start')
    ends(both, 1, what, 'rank 0 on {0} ends: not all of the 2 ranks have come to 127.0.0.1, port '.format(host))
    for victim in range(2):
        both = pair(bench, 'training')
        wait_for(both[0], lambda: saved(bench, 'training'))
        ends(both, victim, what, f'rank {1 - victim} on {host} ends: rank {victim} on {host} {gone}')
    # Rank 0 plays for minutes, and the other one waits for it.
    both = pair(bench, 'evaluation', run__evaluate_every=1, solved__episodes=1000000)
    wait_for(both[0], lambda: (bench.folder / 'evaluation' / 'config.json').exists())
    time.sleep(7)    # longer than ranks wait for one that trains
    assert [one.poll() for one in both] == [None, None], both
    ends(both, 0, what, f'rank 1 on {host} ends: rank 0 on {host} {gone}')
    # Most of the time goes into checkpoints of 30 megabytes.
    both = pair(bench, 'save', policies__default__hidden='[1024,1024]', learner__horizon=1, learner__minibatches=1, run__checkpoint_every=16)
    wait_for(both[0], lambda: len(saved(bench, 'save')) > 1)
    ends(both, 0, what, f'rank 1 on {host} ends: rank 0 on {host} {gone}')
    bench.good('eval', 'save', *CPU, '--episodes', '1')


@case
def a_rank_that_hangs_ends_the_others_in_each_phase(bench):
    in_each_phase(bench, signal.SIGSTOP, 'has not answered for 5 s (')


@case
def and_one_that_dies(bench):
    in_each_phase(bench, signal.SIGKILL, 'is gone, and gave no reason')


# Environment 12, which the second of two ranks has, never ends its 40th step.
STUCK = """#include <nacelle/env.h>
struct Stuck {
    static constexpr int time_limit = 1000;
    struct Params {};
    struct State { int steps; bool stuck; };
    struct Action { nacelle::Discrete<2> way; };
    struct Obs { float steps; };
    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {0, rng.uniform() > 0.9f}; }
    static nacelle::Outcome step(State& s, const Action&, const Params&, nacelle::Rng&) {
        ++s.steps;
        for (volatile int more = 1; s.stuck && s.steps > 40 && more;) more = 1;
        return {.reward = 1.0f};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.steps)}; }
};
NACELLE_ENV(Stuck)
"""


@case
def a_rank_whose_environment_never_returns_ends_all(bench):
    needs_gloo(bench)
    (bench.folder / 'stuck.cu').write_text(STUCK)
    result = bench.run(*words('stuck.cu', 4, 2, **LONG), '--seed', '3', '--out', 'stuck', '--ranks', '2')
    assert result.status == 1, result
    assert f'on {socket.gethostname()} has not come for 5 s to a sum in which the others wait (training)' in result.err, result


@case
def a_rank_that_runs_out_of_memory_says_so_on_all(bench):
    needs_gloo(bench)
    port = free_port()
    large = words('cartpole', 8, 2, **{**LONG, 'policies__default__hidden': '[4096,4096]'})
    both = [started(bench, rank, 2, port, *large, '--out', 'memory',
                    memory=(None, 2**29)[rank]) for rank in range(2)]
    said = [one.communicate(timeout=60)[1] for one in both]
    assert [one.returncode for one in both] == [1, 1], said
    assert f'rank 0 on {socket.gethostname()} ends: rank 1 on {socket.gethostname()}: ' in said[0], said
    assert 'memory' in said[0] and 'memory' in said[1], said


def rank_of(process):
    try:
        held = Path(f'/proc/{process}/environ').read_bytes().split(b'\0')
    except OSError:
        return None
    return next((int(one[5:]) for one in held if one.startswith(b'RANK=')), None)


@case
def a_rank_that_is_killed_ends_the_others(bench):
    needs_gloo(bench)
    shutil.rmtree(bench.folder / 'killed', ignore_errors=True)
    parent = subprocess.Popen([bench.program, *map(str, words('cartpole', 8, 2, run__total_steps=10**12)), '--out', 'killed', '--ranks', '2'],
                              cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(parent, lambda: list((bench.folder / 'killed' / 'checkpoints').glob('step-*.json')))
    children = Path(f'/proc/{parent.pid}/task/{parent.pid}/children').read_text().split()
    began = time.monotonic()
    os.kill(next(int(child) for child in children if rank_of(child) == 1), signal.SIGKILL)
    said = parent.communicate(timeout=60)[1]
    assert time.monotonic() - began < 30 and parent.returncode == 137, (said, parent.returncode)
    assert f'rank 1 on {socket.gethostname()} was ended by signal 9 (Killed); the other ranks are ended' in said, said
    assert 'another rank is gone' in said, said
    bench.good('eval', 'killed', *CPU, '--episodes', '1')


@case
def a_signal_ends_all_of_them_with_a_checkpoint(bench):
    needs_gloo(bench)
    # Of this process alone; and of all at once, as a terminal that is closed or a system does, who are also told on.
    for tell in (lambda process: process.send_signal(signal.SIGINT), lambda process: os.killpg(process.pid, signal.SIGTERM)):
        shutil.rmtree(bench.folder / 'told', ignore_errors=True)
        parent = subprocess.Popen([bench.program, *map(str, words('cartpole', 8, 2, run__total_steps=10**12, run__checkpoint_every=10**11)),
                                   '--out', 'told', '--ranks', '2'],
                                  cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  start_new_session=True)
        wait_for(parent, lambda: any(bench.folder.glob('told/metrics.jsonl')) and (bench.folder / 'told' / 'metrics.jsonl').stat().st_size > 0)
        tell(parent)
        said = parent.communicate(timeout=60)
        assert parent.returncode == 0 and not said[1], (said, parent.returncode)
        bench.good('eval', 'told', *CPU, '--episodes', '1')


@case
def a_command_for_several_ranks_is_known_and_no_other(bench):
    root = bench.root
    for wanted, arguments, variables in (
            (True, ['train', 'cartpole', '--ranks', '2'], {}), (True, ['resume', 'runs/one', '--ranks=4'], {}),
            (True, ['train', 'cartpole'], {'RANK': '0', 'WORLD_SIZE': '2'}),
            (True, ['train', 'cartpole'], {'SLURM_PROCID': '0', 'SLURM_STEP_NUM_TASKS': '2'}),
            (False, ['train', 'cartpole'], {}), (False, ['train', 'cartpole', '--ranks', '1'], {}), (False, ['plugins', '--ranks', '2'], {}),
            (False, ['train', 'cartpole'], {'RANK': '0', 'WORLD_SIZE': '1'}),
            (False, ['train', 'cartpole'], {'SLURM_PROCID': '0', 'SLURM_STEP_NUM_TASKS': '1'}),
            (False, ['train', 'cartpole'], {'SLURM_PROCID': '0'})):
        done = subprocess.run(['sh', '-euc', '. "$0"; names_ranks "$@"', str(root / 'tools' / 'build' / 'ranks.sh'), *arguments],
                              env={**bench.settings, **variables}, capture_output=True, text=True)
        assert not done.stderr and (done.returncode == 0) == wanted, (arguments, variables, done)


@case
def a_table_shows_how_rates_grow(bench):
    needs_gloo(bench)
    words = ('bench', 'cartpole', '--train', '--ranks', '1,2', *CPU, '--threads', '1', '--envs', '8', '--repetitions', '1',
             *setting(learner__horizon=HORIZON))
    rows = bench.lines(*words)
    assert [(one['ranks'], one['envs'], one['settings']['learner'].get('shards')) for one in rows] == [(1, 8, None), (2, 8, 2)], rows
    assert rows[0]['times'] == 1 and rows[1]['times'] == rows[1]['steps_per_second'] / rows[0]['steps_per_second'], rows
    shown = bench.good(*words).splitlines()
    assert len(shown) == 4 and 'times' in shown[1] and shown[3].split()[:3] == ['CartPole', '2', '8'], shown
    result = bench.run('bench', 'cartpole', '--ranks', '2')
    assert result.status == 2 and '--ranks requires --train' in result.err, result
    result = bench.run('bench', 'cartpole', '--train', '--ranks', '1,3', *CPU, '--envs', '8', *setting(learner__shards=4))
    assert result.status == 1 and '3 ranks, and 4 shards cannot be dealt out' in result.err, result


@case
def what_ranks_cannot_do_is_refused(bench):
    def refused(pattern, *arguments, **changed):
        result = bench.run('train', 'cartpole', *CPU, *arguments, **changed)
        assert result.status == 1 and pattern in result.err, f'{result}\nwanted: {pattern}'
    refused('WORLD_SIZE: is not set, and RANK is (torchrun sets both; without both one process trains alone)', RANK='0')
    refused("RANK: expected a number from 0 to 1, found '2'", RANK='2', WORLD_SIZE='2')
    refused('MASTER_ADDR: is not set, so that 2 ranks do not know where to meet', RANK='0', WORLD_SIZE='2', LOCAL_RANK='0')
    refused('--ranks: asks for 3, and RANK is set by a launcher that started 2', '--ranks', '3', **place(0, 2, 1))
    refused('--seeds: trains one run after the other in one process, and there are 2 ranks', '--seeds', '2', **place(0, 2, 1))
    shutil.rmtree(bench.folder / 'both', ignore_errors=True)
    bench.good(*words('cartpole', 8, 1), '--seeds', '2', '--out', 'both')
    result = bench.run('resume', 'both', *CPU, '--ranks', '2')
    assert result.status == 1 and '--ranks: is of one run, and both holds those of several seeds (resume one of them, such as both/seed-1)' in result.err
    refused('wires: there is no such communicator', *setting(run__communicator='"wires"'), **place(0, 2, 1))
    refused("nccl: adds up the memory of GPUs; 'gloo' is for CPUs", *setting(run__communicator='"nccl"'), **place(0, 2, 1))
    needs_gloo(bench)
    refused('random_search: trains in one process alone, and there are 2 ranks', '--ranks', '2',
            *setting(learner__name='"random_search"'))
    refused('ppo: shards: there are 2 ranks, and 3 shards cannot be dealt out to them evenly', '--ranks', '2', *setting(learner__shards=3))
    refused('torch_ppo: learners on LibTorch train in one process so far', '--ranks', '2', *setting(learner__name='"torch_ppo"'))


if __name__ == '__main__':
    sys.exit(main())
