"""Training runs that can be trusted: killed, stopped, damaged, and gone on with."""
import json
import random
import re
import signal
import subprocess
import time
from pathlib import Path

from bench import CPU, LONGEST, Skip, case, main, plain_only, setting
from training import SMALL, SHORT, MANY_STEPS, train, whole, content, newest, wait_for, going_on, kill_and_resume, different


def gpu(bench):
    """The words that choose it, where there is one."""
    words = ('--backend', 'cuda')
    probe = bench.run('inspect', 'cartpole', *words)
    if probe.status != 0:
        raise Skip('no GPU: ' + probe.err.strip())
    return words


@case
@plain_only('of what is read and written then, checkpoints has each part')
def a_run_killed_many_times_ends_with_the_bytes_of_one_that_was_not(bench):
    end, enough = MANY_STEPS, 20
    wanted = content(whole(bench, 'unharmed', end))
    chances, kills = random.Random(7), 0
    for number, threads in enumerate(((1,), (1, 2), (2, 3)) * 6):
        out = f'killed-{number}'
        settings = (*SMALL, *setting(run__total_steps=end), '--episodes', '10')
        kills += kill_and_resume(bench, out, lambda kill: [*going_on(bench, out, settings), '--threads', str(threads[kill % len(threads)])],
                                 enough, chances)
        bench.run(*going_on(bench, out, settings), '--threads', threads[-1])
        found = content(bench.folder / out)
        assert found == wanted, (out, threads, different(found, wanted))
        steps = [json.loads(line)['step'] for line in (bench.folder / out / 'metrics.jsonl').read_text().splitlines()]
        assert steps == sorted(set(steps)) and steps[-1] >= end, steps
        if kills >= enough and number >= 1:
            break
    assert kills >= enough, kills


@case
def a_run_against_its_past_that_was_resumed_ends_with_the_bytes_of_a_whole_one(bench):
    steps = 16 * 64    # of an iteration; schedules, and openings, know where a run ends
    settings = (*CPU, *setting(env__count=64, env__params__opening=0, learner__horizon=16, learner__minibatches=2, learner__entropy=0.01,
                               learner__learning_rate=0.001, run__evaluate_every=0, run__checkpoint_every=100 * steps, policies__default__hidden='[8]',
                               policies__default__opponents='{"pool":3,"every":2,"sample":"hard"}'), '--episodes', '2')
    for name, iterations in (('past-whole', 15), ('past-part', 7)):
        bench.good('train', 'connect_four', *settings, *setting(run__total_steps=iterations * steps), '--out', name)
    bench.good('resume', 'past-part', *CPU, *setting(run__total_steps=15 * steps), '--episodes', '2')
    last = [newest(bench.folder / name, 'safetensors') for name in ('past-whole', 'past-part')]
    assert last[0].name == last[1].name and last[0].read_bytes() == last[1].read_bytes(), last
    [run] = bench.lines('inspect', 'past-part')
    [pool] = run['checkpoints'][-1]['pools']
    first, *others = pool['members']
    assert first['step'] == 0 and first['elo'] == 1000 and len(others) == 2, pool
    assert all(one['step'] % (2 * steps) == 0 for one in others), pool


def killed_learners_end_alike(bench, name, backend, settings, enough):
    """Runs of ppo, normalisers on, are killed so often in all, and end with the bytes of the one that nobody touched."""
    bench.good('train', 'cartpole', *backend, *settings, '--out', name)
    wanted = content(bench.folder / name)
    kept = json.loads((bench.folder / name / 'config.json').read_text())['learner']
    assert kept['name'] == 'ppo' and kept['normalise_observations'] and kept['normalise_returns'] and len(wanted) >= 6, (kept, wanted.keys())
    chances, kills, runs = random.Random(5), 0, 0
    while kills < enough:
        assert runs < enough, (kills, runs)
        out, runs = f'{name}-again-{runs}', runs + 1
        kills += kill_and_resume(bench, out, lambda _: going_on(bench, out, settings, backend), enough - kills, chances)
        bench.run(*going_on(bench, out, settings, backend))
        found = content(bench.folder / out)
        assert found == wanted, (out, kills, different(found, wanted))


@case
@plain_only('of what is read and written then, checkpoints has each part')
def networks_killed_while_they_learn_end_with_the_bytes_of_those_that_were_not(bench):
    # The learner of cartpole.json, in iterations of 8,192 steps.
    settings = (*setting(env__count=64, learner__horizon=128, run__total_steps=200000, run__checkpoint_every=1, solved__return=1000,
                         solved__episodes=64), '--episodes', '10')
    killed_learners_end_alike(bench, 'learned', CPU, settings, 20)


