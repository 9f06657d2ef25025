"""`nacelle train`: what it solves, leaves behind and repeats."""
import json
import re
import shutil
import signal
import subprocess
import time

import tensorboard_file
from bench import CPU, LONGEST, Skip, case, main, plain_only, setting
from training import FLIP, newest, wait_for


@case
@plain_only('it trains to the end; shorter runs take the same paths')
def training_cartpole_on_the_cpu_solves_it(bench):
    *progress, result = bench.lines('train', 'cartpole', *CPU, '--seed', '1', '--out', 'solved')
    assert result['kind'] == 'result' and result['solved'] and not result['interrupted'], result
    assert result['mean_length'] >= 480 and result['episodes'] == 1000 and result['backend'] == 'cpu', result
    assert progress and [line['iteration'] for line in progress] == list(range(1, len(progress) + 1)), progress
    assert progress[-1]['evaluation.return'] >= 490 and result['steps'] == progress[-1]['step'] < 600000, result
    assert {'loss.policy', 'loss.value', 'entropy', 'kl', 'explained_variance'} <= progress[-1].keys(), progress[-1]


@case
@plain_only('it trains to the end; shorter runs take the same paths')
def a_search_over_linear_policies_solves_cartpole_too(bench):
    # What cartpole.json recommends for its own learner is not for this one.
    search = setting(learner__name='random_search', env__count=4096, run__total_steps=20000000, solved__return=475,
                     solved__episodes=100)
    *_, result = bench.lines('train', 'cartpole', *CPU, *search, '--seed', '1', '--out', 'searched')
    assert result['solved'] and result['mean_length'] >= 450 and result['steps'] <= 20000000, result
    kept = json.loads((bench.folder / 'searched' / 'config.json').read_text())
    assert kept['learner']['name'] == 'random_search' and 'horizon' not in kept['learner'], kept
    assert not kept.get('policies'), kept


@case
@plain_only('the compilers are the same there')
def both_compilers_learn_the_same_bytes_at_any_level(bench):
    if not shutil.which('clang++'):
        raise Skip('no clang++')
    words = ('train', 'cartpole', *CPU, '--quiet', '--episodes', '20', *setting(env__count=64, learner__horizon=32, run__total_steps=20480))
    # As the tests compile, too: what they show holds for the flags that users have.
    compilers = {'by-gcc': 'g++', 'by-clang': 'clang++', 'as-tests': bench.settings.get('CXX')}
    for out, compiler in compilers.items():
        bench.good(*words, '--out', out, CXX=compiler)
    first, *others = (newest(bench.folder / out, 'safetensors') for out in compilers)
    for other in others:
        assert first.name == other.name and first.read_bytes() == other.read_bytes(), (first, other)


@case
def a_team_learns_with_a_network_for_each_of_its_policies(bench):
    small = setting(learner__name='ppo', learner__horizon=8, env__count=16, run__total_steps=512, run__evaluate_every=0,
                    policies__runner__hidden='[16]')
    *progress, result = bench.lines('train', 'tag_gridworld', *CPU, *small, '--episodes', '4', '--out', 'team')
    assert result['steps'] == 512 and result['episodes'] == 4, result
    assert {'tagger.loss.policy', 'runner.loss.policy', 'tagger.learning_rate'} <= progress[-1].keys(), progress[-1]
    policies = json.loads((bench.folder / 'team' / 'config.json').read_text())['policies']
    assert (policies['tagger']['hidden'], policies['runner']['hidden']) == ([64, 64], [16]), policies


# A run of seven iterations and without success: how long one is, and the words for it.
ITERATION = 16 * 128
SHORT = (*CPU, '--episodes', '10', *setting(env__count=16, learner__horizon=128, run__total_steps=12500, solved__return=1000, solved__episodes=50))


def best_steps(out):
    return json.loads((out / 'checkpoints' / 'best.json').read_text())['steps']


