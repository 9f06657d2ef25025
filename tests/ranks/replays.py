"""Learners with a replay in several processes, on CPUs by Gloo: each keeps the steps of its own environments."""
import json
import shutil
import sys
from pathlib import Path

from trained import apart, checkpoints, needs_gloo, same, tensors, words

from bench import CPU, by_name, case, main

ENVS = 4    # of each of two ranks
SMALL = {'learner__horizon': 1, 'learner__batch': 32, 'learner__warm_up': 64, 'learner__capacity': 512, 'learner__minibatches': None,
         'run__total_steps': 480, 'run__checkpoint_every': 160}
# The same for all, so that what one test has compiled the next one takes.
PRIORITY = {'learner__priority': 0.6, 'learner__n_step': 3}


def of(bench, out, learner, environment, ranks, **more):
    needs_gloo(bench)
    shutil.rmtree(bench.folder / out, ignore_errors=True)
    its = {**SMALL, 'learner__name': f'"{learner}"', **more}
    result = bench.run(*words(environment, 2 * ENVS // ranks, ranks, **its), '--out', out, *(('--ranks', ranks) if ranks > 1 else ()))
    assert result.status == 0, result
    return bench.folder / out


@case
def the_first_update_is_that_of_one_rank_with_all_environments(bench):
    """As long as all priorities are equal one rank draws as two do: from the first half of the rows, then from the second one."""
    for learner, environment in (('dqn', 'cartpole'), ('sac', 'pendulum'), ('torch_dqn', 'cartpole'), ('torch_sac', 'pendulum')):
        its = {**PRIORITY, 'learner__warm_up': 24, 'run__total_steps': 24, 'run__checkpoint_every': 24}
        several, one = (of(bench, f'{learner}-{ranks}', learner, environment, ranks, **its) for ranks in (2, 1))
        mine, others = (tensors(checkpoints(run)[-1]) for run in (several, one))
        assert mine.keys() == others.keys(), mine.keys() ^ others.keys()
        kept = [name for name in mine if '.replay.' in name]
        # Priorities come of the network, which some processors compute to other bits for another number of rows.
        errors = [name for name in kept if name.endswith('priority')]
        assert len(kept) >= 8 and all(mine[name] == others[name] for name in kept if name not in errors), kept
        far = {name: max(apart(several, one, name)) for name in (*errors, *(f'{learner}.policy.{what}' for what in ('weights', 'moments')))}
        assert mine[f'{learner}.policy.updates'] == others[f'{learner}.policy.updates'] and max(far.values()) < 2e-6, far


@case
def runs_go_on_to_the_same_bytes_and_with_another_number_of_ranks(bench):
    for learner, environment in (('dqn', 'cartpole'), ('sac', 'pendulum'), ('torch_dqn', 'cartpole')):
        whole = of(bench, f'{learner}-whole', learner, environment, 2, **PRIORITY)
        for ranks in (2, 1):
            cut = Path(shutil.copytree(whole, bench.folder / f'{learner}-cut-{ranks}', dirs_exist_ok=True))
            for path in checkpoints(cut)[2:]:
                path.unlink()
                path.with_suffix('.json').unlink()
            result = bench.run('resume', cut, *CPU, '--threads', '1', '--quiet', '--episodes', '1', *(('--ranks', 2) if ranks == 2 else ()))
            assert result.status == 0, result
            if ranks == 2:
                same(whole, cut, least=3)
            last = json.loads((cut / 'metrics.jsonl').read_text().splitlines()[-1])
            assert last['replay.steps'] == 480 and last['step'] == 480, last


@case
def sums_in_one_anothers_memory_leave_the_bytes_of_the_communicator(bench):
    its = {**PRIORITY, 'learner__emulate': 'true', 'run__total_steps': 120, 'run__checkpoint_every': 120, 'learner__warm_up': 96}
    by_memory = of(bench, 'memory', 'dqn', 'cartpole', 2, **its)
    same(by_memory, of(bench, 'communicator', 'dqn', 'cartpole', 2, run__peer_memory='false', **its), least=1)


@case
@by_name
def two_ranks_learn(bench):
    out = of(bench, 'learns', 'sac', 'pendulum', 2, env__count=512, learner__capacity=1000000, learner__batch=1024, learner__warm_up=None,
             learner__save_replay='false', learner__reward_scale=0.1, learner__learning_rate=0.01, learner__tau=0.05,
             policies__default__hidden='[64,64]', run__evaluate_every=50, run__total_steps=600000, run__checkpoint_every=0,
             solved__return=-400, solved__episodes=200)    # at random it is below -1,100
    lines = [json.loads(line) for line in (out / 'metrics.jsonl').read_text().splitlines()]
    assert lines[-1]['step'] < 600000, lines[-1]


if __name__ == '__main__':
    sys.exit(main())
