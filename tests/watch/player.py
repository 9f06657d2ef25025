"""`nacelle play --web`: a recording on the page, as the page's socket sees it."""
import json
import time

from watched import CPU, Page, Played, case, main, recorded, setting


def steps_of(bench, path, episode):
    """Every step of an episode, by the other way there is to it."""
    out = bench.folder / 'steps.jsonl'
    bench.good('play', path, '--out', out, '--episode', episode)
    return [line for line in map(json.loads, out.read_text().splitlines()) if line['kind'] == 'step']


@case
def it_plays_at_its_pace_and_holds_at_the_end(bench):
    path = recorded(bench)
    listed = [line for line in map(json.loads, bench.good('play', path, '--json').splitlines()) if line['kind'] == 'episode']
    with Played(bench, 'play', path, '--web', '--episode', '0,1', '--fps', '50') as program:
        page = Page(program.address())
        player = page.until(lambda known: known['player'] and known['picture'] and known['arrays'])['player']
        assert [one['index'] for one in player['episodes']] == [0, 1] and player['problems'] == [], player
        assert [one['steps'] for one in player['episodes']] == [one['steps'] for one in listed[:2]]
        assert page.known['environment']['name'] == 'TagGridworld' and page.known['environment']['agents'] == 5
        began = time.monotonic()
        page.until(lambda known: known['status']['episode'] == 1)
        steps = player['episodes'][0]['steps']
        assert steps / 50 * 0.7 < time.monotonic() - began < steps / 50 + 3
        page.until(lambda known: known['status']['state'] == 'paused')
        assert page.known['status']['step'] == player['episodes'][1]['steps'] - 1
        page.say(do='play')         # from the end it begins anew
        page.until(lambda known: known['status']['state'] == 'runs' and known['status']['step'] < 30)
        page.close()
        program.process.send_signal(2)
        assert program.process.wait(10) == 0


@case
def every_step_shows_what_was_recorded_of_it(bench):
    path = recorded(bench)
    rows = steps_of(bench, path, 1)
    with Played(bench, 'play', path, '--web', '--episode', '1', '--step', '0') as program:
        page = Page(program.address())
        page.until(lambda known: known['picture']['step'] == 0 and known['status']['state'] == 'paused')
        pictures = set()
        for step in (0, 7, 3, len(rows) - 1):
            page.say(do='seek', value=step)
            for agent in (0, 4):
                page.say(do='agent', value=agent)
                page.until(lambda known: known['picture']['step'] == step and known['picture']['agent'] == agent)
                assert page.array('agent.x') == [rows[step]['agent.x'][agent]], (step, agent)
                if step:        # choices and rewards are those that led here
                    assert abs(page.array('reward')[0] - rows[step - 1]['reward'][agent]) < 1e-6
            assert page.known['picture']['note'] == '' and page.known['picture']['env'] == 1
            pictures.add(json.dumps(page.known['picture']['shapes']))
        assert len(pictures) == 4
        [summed] = [points for name, points in page.known['curves'].items()]
        assert abs(summed[-1][1] - sum(row['reward'][4] for row in rows)) < 1e-3, summed[-1]
        page.say(do='step')         # behind the last step, of the only episode, there is none
        page.say(do='seek', value=2)
        page.say(do='step')
        page.until(lambda known: known['status']['step'] == 3 and known['picture']['step'] == 3)
        page.say(do='seek', value=10 ** 15)
        page.until(lambda known: known['status']['step'] == len(rows) - 1)
        page.close()


