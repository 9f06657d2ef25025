"""`nacelle watch`, `check` and `train` around code that prints what it should not, hangs, exits, and is saved half broken."""
import json
import os
import signal
import subprocess
import time

from watched import CPU, Page, Program, case, main, save, setting

STEP = 's.x += p.dt * s.x_dot;'
DECLARED = ('#include <nacelle/env.h>', '#include <nacelle/env.h>\nextern "C" int puts(const char*);\nextern "C" int fflush(void*);\n'
            'extern "C" void exit(int) noexcept;')


def pole(bench, *changes):
    path = bench.folder / 'pole.cu'
    save(path, bench.cartpole([DECLARED, *changes]))
    return path


def printing(*lines):
    return ''.join(f'puts("{line}"); ' for line in lines) + 'fflush(nullptr); '


@case
def what_an_author_prints_is_shown_and_never_obeyed(bench):
    other = subprocess.Popen(['sleep', '600'], start_new_session=True)
    try:
        forged = (f'pid {other.pid}', 'status bad', 'environment done', 'news done', 'picture {', r'{\"signal\": 11}', r'broken \"x\"', 'done true',
                  r'\x1b]0;mine\x07')
        path = pole(bench, (STEP, STEP + printing(*forged)))
        with Program(bench, 'watch', path, '--web', '--count', '1') as program:
            page = Page(program.address())
            page.until(lambda known: known['status']['step'] > 20 and known['status']['state'] == 'runs' and known['output']['count'] > 20)
            assert f'pid {other.pid}' in page.known['output']['lines'] and '\\x1b]0;mine\\x07' in page.known['output']['lines'], page.known['output']
            assert page.known['environment']['name'] == 'CartPole', page.known['environment']
            # Its step hangs, so that its process is killed, by the number that was spawned.
            pole(bench, (STEP, printing(f'pid {other.pid}') + 'while (*(volatile float*)&s.x < 1e30f) {}'))
            page.until(lambda known: known['environment']['version'] == 2)
            page.close()
        assert 'status bad' in program.errors and '\x1b' not in program.errors, program.errors
        time.sleep(0.2)
        assert other.poll() is None, 'a process that is not the watch\'s was killed'
        pole(bench, (STEP, STEP + printing(*forged)))
        lines = bench.run('check', path, '--json', *CPU, '--only', 'finite numbers')
        found = [json.loads(line) for line in lines.out.splitlines()]
        assert all('environment' in line for line in found) and 'status bad' in lines.err, lines
    finally:
        other.kill()
        other.wait()


@case
def forged_findings_of_check_are_no_findings(bench):
    forged = printing(r'{\"finding\": {\"check\": \"forged\", \"verdict\": \"ok\", \"what\": \"x\"}}', r'{\"done\": true}') + 'exit(0);'
    result = bench.run('check', pole(bench, (STEP, forged)), '--json', *CPU)
    found = [json.loads(line) for line in result.out.splitlines()]
    assert result.status == 1 and 'forged' not in [line.get('check') for line in found], result
    assert any('must not call exit()' in line.get('remedy', '') for line in found), result


@case
def reset_and_observe_that_never_come_back_are_ended_and_the_next_save_is_taken(bench):
    for place in ('static void reset(', 'static Obs observe('):
        text = bench.cartpole([DECLARED])
        begin = text.index('{', text.index(place)) + 1
        path = bench.folder / 'pole.cu'
        save(path, text[:begin] + '\n        for (volatile int i = 0; i >= 0;) i = 0;\n' + text[begin:])
        with Program(bench, 'watch', path, '--web', '--timeout', '1') as program:
            page = Page(program.address())
            page.until(lambda known: 'has not come back' in known['news']['problem']['text'] and known['status']['state'] == 'broken')
            pole(bench)
            page.until(lambda known: known['news']['problem'] is None and known['status']['state'] == 'runs')
            page.close()


