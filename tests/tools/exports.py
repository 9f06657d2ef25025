"""Exporting policies as a user meets it: what is written where, what plays it, and what is refused."""
import json
import re
import shutil

from bench import CPU, case, main, setting
FORMATS = {'onnx': '.onnx', 'safetensors': '.safetensors', 'c': '.h'}


def trained(bench):
    """A short run with checkpoints at 1024, 1536 and 2048 steps, made once."""
    if not (bench.folder / 'pole-1').exists():
        bench.good('train', 'cartpole', '--quiet', *CPU, *setting(env__count=16, run__total_steps=2048, run__checkpoint_every=512, run__evaluate_every=0,
                                                                  solved__return='null', learner__horizon=32), '--episodes', '4', '--out', 'pole-1')
    return 'pole-1'


def team(bench):
    if not (bench.folder / 'tag').exists():
        bench.good('train', 'tag_gridworld', '--quiet', *CPU, *setting(env__count=4, run__total_steps=2000, run__evaluate_every=0, solved__return='null',
                                                            learner__horizon=8, policies__default__hidden='[8]'),
                   '--episodes', '2', '--out', 'tag')
    return 'tag'


@case
def a_policy_becomes_a_file_of_each_format_named_after_its_run(bench):
    run = trained(bench)
    for name, suffix in FORMATS.items():
        text = bench.good('export', run, '--to', name)
        file = bench.folder / ('pole-1' + suffix)
        assert text == f"'default' of CartPole at step 2048, {file.stat().st_size} bytes of {name}: written to pole-1{suffix}\n", text
    [told] = bench.lines('export', f'{run}@1024', '--out', 'early.onnx')
    assert told == {'kind': 'policy', 'out': 'early.onnx', 'format': 'onnx', 'policy': 'default', 'environment': 'CartPole', 'steps': 1024,
                    'bytes': (bench.folder / 'early.onnx').stat().st_size}, told
    assert 'pole_1_act(const float *obs' in (bench.folder / 'pole-1.h').read_text()
    [told] = bench.lines('export', f'{run}/', '--to', 'c')
    assert told['out'] == f'{run}.h', told
    assert (bench.folder / 'early.onnx').read_bytes() != (bench.folder / 'pole-1.onnx').read_bytes()


@case
def a_file_plays_in_its_runs_environment_or_in_one_that_is_named(bench):
    run = trained(bench)
    [by_run] = bench.lines('eval', run, '--episodes', '200', *CPU)
    found = []
    for suffix in ('.onnx', '.safetensors'):
        bench.good('export', run, '--out', f'plays{suffix}')
        for where in (run, 'cartpole'):
            [told] = bench.lines('eval', where, '--policy', f'plays{suffix}', '--episodes', '200', *CPU)
            assert told['policy'] == f'plays{suffix}' and told['steps'] == 2048, told
            if where == run:    # from the same starts, whatever step the policy is of
                assert told['mean_return'] == by_run['mean_return'] and told['return_interval'] == by_run['return_interval'], (told, by_run)
            else:
                apart = abs(told['mean_return'] - by_run['mean_return'])
                assert apart <= 2 * (told['return_interval'] + by_run['return_interval']), (told, by_run)
            found.append(told['mean_return'])
    assert found[:2] == found[2:], found
    [sampled] = bench.lines('eval', run, '--policy', 'plays.onnx', '--sampled', '--episodes', '200', *CPU)
    assert sampled['sampled'] and sampled['mean_return'] != found[0], sampled
    bench.good('eval', 'cartpole', '--policy', 'plays.onnx', '--episodes', '4', '--record', '1', *CPU)
    assert (bench.folder / 'eval.recording').exists()


@case
def of_a_team_each_policy_is_a_file(bench):
    run = team(bench)
    saved, *_ = (bench.folder / run / 'checkpoints').glob('step-*.json')
    names = sorted(json.loads(saved.read_text())['policies'])
    assert len(names) > 1, names
    bench.refused(rf".*\.json: has {len(names)} policies, and none was named \(there is: {', '.join(names)}\)", 'export', run, '--to', 'onnx')
    bench.refused(rf".*\.json: has no policy 'nobody' \(there is: {', '.join(names)}\)", 'export', run, '--to', 'c', '--policy', 'nobody')
    files = []
    for name in names:
        bench.good('export', run, '--to', 'safetensors', '--policy', name)
        files += ['--policy', f'tag-{name}.safetensors']
    [told] = bench.lines('eval', run, *files, '--episodes', '8', *CPU)
    assert sorted(told['policies']) == names, told
    bench.refused(rf"\w+: has a policy '{names[1]}' of which no file was named \(a --policy FILE for each\)", 'eval', run, *files[:2], *CPU)


