"""What policies do once they have learned: evaluations, elsewhere and on other machines, too."""
import json
import re

from bench import CPU, case, main, setting
from training import SHORT, bet, copy, newest, npy_file, sealed, train, whole


@case
def evaluations_leave_training_as_it_was(bench):
    def arrays(out):
        return newest(bench.folder / out, 'safetensors').read_bytes()

    train(bench, 'often', *setting(run__evaluate_every=1), steps=600000)
    train(bench, 'never', *setting(run__evaluate_every=0, solved__return='null'), steps=600000)
    assert arrays('often') == arrays('never')
    assert not (bench.folder / 'never' / 'checkpoints' / 'best.json').exists()


@case
def an_evaluation_repeats_and_draws_other_episodes_for_another_seed(bench):
    whole(bench)

    def told(*more):
        [one] = bench.lines('eval', 'whole', *CPU, *more)
        return one

    first = told('--episodes', '300')
    assert first['episodes'] == 300 and first['unfinished'] == 0 and first['return_interval'] > 0, first
    assert first == told('--episodes', '300', '--threads', '1') and first['checkpoint'] == 'whole/checkpoints/best.json', first
    other = told('--episodes', '300', '--seed', '9')
    assert other['mean_return'] != first['mean_return'] and other['seed'] == 9, other
    assert abs(other['mean_return'] - first['mean_return']) < 3 * (other['return_interval'] + first['return_interval'])
    # 256 environments: the last 44 episodes of 300 are of a second round.
    assert told('--episodes', '256')['mean_return'] != first['mean_return']
    assert told('--checkpoint', 'latest')['steps'] == 4006400
    assert told('--checkpoint', '4006400', '--sampled')['sampled']
    bench.refused(r"whole: has no checkpoint '17' \(there is: best, latest, 4006400, .*\)", 'eval', 'whole', *CPU, '--checkpoint', '17')
    bench.refused(r"whole@latest: does not exist \('match' and 'export' take RUN@WHICH; 'eval' has --checkpoint WHICH\)", 'eval', 'whole@latest', *CPU)
    # A stronger push than it was trained with, and what an evaluation has no use for.
    pushed = told('--episodes', '300', *setting(env__params__force=40))
    assert pushed['mean_return'] != first['mean_return'] and pushed['checkpoint'] == first['checkpoint'], pushed
    bench.refused(r"--set run\.total_steps=5: 'run' is nothing to a policy that acts \(there is: env, hooks, learner, policies\)",
                  'eval', 'whole', *CPU, *setting(run__total_steps=5))
    bench.refused(r".*has no parameter 'farce' .*", 'eval', 'whole', *CPU, *setting(env__params__farce=5))
    text = bench.good('eval', 'whole', *CPU, '--episodes', '20')
    assert re.fullmatch(r'CartPole at step \d+, greedy: return \S+ ± \S+, length \S+ ± \S+ over 20 episodes \(95 % intervals\)\n', text), text


@case
def a_policy_is_tried_with_another_table_and_an_edited_one_is_refused(bench):
    bet(bench, 'bets')
    # One has the name of the table of training.
    for path in ('other.npy', 'held/pays.npy'):
        bench.write(path, npy_file(5, 7))
        [told] = bench.lines('eval', 'bets', *CPU, '--episodes', '10', *setting(env__params__pays=path))
        assert told['mean_return'] == 7, told
    [told] = bench.lines('eval', 'bets', *CPU, '--episodes', '10')
    assert told['mean_return'] == 3, told
    bench.write('pays.npy', npy_file(1, 4))
    bench.refused(r".*/pays\.npy: is not what it was at step \d+ of this run \(put it back: .*\)", 'eval', 'bets', *CPU)
    bench.refused(r".*/pays\.npy: is not what it was .*", 'resume', 'bets', *CPU, *setting(run__total_steps=40000))
    bench.write('pays.npy', npy_file(1, 3))
    result = bench.run('resume', 'bets', *CPU, '--quiet', '--episodes', '10', *setting(run__total_steps=40000, env__params__pays='held/pays.npy'))
    assert result.status == 0 and ': the table of env.params.pays is another one: the best checkpoint, of step ' in result.err, result
    [told] = bench.lines('eval', 'bets', *CPU, '--episodes', '10')
    assert told['mean_return'] == 7 and told['steps'] > 32768, told
    [told] = [one for one in bench.lines('runs', '.') if one['run'].endswith('bets')]
    assert told['best_return'] == 7, told


@case
def small_and_huge_returns_have_their_digits(bench):
    bet(bench, 'sizes', 2048)
    for scale, text in ((1e-6, '3e-06 ± 0,'), (0.5, '1.500 ± 0.000,'), (10, '30.0 ± 0.0,'), (1e6, '3000000.0 ± 0.0,'), (1e30, '3e+30 ± 0,')):
        told = bench.good('eval', 'sizes', *CPU, '--episodes', '10', *setting(env__params__scale=scale))
        assert f': return {text}' in told, told
    bench.write('signs.npy', npy_file(1, -1))
    drawn = bench.good('eval', 'sizes', *CPU, '--sampled', *setting(env__params__scale=1e-6, env__params__pays='signs.npy'))
    assert re.search(r': return -?[\d.]+e-0\d ± [\d.]+e-0\d, length 1\.000 ', drawn), drawn
    told = bench.run('resume', 'sizes', *CPU, '--quiet', '--episodes', '10', *setting(run__total_steps=40000, env__params__scale=1e-6))
    assert 'sizes: env.params.scale is 1e-06, and was 1: the best checkpoint, of step ' in told.err, told
    listed = bench.good('runs', '.')
    assert re.search(r'^sizes .* 3e-06  ended$', listed, re.MULTILINE), listed


