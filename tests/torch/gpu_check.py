"""The learners on LibTorch on a GPU: weights beside those of a CPU, and rates. Prints a line for each, and fails where one
does. --root and --build as the tests have them; --only PART runs some."""
import array
import json
import time

from parity import CRITICS, MARKED, SMALL, difference, needs_libtorch, setting, trained, watched
from bench import Skip, case, main  # noqa: I001

STRICT = {'env__strict': 'true'}
REPLAY = {'env__count': 64, 'learner__warm_up': 128, 'learner__batch': 64, 'learner__capacity': 4096, 'learner__horizon': 1,
          'policies__default__hidden': '[32,32]', 'run__evaluate_every': 0, 'run__stagger': 'false', 'solved__return': 'null', **STRICT}


def on_gpu(bench):
    needs_libtorch(bench)
    if 'libcuda.so.1 was not found' in bench.run('bench', 'cartpole', '--backend', 'cuda', '--envs', '64', '--repetitions', '1').err:
        raise Skip('there is no GPU')


def far(one, other, name):
    xs, ys = (array.array('f', arrays[name][1]) for arrays in (one, other))
    mean = sum(map(abs, xs)) / len(xs)
    return max(abs(x - y) / max(abs(x), mean) for x, y in zip(xs, ys, strict=True))


def rate(bench, what, environment, repetitions=5, **settings):
    result = bench.run('bench', environment, '--train', '--backend', 'cuda', '--repetitions', repetitions, '--json', *setting(**settings))
    assert result.status == 0, result
    row = json.loads(result.out.splitlines()[-1])
    print(f'    {what}: {row["steps_per_second"] / 1e6:.2f} M steps/s', json.dumps({k: v for k, v in row.items() if not isinstance(v, dict)}),
          result.err, flush=True)


@case
def rate_of_torch_ppo_cartpole_4096_128_bf16(bench):
    on_gpu(bench)
    rate(bench, 'ppo 2x64 bf16', 'cartpole', learner__name='torch_ppo', env__count=4096, learner__horizon=128)


@case
def rate_of_torch_ppo_cartpole_4096_128_f32(bench):
    rate(bench, 'ppo 2x64 f32', 'cartpole', learner__name='torch_ppo', env__count=4096, learner__horizon=128,
         policies__default__precision='f32')


@case
def rate_of_torch_ppo_2x1024_bf16(bench):
    rate(bench, 'ppo 2x1024 bf16', 'cartpole', learner__name='torch_ppo', env__count=4096, learner__horizon=32,
         policies__default__hidden='[1024,1024]')


@case
def rate_of_torch_sac_pendulum(bench):
    rate(bench, 'sac 4096', 'pendulum', learner__name='torch_sac', env__count=4096, learner__warm_up=0)


def pendulum_by_sac(bench, name, **settings):
    """Seconds of training, evaluations and all, up to the first evaluation that is good enough."""
    bench.good('train', 'pendulum', '--backend', 'cuda', '--quiet', '--episodes', '500', '--out', name,
               *setting(learner__name='torch_sac', env__count=4096, run__total_steps=4096 * 1500, run__evaluate_every=50, run__evaluate='greedy',
                        solved__return=-160, solved__episodes=500, learner__save_replay='false', learner__reward_scale=0.1, learner__tau=0.05,
                        **settings))
    readings = [json.loads(line) for line in (bench.folder / name / 'metrics.jsonl').read_text().splitlines()]
    curve = [(one['step'], round(one['seconds'], 2), round(one['evaluation.return'], 1)) for one in readings if 'evaluation.return' in one]
    first = next((one for one in curve if one[2] >= -160), None)
    print(f'    {name}: first at (steps, seconds, return) {first}; all: {curve}', flush=True)
    assert first and first[1] <= 5, curve


@case
def sac_learns_pendulum_by_two_layers_of_64(bench):
    on_gpu(bench)
    pendulum_by_sac(bench, 'narrow', learner__learning_rate=0.01, policies__default__hidden='[64,64]')


@case
def sac_learns_pendulum_by_two_layers_of_256(bench):
    pendulum_by_sac(bench, 'wide', learner__learning_rate=0.003)


@case
def sac_learns_pendulum_by_small_steps(bench):
    pendulum_by_sac(bench, 'small', learner__learning_rate=0.005, policies__default__hidden='[64,64]')


@case
def rates_of_models_by_name(bench):
    for model in ('{"name": "lstm", "width": 64}', '{"name": "transformer", "window": 8, "width": 64}'):
        rate(bench, model, 'cartpole', repetitions=3, learner__name='torch_ppo', env__count=4096, learner__horizon=64, learner__sequence=16,
             policies__default__model=model)


