"""`env.count=auto`: trials that find the number of environments, and where it is kept."""
import json

from bench import CPU, Skip, case, main, setting

QUICK = (*CPU, *setting(env__count='auto', learner__horizon=8, run__total_steps=25600, run__evaluate_every=0, solved__return='null'), '--episodes', '4')


@case
def the_number_is_found_by_trials_and_kept_with_their_table(bench):
    text = bench.good('train', 'cartpole', *QUICK, '--out', 'counted')
    run = bench.folder / 'counted'
    kept, settings = json.loads((run / 'count.json').read_text()), json.loads((run / 'config.json').read_text())
    counts = [one['envs'] for one in kept['trials']]
    assert counts == [8 * 2**k for k in range(len(counts))] and kept['envs'] == settings['env']['count'] in counts, kept
    # 25600 steps are a hundred iterations of 32 environments.
    assert counts[-1] <= 32 and (len(counts) == 3) == ('fewer than 100 iterations' in kept['reason']), kept
    best = max(one['steps_per_second'] for one in kept['trials'])
    rates = {one['envs']: one['steps_per_second'] for one in kept['trials']}
    assert rates[kept['envs']] >= best / 1.05 and all(rates[n] < best / 1.05 for n in counts if n < kept['envs']), kept
    assert f"env.count is {kept['envs']}: {kept['reason']}" in text and kept['seconds'] < 60, text
    assert kept['reason'] in bench.good('inspect', 'counted')
    *_, whole = bench.lines('resume', 'counted', *CPU, *setting(run__total_steps=30000), '--episodes', '4')
    assert json.loads((run / 'config.json').read_text())['env']['count'] == kept['envs'], whole
    result = bench.run('resume', 'counted', *CPU, *setting(env__count='auto'))
    assert result.status == 1 and not result.out, result
    assert ('env.count: "auto" is found out before a run begins, and this one\'s environments are in its checkpoints (leave it out; '
            "'nacelle train' finds a number for a new run)") in result.err, result


@case
def settings_that_ask_for_more_than_the_first_count_begin_higher(bench):
    def words(policy):
        return ('bench', 'tag_gridworld', '--train', *CPU,
                *setting(env__count='auto', learner__name='"ppo"', learner__horizon=8, policies__default=policy, run__total_steps=512 * 8 * 100))
    [count] = [one for one in bench.lines(*words('{"hidden": [8], "opponents": {"pool": 2}}')) if one['kind'] == 'count']
    few, *others = count['trials']
    assert few['envs'] == 8 and 'expected an env.count of 128 or more' in few['fault'], count
    assert [one['envs'] for one in others] == [512] and count['envs'] == 512, count
    result = bench.run(*words('{"hidden": "many"}'))
    assert result.status == 1 and 'policies.default.hidden' in result.out + result.err, result


@case
def bench_of_a_training_finds_it_too(bench):
    lines = bench.lines('bench', 'cartpole', '--train', *CPU, *setting(env__count='auto', learner__horizon=8, run__total_steps=12800))
    [count] = [one for one in lines if one['kind'] == 'count']
    [row] = [one for one in lines if one['kind'] == 'train']
    assert row['envs'] == count['envs'], lines


@case
def who_makes_no_trials_says_so(bench):
    bench.refused(r'env\.count: "auto" is found out for one run, and --seeds has several .*', 'train', 'cartpole', *QUICK, '--seeds', '2', '--out', 'no')
    bench.refused(r'--set env\.count: "auto" is found out by trials before a run .*', 'inspect', 'cartpole', *CPU, *setting(env__count='auto'))
    result = bench.run('train', 'cartpole', *QUICK, *setting(run__ranks=2), '--out', 'no')
    assert result.status == 1 and not result.out, result
    assert ('env.count: "auto" is found out for one process, and run.ranks says that the number is for each of 2 ranks (leave run.ranks out, '
            'or give each rank its number)') in result.err, result
    assert not (bench.folder / 'no').exists()


@case
def several_ranks_take_a_number(bench):
    if not any(one.get('id') == 'nacelle.gloo' for one in bench.lines('plugins')):
        raise Skip("this build has no Gloo: 'tools/nacelle torch' installs LibTorch and builds it")
    result = bench.run('train', 'cartpole', *QUICK, '--ranks', '2', '--out', 'ranks')
    assert result.status == 1 and not (bench.folder / 'ranks').exists(), result
    assert 'env.count: "auto" is found out by one process, and several ranks train (try it with one rank, then give each its number)' in result.err, result


raise SystemExit(main())