@case
def a_run_leaves_its_settings_its_source_and_its_metrics(bench):
    path = bench.write('run.json', '{"seed": 3, "run": {"sinks": ["jsonl", "csv"]}}')
    text = bench.good('train', 'cartpole', path, *SHORT, '--out', 'left')
    assert re.search(rf'^Ended after {7 * ITERATION} steps: return .* over 10 episodes', text, re.MULTILINE), text
    out = bench.folder / 'left'
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob('*') if path.is_file())
    kept_steps = [number * ITERATION for number in (5, 6, 7)]
    assert files == sorted([f'checkpoints/best-step-{best_steps(out):015}.safetensors'] +
                           [f'checkpoints/step-{step:015}.{kind}' for step in kept_steps for kind in ('json', 'safetensors')] +
                           ['checkpoints/best.json', 'config.json', 'metrics.csv', 'metrics.jsonl', 'source/0/cartpole.cu', 'state.json']), files
    source = (bench.root / 'env_sources' / 'cartpole.cu').read_bytes()
    assert (out / 'source' / '0' / 'cartpole.cu').read_bytes() == source
    kept = json.loads((out / 'config.json').read_text())
    assert kept['seed'] == 3 and kept['env']['count'] == 16 and kept['learner']['name'] == 'ppo', kept
    assert kept['learner']['horizon'] == 128 and kept['learner']['learning_rate'] == {'linear': [0.002, 0]}, kept
    assert kept['policies']['default']['hidden'] == [64, 64], kept
    assert kept['solved'] == {'return': 1000, 'episodes': 50}, kept
    metrics = [json.loads(line) for line in (out / 'metrics.jsonl').read_text().splitlines()]
    assert [line['step'] for line in metrics] == [number * ITERATION for number in range(1, 8)], metrics
    assert all(line['episode.length'] > 0 for line in metrics), metrics
    table = (out / 'metrics.csv').read_text().splitlines()
    assert len(table) == 8 and table[0].startswith('step,') and table[0].count(',') == table[1].count(','), table
    assert kept['env']['params']['gravity'] == 9.8 and kept['env']['strict'] is False, kept
    total = kept['run']['total_steps']
    assert 6 * ITERATION < total <= 7 * ITERATION, kept
    assert kept['run'] == {'total_steps': total, 'evaluate_every': 1, 'report_every': 'auto', 'checkpoint_every': total // 10,
                           'keep': 3, 'sinks': ['jsonl', 'csv'], 'evaluate': 'greedy', 'stagger': True}, kept
    # What is kept is a configuration itself.
    bench.good('train', 'cartpole', 'left/config.json', *CPU, '--out', 'left_again', '--episodes', '10')


@case
def where_no_episode_ended_there_is_no_number_for_it(bench):
    # 200 steps an episode, 64 an iteration: two readings of three have no end.
    words = setting(env__count=16, learner__horizon=64, run__total_steps=10 * 16 * 64, run__evaluate_every=0, run__report_every=1,
                    run__stagger='false', run__sinks='["jsonl","csv","tensorboard"]', solved__return='null')
    *progress, _ = bench.lines('train', 'pendulum', *CPU, *words, '--episodes', '1', '--out', 'sparse')
    scalars = [values for _, values in tensorboard_file.scalars(bench.folder / 'sparse')]
    lines = [json.loads(line) for line in (bench.folder / 'sparse' / 'metrics.jsonl').read_text().splitlines()]
    title, *rows = [line.split(',') for line in (bench.folder / 'sparse' / 'metrics.csv').read_text().splitlines()]
    at = {name: title.index(name) for name in ('episodes', 'episode.return', 'episode.length')}
    assert [line['episodes'] > 0 for line in lines] == [False] * 3 + [True] + [False] * 2 + [True] + [False] * 2 + [True], lines
    for line, told, row, shown in zip(lines, progress, rows, scalars, strict=True):
        for name in ('episode.return', 'episode.length', 'episode.return_deviation'):
            assert (name in line) == (name in told) == (name in shown) == (line['episodes'] > 0), (name, line)
        assert (row[at['episode.return']] != '') == (row[at['episode.length']] != '') == (float(row[at['episodes']]) > 0), row


@case
def staggered_first_episodes_end_one_after_the_other(bench):
    # As above, but every 64 steps a third of the environments ends.
    words = setting(env__count=16, learner__horizon=64, run__total_steps=10 * 16 * 64, run__evaluate_every=0, run__report_every=1,
                    solved__return='null')
    *progress, _ = bench.lines('train', 'pendulum', *CPU, *words, '--episodes', '1', '--out', 'staggered')
    assert all(5 <= line['episodes'] <= 6 for line in progress), [line['episodes'] for line in progress]


