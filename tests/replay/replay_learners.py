"""Learners with a replay, by kernels of ours and on LibTorch where that is built: they learn, go on where they were killed, and their
policies act without them."""
import json
import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'tools'))
from bench import CPU, case, main, setting  # noqa: E402
from training import goes_on_to_the_same_bytes, has_libtorch, newest, tensors  # noqa: E402

# Small enough that the ring goes round within a test.
SMALL = {'env__count': 8, 'learner__batch': 32, 'learner__warm_up': 64, 'learner__capacity': 512, 'policies__default__hidden': '[16,16]',
         'run__evaluate_every': 0, 'solved__return': 'null'}
KINDS = (('dqn', 'cartpole', {'learner__priority': 0.6, 'learner__duelling': 'true'}),
         ('sac', 'pendulum', {'learner__noise_steps': 4}),
         # Most iterations have no update of the policy: metrics repeat its last loss.
         ('td3', 'pendulum', {'learner__priority': 0.6, 'learner__horizon': 1, 'learner__updates': 1, 'learner__policy_every': 7}),
         ('ddpg', 'mountain_car_continuous', {}))


def kinds(bench, torch_alone=()):
    """All of ours, and one on LibTorch for each method there, which shares the code of settings and replays."""
    yield from KINDS
    if has_libtorch(bench):
        for learner, environment, more in (*KINDS[:3], *torch_alone):
            yield f'torch_{learner}', environment, more


def trained(bench, learner, environment, out, *more, **settings):
    return bench.good('train', environment, *CPU, '--quiet', '--episodes', '8', '--out', out, *more,
                      *setting(**{**SMALL, 'run__total_steps': 1600, **settings, 'learner__name': learner}))


@case
def runs_that_were_killed_go_on_to_the_same_bytes(bench):
    for learner, environment, more in kinds(bench):
        settings = {**more, 'run__total_steps': 8 * 500, 'run__checkpoint_every': 8 * 50}
        goes_on_to_the_same_bytes(bench, environment, {**SMALL, **settings, 'learner__name': learner}, out=f'{learner}-broken')


@case
def exploration_by_a_schedule_goes_on_where_it_was(bench):
    trained(bench, 'dqn', 'cartpole', 'explored', learner__exploration='{"linear": [1, 0]}', learner__least_exploration=1,
            run__checkpoint_every=400, run__keep=100)
    whole = bench.folder / 'explored'
    for left in (1, 2, 3):
        cut = Path(shutil.copytree(whole, bench.folder / f'explored-{left}'))
        for path in sorted((cut / 'checkpoints').glob('step-*.safetensors'))[left:]:
            path.unlink()
            path.with_suffix('.json').unlink()
        bench.good('resume', cut, *CPU, '--quiet', '--episodes', '8')
        assert newest(cut, 'safetensors').read_bytes() == newest(whole, 'safetensors').read_bytes(), left


@case
def without_its_replay_a_checkpoint_is_small_and_a_run_fills_it_anew(bench):
    trained(bench, 'sac', 'pendulum', 'without', learner__save_replay='false')
    arrays = tensors(newest(bench.folder / 'without', 'safetensors'))
    assert not [name for name in arrays if 'replay' in name] and 'sac.values.following' in arrays, list(arrays)
    bench.good('resume', 'without', *CPU, '--quiet', '--episodes', '8', *setting(run__total_steps=1600 + 160))
    last = json.loads((bench.folder / 'without' / 'metrics.jsonl').read_text().splitlines()[-1])
    assert last['replay.steps'] == 160, last


@case
def how_large_a_replay_is_is_told(bench):
    told = {}
    for kept in ('true', 'false'):
        told[kept] = bench.good('train', 'cartpole', *CPU, '--episodes', '8', '--out', f'told-{kept}', *setting(
            **{**SMALL, 'learner__name': 'dqn', 'learner__priority': 0.5, 'learner__save_replay': kept, 'run__total_steps': 80}))
    size = 'dqn: the replay has 512 steps of 46 bytes, 23.6 kB'
    assert f'{size}, and so have checkpoints' in told['true'], told
    assert f'{size}; checkpoints are without it' in told['false'], told


@case
def a_large_replay_is_saved_only_where_that_is_asked_for(bench):
    for steps, wanted in ((3000000, 'true'), (4000000, 'false')):    # of 33 bytes
        out = f'kept-{wanted}'
        trained(bench, 'sac', 'pendulum', out, learner__capacity=steps, run__total_steps=80, run__checkpoint_every=0)
        assert f'"save_replay": {wanted}' in (bench.folder / out / 'config.json').read_text(), out


