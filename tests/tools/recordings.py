"""`--record` and `nacelle play`: what is kept of episodes, and how it comes out again."""
import csv
import io
import json
import re
import struct
import subprocess
import time
import zipfile

import videos  # noqa: F401: its cases run here, on the same recording
from bench import CPU, case, main, setting
from recorded import gif_frames, listed, npy, png, recording, run_of, SHORT


@case
def training_is_the_same_with_and_without_a_recording(bench):
    run_of(bench)
    bench.good('train', 'cartpole', *SHORT, '--out', 'plain')

    def content(out):
        return {path.name: path.read_bytes() for path in (bench.folder / out / 'checkpoints').iterdir()}
    assert content('run') == content('plain') and content('run')
    assert (bench.folder / 'run/config.json').read_bytes() == (bench.folder / 'plain/config.json').read_bytes()
    assert not (bench.folder / 'plain/recordings').exists()


@case
def a_run_records_each_of_its_evaluations_and_the_last(bench):
    head, episodes = listed(bench, recording(bench))
    assert head['environment'] == 'CartPole' and head['finished'] and not head['problems'], head
    assert {one['environment'] for one in episodes} == {0, 1, 2}
    # Evaluations after iterations 2 and 4, and behind the run's end: 1,600 steps each iteration.
    trained = [one['trained'] for one in episodes]
    assert len(episodes) == 3 * len(set(trained)) + 3, trained
    assert sorted(set(trained)) == [3200, 6400, 8000], trained
    assert all(one['steps'] == one['returns'][0] for one in episodes)


@case
def an_evaluation_is_recorded_and_finds_what_it_finds_without(bench):
    plain = bench.lines('eval', run_of(bench), *CPU, '--episodes', '40')[-1]
    kept = bench.lines('eval', 'run', *CPU, '--episodes', '40', '--record-envs', '5,31', '--record-to', 'e.recording')[-1]
    assert kept.pop('recording') == 'e.recording' and kept == plain, (kept, plain)
    head, episodes = listed(bench, 'e.recording')
    assert sorted(one['environment'] for one in episodes) == [5, 31]
    text = bench.good('eval', 'run', *CPU, '--episodes', '40', '--record', '2', '--record-arrays', 'obs,reward')
    assert text.endswith('recorded in run/recordings/eval.recording\n'), text
    head, _ = listed(bench, 'run/recordings/eval.recording')
    assert [array['name'] for array in head['arrays']] == ['obs', 'reward'], head['arrays']
    bench.good('eval', 'run', *CPU, '--episodes', '40', '--record', '2')
    assert (bench.folder / 'run/recordings/eval-2.recording').exists()


@case
def what_cannot_be_recorded_is_refused(bench):
    run = run_of(bench)
    bench.refused(r'--record: environment 32 plays no episode \(40 episodes are played by environments 0 to 31\)',
                  'eval', run, *CPU, '--episodes', '40', '--record', '33')
    bench.refused(r"CartPole: has no array 'rewards' to be recorded \(did you mean 'reward'\?\)",
                  'eval', run, *CPU, '--record', '1', '--record-arrays', 'rewards')
    bench.refused(r'--record-envs: names environment 3 twice', 'eval', run, *CPU, '--record-envs', '3,3')
    bench.write('taken.recording', 'mine')
    bench.refused(r'taken\.recording: is there already \(a recording overwrites nothing\)',
                  'eval', run, *CPU, '--record', '1', '--record-to', 'taken.recording')
    bench.refused(r'solved\.episodes: is 20, so that environment 24 plays none of them \(environments 0 to 19 can be recorded\)',
                  'train', 'cartpole', *SHORT, '--record', '25', '--out', 'never')
    bench.refused(r'run\.evaluate_every: is 0, so that there is no evaluation to be recorded',
                  'train', 'cartpole', *SHORT, *setting(run__evaluate_every=0), '--record', '1', '--out', 'never-2')
    bench.refused(r'taken\.recording: is there already \(a recording overwrites nothing\)',
                  'train', 'cartpole', *SHORT, '--record', '1', '--record-to', 'taken.recording', '--out', 'never')
    assert not (bench.folder / 'never').exists() and not (bench.folder / 'never-2').exists()
    for words in (['--record', '0'], ['--record', 'x'], ['--record-to', 'x'], ['--record-arrays', 'obs'],
                  ['--record', '1', '--record-envs', '1']):
        result = bench.run('eval', run, *CPU, *words)
        assert result.status == 2 and result.out == '', result