@case
def a_model_without_memory_computes_in_f32(bench):
    on_gpu(bench)
    bench.good('train', bench.write('marked.cu', MARKED), '--backend', 'cuda', '--quiet', '--episodes', '100', '--out', 'attention',
               *setting(learner__name='torch_ppo', env__count=64, learner__horizon=32, run__total_steps=64 * 32 * 8, run__evaluate_every=0,
                        solved__return='null', policies__default__model='{"name": "attention", "width": 32, "layers": 1, "heads": 2}'))
    assert json.loads((bench.folder / 'attention' / 'config.json').read_text())['policies']['default']['precision'] == 'f32'


@case
def ppo_in_f32_leaves_the_weights_of_a_cpu(bench):
    on_gpu(bench)
    for environment, more in (('cartpole', {}), ('pendulum', {'policies__default__trunk': 'separate', 'policies__default__squash': 'true'})):
        settings = {**SMALL, **STRICT, 'learner__minibatches': 2, 'policies__default__precision': 'f32', **more}
        for iterations in (1, 8):    # after two it is a graph
            own = trained(bench, 'torch_ppo', environment, settings, iterations, 'cuda')
            other = trained(bench, 'torch_ppo', environment, settings, iterations)
            found = far(own, other, 'torch_ppo.default.policy.weights')
            print(f'    {environment}, {iterations} iterations: {found:.2e}', flush=True)
            assert found <= (1e-4 if iterations == 1 else 1e-2), found


@case
def critics_leave_the_weights_of_a_cpu(bench):
    on_gpu(bench)
    settings = {**SMALL, **STRICT, **CRITICS, 'learner__minibatches': 2, 'policies__default__precision': 'f32'}
    environment = watched(bench, 'watched_team')
    for iterations in (1, 8):
        own, other = (trained(bench, 'torch_ppo', environment, settings, iterations, backend) for backend in ('cuda', 'cpu'))
        found = [far(own, other, f'torch_ppo.{policy}.policy.weights') for policy in ('even', 'even.critic', 'odd.critic')]
        print(f'    {iterations} iterations: even {found[0]:.2e}, its critic {found[1]:.2e}, that of odd {found[2]:.2e}', flush=True)
        assert max(found) <= (1e-4 if iterations == 1 else 1e-2), found
    settings = {**settings, 'learner__epochs': 1, 'learner__minibatches': 1}
    found = difference(trained(bench, 'ppo', environment, settings, 1, 'cuda'), trained(bench, 'torch_ppo', environment, settings, 1, 'cuda'))
    print(f'    ppo and torch_ppo on a GPU: {found:.2e}', flush=True)
    assert found <= 1e-4, found


@case
def levers_by_a_critic(bench):
    for seed in (1, 2):
        rows = bench.lines('train', 'levers', '--backend', 'cuda', '--seed', seed, '--episodes', '200', '--out', f'levers-{seed}',
                           *setting(learner__name='torch_ppo', run__evaluate_every=0, solved__return='null'))
        result = next(row for row in rows if row.get('kind') == 'result')
        print(f'    levers, seed {seed}: {result["mean_return"]}', flush=True)
        assert result['mean_return'] > 0.9, result


@case
def learners_with_a_replay_leave_the_weights_of_a_cpu(bench):
    on_gpu(bench)
    for learner, environment, more in (('torch_sac', 'pendulum', {}), ('torch_td3', 'pendulum', {'learner__priority': 0.6}),
                                       ('torch_dqn', 'cartpole', {'learner__priority': 0.6, 'learner__atoms': 11, 'learner__duelling': 'true'}),
                                       ('torch_sac', 'cartpole', {})):
        own = trained(bench, learner, environment, {**REPLAY, **more}, 16, 'cuda')
        other = trained(bench, learner, environment, {**REPLAY, **more}, 16)
        found = far(own, other, f'{learner}.policy.weights')
        steps = far(own, other, f'{learner}.replay.obs')
        print(f'    {learner} {environment}: weights {found:.2e}, observations kept {steps:.2e}', flush=True)
        assert found <= 1e-2, found


@case
def fused_ppo_in_f32_and_this_one_agree(bench):
    on_gpu(bench)
    settings = {**SMALL, **STRICT, 'learner__epochs': 1, 'learner__minibatches': 1, 'policies__default__precision': 'f32'}
    fused = trained(bench, 'ppo', 'cartpole', settings, 1, 'cuda')
    print(f'    {difference(fused, trained(bench, "torch_ppo", "cartpole", settings, 1, "cuda")):.2e}', flush=True)


raise SystemExit(main())
