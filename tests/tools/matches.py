"""Matches as a user meets them: who may play, what is printed, and what is refused."""
import re
import shutil

from bench import CPU, case, main, setting
from training import SHORT

STEPS = 2048


def trained(bench, name='four'):
    """A run of Connect Four with three checkpoints, made once."""
    if not (bench.folder / name).exists():
        bench.good('train', 'connect_four', *CPU, *setting(env__count=16, run__total_steps=STEPS, run__checkpoint_every=512, run__evaluate_every=0,
                                                           solved__return='null', learner__horizon=32, policies__agent__hidden='[8]'),
                   '--episodes', '4', '--out', name)
    return name


def pole(bench):
    if not (bench.folder / 'pole').exists():
        bench.good('train', 'cartpole', *SHORT, *setting(run__total_steps=20000), '--out', 'pole')
    return 'pole'


@case
def every_pair_of_checkpoints_plays_and_random_is_the_zero_of_elo(bench):
    run = trained(bench)
    lines = bench.lines('match', f'{run}@all', 'random', *CPU, '--games', '200')
    pairs, ratings = ([one for one in lines if one['kind'] == kind] for kind in ('pair', 'rating'))
    names = [f'{run}@{steps}' for steps in (1024, 1536, 2048)] + ['random']
    assert [(one['player'], one['against']) for one in pairs] == [(a, b) for i, a in enumerate(names) for b in names[i + 1:]], pairs
    for one in pairs:
        assert one['won'] + one['drawn'] + one['lost'] == one['games'] == 200 and one['counted'] == 'games', one
        for word in ('won', 'drawn', 'lost'):
            low, high = one[f'{word}_bounds']
            assert 0 <= low <= one[word] / 200 <= high <= 1, one
    assert sorted(one['player'] for one in ratings) == sorted(names), ratings
    assert [one['elo'] for one in ratings] == sorted((one['elo'] for one in ratings), reverse=True), ratings
    [given] = [one for one in ratings if one['given']]
    assert given['player'] == 'random' and given['elo'] == 0 == given['elo_interval'], ratings
    assert all(one['elo_interval'] > 5 for one in ratings if not one['given']), ratings


@case
def a_match_repeats_and_another_seed_plays_other_games(bench):
    run = trained(bench)

    def told(*more):
        return bench.lines('match', run, 'random', *CPU, '--games', '200', *more)

    first = told()
    assert first == told('--threads', '1') and first == told('--seed', '1'), first
    assert told('--seed', '2')[0]['won'] != first[0]['won'] or told('--seed', '3')[0]['won'] != first[0]['won']
    assert told('--sampled')[0]['sampled'] and not first[0]['sampled']
    # Half of a pair's games follow from the other's: who starts, and no more.
    same = bench.lines('match', f'{run}@1024', f'{run}@2048', *CPU, '--games', '200', '--opening', '0')
    assert same[0]['different_games'] <= 4 and same[-2]['kind'] == 'rating', same
    assert [one['elo'] for one in same if one.get('given')] == [1000], same


@case
def a_match_is_a_table_of_pairs_and_one_of_ratings(bench):
    run = trained(bench)
    text = bench.good('match', run, 'random', *CPU, '--games', '100')
    assert re.fullmatch(rf'''ConnectFour on the CPU, each pair: 100 games, with the sides exchanged in half of them; 4 random steps, then the most probable actions
player  against  games  won  drawn  lost  won of all +95 %
{run} +random  +100 +\d+ +\d+ +\d+ +\d+\.\d % +\d+\.\d to \d+\.\d %

player +Elo +95 %
.* +-?\d+ +(± \d+|given)
.* +-?\d+ +(± \d+|given)
''', text), text
    few = bench.good('match', f'{run}@1024', f'{run}@2048', *CPU, '--games', '100', '--opening', '0')
    assert re.search(r'^  [1-4] of 100 games differ, so that the interval is too narrow: a longer --opening or --sampled .*$', few, re.M), few


@case
def who_cannot_play_is_told_why_and_what_there_is(bench):
    run, one = trained(bench), pole(bench)
    plays = r"\(a player is a run's directory, RUN@STEPS for one of its checkpoints, a checkpoint's \.json, or random\)"
    bench.refused(rf'nowhere: does not exist {plays}', 'match', 'nowhere', 'random', *CPU)
    bench.refused(rf'empty: holds no run {plays}', 'match', 'empty', 'random', *CPU)
    bench.refused(rf"{run}: has no checkpoint '17' \(there is: best, latest, 2048, 1536, 1024\)", 'match', f'{run}@17', 'random', *CPU)
    bench.refused(r'random: is named twice \(a player does not play against itself\)', 'match', run, 'random', 'random', *CPU)
    bench.refused(rf'{run}@latest: is the same as {run} \(.*\)', 'match', run, f'{run}@latest', *CPU)
    bench.refused(r'CartPole: is for one agent, who has nobody to play against \(a match is played by two agents .*\)', 'match', one, 'random', *CPU)
    bench.refused(r'.*pole/checkpoints/.*\.json: is a checkpoint of CartPole; this match is in ConnectFour', 'match', run, one, *CPU)
    loose = bench.folder / 'loose'
    loose.mkdir(exist_ok=True)
    for path in (bench.folder / run / 'checkpoints').glob('step-*2048.*'):
        shutil.copy(path, loose)
    [file] = loose.glob('*.json')
    bench.refused(r'match: no player is a run, .* environment is played \(name a run\'s directory, too\)', 'match', file, 'random', *CPU)
    lines = bench.lines('match', file, f'{run}@1024', *CPU, '--games', '20')
    assert lines[0]['player'] == str(file), lines
    bench.refused(r"--set run\.total_steps=5: 'run' is nothing to a policy that acts .*", 'match', run, 'random', *CPU, *setting(run__total_steps=5))


@case
def an_environment_that_has_changed_is_played_only_if_asked_for(bench):
    run, path = trained(bench), bench.folder / 'env_sources' / 'connect_four.cu'
    before = path.read_text()
    path.write_text(before + '\n// another line\n')
    bench.refused(rf".*connect_four\.cu: is not what it was when {run} was trained \(put it back: .* --changed-source\)", 'match', run, 'random', *CPU)
    bench.lines('match', run, 'random', *CPU, '--games', '20', '--changed-source')
    path.write_text(before)


raise SystemExit(main())
