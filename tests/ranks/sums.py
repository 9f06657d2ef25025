"""Several processes that train together, on CPUs by Gloo, beside one that has all of their environments."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

from trained import ITERATIONS, SMALL, agree, apart, checkpoints, free_port, needs_gloo, place, same, started, trained, words

from bench import CPU, Skip, by_name, case, main, setting
from training import newest


@case
def two_ranks_learn_what_one_learns_from_all_their_environments(bench):
    agree(bench, 'cartpole', 8, 2)
    config = json.loads((bench.folder / 'several' / 'config.json').read_text())
    assert config['run']['ranks'] == 2 and config['env']['count'] == 8 and config['learner']['shards'] == 2, config


@case
def three_ranks_do(bench):
    agree(bench, 'cartpole', 8, 3, learner__name='"a2c"', learner__advantage='"vtrace"')


def of_four_shards(bench, ranks, **kernels):
    needs_gloo(bench)
    return trained(bench, f'of-{ranks}', 'cartpole', 16 // ranks, ranks, learner__shards=4, learner__normalise_advantages='"minibatch"', **kernels)


@case
def four_do_and_two_with_the_same_shards(bench):
    whole = of_four_shards(bench, 1)
    for ranks in (2, 4):
        same(whole, of_four_shards(bench, ranks))


@case
@by_name
def four_do_by_the_kernels_of_a_gpu(bench):
    same(*(of_four_shards(bench, ranks, learner__emulate='true') for ranks in (1, 4)))


@case
def networks_that_remember_do_beside_wide_ones(bench):
    agree(bench, 'tag_continuous', 4, 2, env__constants__taggers=1, env__constants__runners=2, policies__tagger__hidden='[{"gru": 8}]',
          policies__runner__hidden='[160, 160]', learner__sequence=8)


@case
def games_against_the_past_do(bench):
    agree(bench, 'connect_four', 64, 2, env__params__opening=2, policies__default__opponents='{"pool": 3, "every": 1, "sample": "hard"}')


@case
def learners_on_libtorch_do_but_for_rounding(bench):
    needs_gloo(bench)
    its = {'learner__name': '"torch_ppo"', 'learner__normalise_advantages': '"minibatch"'}
    several, one = (trained(bench, name, 'cartpole', envs, ranks, learner__shards=2, **its)
                    for name, envs, ranks in (('several', 8, 2), ('one', 16, 1)))
    far = apart(several, one, 'torch_ppo.default.policy.weights')
    assert len(far) >= ITERATIONS - 1 and max(far) < 2e-6, far


@case
def ranks_share_the_population_of_a_search(bench):
    needs_gloo(bench)
    for name, envs, ranks in (('shared', 8, 2), ('alone', 16, 1)):
        shutil.rmtree(bench.folder / name, ignore_errors=True)
        bench.good('train', 'cartpole', *CPU, '--threads', '1', '--quiet', '--episodes', '1', '--out', name, *(('--ranks', 2) if ranks == 2 else ()),
                   *setting(learner__name='"random_search"', learner__population=5, learner__episodes=3, learner__steps=60, env__count=envs,
                            run__total_steps=3 * 16 * 60, run__checkpoint_every=16 * 60, run__evaluate_every=0, solved__return='null', run__keep=9))
    same(bench.folder / 'shared', bench.folder / 'alone', least=3)


@case
def critics_that_see_more_do(bench):
    agree(bench, 'levers', 8, 2, env__constants__shift=7, policies__default__critic='{"sees": ["global", "team", "own"], "hidden": [16]}')


@case
def sums_in_one_anothers_memory_leave_the_bytes_of_the_communicator(bench):
    needs_gloo(bench)
    # Two networks, and what observations are divided by.
    its = {'learner__emulate': 'true', 'learner__normalise_observations': 'true', 'learner__normalise_advantages': '"minibatch"',
           'env__constants__shift': 7, 'policies__default__critic': '{"sees": ["global", "own"], "hidden": [16]}'}
    by_memory = trained(bench, 'memory', 'levers', 8, 2, **its)
    by_gloo = trained(bench, 'communicator', 'levers', 8, 2, run__peer_memory='false', **its)
    assert newest(by_memory, 'safetensors').read_bytes() == newest(by_gloo, 'safetensors').read_bytes()
    assert json.loads((by_gloo / 'config.json').read_text())['run']['peer_memory'] is False


@case
def and_are_right_for_each_size_in_one_step_and_in_two(bench):
    needs_gloo(bench)
    bench.good('train', 'cartpole', *CPU, '--threads', '1', '--quiet', '--episodes', '1', '--ranks', '2', '--out', 'sums',
               '--plugins', bench.program.parents[1] / 'tests' / 'ranks',
               *setting(learner__name='"sums"', learner__times=1, learner__kilobytes=19, env__count=2, run__total_steps=4, run__report_every=1,
                        run__evaluate_every=0, run__checkpoint_every=0, solved__return='null'))
    lines = [json.loads(line) for line in (bench.folder / 'sums' / 'metrics.jsonl').read_text().splitlines()]
    assert lines and all(line['wrong'] == 0 and line['19_KB.one_step'] > 0 and line['19_KB.two_steps'] > 0 for line in lines), lines


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
        done = subprocess.run(['sh', '-euc', '. "$0/build.sh"; . "$0/ranks.sh"; names_ranks "$@"', str(root / 'tools' / 'build'), *arguments],
                              env={**bench.settings, **variables}, capture_output=True, text=True)
        assert not done.stderr and (done.returncode == 0) == wanted, (arguments, variables, done)


@case
def what_connects_ranks_is_installed_where_it_is_asked_for(bench):
    root, shell = bench.root / 'tools' / 'build', '. "$1"; shift; has_gpu() { $gpu; }; install_nccl() { echo nccl; }; with_torch() { echo torch; }\n'
    (bench.folder / 'wires').mkdir(exist_ok=True)
    (bench.folder / 'wires' / 'config.json').write_text('{"run": {"communicator": "wires"}}')
    script = (root / 'build.sh').read_text() + (root / 'ranks.sh').read_text().replace('. "$root/tools/build/setup.sh"', ':')
    (bench.folder / 'ranks.sh').write_text(script)
    for gpu, wanted, arguments in (('true', 'nccl', ['train', 'cartpole']), ('true', 'torch', ['train', 'cartpole', '--backend', 'cpu']),
                                   ('false', 'torch', ['train', 'cartpole']), ('true', '', ['resume', 'wires']),
                                   ('true', '', ['train', 'cartpole', '--set', 'run.communicator="mine"']),
                                   ('true', 'torch', ['resume', 'wires', '--set=run.communicator="gloo"'])):
        done = subprocess.run(['sh', '-euc', f'gpu={gpu}; {shell} with_ranks "$@"', 'sh', './ranks.sh', 'build', *arguments],
                              cwd=bench.folder, env=bench.settings, capture_output=True, text=True)
        assert (done.returncode, done.stderr, done.stdout.strip()) == (0, '', wanted), (gpu, arguments, done)


@case
def one_process_keeps_what_several_may_go_on_with(bench):
    shutil.rmtree(bench.folder / 'kept', ignore_errors=True)
    bench.good(*words('cartpole', 8, 1, run__communicator='"wires"', run__rank_timeout=7, run__peer_memory='false'), '--out', 'kept')
    run = json.loads((bench.folder / 'kept' / 'config.json').read_text())['run']
    assert (run['communicator'], run['rank_timeout'], run['peer_memory']) == ('wires', 7, False) and 'ranks' not in run, run
    result = bench.run('resume', 'kept', *CPU, **place(0, 2, 1))
    assert result.status == 1 and 'wires: there is no such communicator' in result.err, result
    result = bench.run(*words('cartpole', 1000000000, 1, run__ranks=8), '--out', 'many')
    assert result.status == 1 and 'env.count: 1000000000 environments for each of 8 ranks are 8000000000 for each of 1' in result.err, result


@case
def a_table_shows_how_rates_grow(bench):
    needs_gloo(bench)
    words = ('bench', 'cartpole', '--train', '--ranks', '1,2', *CPU, '--threads', '1', '--envs', '8', '--repetitions', '1',
             *setting(**{key: SMALL[key] for key in SMALL if not key.startswith(('run', 'solved'))}))
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
def an_nccl_that_others_can_write_is_not_opened(bench):
    bench.write('data/nacelle/nccl/nvidia/nccl/lib/libnccl.so.2', '').chmod(0o666)
    known = subprocess.run(['/sbin/ldconfig', '-p'], capture_output=True, text=True, check=True).stdout
    hidden = ' && '.join(f'mount --bind /dev/null {line.split()[-1]}' for line in known.splitlines() if 'libnccl.so.2 ' in line) or 'true'
    words = [bench.program, 'train', 'cartpole', *CPU, *setting(run__communicator='"nccl"')]
    done = subprocess.run(['unshare', '-m', 'sh', '-c', f'{hidden} && exec "$@"', 'sh', *map(str, words)], cwd=bench.folder, capture_output=True, text=True,
                          env={**bench.settings, **place(0, 2, 1), 'XDG_DATA_HOME': str(bench.folder / 'data')})
    if 'unshare' in done.stderr or 'mount' in done.stderr:
        raise Skip('this user may not mount')
    assert done.returncode == 1 and 'libnccl.so.2 belongs to another user, or others can write it' in done.stderr, done


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
    for learner in ('dqn', 'torch_dqn'):
        refused(f'{learner}: batch: there are 2 ranks, and 33 samples cannot be dealt out to them evenly', '--ranks', '2',
                *setting(learner__name=f'"{learner}"', learner__batch=33))
    refused('ppo: shards: there are 2 ranks, and 3 shards cannot be dealt out to them evenly', '--ranks', '2', *setting(learner__shards=3))


if __name__ == '__main__':
    sys.exit(main())