@case
def all_forms_hold_the_same_numbers(bench):
    name = recording(bench)
    _, episodes = listed(bench, name)
    bench.good('play', name, '--out', 'all.jsonl')
    bench.good('play', name, '--out', 'all.csv')
    beside = bench.write('step-0.npz.part', 'mine')
    bench.good('play', name, '--export', 'npz')
    assert beside.read_text() == 'mine' and not list(bench.folder.glob('.nacelle-*'))
    lines = [json.loads(line) for line in (bench.folder / 'all.jsonl').read_text().splitlines()]
    steps = [line for line in lines if line['kind'] == 'step']
    assert [line['steps'] for line in lines if line['kind'] == 'episode'] == [one['steps'] for one in episodes]
    assert len(steps) == sum(one['steps'] for one in episodes)
    rows = list(csv.DictReader(io.StringIO((bench.folder / 'all.csv').read_text())))
    assert len(rows) == len(steps)
    with zipfile.ZipFile(bench.folder / 'step-0.npz') as archive:
        assert archive.testzip() is None
        arrays = {path.removesuffix('.npy'): npy(archive.read(path)) for path in archive.namelist()}
    assert arrays['obs'][0] == (len(steps), 4) and arrays['state.x'][0] == (len(steps),), arrays['obs'][0]
    assert arrays['final_obs'][0] == (len(episodes), 4)
    single = struct.Struct('<f')
    for at, (line, row) in enumerate(zip(steps, rows)):
        assert (line['episode'], line['step']) == (arrays['index.episode'][1][at], arrays['index.step'][1][at])
        assert (line['episode'], line['step']) == (int(row['episode']), int(row['step']))
        for k in range(4):
            number = arrays['obs'][1][4 * at + k]
            assert single.pack(line['obs'][k]) == single.pack(float(row[f'obs[{k}]'])) == single.pack(number)
        assert line['action.push'] == int(row['action.push']) == arrays['action.push'][1][at]
        assert line['terminated'] == (row['terminated'] == '1') == arrays['terminated'][1][at]
    # What was seen before the step is the state that it began in, and an episode's rows follow one another.
    for line, following in zip(steps, steps[1:]):
        assert line['obs'] == [line[f'state.{name}'] for name in ('x', 'x_dot', 'theta', 'theta_dot')]
        if following['step']:
            assert abs(following['state.x'] - line['state.x'] - 0.02 * line['state.x_dot']) < 1e-6
    ends = [line for line, following in zip(steps, steps[1:] + [{'step': 0}]) if following['step'] == 0]
    assert all(line['terminated'] or line['truncated'] for line in ends) and len(ends) == len(episodes)


@case
def episodes_environments_and_arrays_are_chosen(bench):
    name = recording(bench)
    bench.good('play', name, '--out', 'some.jsonl', '--episode', '1,4', '--arrays', 'state,reward')
    lines = [json.loads(line) for line in (bench.folder / 'some.jsonl').read_text().splitlines()]
    assert {line['episode'] for line in lines} == {1, 4}
    assert set(lines[1]) == {'kind', 'episode', 'step', 'state.x', 'state.x_dot', 'state.theta', 'state.theta_dot', 'reward'}
    bench.good('play', name, '--out', 'one.csv', '--env', '2', '--arrays', 'reward')
    rows = list(csv.DictReader(io.StringIO((bench.folder / 'one.csv').read_text())))
    assert {row['environment'] for row in rows} == {'2'}
    # So they are in a list.
    head, *episodes = bench.lines('play', name, '--episode', '1,4', '--arrays', 'obs,reward')
    assert [one['name'] for one in head['arrays']] == ['obs', 'reward'] and [one['episode'] for one in episodes] == [1, 4], head
    text = bench.good('play', name, '--env', '2', '--arrays', 'reward')
    assert re.search('^reward ', text, re.MULTILINE) and 'state.x' not in text, text
    assert {line.split()[1] for line in text.split('return\n')[1].splitlines()} == {'2'}, text


@case
def pictures_are_drawn_by_the_author(bench):
    name = recording(bench)
    bench.good('play', name, '--out', 'one.png', '--episode', '0', '--step', '3', '--size', '200')
    wide, high = png((bench.folder / 'one.png').read_bytes())
    assert max(wide, high) == 200
    bench.good('play', name, '--export', 'png', '--out', 'frames', '--episode', '1', '--size', '64')
    _, episodes = listed(bench, name)
    frames = sorted((bench.folder / 'frames').iterdir())
    assert len(frames) == episodes[1]['steps'] and frames[2].name == 'episode-00001-step-000002.png'
    assert len({path.read_bytes() for path in frames}) > len(frames) // 2
    bench.good('play', name, '--out', 'film.gif', '--episode', '1', '--size', '120')
    size, parts = gif_frames((bench.folder / 'film.gif').read_bytes())
    assert max(size) == 120 and len(parts) == episodes[1]['steps'] and parts[0] == (0, 0, *size), (size, parts)
    assert all(left + wide <= size[0] and top + high <= size[1] for left, top, wide, high in parts)
    first = (bench.folder / 'film.gif').read_bytes()
    bench.good('play', name, '--out', 'film.gif', '--episode', '1', '--size', '120')
    assert (bench.folder / 'film.gif').read_bytes() == first


