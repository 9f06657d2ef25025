"""Many runs: `train --seeds`, `resume` of a folder of seeds, and `runs`."""
import json
import signal
import subprocess

from bench import CPU, LONGEST, case, main, setting
from training import FLIP, SMALL, content, MANY_STEPS, newest, wait_for

# Four iterations of ppo, or ten short ones of a search.
LEARN = (*CPU, *setting(env__count=16, learner__horizon=32, run__total_steps=2048, solved__return=1000, solved__episodes=8),
         '--episodes', '8')
SEARCH = (*CPU, *SMALL, *setting(run__total_steps=128000, run__stagger='false'), '--episodes', '8')


def four(bench):
    """Seeds 5 to 8, trained once."""
    if not (bench.folder / 'four').exists():
        bench.good('train', 'cartpole', *LEARN, '--seeds', '4', '--seed', '5', '--out', 'four', '--threads', '2')
    return bench.folder / 'four'


@case
def each_of_several_seeds_has_the_bits_that_it_has_alone(bench):
    out = four(bench)
    assert sorted(path.name for path in out.iterdir()) == ['seed-5', 'seed-6', 'seed-7', 'seed-8', 'seeds.json']
    for seed in (5, 7, 8):
        alone = f'alone-{seed}'
        bench.good('train', 'cartpole', *LEARN, '--seed', seed, '--out', alone)
        assert content(bench.folder / alone) == content(out / f'seed-{seed}'), seed
        for name in ('config.json', 'source/0/cartpole.cu'):
            assert (bench.folder / alone / name).read_bytes() == (out / f'seed-{seed}' / name).read_bytes(), name
    assert content(out / 'seed-5') != content(out / 'seed-6')


@case
def the_report_has_mean_and_interval_over_seeds(bench):
    *lines, whole = bench.lines('train', 'cartpole', *SEARCH, *setting(solved__return=60), '--seeds', '3', '--out', 'reported')
    seeds = [one for one in lines if one['kind'] == 'seed']
    assert {one['seed'] for one in lines if one['kind'] == 'progress'} == {1, 2, 3}, lines
    assert [one['seed'] for one in seeds] == [1, 2, 3] and all(one['solved'] and one['episodes'] == 8 for one in seeds), seeds
    returns = [one['mean_return'] for one in seeds]
    mean = sum(returns) / 3
    deviation = (sum((one - mean) ** 2 for one in returns) / 2) ** 0.5
    told = whole['return']
    assert whole['kind'] == 'seeds' and (whole['seeds'], whole['solved'], whole['failed'], whole['interrupted']) == (3, 3, 0, 0), whole
    assert abs(told['mean'] - mean) < 1e-9 and abs(told['interval'] - 4.3027 * deviation / 3 ** 0.5) < 1e-3 * mean, whole
    assert (told['worst'], told['best']) == (min(returns), max(returns)), whole
    assert seeds[told['worst_seed'] - 1]['mean_return'] == min(returns), whole
    steps = [one['steps'] for one in seeds]
    assert (whole['steps_to_solved']['best'], whole['steps_to_solved']['worst']) == (min(steps), max(steps)), whole
    text = bench.good('resume', 'reported', *CPU, '--episodes', '8', '--threads', '2')
    assert text.startswith('3 of 3 seeds ended, 3 solved; results in reported\n') and ', 2 side by side, 1 thread each\n' in text, text
    assert 'steps to solved ' in text and ' (seed ' in text and '± ' in text, text


@case
def a_seed_is_evaluated_as_it_is_alone(bench):
    words = ('train', 'cartpole', *LEARN, *setting(run__evaluate='sampled'), '--seed', '3')
    alone = bench.lines(*words, '--out', 'sampled-alone')[-1]
    *_, seed, _ = bench.lines(*words, '--seeds', '1', '--out', 'sampled')
    assert alone['evaluated'] == 'sampled' and seed['mean_return'] == alone['mean_return'], (alone, seed)
    assert alone['greedy']['mean_return'] != alone['mean_return'], alone
    told = bench.run('resume', 'sampled', *CPU, '--set', 'run.keep=0')
    assert told.status == 1 and '--set run.keep: expected' in told.out + told.err, told