@case
def episodes_environments_arrays_and_pace_are_chosen(bench):
    path = recorded(bench)
    with Played(bench, 'play', path, '--web', '--step', '0') as program:
        page = Page(program.address())
        player = page.until(lambda known: known['player'] and known['status']['state'] == 'paused')['player']
        of = {which: [one['index'] for one in player['episodes'] if one['env'] == which] for which in (0, 1)}
        assert page.known['status']['episode'] == player['episodes'][-1]['index']      # the last one, where none is named
        page.say(do='env', value=0)
        page.say(do='episode', value=of[0][0])
        page.until(lambda known: known['status']['env'] == 0 and known['status']['episode'] == of[0][0])
        page.say(do='pace', value=1000)
        page.say(do='play')
        page.until(lambda known: known['status']['episode'] == of[0][1])        # that of environment 1 between them is left out
        page.say(do='pause')
        page.say(do='episode', value=of[1][0])      # of another environment: all are played again
        page.until(lambda known: known['status']['env'] is None and known['picture']['env'] == 1)
        page.say(do='arrays', value=['agent.y', 'nothing'])
        page.until(lambda known: [one['name'] for one in known['arrays']] == ['agent.y'])
        for wrong in ('seek', 'episode', 'agent', 'env', 'pace', 'arrays', 'reset', 'param', 'quit'):
            for value in (99999, -1, 'one', None, [], {}, 1.5):
                page.say(do=wrong, value=value)
        page.say(do='episode', value=of[0][0])
        page.until(lambda known: known['picture']['env'] == 0 and known['status']['episode'] == of[0][0])
        page.close()


@case
def a_recording_without_its_source_shows_its_arrays_and_one_that_is_cut_says_so(bench):
    path = bench.write('pole.cu', bench.cartpole([]))
    bench.good('watch', path, '--steps', '200', '--pace', '0', '--record', '1', '--record-to', 'mine/pole.recording',
               '--record-arrays', 'state,reward', *CPU)
    path.unlink()
    whole = (bench.folder / 'mine' / 'pole.recording').read_bytes()
    bench.write('mine/pole.recording', whole[:-40])
    with Played(bench, 'play', 'mine/pole.recording', '--web') as program:
        page = Page(program.address())
        page.until(lambda known: 'was not found' in known['picture']['note'] and known['picture']['shapes'])
        assert {one['name'] for one in page.known['arrays']} == {'state.x', 'state.x_dot', 'state.theta', 'state.theta_dot', 'reward'}, page.known['arrays']
        assert page.known['player']['problems'], page.known['player']
        assert abs(page.value('gravity') - 9.8) < 1e-5, page.known['parameters']
        page.close()
    assert 'mine/pole.recording: ' in program.errors, program.errors


@case
def what_cannot_be_played_is_refused(bench):
    path = recorded(bench)
    for more in (('--out', 'x.gif'), ('--export', 'csv'), ('--port', '-1')):
        assert bench.run('play', path, '--web', *more).status == 2
    assert bench.run('play', path, '--port', '8080').status == 2
    bench.refused(r'.*: there is no episode 99 \(there are 0 to \d+\)', 'play', path, '--web', '--episode', '99')
    bench.refused(r'.*: episode 0 has no step 5000 \(there are 0 to \d+\)', 'play', path, '--web', '--episode', '0', '--step', '5000')
    bench.refused(r".*: holds no array 'agent\.z'.*", 'play', path, '--web', '--arrays', 'agent.z')
    with Played(bench, 'play', path, '--web') as program:
        port = program.address().split(':')[2].split('/')[0]
        bench.refused(rf'.*{port}.*', 'play', path, '--web', '--port', port)


@case
def the_page_shows_the_parameters_that_the_episode_was_drawn_with(bench):
    bench.good('watch', 'cartpole', *CPU, '--steps', '200', '--pace', '0', '--record', '1', '--record-to', 'drawn.recording',
               *setting(env__params__gravity='{"uniform":[20,30]}'))
    with Played(bench, 'play', 'drawn.recording', '--web', '--episode', '0,1') as program:
        page = Page(program.address())
        page.until(lambda known: known['parameters'] and known['status']['episode'] == 0)
        first = page.value('gravity')
        assert 20 <= first <= 30 and page.value('force') == 10, page.known['parameters']
        page.say(do='episode', value=1)
        page.until(lambda known: known['status']['episode'] == 1 and page.value('gravity') != first)
        assert 20 <= page.value('gravity') <= 30, page.known['parameters']
        page.close()


raise SystemExit(main())