@case
def an_error_names_the_option_that_gave_the_value(bench):
    words = ('train', 'cartpole', *CPU, '--out', 'never')
    bench.refused(r"--set run\.foo: run has no 'foo' \(there is: total_steps, .*\)", *words, *setting(run__foo=1))
    bench.refused(r"--set learner\.learning_rte: ppo: there is no such setting \(did you mean 'learning_rate'\?\)", *words,
                  *setting(learner__learning_rte=1))
    bench.write('mine.json', '{"learner": {"clipp": 1}}')
    bench.refused(r"mine\.json: learner\.clipp: ppo: .* \(did you mean 'clip'\?\)", 'train', 'cartpole', 'mine.json', *CPU, '--out', 'never')
    assert not (bench.folder / 'never').exists()


@case
def the_policy_is_evaluated_as_it_is_asked_for(bench):
    words = (*SHORT, *setting(run__total_steps=1, run__evaluate_every=1))
    found = {way: bench.lines('train', 'cartpole', *words, '--out', way, *setting(run__evaluate=way))
             for way in ('greedy', 'sampled', 'both')}
    greedy, sampled, both = ([lines[0], lines[-1]] for lines in found.values())
    assert greedy[1]['evaluated'] == 'greedy' and sampled[1]['evaluated'] == 'sampled', found
    assert greedy[0]['evaluation.return'] != sampled[0]['evaluation.return'], found
    ways = [both[0]['evaluation.greedy.return'], both[0]['evaluation.sampled.return']]
    assert ways == [greedy[0]['evaluation.return'], sampled[0]['evaluation.return']], found
    assert both[0]['evaluation.return'] == max(ways), found
    # The other way is played behind a run, and told where it is better.
    assert greedy[1]['sampled']['episodes'] == 10 and sampled[1]['greedy']['episodes'] == 10, found
    bench.write('flip.cu', FLIP)
    text = bench.good('train', 'flip', *words, '--out', 'flip')
    assert 'warning: the policy is better with sampled actions; run.evaluate is "greedy", and may be "sampled" or "both"' in text, text


@case
def a_run_that_was_solved_says_how_to_go_on(bench):
    words = (*CPU, *setting(env__count=16, learner__horizon=16, run__total_steps=2560, solved__return=0, solved__episodes=5),
             '--episodes', '1')
    assert 'Solved after 256 steps: return' in bench.good('train', 'cartpole', *words, '--out', 'easy')
    text = bench.good('resume', 'easy', *CPU, '--episodes', '1')
    assert 'over 1 episode (' in text, text
    assert "It was solved before: 'nacelle resume easy --set solved.return=null' trains on to run.total_steps" in text, text
    assert 'Ended after 2560 steps' in bench.good('resume', 'easy', *CPU, '--episodes', '1', '--set', 'solved.return=null')
    text = bench.good('resume', 'easy', *CPU, '--episodes', '1', '--set', 'solved.return=null')
    assert "All its steps were taken before: 'nacelle resume easy --set run.total_steps=5120' trains on" in text, text


@case
def away_from_a_terminal_a_long_run_tells_now_and_then_and_ends_when_it_is_asked_to(bench):
    words = setting(env__count=64, run__total_steps=9000000000, solved__return=100000)
    running = subprocess.Popen([bench.program, 'train', 'cartpole', *CPU, *words, '--episodes', '1000000', '--out', 'long'],
                               cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE, text=True)
    heading, first = running.stdout.readline(), running.stdout.readline()
    assert re.fullmatch(r'CartPole on the CPU \(.*\), 64 environments\n', heading), heading
    assert re.match(r' +[0-9.]+ % +\d+ steps +[0-9.]+ [kM]? *steps/s  return ', first), first
    running.send_signal(signal.SIGINT)
    text = running.communicate(timeout=LONGEST)[0]
    assert running.returncode == 0 and "'nacelle resume' goes on" in text, text


@case
def the_last_evaluation_ends_when_it_is_asked_to(bench):
    words = (*CPU, *setting(env__count=16, learner__horizon=16, run__total_steps=256, run__evaluate_every=0, solved__return='null'))
    running = subprocess.Popen([bench.program, 'train', 'cartpole', *words, '--episodes', '1000000', '--out', 'judged'],
                               cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE, text=True)
    wait_for(running, lambda: list((bench.folder / 'judged' / 'checkpoints').glob('step-000000000000256.json')))
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    text = running.communicate(timeout=20)[0]
    assert running.returncode == 0 and 'Ended after 256 steps; the evaluation was interrupted' in text, text