@case
def a_warning_says_where_seeds_returned_more_while_they_drew_their_actions(bench):
    bench.write('flip.cu', FLIP)
    words = ('train', 'flip', *LEARN, *setting(run__report_every=1), '--seeds', '2')
    warning = 'run.evaluate is "greedy", and may be "sampled" or "both"'
    text = bench.good(*words, '--out', 'flips')
    assert 'warning: in training, where actions are drawn, the returns were ' in text and warning in text, text
    assert warning not in bench.good(*words, *setting(run__evaluate='sampled'), '--out', 'drawn-flips')
    *_, first, second, _ = bench.lines(*words, '--out', 'told-flips')
    assert first['mean_return'] < 2 < 5 < first['trained_return'] and 'trained_return' in second, (first, second)
    four(bench)
    assert warning not in bench.good('resume', 'four', *CPU, '--episodes', '8')


@case
def a_seed_that_fails_does_not_take_the_others_with_it(bench):
    bench.write('one-fails/seed-2', 'no directory')
    result = bench.run('train', 'cartpole', *SEARCH, '--seeds', '3', '--out', 'one-fails', '--json', '--quiet')
    first, second, third, whole = (json.loads(line) for line in result.out.splitlines())
    assert result.status == 1 and result.err == '', result
    assert 'one-fails/seed-2' in second['failure'] and 'mean_return' not in second, second
    assert first['steps'] == third['steps'] >= 128000 and whole['failed'] == 1 and whole['return']['seeds'] == 2, whole
    text = bench.run('resume', 'one-fails', *CPU, '--episodes', '8')
    assert text.status == 1 and text.out.startswith('2 of 3 seeds ended, 1 failed; ') and '\nseed 2 failed: one-fails/seed-2' in text.out, text
    (bench.folder / 'one-fails' / 'seed-2').unlink()
    bench.good('resume', 'one-fails', *CPU, '--episodes', '8')


@case
def plugins_of_others_get_one_run_after_the_other(bench):
    # Ours under the name of somebody else, found first.
    ours = (bench.program.parents[1] / 'plugins' / 'csv.so').read_bytes()
    assert ours.count(b'nacelle.csv\0') == 1
    bench.write('theirs/csv.so', ours.replace(b'nacelle.csv\0', b'another.csv\0'))
    words = ('train', 'cartpole', *SEARCH, '--seeds', '2', '--threads', '2', *setting(run__sinks='["csv"]'))
    assert '2 side by side, 1 thread each' in bench.good(*words, '--out', 'by-ours')
    text = bench.good(*words, '--plugins', 'theirs', '--out', 'by-theirs')
    assert "one after the other, since a plugin is not Nacelle's own" in text, text
    for seed in ('seed-1', 'seed-2'):
        assert content(bench.folder / 'by-ours' / seed) == content(bench.folder / 'by-theirs' / seed), seed


