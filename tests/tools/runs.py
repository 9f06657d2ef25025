"""Training runs that can be trusted: killed, stopped, damaged, and gone on with."""
import fcntl
import json
import os
import pty
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import tensorboard_file
from bench import CPU, LONGEST, Skip, case, main, setting

# An iteration of 12,800 steps that takes half a millisecond, and a population that never stops moving.
SMALL = setting(learner__name='random_search', learner__steps=50, env__count=256, solved__return=1000, solved__episodes=100,
                run__checkpoint_every=2000000)
SHORT = (*CPU, *SMALL, '--episodes', '10')


def many_steps(bench):
    return 6000000 if bench.sanitized else 30000000


def train(bench, out, *more, steps=4000000):
    return bench.good('train', 'cartpole', *SHORT, *setting(run__total_steps=steps), '--out', out, *more)


def whole(bench, name='whole', steps=4000000, *more):
    """A finished run, made once."""
    if not (bench.folder / name).exists():
        train(bench, name, *more, steps=steps)
    return bench.folder / name


def copy(bench, name):
    shutil.rmtree(bench.folder / name, ignore_errors=True)
    return Path(shutil.copytree(whole(bench), bench.folder / name))


def content(out):
    return {path.name: path.read_bytes() for path in sorted((out / 'checkpoints').iterdir())}


def newest(out, kind):
    return sorted((out / 'checkpoints').glob(f'step-*.{kind}'))[-1]


def wait_for(running, there):
    end = time.monotonic() + 60
    while not there():
        assert running.poll() is None and time.monotonic() < end, running.args
        time.sleep(0.01)


def going_on(bench, out, settings):
    """How a run is begun, or gone on with where it was not killed before it left anything."""
    if (bench.folder / out / 'config.json').exists():
        return ['resume', out, *CPU, '--episodes', '10']
    return ['train', 'cartpole', *settings, '--out', out]


def kill_and_resume(bench, out, settings, times, threads, chances):
    """How often a run of cartpole was killed before it came to its end."""
    for kill in range(times):
        words = [*going_on(bench, out, settings), '--threads', str(threads[kill % len(threads)])]
        with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            # Instrumented programs start within a second, not at once.
            time.sleep(chances.uniform(0.02, 0.35) * (6 if bench.sanitized else 1))
            running.kill()
            _, err = running.communicate()
        assert running.returncode in (0, -signal.SIGKILL), (words, err)
        if running.returncode == 0:
            return kill
    return times


def different(found, wanted):
    """The names of files that only one has, or that differ."""
    return sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))


@case
def a_run_killed_many_times_ends_with_the_bytes_of_one_that_was_not(bench):
    end, enough = many_steps(bench), 8 if bench.sanitized else 20
    wanted = content(whole(bench, 'unharmed', end))
    chances, kills = random.Random(7), 0
    for number, threads in enumerate(((1,), (1, 2), (2, 3)) * 6):
        out = f'killed-{number}'
        settings = (*SHORT, *setting(run__total_steps=end))
        kills += kill_and_resume(bench, out, settings, enough, threads, chances)
        bench.run(*going_on(bench, out, settings), '--threads', threads[-1])
        found = content(bench.folder / out)
        assert found == wanted, (out, threads, different(found, wanted))
        steps = [json.loads(line)['step'] for line in (bench.folder / out / 'metrics.jsonl').read_text().splitlines()]
        assert steps == sorted(set(steps)) and steps[-1] >= end, steps
        if kills >= enough and number >= 1:
            break
    assert kills >= enough, kills


@case
def networks_killed_while_they_learn_end_with_the_bytes_of_those_that_were_not(bench):
    # The learner of cartpole.json, in iterations of 8,192 steps; of 2,048 where each takes a second.
    envs, total = (16, 10000) if bench.sanitized else (64, 200000)
    settings = (*CPU, *setting(env__count=envs, learner__horizon=128, run__total_steps=total, run__checkpoint_every=1, solved__return=1000,
                               solved__episodes=envs), '--episodes', '10')
    bench.good('train', 'cartpole', *settings, '--out', 'learned')
    wanted = content(bench.folder / 'learned')
    kept = json.loads((bench.folder / 'learned' / 'config.json').read_text())
    assert kept['learner']['name'] == 'ppo' and len(wanted) >= 6, (kept, wanted.keys())
    kills = kill_and_resume(bench, 'relearned', settings, 10, (1, 2), random.Random(5))
    bench.run(*going_on(bench, 'relearned', settings))
    assert kills >= 2 and content(bench.folder / 'relearned') == wanted, kills


