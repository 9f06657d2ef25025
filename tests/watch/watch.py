"""`nacelle watch`: what a page sees and changes, saves that break and mend, code that ends its process."""
import json
import subprocess
import time

from watched import Page, Program, case, main, save, setting, wait_until, CPU


def pole(bench, *changes):
    path = bench.folder / 'pole.cu'
    save(path, bench.cartpole(list(changes)))
    return path


def first_rows(table, rows, fewer):
    """The same .npy with its first rows alone; its header keeps its length."""
    size = 10 + int.from_bytes(table[8:10], 'little')
    old, new = f'({rows},'.encode(), f'({fewer},'.encode()
    head = table[:size].replace(old, new)
    head = head[:-1] + b' ' * (size - len(head)) + b'\n'
    return head + table[size:size + (len(table) - size) * fewer // rows]


@case
def it_ends_after_its_steps_and_tells_where_it_stands(bench):
    said = bench.lines('watch', 'cartpole', '--steps', '200', '--pace', '0', *CPU)
    last = said[-1]
    assert last['kind'] == 'status' and last['state'] == 'ended' and last['step'] == 200, said
    assert 8 < last['return'] < 60 and last['episodes'] > 16, last
    words = bench.good('watch', 'cartpole', '--steps', '40', '--pace', '0', '--count', '3', *CPU)
    assert 'ended' in words and 'step 40' in words, words


@case
def it_ends_when_nobody_reads_its_lines_any_more(bench):
    command = [bench.program, 'watch', 'cartpole', '--json', *CPU]
    with subprocess.Popen(command, cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        try:
            assert json.loads(process.stdout.readline()), command
            process.stdout.close()
            assert process.wait(20) == 1, process.returncode
        finally:
            process.kill()


@case
def the_page_sees_it_move(bench):
    with Program(bench, 'watch', 'cartpole', '--web') as program:
        page = Page(program.address())
        known = page.until(lambda known: known['picture'] and known['arrays'])
        assert known['environment']['name'] == 'CartPole' and known['environment']['envs'] == 16, known['environment']
        assert known['environment']['policy'] == 'random' and known['picture']['view'] == [-2.8, -0.5, 2.8, 1.7]
        first, shapes = page.array('state.x'), known['picture']['shapes']
        assert page.array('obs')[0] == first[0]
        known = page.until(lambda known: known['picture']['shapes'] != shapes and page.array('state.x') != first)
        assert known['status']['state'] == 'runs' and 600 < page.until(lambda k: k['status']['step'] > 60)['status']['rate'] < 1200
        curves = page.until(lambda known: len(known['curves']['episode.return']) > 1)['curves']
        assert set(curves) == {'episode.return', 'episode.length'}, curves
        page.close()


@case
def environments_and_arrays_can_be_chosen_and_time_can_be_held(bench):
    with Program(bench, 'watch', 'tag_gridworld', '--web', '--paused', '--count', '4') as program:
        page = Page(program.address())
        page.until(lambda known: known['status']['state'] == 'paused' and known['picture']['env'] == 0)
        for _ in range(4):
            page.say(do='step')     # all begin at the same place
        page.until(lambda known: known['picture']['step'] == 4)
        before = page.known['picture']
        page.say(do='env', value=2)
        page.until(lambda known: known['picture']['env'] == 2)
        assert page.known['picture']['shapes'] != before['shapes']
        page.say(do='agent', value=1)
        page.until(lambda known: known['picture']['agent'] == 1)
        page.say(do='arrays', value=['reward'])
        page.until(lambda known: [one['name'] for one in known['arrays']] == ['reward'])
        for wrong in ('env', 'agent'):
            for value in (99, -1, 'one', None, 1.5):
                page.say(do=wrong, value=value)
        step = page.known['status']['step']
        page.say(do='step')
        page.until(lambda known: known['status']['step'] == step + 1 and known['picture']['step'] == step + 1)
        assert page.known['picture']['env'] == 2 and page.known['picture']['agent'] == 1
        page.say(do='play')
        page.until(lambda known: known['status']['state'] == 'runs' and known['status']['step'] > step + 5)
        page.close()


@case
def a_parameter_changes_the_physics_and_a_wrong_one_is_refused(bench):
    with Program(bench, 'watch', 'cartpole', '--web', '--paused', '--count', '1', *setting(env__params__dt=0.5)) as program:
        page = Page(program.address())
        page.until(lambda known: known['parameters'] and known['arrays'])
        assert page.value('dt') == 0.5 and page.value('gravity') == 9.8
        [gravity] = [one for one in page.known['parameters'] if one['name'] == 'gravity']
        assert gravity['kind'] == 'number' and gravity['low'] == 0 and gravity['high'] == 50, gravity
        page.say(do='param', name='dt', value=0)
        page.until(lambda known: page.value('dt') == 0)
        held = page.array('state.theta')
        for _ in range(5):
            page.say(do='step')
        page.until(lambda known: known['picture']['step'] == 5)
        assert page.array('state.theta') == held        # no time passes any more
        for name, value, why in (('dt', 'much', 'expected a number'), ('dtt', 1, "did you mean 'dt'?"), ('dt', 1e40, 'does not fit')):
            page.say(do='param', name=name, value=value)
            page.until(lambda known, why=why: why in known['refused'])
        assert page.value('dt') == 0
        page.close()


@case
def a_page_opened_after_a_broken_save_shows_the_picture_of_the_version_that_runs(bench):
    path = pole(bench)
    with Program(bench, 'watch', path, '--web') as program:
        address = program.address()
        wait_until(lambda: any(one['step'] > 3 for one in program.told('status')))
        pole(bench, ('s.x += p.dt * s.x_dot', 's.x += q.dt * s.x_dot'))
        wait_until(lambda: any(one['problem'] for one in program.told('news')))
        page = Page(address)
        picture = page.until(lambda known: known['picture'])['picture']
        assert picture['view'] == [-2.8, -0.5, 2.8, 1.7] and not picture.get('draw_note') and not picture['note'], picture
        page.close()


@case
def a_save_of_the_settings_is_taken_into_the_running_version(bench):
    path = pole(bench)
    settings = path.with_suffix('.json')
    settings.write_text('{"env": {"params": {"gravity": 5, "force": 3}}}')
    with Program(bench, 'watch', path, '--web') as program:
        page = Page(program.address())
        page.until(lambda known: known['status']['step'] > 3 and page.value('gravity') == 5)
        save(settings, '{"env": {"params": {"gravity": 7}}}')
        news = page.until(lambda known: page.value('gravity') == 7 and known['news']['data'])['news']
        assert news['data'] == 'pole.json was read again: force = 10.0, gravity = 7.' and not news['problem'], news
        assert page.value('force') == 10
        save(settings, '{"env": {"params": {"gravty": 7}}}')
        problem = page.until(lambda known: known['news']['problem'])['news']['problem']
        assert "CartPole has no parameter 'gravty' (did you mean 'gravity'?)" in problem['text'], problem
        assert 'pole.json was not taken' in problem['text'] and page.value('gravity') == 7, problem
        save(settings, '{"env": {"params": {"gravity": 7, "force": 4}, "strict": true}, "seed": 3}')
        news = page.until(lambda known: not known['news']['problem'] and page.value('force') == 4)['news']
        assert news['data'] == "pole.json was read again: force = 4; env.strict, seed: begin 'watch' anew for it.", news
        page.close()
    assert program.process.returncode == 0, program.errors
    settings.unlink()


@case
def a_save_of_a_table_is_taken_and_its_episodes_begin_anew(bench):
    folder = bench.folder / 'env_sources'
    table = folder / 'mazes.npy'
    whole = table.read_bytes()
    try:
        with Program(bench, 'watch', 'mazes', '--web', '--arrays', 'episode.length,state.level') as program:
            page = Page(program.address())
            page.until(lambda known: known['status']['step'] > 20 and known['arrays'])
            table.write_bytes(whole[:200])
            problem = page.until(lambda known: known['news']['problem'])['news']['problem']
            assert 'mazes.npy' in problem['text'] and 'was not taken' in problem['text'], problem
            step = page.known['status']['step']
            page.until(lambda known: known['status']['step'] > step + 5)
            # No state may point behind the first 64 mazes.
            table.write_bytes(first_rows(whole, 4096, 64))
            news = page.until(lambda known: known['news']['data'] and not known['news']['problem'])['news']
            assert news['data'] == 'mazes.npy was read again; all episodes begin anew.', news
            page.until(lambda known: known['status']['step'] > step + 40)
        assert program.process.returncode == 0, program.errors
    finally:
        table.write_bytes(whole)


@case
def a_broken_save_is_shown_at_its_line_and_a_good_one_clears_it(bench):
    path = pole(bench)
    with Program(bench, 'watch', path, '--web') as program:
        page = Page(program.address())
        page.until(lambda known: known['status']['step'] > 3 and known['picture'])
        pole(bench, ('s.x += p.dt * s.x_dot', 's.x += q.dt * s.x_dot'))
        problem = page.until(lambda known: known['news']['problem'])['news']['problem']
        line = path.read_text().splitlines().index('        s.x += q.dt * s.x_dot;') + 1
        assert problem['line'] == line and problem['file'].endswith('pole.cu'), problem
        assert "'q'" in problem['message'] and problem['excerpt'].strip() == 's.x += q.dt * s.x_dot;', problem
        assert 'version 1 keeps running' in problem['text']
        step = page.known['status']['step']
        page.until(lambda known: known['status']['step'] > step + 5 and known['status']['state'] == 'runs')
        pole(bench, ('s.x += p.dt * s.x_dot', 's.x += 2.0f * p.dt * s.x_dot'))
        news = page.until(lambda known: known['news']['problem'] is None and known['news']['reload'])['news']
        assert news['reload']['version'] == 2 and 0 < news['reload']['seconds'] < 60, news
        page.until(lambda known: known['environment']['version'] == 2)
        page.close()
    kinds = [bool(line['problem']) for line in program.told('news')]
    assert True in kinds and kinds[-1] is False, program.lines


@case
def a_file_that_never_compiled_is_waited_for(bench):
    path = pole(bench, ('s.x += p.dt * s.x_dot', 's.x += q.dt * s.x_dot'))
    with Program(bench, 'watch', path, '--web') as program:
        page = Page(program.address())
        page.until(lambda known: known['news']['problem']['line'] and known['status']['state'] == 'broken')
        pole(bench)
        page.until(lambda known: known['news']['problem'] is None and known['status']['state'] == 'runs')
        page.close()
    result = bench.run('watch', bench.write('bad.cu', 'struct'), '--steps', '3', *CPU)
    assert result.status == 1 and 'bad.cu' in result.out, result


@case
def a_crash_and_an_endless_loop_end_their_process_alone(bench):
    path = pole(bench)
    with Program(bench, 'watch', path, '--web', '--timeout', '1', '--env', '3') as program:
        page = Page(program.address())
        page.until(lambda known: known['status']['step'] > 3 and known['picture']['env'] == 3)
        page.say(do='param', name='gravity', value=5.5)
        page.until(lambda known: page.value('gravity') == 5.5)
        for code, why in (('s.x += float(*(volatile int*)size_t(s.x * 0 + 16));', 'has ended'),
                          ('while (*(volatile float*)&s.x < 1e30f) {}', 'has not come back after 1 s'),
                          ('s.x = 0.0f / (s.x - s.x);', 'not a number')):
            pole(bench, ('s.x += p.dt * s.x_dot;', code))
            page.until(lambda known, why=why: why in known['news']['problem']['text'])
            page.until(lambda known: known['status']['state'] == 'broken')
            pole(bench)
            page.until(lambda known: known['news']['problem'] is None and known['status']['state'] == 'runs')
            page.until(lambda known: page.value('gravity') == 5.5 and known['picture']['env'] == 3)
        page.close()


@case
def a_mistake_in_draw_costs_the_picture_alone(bench):
    path = pole(bench, ('canvas.view(-end, -0.5f, end, length + 0.7f);', 'canvas.view(1, 0, 1, 1);'))
    with Program(bench, 'watch', path, '--web') as program:
        page = Page(program.address())
        page.until(lambda known: 'shows an area of' in known['picture']['note'])
        page.until(lambda known: known['status']['step'] > 20)
        page.close()


@case
def a_policy_acts_in_it_and_stays_over_a_reload(bench):
    bench.good('train', 'cartpole', '--quiet', '--out', 'run', *CPU, '--episodes', '10', *setting(run__total_steps=150000))
    random, trained = ([json.loads(line) for line in bench.good('watch', 'cartpole', '--json', '--steps', '300', '--pace', '0',
                                                                *CPU, *more).splitlines()][-1] for more in ((), ('--policy', 'run')))
    assert trained['return'] > 2 * random['return'], (random, trained)
    path = pole(bench)
    with Program(bench, 'watch', path, '--web', '--policy', 'run') as program:
        page = Page(program.address())
        page.until(lambda known: known['status']['step'] > 3)
        assert page.known['environment']['policy'].startswith('run at step '), page.known['environment']
        pole(bench, ('.reward = 1.0f', '.reward = 3.0f'))
        page.until(lambda known: known['environment']['version'] == 2)
        page.until(lambda known: page.array('reward') == [3])
        pole(bench, ('return {s.x, s.x_dot, s.theta, s.theta_dot};', 'return {s.x, s.theta};'), ('struct Obs { float x, x_dot, theta, theta_dot; };', 'struct Obs { float x, theta; };'))
        page.until(lambda known: 'the policy cannot act in it' in known['news']['problem']['text'])
        page.close()
    bench.refused(r'.*: there is no run here.*|.*no run.*', 'watch', 'cartpole', '--policy', 'empty', *CPU)
    # It acts in as many environments as its run has.
    for option, value in (('--count', '3'), ('--config', 'run/config.json')):
        result = bench.run('watch', 'cartpole', '--policy', 'run', option, value, *CPU)
        assert result.status == 2 and '--policy' in result.err and option in result.err, result
    bench.refused(r"--set env\.count=3: a watch has a number of its own \(--count N\)", 'watch', 'cartpole', *CPU, '--set', 'env.count=3')
    bench.refused(r"--set run\.keep=3: 'run' is nothing to a policy that acts .*", 'watch', 'cartpole', '--policy', 'run', *CPU, '--set', 'run.keep=3')


@case
def train_is_watched_and_changed_too(bench):
    with Program(bench, 'train', 'cartpole', '--web', '--out', 'watched', *setting(run__total_steps=1000000000, solved__return='null')) as program:
        page = Page(program.address())
        page.until(lambda known: known['status']['mode'] == 'train' and known['picture'] and known['curves']['loss.policy'])
        before = page.known['picture']['step']
        page.until(lambda known: known['picture']['step'] > before)
        page.say(do='param', name='gravity', value=12.25)
        page.until(lambda known: page.value('gravity') == 12.25)
        config = bench.folder / 'watched' / 'config.json'
        end = time.monotonic() + 20
        while json.loads(config.read_text())['env']['params']['gravity'] != 12.25:
            assert time.monotonic() < end
            time.sleep(0.1)
        page.say(do='pause')
        page.until(lambda known: known['status']['state'] == 'paused')
        held = page.known['status']['step']
        time.sleep(0.5)
        page.say(do='env', value=7)
        page.until(lambda known: known['picture']['env'] == 7)
        assert page.known['status']['step'] == held
        page.say(do='play')
        page.until(lambda known: known['status']['step'] > held)
        page.close()
        program.process.send_signal(2)
        program.process.wait(60)
    assert program.process.returncode == 0 and program.told('result')[0]['interrupted'], (program.errors, program.lines[-3:])


@case
def what_cannot_be_watched_is_refused(bench):
    bench.refused(r"cartpol: there is no such environment in .* \(did you mean 'cartpole'\?\)", 'watch', 'cartpol', *CPU)
    bench.refused(r'--env: there is no environment 16 \(there are 0 to 15\)', 'watch', 'cartpole', '--env', '16', *CPU)
    for words in (('--env', '3'), ('--agent', '1'), ('--arrays', 'obs')):
        bench.refused(r'--env, --agent and --arrays: are of what is shown, and lines show none of it \(.*\)', 'watch', 'tag_gridworld', *words, *CPU)
    for words, said in ((('--agent', '5'), '--agent: there is no agent 5 (there are 0 to 4)'),
                        (('--arrays', 'obs,agents.x'), "--arrays: there is no array 'agents.x' (did you mean 'agent.x'?)")):
        result = bench.run('watch', 'tag_gridworld', '--web', '--steps', '3', *words, *CPU)
        assert result.status == 1 and said in result.out + result.err, result
    for pace in ('-1', 'nan'):
        assert bench.run('watch', 'cartpole', '--pace', pace).status == 2
    assert bench.run('watch', 'cartpole', '--port', '80').status == 2
    assert bench.run('watch', 'cartpole', '--sampled').status == 2


raise SystemExit(main())