@case
def an_interrupt_saves_all_seeds_and_resume_ends_them_and_begins_the_others(bench):
    end = MANY_STEPS
    words = ['train', 'cartpole', *CPU, *SMALL, *setting(run__total_steps=end), '--episodes', '8']
    with subprocess.Popen([bench.program, *words, '--seeds', '3', '--threads', '2', '--out', 'broken-off', '--json'],
                          cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        seen = set()
        while len(seen) < 2:
            seen.add(json.loads(running.stdout.readline())['seed'])
        running.send_signal(signal.SIGSTOP)                # however long the list takes
        listed = {one['run']: one['state'] for one in bench.lines('runs', '.') if 'broken-off' in one['run']}
        running.send_signal(signal.SIGCONT)
        running.send_signal(signal.SIGINT)
        told, err = running.communicate(timeout=LONGEST)
    # 2 trained side by side; the third one waits for its turn.
    assert sorted(listed.values()) == ['not begun', 'running', 'running'], listed
    *_, first, second, third, whole = (json.loads(line) for line in told.splitlines())
    assert running.returncode == 0 and err == '' and whole['interrupted'] == 3 and whole['return'] is None, told
    assert first['begun'] and second['begun'] and not third['begun'], told
    for one in (first, second):
        assert int(newest(bench.folder / one['out'], 'json').stem[5:]) == one['steps'] < end, one
    text = bench.good('runs', '.')
    assert ' 0 of 3 done: 2 stopped, 1 not begun\n' in text, text
    waits = next(one for one in bench.lines('runs', 'broken-off') if one['run'] == 'broken-off/seed-3')
    assert (waits['state'], waits['seed'], waits['steps'], waits['total_steps']) == ('not begun', 3, 0, end), waits
    assert waits['environment'] == 'cartpole' and waits['learner'] == 'random_search', waits
    bench.good('resume', 'broken-off', *CPU, '--episodes', '8')
    bench.good(*words, '--seed', '2', '--out', 'not-broken-off')
    wanted, found = content(bench.folder / 'not-broken-off'), content(bench.folder / 'broken-off' / 'seed-2')
    last = newest(bench.folder / 'not-broken-off', 'safetensors').name
    assert found[last] == wanted[last] and newest(bench.folder / 'broken-off' / 'seed-3', 'json')


@case
def a_bad_number_of_seeds_or_place_for_them_has_one_line(bench):
    out = four(bench)
    for words in (('--seeds', '0'), ('--seeds', '-3'), ('--seeds', 'many'), ('--seeds', '2', '--web'),
                  ('--seeds', '2', '--record', '1', '--record-to', 'x')):
        result = bench.run('train', 'cartpole', *words)
        assert result.status == 2 and len(result.err.splitlines()) == 2 and '--seeds' in result.err, result
    train = ('train', 'cartpole', *CPU)
    for more in ((), ('--seeds', '2')):
        bench.refused(r"four: holds the runs of several seeds already \('nacelle resume four' goes on with them\)", *train, *more, '--out', 'four')
    bench.refused(r"four/seed-5: holds a run already .*", *train, '--seeds', '2', '--out', 'four/seed-5')
    bench.refused(r'--set run\.seed: run has no .seed. .*', *train, '--seeds', '2', '--set', 'run.seed=[1,2]', '--out', 'no')
    bench.refused(r'--set seed: expected a whole number .*', *train, '--seeds', '2', '--set', 'seed=[1,2]', '--out', 'no')
    bench.refused(r'--seeds: the last of 2 seeds .*', *train, '--seeds', '2', '--seed', 2 ** 53, '--out', 'no')
    assert not (bench.folder / 'no').exists()
    resume = ('resume', 'four', *CPU)
    bench.refused(r'--set seed=3: cannot be: each run of four has its own seed', *resume, '--set', 'seed=3')
    bench.refused(r'--web: shows one run, .*', *resume, '--web')
    bench.refused(r'--record-to: names one file, .*', *resume, '--record', '1', '--record-to', 'x')
    for command in ('eval', 'inspect'):
        bench.refused(r'four: holds the runs of several seeds \(name one of them, such as four/seed-1\)', command, 'four')
    bench.write('damaged-seeds/seeds.json', '{"first": 1,')
    bench.refused(r'damaged-seeds/seeds\.json:1:13: .*', 'resume', 'damaged-seeds')
    bench.write('damaged-seeds/seeds.json', json.dumps({'first': 2**53, 'count': 2, 'where': '', 'configuration': {}}))
    bench.refused(r'damaged-seeds/seeds\.json: is damaged: its last seed is above 2\^53', 'resume', 'damaged-seeds')
    assert sorted(path.name for path in out.iterdir())[-1] == 'seeds.json'


@case
def seconds_are_counted_over_all_processes_and_are_in_no_checkpoint(bench):
    def seconds(name):
        return [json.loads(line)['seconds'] for line in (bench.folder / name / 'metrics.jsonl').read_text().splitlines()]

    for name in ('timed', 'timed-again'):
        bench.good('train', 'cartpole', *LEARN, *setting(run__sinks='["jsonl","csv"]'), '--out', name)
    first = seconds('timed')
    assert first == sorted(first) and first[0] > 0, first
    assert content(bench.folder / 'timed') == content(bench.folder / 'timed-again') and first != seconds('timed-again')
    assert 'seconds' in (bench.folder / 'timed' / 'metrics.csv').read_text().splitlines()[0].split(',')
    bench.write('timed/state.json', '{"seconds": 1000}')
    bench.good('resume', 'timed', *CPU, *setting(run__total_steps=4096), '--episodes', '8')
    later = seconds('timed')
    assert later[:len(first)] == first and all(1000 < one < 1100 for one in later[len(first):]), later
    for damaged in ('', '{"seconds": -1}', '[]', '{"seconds": "long"}'):
        bench.write('timed/state.json', damaged)
        bench.good('resume', 'timed', *CPU, '--episodes', '8')


@case
def runs_are_listed_with_their_state_newest_first(bench):
    bench.good('train', 'cartpole', *SEARCH, *setting(solved__return=60), '--out', 'list/solved')
    bench.good('train', 'cartpole', *SEARCH, '--out', 'list/ended')
    result = bench.run('train', 'pendulum', *SEARCH, *setting(env__params__torque_cost='1e38'), '--out', 'list/failed')
    assert result.status == 1 and 'infinity' in result.err, result
    bench.good('train', 'cartpole', *SEARCH, '--seeds', '2', '--out', 'list/seeds')
    bench.good('train', 'cartpole', *SEARCH, '--out', 'list/damaged')
    newest(bench.folder / 'list/damaged', 'safetensors').write_bytes(b'short')
    bench.write('list/broken/config.json', '{"env": ')
    bench.write('list/broken/source/0/cartpole.cu', '')
    bench.write('list/notes/config.json', '{}')
    bench.write('list/notes.txt', '')
    found = {one['run'].removeprefix('list/'): one for one in bench.lines('runs', 'list')}
    states = {name: one['state'] for name, one in found.items()}
    assert states == {'solved': 'solved', 'ended': 'ended', 'failed': 'failed', 'seeds/seed-1': 'ended', 'seeds/seed-2': 'ended',
                      'damaged': 'damaged', 'broken': 'damaged'}, states
    assert [one for one in found if found[one].get('wrong')] == [one for one in found if one in ('failed', 'damaged', 'broken')], found
    solved = found['solved']
    assert (solved['environment'], solved['learner'], solved['seed']) == ('cartpole', 'random_search', 1), solved
    assert solved['best_return'] >= 60 and 0 < solved['steps'] <= solved['total_steps'] == 128000, solved
    # The runs of one folder of seeds stand together, where the newest of them stands, in the seeds' order.
    names, changed = list(found), {}
    for name, one in found.items():
        place = name.split('/')[0]
        changed[place] = max(changed.get(place, ''), one['changed'])
    assert list(changed.values()) == sorted(changed.values(), reverse=True), (names, changed)
    assert names.index('seeds/seed-2') == names.index('seeds/seed-1') + 1, names
    text = bench.good('runs', 'list')
    assert '\nseeds ' in text and ' 2 of 2 done: 2 ended\n' in text and 'is damaged: it has 5 of ' in text, text
    bench.write('waiting/both/seeds.json', json.dumps({'first': 4, 'count': 2, 'where': 'x', 'configuration': {'env': {'source': '/x/made.cu'}}}))
    bench.write('waiting/wrong/seeds.json', '{"first": 1,')
    text = bench.good('runs', 'waiting')
    assert ' 0 of 2 done: 2 not begun\n' in text and 'seeds.json:1:13: ' in text, text
    assert [one['seed'] for one in bench.lines('runs', 'waiting/both')] == [4, 5]
    # It goes on behind the failure, which is then forgotten.
    result = bench.run('resume', 'list/failed', *CPU, *setting(env__params__torque_cost=0.001), '--episodes', '8')
    assert result.status == 0 and 'has no checkpoint yet' in result.err, result
    assert {one['run']: one['state'] for one in bench.lines('runs', 'list')}['list/failed'] == 'ended'
    bench.refused(r"nowhere: does not exist \(name a folder of runs; .*\)", 'runs', 'nowhere')
    bench.refused(r"list/ended: is one run, not a folder of runs .*", 'runs', 'list/ended')
    bench.refused(r"list/notes\.txt: is no folder .*", 'runs', 'list/notes.txt')
    assert bench.good('runs', 'empty') == 'empty holds no runs\n'


raise SystemExit(main())