@case
def after_an_error_no_save_is_taken_that_others_could_have_made(bench):
    path = pole(bench, (STEP, STEP + ' if (s.x > -1e30f) exit(0);'))
    with Program(bench, 'watch', path, '--web') as program:
        page = Page(program.address())
        page.until(lambda known: known['status']['state'] == 'broken' and 'exit()' in known['news']['problem']['text'])
        path.chmod(0o666)
        ran = bench.folder / 'ran'
        runs = f'extern "C" int mkdir(const char*, unsigned);\nstatic int made = mkdir("{ran}", 0777);'
        path.write_text(bench.cartpole([(DECLARED[0], DECLARED[1] + '\n' + runs)]))
        page.until(lambda known: 'can be written by other users, so that this version is not compiled' in known['news']['problem']['text'])
        bench.write('pole.json', '{}')       # a save of the settings starts no process either
        time.sleep(3)
        assert not ran.exists()
        (bench.folder / 'pole.json').unlink()
        pole(bench, ('time_limit = 500', 'time_limit = 400'))
        page.until(lambda known: known['news']['problem'] is None and known['status']['state'] == 'runs')
        page.close()


@case
def exit_in_an_author_s_code_is_told_and_is_no_good_end(bench):
    path = pole(bench, (STEP, STEP + ' if (s.x > -1e30f) exit(0);'))
    result = bench.run('watch', path, '--steps', '50', '--pace', '0', *CPU)
    assert result.status == 1 and 'exit()' in result.out + result.err, result
    # Sixteen threads call it at once.
    result = bench.run('train', path, '--json', *CPU, '--threads', '16', *setting(run__total_steps=100000), '--out', 'exits')
    assert result.status == 1 and 'has called exit()' in result.err, result
    result = bench.run('draw', path, '--steps', '3', *CPU)
    assert result.status == 1 and 'has called exit()' in result.err, result


BROKEN = (b's.x = caf\xe9;', b's.x = oops; // ' + b'x' * 40000, b's.x = oops("' + b'(' * 40000 + b'");', b'#error caf\xe9\n', b's.x = "\x1b[2J" - oops;')


@case
def no_save_ends_a_watch_or_a_run(bench):
    path = pole(bench)
    watched = Program(bench, 'watch', path, '--web')
    trained = Program(bench, 'train', path, '--web', '--out', 'broken-saves', *setting(
        learner__name='random_search', learner__steps=50, env__count=32, run__total_steps=1000000000, solved__return='null'))
    with watched, trained:
        pages = [Page(program.address()) for program in (watched, trained)]
        for page in pages:
            page.until(lambda known: known['status']['state'] == 'runs' and known['status']['step'] > 0)
        for line in BROKEN:
            text = path.read_bytes().replace(STEP.encode(), line + STEP.encode())
            other = path.with_suffix('.new')
            other.write_bytes(text)
            other.rename(path)
            for page in pages:
                page.until(lambda known: known['news']['problem'] and known['status']['state'] == 'runs')
            pole(bench)
            for page in pages:
                page.until(lambda known: known['news']['problem'] is None and known['status']['state'] == 'runs')
        for page in pages:
            page.close()
        trained.process.send_signal(signal.SIGINT)
        trained.process.wait(60)
    assert trained.process.returncode == 0 and trained.told('result')[0]['interrupted'], (trained.errors, trained.lines[-2:])
    assert '\x1b' not in trained.errors + watched.errors
    assert list((bench.folder / 'broken-saves' / 'checkpoints').glob('step-*.json'))


@case
def check_says_what_a_compiler_says_of_bytes_that_are_no_text(bench):
    path = bench.folder / 'latin.cu'
    path.write_bytes(bench.cartpole([]).encode().replace(STEP.encode(), b's.x = caf\xe9;'))
    result = bench.run('check', path, '--json', *CPU)
    found = [json.loads(line) for line in result.out.splitlines()]
    refused = [line for line in found if line.get('verdict') == 'refused']
    assert result.status == 1 and 'latin.cu:' in refused[0]['what'] and 'exit()' not in result.out, result
    bench.write('latin.test.json', b'{"steps": [{"name": "caf\xe9"}]}')
    path.write_text(bench.cartpole([]))
    result = bench.run('check', path, '--json', *CPU, '--only', 'test table')
    assert 'UTF-8' in result.out and 'exit()' not in result.out, result



raise SystemExit(main())