@case
def an_interrupt_saves_and_the_run_goes_on_to_the_same_end(bench):
    end = many_steps(bench)
    wanted = content(whole(bench, 'unharmed', end))
    words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=end), '--out', 'interrupted', '--json']
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=LONGEST)
    result = json.loads(out.splitlines()[-1])
    assert running.returncode == 0 and err == '' and result['interrupted'] and result['steps'] < end, (out, err)
    assert int(newest(bench.folder / 'interrupted', 'json').stem[5:]) == result['steps'], result
    [*_, result] = bench.lines('resume', 'interrupted', *CPU)
    assert result['steps'] >= end and not result['interrupted'], result
    last = newest(bench.folder / 'interrupted', 'json').name
    found = content(bench.folder / 'interrupted')
    for name in (last, last.replace('.json', '.safetensors'), 'best.json'):
        assert found[name] == wanted[name], name


def interrupt_taken(process):
    """No interrupt waits for a busy machine; two that wait would be one."""
    waiting = re.search(r'^ShdPnd:\s*(\w+)$', Path(f'/proc/{process}/status').read_text(), re.MULTILINE)[1]
    return not int(waiting, 16) >> (signal.SIGINT - 1) & 1


@case
def a_second_interrupt_ends_at_once(bench):
    # An iteration of minutes.
    endless = setting(learner__name='random_search', env__count=4096, run__total_steps=9000000000, learner__steps=1000000)
    words = ['train', 'cartpole', *CPU, *endless, '--out', 'twice']
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as running:
        wait_for(running, lambda: (bench.folder / 'twice' / 'config.json').exists())
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        time.sleep(0.1)
        wait_for(running, lambda: interrupt_taken(running.pid))
        begin = time.monotonic()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=LONGEST)
    assert running.returncode == -signal.SIGINT and time.monotonic() - begin < 5, running.returncode


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
def evaluations_leave_training_as_it_was(bench):
    def arrays(out):
        return newest(bench.folder / out, 'safetensors').read_bytes()

    train(bench, 'often', *setting(run__evaluate_every=1), steps=600000)
    train(bench, 'never', *setting(run__evaluate_every=0, solved__return='null'), steps=600000)
    assert arrays('often') == arrays('never')
    assert not (bench.folder / 'never' / 'checkpoints' / 'best.json').exists()


@case
def the_last_checkpoints_and_the_best_are_kept(bench):
    out = bench.folder / 'kept'
    train(bench, 'kept', *setting(run__keep=2, run__checkpoint_every=1000000))
    names = [path.stem for path in sorted((out / 'checkpoints').glob('step-*.json'))]
    assert [int(name[5:]) for name in names] == [3008000, 4006400], names
    best = json.loads((out / 'checkpoints' / 'best.json').read_text())
    metrics = [json.loads(line) for line in (out / 'metrics.jsonl').read_text().splitlines()]
    found = [(line['evaluation.return'], line['step']) for line in metrics if 'evaluation.return' in line]
    highest = max(value for value, _ in found)
    assert best['best'] == best['evaluation'] == {'return': highest, 'steps': next(s for v, s in found if v == highest)}
    assert len(list((out / 'checkpoints').glob('best-*'))) == 1
    [told] = bench.lines('inspect', 'kept')
    assert [one['steps'] for one in told['checkpoints']] == [4006400, 3008000] and told['best']['whole'], told
    assert [one['step'] for one in told['sources']] == [0] and told['configuration']['run']['keep'] == 2, told
    text = bench.good('inspect', 'kept')
    assert 'random_search.mean' in text and 'step 4006400' in text and 'from step 0' in text, text