@case
@plain_only('it saves the same arrays by the same code')
def networks_that_remember_killed_in_an_episode_go_on_with_what_they_remembered(bench):
    settings = (*setting(env__count=64, learner__horizon=64, learner__sequence=16, run__total_steps=100000, run__checkpoint_every=1,
                         solved__return=1000, solved__episodes=64,
                         learner__policies__default__hidden='[16,{"mingru":16},{"gru":8}]'), '--episodes', '10')
    killed_learners_end_alike(bench, 'remembered', CPU, settings, 6)


@case
def networks_killed_on_a_gpu_end_with_the_bytes_of_those_that_were_not(bench):
    cuda = gpu(bench)
    # In bf16, 1,600 iterations of a millisecond each, behind a start of half a second.
    settings = (*setting(env__count=4096, learner__horizon=128, run__total_steps=800000000, run__checkpoint_every=10000000,
                         run__evaluate_every=100, solved__return=1000, solved__episodes=512), '--episodes', '10')
    killed_learners_end_alike(bench, 'learned-on-gpu', cuda, settings, 20)
    # In bf16 there, in f32 here.
    [there], [here] = (bench.lines('eval', 'learned-on-gpu', *backend) for backend in (cuda, CPU))
    assert abs(here['mean_return'] - there['mean_return']) < 0.2 * there['mean_return'], (here, there)


@case
def an_interrupt_saves_and_the_run_goes_on_to_the_same_end(bench):
    end = MANY_STEPS
    wanted = content(whole(bench, 'unharmed', end))
    for out, ends in (('interrupted', signal.SIGINT), ('terminated', signal.SIGTERM)):
        words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=end), '--out', out, '--json']
        with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as running:
            running.stdout.readline()
            running.send_signal(ends)
            told, err = running.communicate(timeout=LONGEST)
        result = json.loads(told.splitlines()[-1])
        assert running.returncode == 0 and err == '' and result['interrupted'] and result['steps'] < end, (told, err)
        assert 'mean_return' not in result, result         # nobody waits for a thousand episodes
        assert int(newest(bench.folder / out, 'json').stem[5:]) == result['steps'], result
        [*_, result] = bench.lines('resume', out, *CPU)
        assert result['steps'] >= end and not result['interrupted'], result
        last = newest(bench.folder / out, 'json').name
        found = content(bench.folder / out)
        for name in (last, last.replace('.json', '.safetensors'), 'best.json'):
            assert found[name] == wanted[name], name


def taken(process, which):
    """No signal waits for a busy machine; two that wait would be one."""
    waiting = re.search(r'^ShdPnd:\s*(\w+)$', Path(f'/proc/{process}/status').read_text(), re.MULTILINE)[1]
    return not int(waiting, 16) >> (which - 1) & 1


@case
def a_second_interrupt_ends_at_once(bench):
    # An iteration of minutes.
    endless = setting(learner__name='random_search', env__count=4096, run__total_steps=9000000000, learner__steps=1000000)
    for first, second in ((signal.SIGINT, signal.SIGINT), (signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)):
        out = f'twice-{first}-{second}'
        words = ['train', 'cartpole', *CPU, *endless, '--out', out]
        with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as running:
            wait_for(running, lambda: (bench.folder / out / 'config.json').exists())
            time.sleep(0.3)
            running.send_signal(first)
            time.sleep(0.1)
            wait_for(running, lambda: taken(running.pid, first))
            begin = time.monotonic()
            running.send_signal(second)
            running.communicate(timeout=LONGEST)
        assert running.returncode == -second and time.monotonic() - begin < 5, (first, second, running.returncode)


@case
def a_signal_is_answered_where_an_iteration_does_not_end(bench):
    bench.write('endless.cu', bench.cartpole([('const float force', 'while (true) s.x += 1.0f;\n        const float force')]))
    words = ['train', 'endless', *CPU, *setting(env__count=64, solved__return='null'), '--out', 'endless']
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        wait_for(running, lambda: (bench.folder / 'endless' / 'config.json').exists())
        time.sleep(0.3)
        running.send_signal(signal.SIGTERM)
        said = running.stderr.readline()
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=LONGEST)
    assert running.returncode == -signal.SIGTERM, running.returncode
    assert said.startswith('nacelle: waiting for the end of the iteration that runs, ') and 'a second signal ends' in said, said
    assert "'nacelle check endless.cu' says which" in said, said
    # It does.
    result = bench.run('check', 'endless.cu', *CPU, '--only', 'indices', '--timeout', '2')
    assert result.status == 1 and 'no end after 2 s of step()' in result.out, result


