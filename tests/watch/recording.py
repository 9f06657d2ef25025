"""`nacelle watch --record`: whole episodes in a file, over saves that keep the arrays and saves that change them."""
import json

from watched import CPU, Page, Program, case, main, save, setting


def pole(bench, *changes):
    path = bench.folder / 'pole.cu'
    save(path, bench.cartpole(list(changes)))
    return path


def rows(bench, name):
    """The episodes of a recording, each with its steps, as `play` exports them."""
    out = bench.folder / 'rows.jsonl'
    bench.good('play', name, '--out', out)
    episodes = []
    for line in map(json.loads, out.read_text().splitlines()):
        if line['kind'] == 'episode':
            episodes.append(line | {'rows': []})
        elif line['kind'] == 'step':
            episodes[-1]['rows'].append(line)
    return episodes


def moves_as_cartpole_does(episode):
    """From each row to the next: none is missing, and none came from another environment."""
    for now, then in zip(episode['rows'], episode['rows'][1:]):
        assert abs(now['state.x'] + 0.02 * now['state.x_dot'] - then['state.x']) < 1e-5, (now, then)


@case
def every_episode_of_the_first_environments_is_kept(bench):
    *_, last = bench.lines('watch', 'cartpole', '--steps', '300', '--pace', '0', '--record', '2', *CPU)
    assert last == {'kind': 'recording', 'file': 'cartpole.recording', 'episodes': last['episodes']}, last
    episodes = rows(bench, 'cartpole.recording')
    assert len(episodes) == last['episodes'] > 8
    for which in (0, 1):
        mine = [one for one in episodes if one['environment'] == which]
        assert sum(len(one['rows']) for one in mine) == 300
        assert [one['ended'] for one in mine] == ['terminated'] * (len(mine) - 1) + ['cut'], mine
        assert all(abs(one['rows'][0]['state.x']) <= 0.05 for one in mine)
    for one in episodes:
        moves_as_cartpole_does(one)
    # The same again does not overwrite it; other environments and arrays, and a name of one's own.
    assert bench.lines('watch', 'cartpole', '--steps', '9', '--record', '1', *CPU)[-1]['file'] == 'cartpole-2.recording'
    words = bench.good('watch', 'cartpole', '--steps', '60', '--pace', '0', '--record-envs', '7,3', '--record-arrays', 'obs,reward',
                       '--record-to', 'kept/mine.recording', *CPU)
    assert 'recorded in kept/mine.recording: ' in words, words
    chosen = rows(bench, 'kept/mine.recording')
    assert {one['environment'] for one in chosen} == {3, 7}
    assert {'obs', 'reward'} < set(chosen[0]['rows'][0]) and 'state.x' not in chosen[0]['rows'][0], chosen[0]['rows'][0]


@case
def a_save_with_the_same_arrays_goes_on_in_the_file_and_another_one_begins_the_next(bench):
    path = pole(bench)
    with Program(bench, 'watch', path, '--web', '--record', '1', '--pace', '100') as program:
        page = Page(program.address())
        page.until(lambda known: known['recording'][0]['episodes'] > 1)
        first = path.read_text()
        pole(bench, ('.reward = 1.0f', '.reward = 3.0f'))
        page.until(lambda known: known['environment']['version'] == 2)
        page.until(lambda known: len(known['recording']) == 1 and known['recording'][0]['episodes'] > 3)
        second = path.read_text()
        pole(bench, ('struct State { float x,', 'struct State { float spare, x,'), ('s = {small()', 's = {0.0f, small()'))
        page.until(lambda known: len(known['recording']) == 2 and known['recording'][1]['episodes'] > 1)
        page.say(do='reset')
        page.until(lambda known: known['recording'][1]['episodes'] > 3)
        page.close()
        program.process.send_signal(2)
        program.process.wait(20)
    files = {one['file']: one['episodes'] for one in program.told('recording')}
    assert list(files) == ['pole-2.recording', 'pole.recording'], files
    before, after = rows(bench, 'pole.recording'), rows(bench, 'pole-2.recording')
    assert (len(before), len(after)) == (files['pole.recording'], files['pole-2.recording'])
    # The episode that the save fell into goes on under the new version.
    rewards = [row['reward'] for one in before for row in one['rows']]
    assert rewards == sorted(rewards) and set(rewards) == {1, 3}, rewards
    assert [one['ended'] for one in before].count('cut') <= 1, [one['ended'] for one in before]
    # Every episode of the next file is seen from its first step on, those behind "New episodes", too.
    assert all(abs(one['rows'][0]['state.x']) <= 0.05 and one['rows'][0]['state.spare'] == 0 for one in after), after
    assert 1 <= sum(one['ended'] == 'cut' for one in after) <= 2, [one['ended'] for one in after]
    for one in before + after:
        moves_as_cartpole_does(one)
    # Each of its versions draws it, and no other.
    for text, drawn in ((first, True), (second, True), (path.read_text(), False)):
        path.write_text(text)
        result = bench.run('play', 'pole.recording', '--out', 'one.png', '--step', '0')
        assert result.status == 0 and ('its arrays are shown' not in result.err) == drawn, result


