"""A stranger's run: pipes in the place of files, settings and links that lead out of the folder, files without an end. No command waits,
and commands that only look read nothing outside of the folder."""
import json
import os
import re
import subprocess

from bench import CPU, case, main
from training import copy, whole

SOON = 60    # seconds
LOOKING = (('runs', '.'), ('inspect', 'strange'), ('plot', 'strange', '--out', 'strange.svg'), ('compare', 'whole', 'strange'))
ACTING = (('eval', 'strange', *CPU, '--episodes', '8'), ('export', 'strange', '--to', 'safetensors', '--out', 'strange.safetensors'),
          ('resume', 'strange', *CPU, '--episodes', '8'))


def ended(bench, *words):
    """The status, 0 or 1, and what was said; a command that waits is a failure."""
    done = subprocess.run([bench.program, *words], cwd=bench.folder, env=bench.settings, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=SOON)
    assert done.returncode in (0, 1), done
    return done.returncode, done.stdout + done.stderr


def files_of(run):
    return {path: path.read_bytes() for path in run.rglob('*') if path.is_file()}


def strange(bench):
    out = copy(bench, 'strange')
    config = json.loads((out / 'config.json').read_text())
    return out, config


@case
def no_command_waits_for_a_pipe_in_a_run(bench):
    out, _ = strange(bench)
    names = [path.relative_to(out) for path in sorted(out.rglob('*')) if path.is_file()]
    assert {'config.json', 'metrics.jsonl', 'state.json'} <= {str(name) for name in names} and len(names) > 8, names
    for name in (*names, 'count.json'):
        out, _ = strange(bench)
        (out / name).unlink(missing_ok=True)
        os.mkfifo(out / name)
        for words in (*LOOKING, *ACTING):
            status, said = ended(bench, *words)
            assert status == 0 or 'is no plain file' in said or 'no metrics yet' in said, (name, words, said)


@case
def a_recording_that_is_a_pipe_is_refused(bench):
    os.mkfifo(bench.folder / 'piped.recording')
    assert ended(bench, 'play', 'piped.recording') == (1, 'piped.recording: is no plain file\n')


@case
def metrics_outside_of_a_run_are_not_read(bench):
    lines = (whole(bench) / 'metrics.jsonl').read_text()
    bench.write('elsewhere.jsonl', lines)
    for place in (str(bench.folder / 'elsewhere.jsonl'), '../elsewhere.jsonl', 'link.jsonl'):
        out, config = strange(bench)
        (out / 'link.jsonl').symlink_to('../elsewhere.jsonl')
        config['run']['sinks'] = [{'name': 'jsonl', 'file': place}]
        (out / 'config.json').write_text(json.dumps(config))
        for words in LOOKING:
            status, said = ended(bench, *words)
            refused = status == 1 and re.fullmatch(r".*(elsewhere|link)\.jsonl: is outside of the run's folder, and is not read\n", said)
            assert refused if words[0] == 'plot' else status == 0, (place, words, said)
    # A log of the system has no end, and its readers wait for more.
    out, _ = strange(bench)
    (out / 'metrics.jsonl').unlink()
    (out / 'metrics.jsonl').symlink_to('/proc/kmsg')
    for words in (*LOOKING, *ACTING):
        ended(bench, *words)


@case
def the_name_of_a_folder_turns_no_text(bench):
    out, _ = strange(bench)
    turned = 'strange\u202e'
    out.rename(bench.folder / turned)
    for words in (*LOOKING, *ACTING):
        status, said = ended(bench, *(turned if word == 'strange' else word for word in words))
        assert status == 0 and '\u202e' not in said, (words, said)
    assert '\u202e' not in ended(bench, 'runs', '.', '--json')[1]
    assert '\u202e' not in (bench.folder / 'strange.svg').read_text()
    (bench.folder / turned).rename(out)


@case
def what_was_counted_is_shown_only_if_it_is_a_count(bench):
    out, _ = strange(bench)
    for text in ('{}', '[]', '5', 'null', '{"trials": 3}'):
        (out / 'count.json').write_text(text)
        status, said = ended(bench, 'inspect', 'strange')
        assert status == 0 and 'trials' not in said, (text, said)


@case
def the_source_that_is_compared_lies_in_the_run(bench):
    bench.write('secret.txt', 'nobody else reads this')
    out, _ = strange(bench)
    (out / 'source' / '0' / 'secret.txt').symlink_to(bench.folder / 'secret.txt')
    status, said = ended(bench, 'compare', 'whole', 'strange')
    assert status == 0 and 'secret' not in said, said


@case
def the_source_that_is_compared_is_bounded(bench):
    out, _ = strange(bench)
    for name in ('a.h', 'b.h'):
        with open(out / 'source' / '0' / name, 'wb') as file:
            file.truncate(40 << 20)
    status, said = ended(bench, 'compare', 'whole', 'strange')
    assert status == 1 and said.endswith('strange/source/0: has files of more than 64 MiB, which are not compared\n'), said[-200:]


@case
def runs_of_seeds_are_led_nowhere(bench):
    (bench.folder / 'elsewhere').mkdir()
    (bench.folder / 'prepared').mkdir()
    (bench.folder / 'prepared' / 'seed-1').symlink_to('../elsewhere')
    status, said = ended(bench, 'train', 'cartpole', *CPU, '--seeds', '2', '--out', 'prepared')
    assert status == 1 and "seed-1: is a link that leads out of the run's folder" in said, said
    assert not list((bench.folder / 'elsewhere').iterdir())
    bench.good('train', 'cartpole', *CPU, '--seeds', '1', '--set', 'run.total_steps=16384', '--quiet', '--out', 'led')
    (bench.folder / 'led' / 'seed-1').rename(bench.folder / 'own')
    (bench.folder / 'led' / 'seed-1').symlink_to('../own')
    there = files_of(bench.folder / 'own')
    status, said = ended(bench, 'resume', 'led', '--set', 'run.total_steps=32768')
    assert status == 1 and "seed-1: is a link that leads out of the run's folder" in said, said
    assert files_of(bench.folder / 'own') == there


@case
def settings_and_lines_without_an_end_are_refused(bench):
    out, _ = strange(bench)
    with open(out / 'config.json', 'ab') as file:
        file.truncate(1 << 40)
    for words in (*LOOKING[1:], *(words for words in ACTING if words[0] != 'export')):
        found = ended(bench, *words)
        assert found == (1, 'strange/config.json: has more than 16 MiB\n'), (words, found)
    out, _ = strange(bench)
    with open(out / 'metrics.jsonl', 'ab') as file:
        file.truncate(1 << 40)
    status, said = ended(bench, *LOOKING[2])
    assert (status, said) == (1, 'strange/metrics.jsonl: has a line of more than 1 MiB, which is no reading\n'), said
    assert ended(bench, *LOOKING[1])[0] == 0


raise SystemExit(main())