@case
def a_checkpoint_is_a_safetensors_file_without_times_and_paths(bench):
    out = whole(bench)
    data = newest(out, 'safetensors').read_bytes()
    length = struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:8 + length])
    end = 0
    sizes = {'F32': 4, 'I32': 4, 'F64': 8, 'BOOL': 1, 'U8': 1, 'U32': 4}
    for name, entry in sorted(header.items(), key=lambda item: item[1]['data_offsets']):
        begin, stop = entry['data_offsets']
        count = 1
        for size in entry['shape']:
            count *= size
        assert begin == end and stop - begin == count * sizes[entry['dtype']], (name, entry)
        end = stop
    assert end == len(data) - 8 - length and length % 8 == 0
    assert header['state.theta']['shape'] == [256] and header['random_search.mean']['dtype'] == 'F32', header
    record = json.loads(newest(out, 'json').read_text())
    assert record['environment'] == 'CartPole' and record['steps'] == 4006400 and record['iteration'] == 313, record
    assert str(bench.folder) not in json.dumps(record)


@case
def a_directory_with_a_run_is_gone_on_with_and_not_trained_in(bench):
    whole(bench)
    bench.refused(r"whole: holds a run already \('nacelle resume whole' goes on with it\)", 'train', 'cartpole', '--out', 'whole')
    bench.refused(r'nothing: does not exist \(name the directory of a run, .*\)', 'resume', 'nothing')
    bench.refused(r'empty: holds no run: it has no config\.json \(.*\)', 'eval', 'empty')
    bench.refused(r"whole/config\.json: run\.keeep: run has no 'keeep' \(did you mean 'keep'\?\)", 'resume', 'whole', *CPU,
                  *setting(run__keeep=1))
    more = copy(bench, 'more')
    [*_, result] = bench.lines('resume', 'more', *CPU, *setting(run__total_steps=6000000), '--episodes', '10')
    assert result['steps'] == 6003200 and json.loads((more / 'config.json').read_text())['run']['total_steps'] == 6000000
    [*_, result] = bench.lines('resume', 'more', *CPU, '--episodes', '10')
    assert result['steps'] == 6003200, result


def damaged(path, change):
    data = bytearray(path.read_bytes())
    path.write_bytes(change(data))


def flipped(data):
    data[len(data) // 2] ^= 4
    return data


@case
def a_damaged_checkpoint_is_named_and_the_one_before_it_is_taken(bench):
    wanted = content(whole(bench))
    cases = [('safetensors', lambda data: data[:1000], r'has 1000 of \d+ bytes'),
             ('safetensors', flipped, r'its checksum is another one'),
             ('json', flipped, r'(its checksum is another one|it is no checkpoint)'),
             ('json', lambda data: b'', r'it is no checkpoint')]
    for kind, change, reason in cases:
        out = copy(bench, 'damaged')
        damaged(newest(out, kind), change)
        result = bench.run('resume', 'damaged', *CPU, '--episodes', '10')
        assert result.status == 0 and len(result.err.splitlines()) == 1, result
        assert re.fullmatch(rf'warning: damaged/checkpoints/step-\d+\.{kind}: is damaged: .*{reason}.*; an earlier checkpoint '
                            r'is taken\n', result.err), result
        assert content(out) == wanted, (kind, reason)
    out = copy(bench, 'damaged')
    newest(out, 'safetensors').unlink()
    result = bench.run('resume', 'damaged', *CPU, '--episodes', '10')
    assert result.status == 0 and 'does not exist; an earlier checkpoint is taken' in result.err, result
    for path in (out / 'checkpoints').glob('step-*.safetensors'):
        damaged(path, flipped)
    bench.refused(r'damaged/checkpoints: no checkpoint is whole: .*is damaged.* \(the best one is in best\.json\)', 'eval',
                  'damaged', *CPU, '--checkpoint', 'latest')
    bench.good('eval', 'damaged', *CPU, '--checkpoint', 'best')
    told = bench.lines('inspect', 'damaged')[0]['checkpoints']
    assert [one['whole'] for one in told] == [False] * 2 and 'is damaged' in told[0]['reason'], told


@case
def another_environments_checkpoint_is_refused(bench):
    out = copy(bench, 'foreign')
    words = setting(env__count=64, run__total_steps=20000, run__evaluate_every=0, solved__return='null')
    bench.good('train', 'pendulum', *CPU, *words, '--episodes', '2', '--out', 'pendulum')
    shutil.rmtree(out / 'checkpoints')
    shutil.copytree(bench.folder / 'pendulum' / 'checkpoints', out / 'checkpoints')
    before = content(out)
    bench.refused(r'foreign/checkpoints/step-\d+\.json: is a checkpoint of Pendulum; this run has CartPole', 'resume', 'foreign', *CPU)
    assert content(out) == before
    copy(bench, 'sizes')
    bench.refused(r'sizes/checkpoints/step-\d+\.json: its state\.x is f32 \[256\]; that of this run is f32 \[512\] \(env\.count .*\)',
                  'resume', 'sizes', *CPU, *setting(env__count=512))


@case
def a_changed_source_is_refused_unless_it_is_welcome(bench):
    source = bench.write('changing.cu', bench.cartpole([]))
    words = (*CPU, *setting(learner__name='random_search', env__count=256, learner__steps=50, run__total_steps=200000),
             '--episodes', '10')
    bench.good('train', 'changing.cu', *words, '--out', 'changing')
    before = content(bench.folder / 'changing')
    source.write_text(bench.cartpole([('gravity = 9.8f', 'gravity = 9.9f')]))
    bench.refused(r".*/changing\.cu: is not what it was at step \d+ of this run \(put it back: the run's folder 'source' has it; .*\)",
                  'resume', 'changing', *CPU)
    bench.refused(r'.*/changing\.cu: is not what it was .*', 'eval', 'changing', *CPU)
    assert content(bench.folder / 'changing') == before
    bench.good('eval', 'changing', *CPU, '--changed-source')
    bench.good('resume', 'changing', *CPU, '--changed-source', *setting(run__total_steps=400000))
    kept = sorted(int(path.name) for path in (bench.folder / 'changing' / 'source').iterdir())
    assert len(kept) == 2 and kept[0] == 0, kept
    assert '9.9f' in (bench.folder / 'changing' / 'source' / str(kept[1]) / 'changing.cu').read_text()
    # A field more: no array fits.
    source.write_text(bench.cartpole([('struct State { float x, x_dot', 'struct State { float more, x, x_dot')]))
    bench.refused(r'.*/changing\.cu: its arrays are no longer those of changing/checkpoints/.* \(a field has .*\)', 'resume',
                  'changing', *CPU, '--changed-source', *setting(run__total_steps=600000))
    # The copy is as good as the original.
    source.unlink()
    bench.refused(r'.*changing\.cu: no such file', 'eval', 'changing', *CPU)


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


def limited(bytes_in_a_file):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_in_a_file, bytes_in_a_file))
    return limit