@case
def what_a_save_takes_away_stops_the_recording_alone(bench):
    path = pole(bench)
    without = (('struct State { float x, x_dot,', 'struct State { float y, y_dot,'), ('s.x', 's.y'))
    with Program(bench, 'watch', path, '--web', '--record', '1', '--record-arrays', 'state.x', '--pace', '200') as program:
        page = Page(program.address())
        page.until(lambda known: known['recording'][0]['episodes'] > 1)
        pole(bench, *without)
        problem = page.until(lambda known: known['news']['problem'])['news']['problem']['text']
        assert "has no array 'state.x' to be recorded" in problem and 'Nothing is recorded until' in problem, problem
        held, step = page.known['recording'], page.known['status']['step']
        page.until(lambda known: known['status']['step'] > step + 200)
        assert page.known['recording'] == held
        pole(bench)
        page.until(lambda known: known['news']['problem'] is None and known['recording'][1]['episodes'] > 1)
        page.close()


@case
def a_crash_leaves_whole_episodes_and_the_next_process_takes_the_next_file(bench):
    path = pole(bench)
    with Program(bench, 'watch', path, '--web', '--record', '2', '--record-to', 'crash.recording') as program:
        page = Page(program.address())
        page.until(lambda known: known['recording'][0]['episodes'] > 2)
        pole(bench, ('s.x += p.dt * s.x_dot;', 's.x += float(*(volatile int*)size_t(s.x * 0 + 16));'))
        page.until(lambda known: known['status']['state'] == 'broken')
        pole(bench)
        page.until(lambda known: known['status']['state'] == 'runs' and known['recording'][0]['file'] == 'crash-2.recording')
        page.until(lambda known: known['recording'][0]['episodes'] > 0)
        page.close()
    files = {one['file']: one['episodes'] for one in program.told('recording')}
    assert set(files) == {'crash.recording', 'crash-2.recording'}, files
    result = bench.run('play', 'crash.recording')
    assert result.status == 0 and f'{files["crash.recording"]} episodes' in result.out and 'was not finished' in result.out + result.err, result


@case
def the_steps_before_a_number_that_is_not_finite_are_kept(bench):
    path = pole(bench, ('s.x += p.dt * s.x_dot;', 's.x += s.x > 0.04f ? 0.0f / (s.x - s.x) : p.dt * s.x_dot;'))
    result = bench.run('watch', path, '--steps', '100000', '--record', '16', '--record-to', 'nan.recording', *CPU)
    assert result.status == 1 and 'not a number' in result.out, result
    said = bench.run('play', 'nan.recording')
    assert said.status == 0 and 'not finished' not in said.out + said.err, said
    assert any(row['state.x'] is not None and row['state.x'] > 0.04 for one in rows(bench, 'nan.recording') for row in one['rows'])


@case
def episodes_of_a_policy_say_for_how_long_it_was_trained(bench):
    bench.good('train', 'cartpole', '--quiet', '--out', 'run', *CPU, '--episodes', '10', *setting(run__total_steps=150000))
    bench.good('watch', 'cartpole', '--steps', '1200', '--pace', '0', '--policy', 'run', '--record', '3', *CPU)
    [file] = [name for name in bench.folder.glob('cartpole*.recording') if name.stat().st_mtime == max(
        one.stat().st_mtime for one in bench.folder.glob('cartpole*.recording'))]
    episodes = rows(bench, file)
    assert {one['environment'] for one in episodes} == {0, 1, 2}
    # The checkpoint's episodes are under way; none of them is shown from its middle.
    assert all(one['trained'] > 0 and abs(one['rows'][0]['state.x']) <= 0.05 for one in episodes)


@case
def what_cannot_be_recorded_is_refused(bench):
    bench.write('there.recording', 'mine')
    bench.refused(r'there\.recording: is there already \(a recording overwrites nothing\)',
                  'watch', 'cartpole', '--record', '1', '--record-to', 'there.recording', *CPU)
    bench.refused(r'there\.recording/x\.recording: cannot be written: .+', 'watch', 'cartpole', '--record', '1',
                  '--record-to', 'there.recording/x.recording', *CPU)
    bench.refused(r'--record: there is no environment 16 \(there are 0 to 15\)', 'watch', 'cartpole', '--record', '17', *CPU)
    bench.refused(r'--record-envs: there is no environment 99 \(there are 0 to 15\)', 'watch', 'cartpole', '--record-envs', '3,99', *CPU)
    bench.refused(r'--record-envs: names environment 3 twice', 'watch', 'cartpole', '--record-envs', '3,3', *CPU)
    result = bench.run('watch', 'cartpole', '--record', '1', '--record-arrays', 'state.y', '--steps', '5', *CPU)
    assert result.status == 1 and "CartPole: has no array 'state.y' to be recorded (there is: state.x, " in result.out, result
    assert (bench.folder / 'there.recording').read_text() == 'mine'


raise SystemExit(main())