@case
def a_recording_that_was_cut_is_played_up_to_its_last_whole_episode(bench):
    whole = (bench.folder / recording(bench)).read_bytes()
    bench.write('cut.recording', whole[:len(whole) * 2 // 3])
    _, episodes = listed(bench, recording(bench))
    head, left = listed(bench, 'cut.recording')
    assert 0 < len(left) < len(episodes) and not head['finished'] and head['dropped_bytes'] > 0, head
    assert 'are the start of an episode that is cut' in head['problems'][0]
    assert head['problems'][0] in bench.good('play', 'cut.recording')
    result = bench.run('play', 'cut.recording', '--out', 'cut.csv')
    assert result.status == 0 and result.err == f'cut.recording: {head["problems"][0]}\n', result
    bench.write('start.recording', whole[:40])
    bench.refused(r'start\.recording: is cut short: its 40 bytes end in its header \(it holds no episode\)', 'play', 'start.recording')
    bench.refused(r'env_sources/cartpole\.cu: is no recording: it does not begin as one', 'play', 'env_sources/cartpole.cu')


@case
def a_run_that_is_killed_leaves_its_episodes_and_goes_on_into_another_file(bench):
    words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=50000000, run__checkpoint_every=1600, run__stagger='false'), '--out', 'killed',
             '--record', '3']
    path = bench.folder / 'killed/recordings/step-0.recording'
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as running:
        end = time.monotonic() + 60
        while not path.exists() or path.stat().st_size < 20000:
            assert running.poll() is None and time.monotonic() < end, running.args
            time.sleep(0.01)
        running.kill()
        running.communicate()
    head, episodes = listed(bench, 'killed/recordings/step-0.recording')
    assert not head['finished'] and len(head['problems']) == 1 and len(episodes) > 1, head
    bench.run('resume', 'killed', *CPU, *setting(run__total_steps=episodes[-1]['trained'] + 8000), '--episodes', '10', '--record', '1')
    [other] = [one for one in path.parent.iterdir() if one != path]
    head, episodes = listed(bench, f'killed/recordings/{other.name}')
    assert head['finished'] and {one['environment'] for one in episodes} == {0}


@case
def what_cannot_be_played_is_refused(bench):
    name = recording(bench)
    bench.refused(r"--out: 'x\.avi' does not say what is to be written \(name one of \.jsonl, .*\)", 'play', name, '--out', 'x.avi')
    bench.refused(r'--step: is of one picture, which \.gif is not \(use it with \.png or --web\)', 'play', name, '--out', 'x.gif', '--step', '3')
    bench.refused(r"--out: 'x\.npz' is a name of npz, and --export is gif \(leave --export out, or name another file\)",
                  'play', name, '--export', 'gif', '--out', 'x.npz')
    bench.refused(r"--out: 'x\.png' would be a folder: .* \(--step K writes one, --export png --out FOLDER all\)", 'play', name, '--out', 'x.png')
    for size in ('--size', '--fps'):
        for out in ([], ['--out', 'x.csv']):
            bench.refused(rf'{size}: is of .*', 'play', name, size, '20', *out)
    bench.refused(r'--fps: is of what moves, which \.png does not \(.*\)', 'play', name, '--out', 'x.png', '--step', '3', '--fps', '20')
    bench.refused(r'--size: is of files, and a page has .*', 'play', name, '--web', '--size', '20')
    bench.refused(r"--record-to: 'x\.mp4' would be a recording, and no \.mp4 \(name x\.recording, then .*\)",
                  'watch', 'cartpole', '--record', '1', '--record-to', 'x.mp4', *CPU)
    bench.refused(r'--step: is of one picture, which a list is not \(use it with \.png or --web\)', 'play', name, '--step', '3')
    for out in ([], ['--out', 'x.csv'], ['--json']):
        negative = bench.run('play', name, *out, '--episode=-1')
        assert negative.status == 2 and negative.err.startswith('--episode: Value -1 is negative\n'), negative
        bench.refused(r'.*step-0\.recording: there is no episode 99 \(there are 0 to \d+\)', 'play', name, *out, '--episode', '99')
        bench.refused(r".*: holds no array 'obst' \(did you mean 'obs'\?\)", 'play', name, *out, '--arrays', 'obst')
        bench.refused(r'.*: holds no episode of these environments', 'play', name, *out, '--env', '77')
    bench.refused(r'.*: episode 0 has no step 100000 \(there are 0 to \d+\)',
                  'play', name, '--out', 'x.png', '--episode', '0', '--step', '100000')
    bench.refused(r'nowhere\.recording: does not exist', 'play', 'nowhere.recording')


raise SystemExit(main())