@case
def a_disk_that_takes_no_more_ends_the_run_with_the_last_checkpoint_whole(bench):
    out = copy(bench, 'full')
    before = content(out)
    words = [bench.program, 'resume', 'full', *CPU, *setting(run__total_steps=8000000), '--episodes', '10']
    done = subprocess.run(words, cwd=bench.folder, env=bench.settings, capture_output=True, text=True, timeout=LONGEST,
                          preexec_fn=limited(16384))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done
    assert re.match(r'(full/checkpoints/.*\.safetensors: cannot be written: the file is larger than the system allows'
                    r'|jsonl: .*metrics\.jsonl cannot be written)', done.stderr), done
    after = content(out)
    assert all(after[name] == before[name] for name in before), after.keys()
    assert not [name for name in after if name.startswith('.nacelle')], after.keys()
    [*_, result] = bench.lines('resume', 'full', *CPU, '--episodes', '10')
    assert result['steps'] == 8000000 // 12800 * 12800, result
    if Path('/dev/full').exists():
        bench.write('device_full/keep', '')
        (bench.folder / 'device_full' / 'metrics.jsonl').symlink_to('/dev/full')
        bench.refused(r'jsonl: .*metrics\.jsonl cannot be written: the disk is full', 'train', 'cartpole', *SHORT,
                      *setting(run__total_steps=4000000), '--out', 'device_full')


@case
def a_run_whose_directory_goes_away_says_so(bench):
    words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=9000000000, run__checkpoint_every=1000000), '--out', 'gone']
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        wait_for(running, lambda: list((bench.folder / 'gone').glob('checkpoints/step-*.json')))
        (bench.folder / 'gone').rename(bench.folder / 'gone-elsewhere')
        out, err = running.communicate(timeout=LONGEST)
    assert running.returncode == 1 and out == '', (out, err)
    assert re.fullmatch(r"gone/checkpoints/[a-z0-9.-]+: cannot be written: there is no directory 'gone/checkpoints'\n", err), err
    [one, *_] = bench.lines('inspect', 'gone-elsewhere')[0]['checkpoints']
    assert one['whole'], one


