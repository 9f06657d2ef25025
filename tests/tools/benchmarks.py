"""`nacelle bench`: its rows, those of trainings, and the file that keeps them."""
import json
import re
import subprocess
import sys

from bench import CPU, LONGEST, case, main, plain_only, setting


@case
def bench_counts_the_steps_of_every_agent(bench):
    quick = (*CPU, '--repetitions', '2', '--graph-steps', '3', '--rollout-steps', '4', '--envs', '32')
    rows = bench.lines('bench', 'cartpole', 'tag_gridworld', 'pursuit_swarm', *quick)
    assert [row['agents'] for row in rows] == [1, 1, 5, 5, 256, 256], rows
    for row in rows:
        assert abs(row['agent_steps_per_second'] / (row['agents'] * row['steps_per_second']) - 1) < 1e-9, row
    text = bench.good('bench', 'tag_gridworld', *quick)
    assert re.search(r'^environment +kind +envs +agents +steps .*agent steps/s', text, re.MULTILINE), text


@case
def bench_prints_a_row_for_each_environment_count_and_kind(bench):
    quick = (*CPU, '--repetitions', '2', '--graph-steps', '3', '--rollout-steps', '4')
    rows = bench.lines('bench', 'cartpole', 'pendulum', '--envs', '64,128', *quick)
    assert [(row['environment'], row['envs'], row['kind']) for row in rows] == [
        (name, envs, kind) for name in ('CartPole', 'Pendulum') for envs in (64, 128) for kind in ('step', 'rollout')]
    for row in rows:
        assert 0 < row['slowest'] <= row['steps_per_second'] <= row['fastest'] and row['bytes_per_step'] > 0, row
    steps = ('bench', '--envs', '640', '--kind', 'step', *quick)
    assert [row['kind'] for row in bench.lines(*steps)] == ['step']
    assert len(bench.good('bench', '--envs', '64', *quick).splitlines()) == 4
    # The same work leaves the same observations, whatever the number of threads.
    assert len({bench.lines(*steps, '--threads', threads)[0]['checksum'] for threads in (1, 2, 3)}) == 1


@case
def a_number_of_environments_that_would_change_nothing_is_refused(bench):
    bench.refused(r'--set env\.count=64: a bench has numbers of its own \(--envs N,\.\.\.\)', 'bench', *CPU, *setting(env__count=64))
    bench.refused(r'--set env\.count=64: --envs says how many there are \(one of both\)', 'bench', 'cartpole', '--train', '--envs', '8', *CPU,
                  *setting(env__count=64))


# Trainings that take milliseconds.
TINY = (*CPU, '--repetitions', '2', *setting(env__count=32, learner__horizon=8))


@case
def bench_measures_training_as_it_is_configured(bench):
    given = bench.write('given.json', '{"learner": {"name": "ppo", "epochs": 3, "minibatches": 2}, '
                                      '"policies": {"default": {"hidden": [16], "trunk": "separate"}}}')
    [row] = bench.lines('bench', 'cartpole', given, '--train', *TINY)
    assert (row['environment'], row['kind'], row['envs'], row['steps'], row['repetitions']) == ('CartPole', 'train', 32, 8, 2), row
    assert row['configuration'] == ('ppo 3 epochs x 2 minibatches, [16] tanh separate f32, '
                                    'observations and returns normalised'), row
    assert row['settings']['learner']['epochs'] == 3 and row['settings']['env']['count'] == 32, row
    assert row['settings']['policies']['default']['hidden'] == [16] and row['updates'] == 6, row
    for part in (row, row['rollout'], row['update']):
        assert 0 < part['slowest'] <= part['steps_per_second'] <= part['fastest'], row
    assert row['update']['teraflops'] > 0 and row['seconds'] > 0 and row['iterations'] >= 1, row
    # Its settings are a configuration themselves, and name the environment.
    again = bench.write('again.json', json.dumps(row['settings']))
    [same] = bench.lines('bench', again, '--train', *CPU, '--repetitions', '1')
    assert same['settings'] == row['settings'], same
    counts = [row['envs'] for row in bench.lines('bench', 'cartpole', '--train', *CPU, '--repetitions', '2', *setting(learner__horizon=8), '--envs', '8,16')]
    assert counts == [8, 16], counts
    heading = bench.good('bench', 'cartpole', '--train', *TINY).splitlines()[1].split()
    assert {'rollout/s', 'update/s', 'TFLOP/s', 'configuration'} <= set(heading), heading