@case
def a_seed_repeats_a_run(bench):
    def metrics(seed, threads):
        lines = bench.lines('train', 'cartpole', *SHORT, *setting(env__count=256, run__total_steps=3 * 256 * 128), '--seed', seed,
                            '--threads', threads, '--out', f'seed-{seed}-{threads}')
        return [{key: value for key, value in line.items() if 'second' not in key and key != 'out'} for line in lines]

    assert metrics(5, 1) == metrics(5, 3) != metrics(6, 1)


@case
def runs_without_a_directory_are_numbered(bench):
    for number in (1, 2):
        text = bench.good('train', 'cartpole', *SHORT)
        assert f'results in runs/cartpole-{number}' in text, text
        assert (bench.folder / 'runs' / f'cartpole-{number}' / 'config.json').exists()


@case
def runs_that_begin_at_once_have_directories_of_their_own(bench):
    words = (*CPU, *setting(learner__name='random_search', env__count=64, run__total_steps=20000, run__evaluate_every=0,
                            solved__return='null'), '--episodes', '2')
    bench.good('train', 'pendulum', *words, '--out', 'alone')        # what the eight would compile
    command = [bench.program, 'train', 'pendulum', *words, '--json']
    eight = [subprocess.Popen(command, cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) for _ in range(8)]
    told = [one.communicate(timeout=LONGEST) for one in eight]
    assert all(one.returncode == 0 for one in eight), told
    places = sorted(json.loads(out.splitlines()[-1])['out'] for out, _ in told)
    assert places == [f'runs/pendulum-{number}' for number in range(1, 9)], places
    assert all((bench.folder / place / 'config.json').exists() for place in places), places


@case
def a_run_that_cannot_begin_leaves_no_directory(bench):
    bench.write('broken.cu', bench.cartpole([('s.x += p.dt * s.x_dot;', 's.x += p.dt * s.x_dot')]))
    bench.refused(r'.*broken\.cu:3[34]: error: .*', 'train', 'broken.cu', *CPU)
    bench.refused(r'jsnol: there is no such sink .*', 'train', 'acrobot', *CPU, *setting(run__sinks='["jsnol"]'))
    assert not list((bench.folder / 'runs').glob('broken*')) and not list((bench.folder / 'runs').glob('acrobot*'))


@case
def a_run_overwrites_and_removes_nothing_that_it_did_not_make(bench):
    words = ('train', 'cartpole', *SHORT, '--out', 'taken')
    out, source = bench.folder / 'taken', (bench.root / 'env_sources' / 'cartpole.cu').read_text()
    for name in ('source/0/cartpole.cu', 'checkpoints/best.json', 'checkpoints/step-000000000000100.json'):
        bench.write(f'taken/{name}', 'mine')
        bench.refused(rf'taken/{re.escape(name)}: is there already, and a new run would have to overwrite it '
                      r'\(remove it, or name another directory\)', *words)
        assert [path.read_text() for path in out.rglob('*') if path.is_file()] == ['mine'], list(out.rglob('*'))
        (out / name).unlink()
    mine = ['checkpoints/best-model.safetensors', 'checkpoints/step-final.safetensors', 'checkpoints/step-7.json',
            'source/0/notes.txt', 'source/notes/0.txt', 'notes.txt', 'metrics.csv.new']
    for name in mine:
        bench.write(f'taken/{name}', 'mine')
    bench.write('taken/source/0/cartpole.cu', source)        # as a process leaves it that is killed while it starts
    bench.good(*words, *setting(run__sinks='["jsonl","csv"]', run__keep=1))
    [latest] = bench.lines('eval', 'taken', *CPU, '--checkpoint', 'latest', '--episodes', '2')
    assert latest['steps'] == 7 * ITERATION, latest
    bench.good('resume', 'taken', *CPU, *setting(run__total_steps=9 * ITERATION), '--episodes', '2')
    assert {(out / name).read_text() for name in mine} == {'mine'}, list(out.rglob('*'))


@case
def an_interrupt_ends_a_run_in_order(bench):
    endless = setting(env__count=64, run__total_steps=9000000000, solved__return=1000)
    command = [bench.program, 'train', 'cartpole', *CPU, *endless, '--json', '--out', 'stopped', '--episodes', '2']
    with subprocess.Popen(command, cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        first = json.loads(running.stdout.readline())
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=LONGEST)
    result = json.loads(out.splitlines()[-1])
    assert first['kind'] == 'progress' and running.returncode == 0 and err == '', err
    assert result['kind'] == 'result' and result['interrupted'] and not result['solved'], result
    assert (bench.folder / 'stopped' / 'metrics.jsonl').read_text().endswith('}\n')


raise SystemExit(main())