@case
def what_is_read_and_when_changes_no_byte(bench):
    wanted = content(whole(bench))
    for number, every in enumerate((1, 7, 1000000)):
        train(bench, f'read-{number}', *setting(run__report_every=every))
        assert content(bench.folder / f'read-{number}') == wanted, every
    lines = (bench.folder / 'read-1' / 'metrics.jsonl').read_text().splitlines()
    steps = [json.loads(line)['step'] // 12800 for line in lines]
    assert set(range(7, 312, 7)) <= set(steps), steps
    assert len((bench.folder / 'read-0' / 'metrics.jsonl').read_text().splitlines()) == 313


@case
def a_save_while_it_trains_is_taken_and_told(bench):
    source = bench.write('live.cu', bench.cartpole([]))
    words = ['train', './live.cu', *CPU, *SMALL, *setting(run__total_steps=10**12, run__checkpoint_every=0), '--episodes',
             '10', '--out', 'live', '--json']

    def saved(*changes):
        beside = bench.write('live.new', bench.cartpole([*changes]))
        beside.rename(source)

    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        def told():
            for line in running.stdout:
                line = json.loads(line)
                if line['kind'] == 'reload':
                    return line
            raise AssertionError(running.stderr.read())

        running.stdout.readline()
        saved(('gravity = 9.8f', 'gravity = 3.25f'))
        first = told()
        saved(('s.x += p.dt', 's.x += p.dtt'))
        broken = told()
        saved(('gravity = 9.8f', 'gravity = 4.25f'))
        third = told()
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=LONGEST)
    assert running.returncode == 0, err
    assert first['taken'] and first['version'] == 2 and 0 < first['compile_seconds'] < first['seconds'], first
    assert not broken['taken'] and broken['version'] == 2 and "'dtt'" in broken['why'], broken
    assert third['taken'] and third['version'] == 3 and third['learner'] == third['state'] == 'kept', third
    assert "'dtt'" in err and err.endswith('  CartPole was not reloaded; version 2 keeps running.\n'), err
    kept = {int(path.name): (path / 'live.cu').read_text() for path in (bench.folder / 'live' / 'source').iterdir()}
    assert sorted(kept) == [0, first['step'], third['step']] and '3.25f' in kept[first['step']], sorted(kept)
    configuration = json.loads((bench.folder / 'live' / 'config.json').read_text())
    assert configuration['env']['params']['gravity'] == 4.25, configuration
    bench.good('eval', 'live', *CPU)


@case
def two_processes_do_not_train_in_one_directory(bench):
    words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=9000000000), '--out', 'shared']
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as running:
        wait_for(running, lambda: (bench.folder / 'shared' / 'config.json').exists())
        bench.refused(r'shared: another process is training in it, or another run of this one', 'resume', 'shared', *CPU)
        running.kill()
        running.communicate()


@case
def a_run_on_a_gpu_goes_on_to_the_same_bytes(bench):
    cuda = gpu(bench)
    end = MANY_STEPS
    words = ['train', 'cartpole', *cuda, *SMALL, *setting(run__total_steps=end), '--episodes', '10']
    bench.good(*words, '--out', 'gpu-whole')
    bench.good(*words[:-2], '--episodes', '10', *setting(run__total_steps=end // 3), '--out', 'gpu-part')
    kept = json.loads((bench.folder / 'gpu-whole' / 'config.json').read_text())
    (bench.folder / 'gpu-part' / 'config.json').write_text(json.dumps(kept))
    bench.good('resume', 'gpu-part', *cuda, '--episodes', '10')
    wanted, found = content(bench.folder / 'gpu-whole'), content(bench.folder / 'gpu-part')
    last = newest(bench.folder / 'gpu-whole', 'safetensors').name
    assert found[last] == wanted[last]
    [one] = bench.lines('eval', 'gpu-whole', *cuda)
    assert one['episodes'] == 1000, one
    [here] = bench.lines('eval', 'gpu-whole', *CPU)
    assert abs(here['mean_return'] - one['mean_return']) <= 2 * (here['return_interval'] + one['return_interval']) + 5, (here, one)


raise SystemExit(main())
