"""Ranks that hang, die or fail, on CPUs by Gloo: the others end and say why."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from restarts import has_torchrun, restarted
from trained import changed_gloo, free_port, launched, needs_gloo, started, words

from bench import CPU, Skip, case, main
from training import wait_for

LONG = {'run__total_steps': 10**12, 'run__rank_timeout': 5}


def pair(bench, out, *more, **changed):
    needs_gloo(bench)
    shutil.rmtree(bench.folder / out, ignore_errors=True)
    return launched(bench, *words('cartpole', 8, 2, **{**LONG, **changed}), *more, '--out', out)


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
    time.sleep(7 if what == signal.SIGSTOP else 1)    # once longer than ranks wait for one that trains
    assert [one.poll() for one in both] == [None, None], both
    ends(both, 0, what, f'rank 1 on {host} ends: rank 0 on {host} {gone}')
    # Most of the time goes into checkpoints of 30 megabytes.
    both = pair(bench, 'save', policies__default__hidden='[1024,1024]', learner__horizon=1, learner__minibatches=1, run__checkpoint_every=16)
    wait_for(both[0], lambda: len(saved(bench, 'save')) > 1)
    ends(both, 0, what, f'rank 1 on {host} ends: rank 0 on {host} {gone}')
    bench.good('eval', 'save', *CPU, '--episodes', '1')


@case
def what_rank_0_alone_cannot_do_ends_all(bench):
    needs_gloo(bench)
    (bench.folder / 'no-folder').write_text('')
    both = pair(bench, 'no-folder/run')
    said = [one.communicate(timeout=30)[1] for one in both]
    assert [one.returncode for one in both] == [1, 1], said
    why = 'no-folder: cannot be made: Not a directory'
    host = socket.gethostname()
    assert said == [f'rank 0 on {host}: {why}\n', f'rank 1 on {host}: rank 0: {why}\n'], said


# Reports a fault as soon as a file 'cut' for this rank exists.
CUT = """static nacelle_status fault(void*, char* text, uint32_t bytes) {
    if (FILE* const file = std::fopen((std::string("cut-") + std::getenv("RANK")).c_str(), "r")) {
        std::fclose(file);
        std::snprintf(text, bytes, "the wire is cut");
        return NACELLE_ERROR;
    }
    return NACELLE_OK;
}
static void change(nacelle_communicator& functions) { functions.fault = fault; }
"""


@case
def a_fault_that_the_communicator_notices_by_itself_ends_all(bench):
    needs_gloo(bench)
    changed_gloo(bench, 'cut', CUT)
    both = pair(bench, 'faulty', '--plugins', 'cut', run__communicator='"cut"')
    wait_for(both[0], lambda: saved(bench, 'faulty'))
    (bench.folder / 'cut-1').write_text('')
    host = socket.gethostname()
    said = [one.communicate(timeout=30)[1] for one in both]
    assert [one.returncode for one in both] == [1, 1], said
    for rank in range(2):
        assert f'rank {rank} on {host} ends: rank 1 on {host}: the wire is cut' in said[rank], said


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
                    limit=(None, f'--data={2**29}')[rank]) for rank in range(2)]
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
def torchrun_starts_a_rank_again_that_was_killed(bench):
    needs_gloo(bench)
    if not has_torchrun(sys.executable):
        raise Skip(f'{sys.executable} has no torchrun, which PyTorch brings')
    folder = bench.folder / 'again'
    folder.mkdir(exist_ok=True)
    restarted(bench.program, 'cpu', sys.executable, folder, bench.settings, iterations=100, envs=16)


def last_rank_of(parent):
    ranks = Path(f'/proc/{parent.pid}/task/{parent.pid}/children').read_text().split()
    return next(int(pid) for pid in ranks if b'RANK=1' in Path(f'/proc/{pid}/environ').read_bytes().split(b'\0'))


@case
def a_save_is_refused_and_a_signal_ends_all_of_them_with_a_checkpoint(bench):
    needs_gloo(bench)
    own = bench.folder / 'own.cu'
    shutil.copy(bench.root / 'env_sources' / 'cartpole.cu', own)
    # Of this process alone; and of all at once, as a terminal that is closed or a system does, who are also told on.
    # And of the last rank alone.
    for tell in (lambda process: process.send_signal(signal.SIGINT), lambda process: os.killpg(process.pid, signal.SIGTERM),
                 lambda process: os.kill(last_rank_of(process), signal.SIGTERM)):
        shutil.rmtree(bench.folder / 'told', ignore_errors=True)
        parent = subprocess.Popen([bench.program, *map(str, words('own.cu', 8, 2, run__total_steps=10**12, run__checkpoint_every=10**11)),
                                   '--out', 'told', '--ranks', '2'],
                                  cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  start_new_session=True)
        wait_for(parent, lambda: any(bench.folder.glob('told/metrics.jsonl')) and (bench.folder / 'told' / 'metrics.jsonl').stat().st_size > 0)
        own.write_text(own.read_text() + '// saved\n')
        refusal = parent.stderr.readline()
        assert refusal.startswith('own.cu was saved, and 2 ranks train on with the version that they began with: end the run, and'), refusal
        tell(parent)
        said = parent.communicate(timeout=60)
        assert parent.returncode == 0 and not said[1] and 'Interrupted after ' in said[0], (said, parent.returncode)
        bench.good('eval', 'told', *CPU, '--episodes', '1', '--changed-source')


if __name__ == '__main__':
    sys.exit(main())