@case
def bench_says_which_training_is_refused_and_measures_the_others(bench):
    wrong = setting(policies__default__squash='true')
    [first, second] = bench.lines('bench', 'cartpole', 'pendulum', '--train', *TINY, *wrong)
    assert 'CartPole has no continuous actions' in first['refused'] and first['environment'] == 'cartpole', first
    assert 'steps_per_second' not in first and second['steps_per_second'] > 0 and 'refused' not in second, (first, second)
    text = bench.good('bench', 'cartpole', 'pendulum', '--train', *TINY, *wrong)
    assert re.search(r'^cartpole +32 refused: --set policies\.default\.squash: ppo: ', text, re.MULTILINE), text
    # Alone it is what the command has to say, as everywhere.
    bench.refused(r'--set policies\.default\.squash: ppo: .*', 'bench', 'cartpole', '--train', *TINY, *wrong)
    bench.refused(r"--set env\.conut: env has no 'conut' .*", 'bench', 'cartpole', '--train', *setting(env__conut=4), *CPU)


@case
def bench_has_a_standard_table_of_trainings(bench):
    # Misspelt, so that every row is refused before its kernels are compiled, if not for tensor cores on a CPU.
    result = bench.run('bench', '--train', *CPU, *setting(learner__horzion=4), '--json')
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert result.status == 1 and result.err == '' and len(rows) >= 10, result
    for row in rows:
        reason = 'bf16 needs a GPU' if ' bf16' in row['configuration'] else 'horzion: '
        assert reason in row['refused'] and row['backend'] == 'cpu', row
    assert {row['environment'] for row in rows} == {'cartpole', 'tag_gridworld', 'tag_continuous'}, rows
    told = [row['configuration'] for row in rows]
    assert len({(row['environment'], row['envs'], text) for row, text in zip(rows, told)}) == len(rows), told
    for wanted in ('[64, 64] tanh shared bf16', '[64, 64] tanh separate bf16', '[64, 64] tanh shared f32', '[256, 256]'):
        assert any(wanted in text for text in told), wanted
    assert all('4 epochs x 4 minibatches' in text for text in told), told
    # What an environment's own settings say does not count: its constants are the file's, or the table's.
    assert not any('time_limit' in text for text in told), told
    bench.refused(r'bench: the standard table has its own numbers of environments \(.*\)', 'bench', '--train', *CPU, '--envs', '64')


@case
@plain_only('a script calls what other cases call')
def results_keep_one_row_for_what_was_measured_twice(bench):
    results = bench.folder / 'results.json'

    def record(*words, status=0):
        command = [sys.executable, '-B', bench.root / 'tests' / 'bench' / 'record.py', '--program', bench.program, results, *words]
        done = subprocess.run(command, cwd=bench.folder, env=bench.settings, capture_output=True, text=True, timeout=LONGEST)
        assert done.returncode == status, done
        return done.stderr, json.loads(results.read_text())['rows']

    training = ('bench', 'cartpole', 'pendulum', '--train', *TINY)
    first = record(*training)[1]
    assert [row['environment'] for row in first] == ['CartPole', 'Pendulum'], first
    assert all(re.fullmatch(r'\d{4}-\d\d-\d\d', row['date']) and row['kind'] == 'train' for row in first), first
    record('bench', 'cartpole', '--envs', '64', *CPU, '--repetitions', '2', '--kind', 'step')
    # Two rows make way for fresh ones, of which one is refused and leaves what was there.
    said, rows = record(*training, *setting(policies__default__squash='true'))
    assert 'cartpole: ppo' in said and 'refused: ' in said, said
    assert [(row['environment'], row['kind']) for row in rows] == [('CartPole', 'train'), ('Pendulum', 'train'), ('CartPole', 'step')], rows
    assert rows[0] == first[0] and rows[1]['seconds'] != first[1]['seconds'], rows


raise SystemExit(main())