@case
def a_policy_that_sees_no_images_plays_where_there_are_some(bench):
    bench.good('train', 'mazes', '--quiet', *CPU, *setting(learner__name='random_search', env__count=16, run__total_steps=4000, run__evaluate='greedy',
                                                           run__evaluate_every=0, learner__steps=20), '--episodes', '2', '--out', 'blind')
    bench.good('export', 'blind', '--to', 'onnx')
    [by_run] = bench.lines('eval', 'blind', '--episodes', '16', *CPU)
    [told] = bench.lines('eval', 'blind', '--policy', 'blind.onnx', '--episodes', '16', *CPU)
    assert told['mean_return'] == by_run['mean_return'] and told['mean_length'] == by_run['mean_length'], (told, by_run)


@case
def what_cannot_be_exported_or_played_is_told(bench):
    run = trained(bench)
    bench.refused(r"--out: 'a\.safetensors' is a name of safetensors, and --to is onnx \(leave --to out, or name another file\)",
                  'export', run, '--to', 'onnx', '--out', 'a.safetensors')
    bench.refused(r"--out: 'pole\.txt' does not say what is to be written \(name one of \.onnx, \.safetensors and \.h, or --to\)",
                  'export', run, '--out', 'pole.txt')
    bench.refused(r"pole-1: has no checkpoint '5' \(there is: best, latest, 2048, 1536, 1024\)", 'export', f'{run}@5', '--to', 'c')
    bench.refused(r"nowhere: does not exist \(name a run's directory, .*\)", 'export', 'nowhere', '--to', 'c')
    (bench.folder / 'fresh' / 'checkpoints').mkdir(parents=True, exist_ok=True)
    bench.refused(r"fresh: has no checkpoint yet \('nacelle resume' goes on with the run\)", 'export', 'fresh', '--to', 'c')
    bench.good('export', run, '--to', 'onnx', '--out', 'whole.onnx')
    (bench.folder / 'half.onnx').write_bytes((bench.folder / 'whole.onnx').read_bytes()[:900])
    bench.refused(r'half\.onnx: is no ONNX file, or a damaged one: .*', 'eval', run, '--policy', 'half.onnx', *CPU)
    bench.refused(r'whole\.onnx: is a policy of CartPole; this environment is Pendulum', 'eval', 'pendulum', '--policy', 'whole.onnx', *CPU)
    bench.refused(r'gone\.onnx: .*', 'eval', run, '--policy', 'gone.onnx', *CPU)


@case
def no_file_of_a_run_is_overwritten(bench):
    run = trained(bench)
    shutil.copytree(bench.folder / run, bench.folder / 'other-run', dirs_exist_ok=True)
    (bench.folder / 'linked').symlink_to('other-run/checkpoints')
    there = {path: path.read_bytes() for path in bench.folder.glob('*/**/*') if path.is_file()}
    saved = 'step-000000000001024'
    for words in ([run], [f'{run}@1024'], [f'{run}/checkpoints/{saved}.json']):
        for out in (f'{run}/checkpoints/a.onnx', f'{run}/checkpoints/{saved}.safetensors', f'other-run/checkpoints/{saved}.safetensors',
                    f'linked/{saved}.safetensors', 'other-run/source/0/cartpole.h', f'{run}/source/../checkpoints/{saved}.safetensors'):
            bench.refused(rf"--out: {re.escape(out)} lies among a run's own files \(a file in another folder\)", 'export', *words, '--out', out)
        for out in ('config.json', 'count.json', 'metrics.csv', 'events.out.tfevents.1.nacelle', 'recordings/eval.recording'):
            bench.refused(rf"--out: other-run/{re.escape(out)} lies among .*", 'export', *words, '--to', 'c', '--out', f'other-run/{out}')
    # A checkpoint that was copied without its run.
    (bench.folder / 'alone').mkdir()
    for ending in ('json', 'safetensors'):
        shutil.copy(bench.folder / run / 'checkpoints' / f'{saved}.{ending}', bench.folder / 'alone')
    bench.refused(rf'--out: alone/{saved}\.safetensors is part of a checkpoint \(a file of another name\)',
                  'export', f'alone/{saved}.json', '--out', f'alone/{saved}.safetensors')
    bench.good('export', f'alone/{saved}.json', '--out', 'alone/policy.safetensors')
    assert all(path.read_bytes() == data for path, data in there.items())
    for _ in range(2):
        bench.good('export', run, '--out', 'other-run/policy.onnx')


raise SystemExit(main())
