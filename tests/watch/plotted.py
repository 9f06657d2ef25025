"""`nacelle plot --web`: the curves of runs on the page, as the page's socket sees them."""
import json

from watched import Page, Played, case, main

LINE, POLYGON, TEXT = 3, 5, 6


def write_run(bench, name, values):
    """A run with these returns: what `plot` needs of one."""
    bench.write(f'{name}/config.json', json.dumps({'env': {'source': '/x/made.cu'}, 'learner': {'name': 'ppo'}, 'seed': 1}))
    rows = ({'step': 1000 * (i + 1), 'episodes': 4, 'episode.return': value, 'loss.value': 1.5} for i, value in enumerate(values))
    bench.write(f'{name}/metrics.jsonl', ''.join(json.dumps(row) + '\n' for row in rows))


def shapes(page, form):
    return [shape for shape in page.known['picture']['shapes'] if shape[0] == form]


def words(page):
    return [shape[-1] for shape in shapes(page, TEXT)]


@case
def curves_with_bands_stand_on_the_page_and_grow_with_their_runs(bench):
    write_run(bench, 'made/seed-1', [0, 10, 20])
    write_run(bench, 'made/seed-2', [4, 14, 24])
    write_run(bench, 'other', [7, 8])
    with Played(bench, 'plot', 'made', 'other', '--metric', 'episode.return', '--metric', 'loss.value', '--web') as program:
        page = Page(program.address())
        page.until(lambda known: known['picture'] and known['status'] and known['environment'])
        assert page.known['status']['mode'] == 'plot' and page.known['environment']['name'] == 'made, other', page.known
        assert {'episode.return', 'loss.value', 'made: mean of 2 seeds, 95 % interval', 'other'} <= set(words(page)), words(page)
        assert len(shapes(page, POLYGON)) == 2, 'a band in each panel'
        assert any(len(shape) == 7 and shape[5] < 0 for shape in shapes(page, TEXT)), 'where a text begins'
        before = len(shapes(page, LINE))
        page.say(do='pause')        # there is nothing to pause
        # A reading, another seed, and a file that cannot be read for a moment.
        with open(bench.folder / 'other/metrics.jsonl', 'a') as file:
            file.write(json.dumps({'step': 3000, 'episodes': 4, 'episode.return': 9, 'loss.value': 1}) + '\n')
        page.until(lambda known: len(shapes(page, LINE)) > before)
        bench.write('made/seed-3/config.json', '{"env": ')
        write_run(bench, 'made/seed-3', [1, 11, 21])
        page.until(lambda known: 'made: mean of 3 seeds, 95 % interval' in words(page))
        page.close()
        program.process.send_signal(2)
        assert program.process.wait(10) == 0
    assert program.errors == '', program.errors
    assert not (bench.folder / 'made-compared.svg').exists()


@case
def what_cannot_be_drawn_is_refused_before_there_is_a_page(bench):
    write_run(bench, 'one', [0, 10])
    bench.refused(r"one: has no metric 'nothing' .*", 'plot', 'one', '--metric', 'nothing', '--web')
    for more in (('--out', 'x.svg'), ('--size', '600')):
        assert bench.run('plot', 'one', '--web', *more).status == 2
    assert bench.run('plot', 'one', '--port', '8080').status == 2


raise SystemExit(main())