@case
def what_a_gpu_learned_in_bf16_acts_on_a_cpu(bench):
    bench.good('train', 'cartpole', '--quiet', *CPU, '--out', 'halves', '--episodes', '10',
               *setting(env__count=64, run__total_steps=16384, solved__return='null'))
    words = ['eval', 'halves', *CPU, '--episodes', '64']
    first = bench.lines(*words)
    config = bench.folder / 'halves' / 'config.json'
    told = json.loads(config.read_text())
    # As a GPU leaves it; weights have 32 bits.
    told['policies']['default'].update(precision='bf16', execution='streamed')
    config.write_text(json.dumps(told))
    assert bench.lines(*words) == first
    assert bench.lines('watch', 'cartpole', '--policy', 'halves', '--json', '--steps', '20', '--pace', '0', *CPU)
    # Who asks for it is told, and so is who would train.
    for refused in (['eval', 'halves', *CPU, *setting(policies__default__precision='bf16')], ['resume', 'halves', *CPU]):
        bench.refused(r'.*policies\.default\.precision: ppo: a CPU computes in f32; bf16 needs a GPU.*', *refused)


@case
def a_policy_is_tried_where_it_was_not_trained(bench):
    bench.good('train', 'cartpole', '--quiet', *SHORT, *setting(run__total_steps=100000, env__params__force='{"uniform":[8,12]}'),
               '--out', 'drawn')

    def told(*more):
        [one] = bench.lines('eval', 'drawn', *CPU, '--episodes', '100', *more)
        return one['mean_return']

    # One number where it was drawn is drawn as that number.
    weak = told(*setting(env__params__force=0.01))
    assert weak == told(*setting(env__params__force='{"choice":[0.01]}')) != told()
    assert told(*setting(env__params__gravity=30)) != told()
    bench.refused(r'env\.params\.gravity: was one number in training, .* \(a number\)', 'eval', 'drawn', *CPU,
                  *setting(env__params__gravity='{"uniform":[5,20]}'))


@case
def a_policy_acts_in_any_number_of_environments_and_in_teams_of_any_size_that_it_fits(bench):
    tiny = setting(learner__horizon=8, policies__default__hidden='[8]', run__evaluate_every=0, solved__return='null')
    bench.good('train', 'cartpole', '--quiet', *CPU, *tiny, *setting(env__count=32, run__total_steps=2000), '--episodes', '5', '--out', 'few')
    [first] = bench.lines('eval', 'few', *CPU, '--episodes', '64')
    # The whole of a round plays at once, so that these are the same episodes.
    for count in (64, 200):
        [more] = bench.lines('eval', 'few', *CPU, '--episodes', '64', *setting(env__count=count))
        assert more['episodes'] == 64 and more['steps'] == first['steps'], more
    assert bench.lines('eval', 'few', *CPU, '--episodes', '64', *setting(env__count=64)) == \
        bench.lines('eval', 'few', *CPU, '--episodes', '64', *setting(env__count=200))
    [one] = bench.lines('eval', 'few', *CPU, '--episodes', '3', *setting(env__count=1))
    assert one['episodes'] == 3, one

    teams = setting(env__count=8, env__constants__length=10, run__total_steps=1000)
    bench.good('train', 'tag_gridworld', '--quiet', *CPU, *tiny, *teams, *setting(env__constants__observe_all='false'),
               '--episodes', '5', '--out', 'team')
    [found] = bench.lines('eval', 'team', *CPU, '--episodes', '10', *setting(env__constants__taggers=7))
    assert found['episodes'] == 10 and sorted(found['policies']) == ['runner', 'tagger'], found
    # One side as it was trained, before another one that acts at random.
    chance = setting(policies__runner__train='"random"')
    [trained] = bench.lines('eval', 'team', *CPU, '--episodes', '50')
    [before_chance] = bench.lines('eval', 'team', *CPU, '--episodes', '50', *chance)
    assert before_chance['policies']['tagger'] != trained['policies']['tagger'], before_chance
    bench.refused(r'--set policies\.runner\.hidden: ppo: a policy that acts at random has nothing to set but "train"', 'eval', 'team', *CPU, *chance,
                  *setting(policies__runner__hidden='[8,8]'))
    # What sees all others sees another number of them.
    bench.refused(r"team/checkpoints/step-\d+\.json: 'runner' sees 21 numbers \(obs 21\) here; it was trained with 6 numbers \(obs 6\)",
                  'eval', 'team', *CPU, *setting(env__constants__observe_all='true'))
    bench.refused(r"few/checkpoints/step-\d+\.json: 'default' has a network of \[4,9,3\] tanh here; it was trained with one of "
                  r"\[4,8,3\] tanh", 'eval', 'few', *CPU, *setting(policies__default__hidden='[9]'))


@case
def a_checkpoint_of_an_earlier_version_is_evaluated_as_it_was_trained(bench):
    whole(bench)
    old = copy(bench, 'older')
    for path in (old / 'checkpoints').glob('*.json'):
        told = json.loads(path.read_text())
        assert told.pop('policies')['default']['draws'] is False
        path.write_text(json.dumps(sealed(told)))
    words = ['--episodes', '20']
    assert bench.lines('eval', 'older', *CPU, *words)[0]['mean_return'] == bench.lines('eval', 'whole', *CPU, *words)[0]['mean_return']
    bench.refused(r"older/checkpoints/best\.json: its .* is .*; that of this run is .* \(env\.count and the learner's sizes must be the "
                  r"checkpoint's\)", 'eval', 'older', *CPU, *setting(env__count=100))


raise SystemExit(main())