@case
def two_processes_do_not_train_in_one_directory(bench):
    words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=9000000000), '--out', 'shared']
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as running:
        wait_for(running, lambda: (bench.folder / 'shared' / 'config.json').exists())
        bench.refused(r'shared: another process is training in it', 'resume', 'shared', *CPU)
        running.kill()
        running.communicate()


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
    text = bench.good('eval', 'whole', *CPU, '--episodes', '20')
    assert re.fullmatch(r'CartPole at step \d+, greedy: return \S+ ± \S+, length \S+ ± \S+ over 20 episodes \(95 % intervals\)\n', text), text


@case
def event_files_say_what_the_lines_say_and_forget_what_was_undone(bench):
    train(bench, 'board', *setting(run__sinks='["jsonl","tensorboard"]'))
    out = bench.folder / 'board'
    lines = [json.loads(line) for line in (out / 'metrics.jsonl').read_text().splitlines()]
    for line in lines:
        tensorboard_file.round_to_floats(line)
    scalars = tensorboard_file.scalars(out)
    assert [{'step': step, **values} for step, values in scalars] == lines, scalars[:2]
    # Gone on with from the checkpoint before the last: what was written behind it counts no more.
    for path in (newest(out, 'json'), newest(out, 'safetensors')):
        path.unlink()
    bench.good('resume', 'board', *CPU, '--episodes', '10')
    assert len(list(out.glob('events.out.tfevents.*'))) == 2
    steps = [step for step, _ in tensorboard_file.scalars(out)]
    assert steps == sorted(set(steps)) and steps[-1] == 4006400, steps


def on_terminal(bench, *words, columns=0):
    """What the program writes where its standard output is a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24 if columns else 0, columns, 0, 0))
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=slave,
                          stderr=subprocess.PIPE) as running:
        os.close(slave)
        text = b''
        try:
            while part := os.read(master, 65536):
                text += part
        except OSError:
            pass                    # the other end was closed
        _, err = running.communicate(timeout=LONGEST)
    os.close(master)
    assert running.returncode == 0 and err == b'', err
    return text.decode()


@case
def a_terminal_sees_one_line_of_progress_and_silence_if_it_wants(bench):
    words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=4000000)]
    text = on_terminal(bench, *words, '--out', 'seen')
    assert text.startswith('CartPole on the CPU ('), text
    shown = text.split('\r\x1b[K')
    assert len(shown) > 2, text
    for line in shown[1:-1]:
        assert re.fullmatch(r' *\d+\.\d %  +\d+ steps  +\d+\.\d M steps/s  return \S+(  policy \d+\.\d)?  \d+:\d\d left', line), line
    assert len(on_terminal(bench, *words, '--out', 'unseen', '--quiet').splitlines()) == 2
    narrow = on_terminal(bench, *words, '--out', 'narrow', columns=40).split('\r\x1b[K')
    assert len(narrow) > 2 and all(len(line) == 39 for line in narrow[1:-1]), narrow
    [result] = bench.lines(*words, '--out', 'unheard', '--quiet')
    assert result['kind'] == 'result', result


@case
def a_run_on_a_gpu_goes_on_to_the_same_bytes(bench):
    probe = bench.run('inspect', 'cartpole', '--backend', 'cuda')
    if probe.status != 0:
        raise Skip('no GPU: ' + probe.err.strip())
    end = many_steps(bench)
    words = ['train', 'cartpole', '--backend', 'cuda', *SMALL, *setting(run__total_steps=end), '--episodes', '10']
    bench.good(*words, '--out', 'gpu-whole')
    bench.good(*words[:-2], '--episodes', '10', *setting(run__total_steps=end // 3), '--out', 'gpu-part')
    kept = json.loads((bench.folder / 'gpu-whole' / 'config.json').read_text())
    (bench.folder / 'gpu-part' / 'config.json').write_text(json.dumps(kept))
    bench.good('resume', 'gpu-part', '--backend', 'cuda', '--episodes', '10')
    wanted, found = content(bench.folder / 'gpu-whole'), content(bench.folder / 'gpu-part')
    last = newest(bench.folder / 'gpu-whole', 'safetensors').name
    assert found[last] == wanted[last]
    [one] = bench.lines('eval', 'gpu-whole', '--backend', 'cuda')
    assert one['episodes'] == 1000, one


raise SystemExit(main())
