"""The command line on a machine that is not as it should be: streams that are closed, no disk space, no /proc, names that are no text."""
import json
import os
import resource
import signal
import subprocess
import sys
import time

from bench import CPU, Skip, case, main, setting
from training import SHORT

BRIEF = (*SHORT, *setting(run__total_steps=200000))
LONG = setting(learner__name='random_search', learner__steps=50, env__count=32, run__total_steps=1000000000, solved__return='null', run__checkpoint_every=0)


def started(bench, *arguments, **how):
    return subprocess.Popen([bench.program, *map(str, arguments)], cwd=bench.folder, env=bench.settings, stdin=subprocess.DEVNULL,
                            **{'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **how})


def checkpoints(bench, out):
    return list((bench.folder / out / 'checkpoints').glob('step-*.json'))


@case
def lines_for_a_closed_output_land_in_no_file(bench):
    done = subprocess.run(['sh', '-c', 'exec "$@" <&- >&- 2>&-', 'sh', bench.program, 'train', 'cartpole', '--json', '--out', 'closed', *BRIEF],
                          cwd=bench.folder, env=bench.settings, timeout=300)
    assert done.returncode in (0, 1), done
    for line in (bench.folder / 'closed' / 'metrics.jsonl').read_text().splitlines():
        assert 'step' in json.loads(line) and 'kind' not in json.loads(line), line
    files = sorted(path.name for path in (bench.folder / 'closed').iterdir())
    assert files == ['checkpoints', 'config.json', 'metrics.jsonl', 'source', 'state.json'], files


@case
def an_output_that_takes_nothing_is_no_success(bench):
    with open('/dev/full', 'w') as full:
        for arguments in (('plugins',), ('plugins', '--json'), ('inspect', 'cartpole', *CPU), ('inspect', 'cartpole', '--json', *CPU)):
            done = started(bench, *arguments, stdout=full)
            errors = done.communicate(timeout=300)[1].decode()
            assert done.returncode == 1 and 'standard output cannot be written: No space left' in errors, (arguments, errors)


@case
def a_reader_that_goes_away_and_a_terminal_that_is_closed_leave_a_checkpoint(bench):
    run = started(bench, 'train', 'cartpole', '--json', '--out', 'piped', *CPU, *LONG)
    run.stdout.readline()
    run.stdout.close()
    errors = run.stderr.read().decode()
    assert run.wait(60) == 1 and errors == '' and checkpoints(bench, 'piped'), errors
    run = started(bench, 'train', 'cartpole', '--json', '--out', 'hung-up', *CPU, *LONG)
    run.stdout.readline()
    run.send_signal(signal.SIGHUP)
    out, errors = run.communicate(timeout=60)
    assert run.returncode == 0 and json.loads(out.splitlines()[-1])['interrupted'] and checkpoints(bench, 'hung-up'), (out, errors)
    # As nohup leaves it, it is no reason to stop.
    run = started(bench, 'train', 'cartpole', '--json', '--out', 'nohup', *CPU, *LONG, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    run.stdout.readline()
    run.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert run.poll() is None
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)
    assert checkpoints(bench, 'nohup')


@case
def configurations_that_are_none_are_refused_in_a_sentence(bench):
    bench.refused(r"--set env: expected an object, found \"\" .*", 'train', 'cartpole', *CPU, '--set', 'env=')
    for text, why in (('{"env": 3}', r'.*env: expected an object, found 3 .*'), ('[1]', '.*expected an object, found .*'),
                      ('{}\0{"seed": 1}', '.*:1:3: a NUL byte'), ('[' * 100000, '.*:1:101: nested deeper than 100 levels'),
                      ('{"env": {"source": "cart\\u0000pole"}}', r".*'env.source' holds \\u0000"),
                      ('{"learner": 3}', '.*learner: expected an object, found 3.*'), ('{"policies": [1]}', '.*'), ('{"run": "x"}', '.*run: expected an object.*')):
        path = bench.write('wrong.json', text)
        bench.refused(why, 'train', 'cartpole', path, *CPU)
    bench.refused('x+: there is no such environment .*', 'train', 'x' * 5000, *CPU)
    bench.refused('[x/]+: no such file', 'train', 'x/' + 'x' * 5000, *CPU)
    bench.refused('.*name is too long', 'inspect', 'cartpole', *CPU, '--config', 'x' * 5000)
    bench.refused('.*/dev/zero.* has more than 64 MiB', 'train', 'cartpole', '/dev/zero', *CPU)


@case
def a_run_under_a_path_that_is_no_text_is_a_run(bench):
    folder = os.fsencode(bench.folder) + b'/caf\xe9'
    os.mkdir(folder)
    (bench.folder / 'latin.json').write_text('{}')
    program = os.fsencode(bench.program)
    done = subprocess.run([program, b'train', b'cartpole', b'--json', b'--out', folder + b'/run', *(os.fsencode(word) for word in BRIEF)],
                          cwd=bench.folder, env=bench.settings, capture_output=True, timeout=300)
    assert done.returncode == 0, done
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]['kind'] == 'result' and '\ufffd/run' in lines[-1]['out'], lines[-1]
    assert sorted(os.listdir(folder + b'/run')) == [b'checkpoints', b'config.json', b'metrics.jsonl', b'source', b'state.json']
    for command in ((b'eval', folder + b'/run', b'--episodes', b'10', b'--backend', b'cpu'), (b'inspect', folder + b'/run'),
                    (b'runs', folder), (b'plot', folder + b'/run', b'--out', folder + b'/run.svg'),
                    (b'resume', folder + b'/run', b'--backend', b'cpu', b'--episodes', b'10')):
        done = subprocess.run([program, *command, b'--json'], cwd=bench.folder, env=bench.settings, capture_output=True, timeout=300)
        assert done.returncode == 0 and [json.loads(line) for line in done.stdout.splitlines()], done
    # An environment there, too; a run names it by its path.
    with open(folder + b'/pole.cu', 'w') as file:
        file.write(bench.cartpole([]))
    for command in ((b'inspect', folder + b'/pole.cu'), (b'train', folder + b'/pole.cu', b'--out', b'latin-pole', *(os.fsencode(word) for word in BRIEF[2:])),
                    (b'check', folder + b'/pole.cu', b'--only', b'finite numbers'), (b'watch', folder + b'/pole.cu', b'--steps', b'20', b'--pace', b'0')):
        done = subprocess.run([program, *command, b'--json', b'--backend', b'cpu'], cwd=bench.folder, env=bench.settings, capture_output=True, timeout=300)
        assert done.returncode == 0 and [json.loads(line) for line in done.stdout.splitlines()], done


@case
def without_proc_without_home_and_without_a_place_for_temporary_files_it_works_all_the_same(bench):
    result = bench.run('inspect', 'cartpole', *CPU, HOME=None, XDG_CACHE_HOME=None, TMPDIR='/nowhere/at/all')
    assert result.status == 0 and 'exception' not in result.err, result
    if bench.sanitized:
        raise Skip('the plain build has it: the address sanitizer reads /proc')
    for command in ('check cartpole --only "finite numbers"', 'watch cartpole --steps 5', 'inspect cartpole', 'train cartpole --quiet --out no-proc --set run.total_steps=100000'):
        done = subprocess.run(['unshare', '-m', 'sh', '-c', f'umount -l /proc && exec {bench.program} {command} --backend cpu'], cwd=bench.folder, env=bench.settings,
                              capture_output=True, timeout=300)
        if b'unshare' in done.stderr or b'umount' in done.stderr:
            raise Skip('this user cannot take /proc away')
        assert done.returncode == 0 and b'filesystem error' not in done.stderr and b'what()' not in done.stderr, done


@case
def too_little_memory_is_a_sentence(bench):
    if bench.sanitized:
        raise Skip('the plain build has it: a sanitizer reserves terabytes')
    limit = 600 << 20
    done = started(bench, 'inspect', 'cartpole', *CPU, '--threads', '1', *setting(env__count=16777216),
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    errors = done.communicate(timeout=300)[1].decode()
    assert done.returncode == 1 and errors.count('\n') == 1 and 'std::' not in errors and 'exception' not in errors, errors


sys.exit(main())
