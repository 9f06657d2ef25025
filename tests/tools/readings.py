"""What a training run says: its readings in files, also where it was resumed, and its progress on a terminal."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import tensorboard_file
from bench import CPU, LONGEST, case, main, setting
from training import SHORT, newest, train


@case
def lines_that_the_run_did_not_write_outlive_a_resume(bench):
    train(bench, 'noted', *setting(run__sinks='["jsonl","csv"]'))
    out, notes = bench.folder / 'noted', {}
    wanted = {name: (out / name).read_text().splitlines() for name in ('metrics.jsonl', 'metrics.csv')}
    for name, lines in wanted.items():
        title = lines[:1] if name.endswith('csv') else []
        first, last = lines[len(title)], lines[-1]
        notes[name] = [*title, '', first, '# a note', *lines[len(title) + 1:-1], '# another', last]
        (out / name).write_text('\n'.join(notes[name]) + '\n')
    for path in (newest(out, 'json'), newest(out, 'safetensors')):
        path.unlink()
    result = bench.run('resume', 'noted', *CPU, '--episodes', '10')
    assert result.status == 0 and result.err.splitlines() == [
        'warning: jsonl: noted/metrics.jsonl:1: this is no line of metrics; it stays where it is, as do 2 like it',
        'warning: csv: noted/metrics.csv:2: this is no line of metrics; it stays where it is, as do 2 like it'], result
    for name, lines in wanted.items():
        found = (out / name).read_text().splitlines()
        kept = [line for line in found if line not in ('', '# a note', '# another')]
        assert found[:4] == notes[name][:4] and len(found) == len(kept) + 3, (name, found[:4])
        steps = [int(re.match(r'(?:\{"step":)?(\d+)', line)[1]) for line in kept if not line.startswith('step')]
        assert steps == sorted(set(steps)) and steps[-1] == 4006400, (name, steps)


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
        assert re.fullmatch(r' *\d+\.\d %  +\d+ steps  +[0-9.e+]+ [kMB]? *steps/s  return \S+(  policy \d+\.\d)?  \d+:\d\d left', line), line
    assert len(on_terminal(bench, *words, '--out', 'unseen', '--quiet').splitlines()) == 2
    narrow = on_terminal(bench, *words, '--out', 'narrow', columns=40).split('\r\x1b[K')
    assert len(narrow) > 2 and all(len(line) == 39 for line in narrow[1:-1]), narrow
    [result] = bench.lines(*words, '--out', 'unheard', '--quiet')
    assert result['kind'] == 'result', result


raise SystemExit(main())
