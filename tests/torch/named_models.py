"""Networks on LibTorch that are named in JSON: they remember, they see entities, and what is said of wrong settings."""
from parity import MARKED, needs_libtorch  # first: it says where the others are
from bench import CPU, case, main, setting  # noqa: I001
from training import goes_on_to_the_same_bytes

SMALL = {'learner__name': 'torch_ppo', 'env__count': 64, 'learner__horizon': 32, 'learner__sequence': 16, 'learner__learning_rate': 0.003,
         'run__evaluate_every': 0, 'solved__return': 'null'}
ATTENTION = '{"name": "attention", "width": 32, "layers": 1, "heads": 2}'
LSTM = '{"name": "lstm", "width": 32}'
TRANSFORMER = '{"name": "transformer", "window": %d, "width": 16, "layers": 1, "heads": 2}'


def returned(bench, environment, model, steps, out, settings=SMALL, **more):
    bench.good('train', environment, *CPU, '--quiet', '--episodes', '1', '--out', out,
               *setting(**{**settings, 'policies__default__model': model, 'run__total_steps': steps, **more}))
    return mean_return(bench, out)


def mean_return(bench, out, **changed):
    return bench.lines('eval', out, *CPU, '--episodes', '400', *setting(**changed))[-1]['mean_return']


@case
def what_was_told_at_the_beginning_is_remembered(bench):
    needs_libtorch(bench)
    maze = bench.root / 'tests' / 'algorithms' / 'environments' / 't_maze.cu'
    for model, out in ((LSTM, 'lstm'), (TRANSFORMER % 8, 'transformer')):
        found = returned(bench, maze, model, 32768, out, env__params__length=6)
        assert found >= 0.95, (model, found)
    # A window that ends before is none the wiser.
    found = returned(bench, maze, TRANSFORMER % 3, 16384, 'short', env__params__length=6)
    assert 0.3 <= found <= 0.7, found


@case
def entities_are_known_in_places_where_they_never_were(bench):
    needs_libtorch(bench)
    marked = bench.write('marked.cu', MARKED)
    settings = {key: value for key, value in SMALL.items() if key != 'learner__sequence'}
    settings |= {'env__count': 256, 'learner__horizon': 8, 'learner__normalise_observations': 'false'}
    found = returned(bench, marked, ATTENTION, 49152, 'attention', settings)
    other = mean_return(bench, 'attention', env__params__first=4, env__params__count=1)
    assert min(found, other) >= 0.9, (found, other)


@case
def a_window_goes_on_to_the_same_bytes(bench):
    needs_libtorch(bench)
    goes_on_to_the_same_bytes(bench, 'cartpole', {
        **SMALL, 'env__count': 8, 'learner__horizon': 16, 'learner__sequence': 8, 'policies__default__model': TRANSFORMER % 4,
        'run__total_steps': 128 * 40, 'run__checkpoint_every': 128 * 5})


@case
def wrong_settings_are_refused_in_a_sentence(bench):
    needs_libtorch(bench)
    for text, why in (
            ('{"name": "lstm", "widht": 3}', r"widht: there is no such setting \(did you mean 'width'\?\)"),
            ('{"name": "lstm", "layers": 0}', 'layers: expected a number from 1 to 8'),
            ('{"name": "transformer", "width": 10, "heads": 4}', 'width: 10 neurons are not shared evenly by 4 heads'),
            ('{"name": "transformer", "window": 0}', 'window: expected a number from 1 to 1024'),
            ('{"name": "attention"}', "'attention' is among entities, and Obs has no Array of two dimensions, a row for each; 'transformer' is "
                                      'among the newest observations'),
            ('{"name": "lstn"}', r"lstn: there is no such torch_model \(did you mean 'lstm'\?\)")):
        bench.refused(f'--set policies.default.model: torch_ppo: {why}', 'train', 'cartpole', *CPU, *setting(learner__name='torch_ppo'),
                      '--set', f'policies.default.model={text}')


raise SystemExit(main())