@case
def policies_act_without_their_learner(bench):
    for learner, environment, more in kinds(bench, (('sac', 'cartpole', {}),)):
        out = f'{learner}-{environment}'
        trained(bench, learner, environment, out, **more)
        bench.good('export', out, '--to', 'safetensors', '--out', f'{out}.safetensors')
        # Other episodes of the same policy.
        own, other = (bench.lines('eval', out, *CPU, '--episodes', '256', *policy)[-1] for policy in ((), ('--policy', f'{out}.safetensors')))
        apart = abs(own['mean_return'] - other['mean_return'])
        assert apart <= 2 * (own['return_interval'] + other['return_interval']), (learner, own, other)


@case
def what_does_not_fit_is_refused(bench):
    ours = (('sac', 'pendulum', 'learner.capacity', '34000000000',
             r'a replay of \d+ steps of 33 bytes, 1.12 TB, does not fit: [\d.]+ [GM]B are free; the largest that fits is \d+'),
            ('sac', 'pendulum', 'learner.capacity', '8', '8 steps are 1 of each of 8 environments; expected 24 or more'),
            ('sac', 'pendulum', 'learner.capacity', '1000000000000', '1000000000000 steps; expected at most 34359738360'),
            ('sac', 'pendulum', 'learner.temperature', 'hot', r"there is no 'hot' \(there is: tuned, or a number\)"),
            ('sac', 'pendulum', 'learner.exploration', '1', "there is no such setting .*"),
            ('dqn', 'cartpole', 'learner.atoms', '0', 'expected a number from 1 to 1024'),
            ('td3', 'pendulum', 'policies.default.hidden', '[{"gru": 8}]',
             "a replay has single steps, from which layers that remember do not learn; 'ppo' and 'torch_ppo' train them"),
            ('dqn', 'cartpole', 'learner.atoms', '11', "'dqn' learns values alone; 'torch_dqn' learns distributions of them"),
            ('sac', 'pendulum', 'policies.default.hidden', '[{"conv": 4, "size": 1}, 8]',
             "'sac' has layers of neurons alone; 'torch_sac' has convolutions, too"),
            ('td3', 'pendulum', 'policies.default.precision', 'bf16', 'a CPU computes in f32; bf16 needs a GPU'))
    torch = (('torch_td3', 'pendulum', 'policies.default.precision', 'bf16', r"there is no 'bf16' \(there is: auto, f32\)"),
             ('torch_td3', 'pendulum', 'learner.emulate', 'true', "there is no such setting .*"))
    for learner, environment, path, value, why in (*ours, *(torch if has_libtorch(bench) else ())):
        settings = {key: setting_of for key, setting_of in {**SMALL, 'learner__name': learner}.items() if key != path.replace('.', '__')}
        bench.refused(f'--set {path}: {learner}: {why}', 'train', environment, *CPU, *setting(**settings), '--set', f'{path}={value}')
    bench.refused('--set learner.capacity: td3: 2000000000 steps; expected at most 1073741824 where priorities are kept', 'train', 'pendulum', *CPU,
                  *setting(**{**SMALL, 'learner__name': 'td3', 'learner__priority': 0.6, 'learner__capacity': 2000000000}))
    for prefix in ('', 'torch_') if has_libtorch(bench) else ('',):
        for learner, environment, why in (
                ('dqn', 'pendulum', rf"Pendulum has 0 Discrete and 1 Continuous in its Action; '{prefix}dqn' takes one Discrete "
                                    rf"\('{prefix}sac', '{prefix}td3' and '{prefix}ddpg' take Continuous\)"),
                ('td3', 'cartpole', rf"CartPole has 1 Discrete and 0 Continuous in its Action; '{prefix}td3' takes Continuous alone "
                                    rf"\('{prefix}dqn' and 'torch_sac' take a Discrete\)"),
                ('sac', 'tag_gridworld', "TagGridworld is a team of 5 agents, and this learner trains one agent alone; 'ppo', 'a2c', "
                                         "'torch_ppo' and 'torch_a2c' train teams")):
            bench.refused(f'{prefix}{learner}: {why}', 'train', environment, *CPU, *setting(learner__name=f'{prefix}{learner}'))
    bench.refused(r"sac: CartPole has 1 Discrete and 0 Continuous in its Action; 'sac' takes Continuous alone \('dqn' and 'torch_sac' take a Discrete\)",
                  'train', 'cartpole', *CPU, *setting(learner__name='sac'))


raise SystemExit(main())
