"""What a run leaves on the disk: checkpoints, what is wrong with one, and a disk that takes no more."""
import json
import re
import resource
import shutil
import struct
import subprocess
from pathlib import Path

from bench import CPU, LONGEST, Skip, case, main, setting
from training import SHORT, train, whole, copy, content, has_libtorch, hashed, newest, sealed, wait_for


@case
def the_last_checkpoints_and_the_best_are_kept(bench):
    out = bench.folder / 'kept'
    train(bench, 'kept', *setting(run__keep=2, run__checkpoint_every=1000000))
    names = [path.stem for path in sorted((out / 'checkpoints').glob('step-*.json'))]
    assert [int(name[5:]) for name in names] == [3008000, 4006400], names
    best = json.loads((out / 'checkpoints' / 'best.json').read_text())
    metrics = [json.loads(line) for line in (out / 'metrics.jsonl').read_text().splitlines()]
    found = [(line['evaluation.return'], line['step']) for line in metrics if 'evaluation.return' in line]
    highest = max(value for value, _ in found)
    assert best['best'] == best['evaluation'] == {'return': highest, 'steps': next(s for v, s in found if v == highest)}
    assert len(list((out / 'checkpoints').glob('best-*'))) == 1
    [told] = bench.lines('inspect', 'kept')
    assert [one['steps'] for one in told['checkpoints']] == [4006400, 3008000] and told['best']['whole'], told
    assert [one['step'] for one in told['sources']] == [0] and told['configuration']['run']['keep'] == 2, told
    text = bench.good('inspect', 'kept')
    assert 'random_search.mean' in text and 'step 4006400' in text and 'from step 0' in text, text


@case
def a_checkpoint_is_a_safetensors_file_without_times_and_paths(bench):
    out = whole(bench)
    data = newest(out, 'safetensors').read_bytes()
    length = struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:8 + length])
    end = 0
    sizes = {'F32': 4, 'I32': 4, 'F64': 8, 'BOOL': 1, 'U8': 1, 'U32': 4}
    for name, entry in sorted(header.items(), key=lambda item: item[1]['data_offsets']):
        begin, stop = entry['data_offsets']
        count = 1
        for size in entry['shape']:
            count *= size
        assert begin == end and stop - begin == count * sizes[entry['dtype']], (name, entry)
        end = stop
    assert end == len(data) - 8 - length and length % 8 == 0
    assert header['state.theta']['shape'] == [256] and header['random_search.mean']['dtype'] == 'F32', header
    record = json.loads(newest(out, 'json').read_text())
    assert record['environment'] == 'CartPole' and record['steps'] == 4006400 and record['iteration'] == 313, record
    assert str(bench.folder) not in json.dumps(record)


@case
def a_directory_with_a_run_is_gone_on_with_and_not_trained_in(bench):
    whole(bench)
    bench.refused(r"whole: holds a run already \('nacelle resume whole' goes on with it\)", 'train', 'cartpole', '--out', 'whole')
    bench.refused(r'nothing: does not exist \(name the directory of a run, .*\)', 'resume', 'nothing')
    bench.refused(r'empty: holds no run: it has no config\.json \(.*\)', 'eval', 'empty')
    bench.refused(r"--set run\.keeep: run has no 'keeep' \(did you mean 'keep'\?\)", 'resume', 'whole', *CPU,
                  *setting(run__keeep=1))
    more = copy(bench, 'more')
    [*_, result] = bench.lines('resume', 'more', *CPU, *setting(run__total_steps=6000000), '--episodes', '10')
    assert result['steps'] == 6003200 and json.loads((more / 'config.json').read_text())['run']['total_steps'] == 6000000
    [*_, result] = bench.lines('resume', 'more', *CPU, '--episodes', '10')
    assert result['steps'] == 6003200, result


@case
def a_run_that_was_paused_ends_as_one_that_was_not(bench):
    arguments = ('train', 'cartpole', *SHORT, *setting(run__total_steps=4000000), '--out', 'paused', '--until', '1500000')
    assert 'Paused after 1510400 steps: return' in bench.good(*arguments)
    [*_, again] = bench.lines('resume', 'paused', *CPU, '--episodes', '10', '--until', '1500000')
    assert again['paused'] and again['steps'] == 1510400, again
    assert 'a higher --until, or none, trains on' in bench.good('resume', 'paused', *CPU, '--episodes', '10', '--until', '1500000')
    [*_, result] = bench.lines('resume', 'paused', *CPU, '--episodes', '10')
    assert result['steps'] == 4006400 and not result['paused'], result
    for kind in ('json', 'safetensors'):
        assert newest(bench.folder / 'paused', kind).read_bytes() == newest(whole(bench), kind).read_bytes(), kind
    train(bench, 'seeds', '--seeds', '1', steps=20000)
    bench.refused(r'--until: pauses one run, and seeds holds those of several seeds .*', 'resume', 'seeds', '--until', '5')


def damaged(path, change):
    data = bytearray(path.read_bytes())
    path.write_bytes(change(data))


def flipped(data):
    data[len(data) // 2] ^= 4
    return data


@case
def a_damaged_checkpoint_is_named_and_the_one_before_it_is_taken(bench):
    wanted = content(whole(bench))
    cases = [('safetensors', lambda data: data[:1000], r'has 1000 of \d+ bytes'),
             ('safetensors', flipped, r'its checksum is another one'),
             ('json', flipped, r'(its checksum is another one|it is no checkpoint)'),
             ('json', lambda data: b'', r'it is no checkpoint')]
    for kind, change, reason in cases:
        out = copy(bench, 'damaged')
        damaged(newest(out, kind), change)
        result = bench.run('resume', 'damaged', *CPU, '--episodes', '10')
        assert result.status == 0 and len(result.err.splitlines()) == 1, result
        assert re.fullmatch(rf'warning: damaged/checkpoints/step-\d+\.{kind}: is damaged: .*{reason}.*; an earlier checkpoint '
                            r'is taken\n', result.err), result
        assert content(out) == wanted, (kind, reason)
    out = copy(bench, 'damaged')
    newest(out, 'safetensors').unlink()
    result = bench.run('resume', 'damaged', *CPU, '--episodes', '10')
    assert result.status == 0 and 'does not exist; an earlier checkpoint is taken' in result.err, result
    for path in (out / 'checkpoints').glob('step-*.safetensors'):
        damaged(path, flipped)
    bench.refused(r'damaged/checkpoints: no checkpoint is whole: .*is damaged.* \(the best one is in best\.json\)', 'eval',
                  'damaged', *CPU, '--checkpoint', 'latest')
    bench.good('eval', 'damaged', *CPU, '--checkpoint', 'best')
    told = bench.lines('inspect', 'damaged')[0]['checkpoints']
    assert [one['whole'] for one in told] == [False] * 2 and 'is damaged' in told[0]['reason'], told


@case
def a_checkpoint_under_another_ones_name_is_not_believed(bench):
    wanted = content(whole(bench))
    out = copy(bench, 'renamed')
    for kind in ('json', 'safetensors'):
        shutil.copy(newest(out, kind), out / 'checkpoints' / f'step-000000009999999.{kind}')
    reason = r'renamed/checkpoints/step-000000009999999\.json: is named after step 9999999 but was saved at step 4006400'
    bench.refused(reason, 'eval', 'renamed', *CPU, '--checkpoint', '9999999')
    result = bench.run('resume', 'renamed', *CPU, '--episodes', '10')
    assert result.status == 0 and re.fullmatch(rf'warning: {reason}; an earlier checkpoint is taken\n', result.err), result
    assert {name: found for name, found in content(out).items() if '9999999' not in name} == wanted
    [told] = bench.lines('inspect', 'renamed')
    assert [one['whole'] for one in told['checkpoints']][:2] == [False, True], told['checkpoints']


@case
def another_environments_checkpoint_is_refused(bench):
    out = copy(bench, 'foreign')
    words = setting(env__count=64, run__total_steps=20000, run__evaluate_every=0, solved__return='null')
    bench.good('train', 'pendulum', *CPU, *words, '--episodes', '2', '--out', 'pendulum')
    shutil.rmtree(out / 'checkpoints')
    shutil.copytree(bench.folder / 'pendulum' / 'checkpoints', out / 'checkpoints')
    before = content(out)
    bench.refused(r'foreign/checkpoints/step-\d+\.json: is a checkpoint of Pendulum; this run has CartPole', 'resume', 'foreign', *CPU)
    assert content(out) == before
    copy(bench, 'sizes')
    bench.refused(r'sizes/checkpoints/step-\d+\.json: its state\.x is f32 \[256\]; that of this run is f32 \[512\] \(env\.count .*\)',
                  'resume', 'sizes', *CPU, *setting(env__count=512))


@case
def a_changed_source_is_refused_unless_it_is_welcome(bench):
    source = bench.write('changing.cu', bench.cartpole([]))
    words = (*CPU, *setting(learner__name='random_search', env__count=256, learner__steps=50, run__total_steps=200000),
             '--episodes', '10')
    bench.good('train', 'changing.cu', *words, '--out', 'changing')
    before = content(bench.folder / 'changing')
    source.write_text(bench.cartpole([('gravity = 9.8f', 'gravity = 9.9f')]))
    bench.refused(r".*/changing\.cu: is not what it was at step \d+ of this run \(put it back: the run's folder 'source' has it; .*\)",
                  'resume', 'changing', *CPU)
    bench.refused(r'.*/changing\.cu: is not what it was .*', 'eval', 'changing', *CPU)
    assert content(bench.folder / 'changing') == before
    bench.good('eval', 'changing', *CPU, '--changed-source')
    result = bench.run('resume', 'changing', *CPU, '--changed-source', *setting(run__total_steps=400000))
    assert result.status == 0 and "changing: the environment's code is another one: the best checkpoint, of step " in result.err, result
    kept = sorted(int(path.name) for path in (bench.folder / 'changing' / 'source').iterdir())
    assert len(kept) == 2 and kept[0] == 0, kept
    assert '9.9f' in (bench.folder / 'changing' / 'source' / str(kept[1]) / 'changing.cu').read_text()
    # A field more: no array fits.
    source.write_text(bench.cartpole([('struct State { float x, x_dot', 'struct State { float more, x, x_dot')]))
    bench.refused(r'.*/changing\.cu: its arrays are no longer those of changing/checkpoints/.* \(a field has .*\)', 'resume',
                  'changing', *CPU, '--changed-source', *setting(run__total_steps=600000))
    # The copy is as good as the original.
    source.unlink()
    bench.refused(r'.*changing\.cu: no such file', 'eval', 'changing', *CPU)


# Late in the training a return overflows.
RICH = """#include <nacelle/env.h>
struct Rich {
    static constexpr int time_limit = 8;
    struct Params { float from = 0.5f; };
    struct State { int step; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float step; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s = {0}; }
    static nacelle::Outcome step(State& s, const Action&, const Params& p, nacelle::Rng&, const nacelle::Episode& now) {
        ++s.step;
        return {.reward = now.progress >= p.from ? 3e38f : 1.0f};
    }
    static Obs observe(const State& s, const Params&) { return {float(s.step)}; }
};
NACELLE_ENV(Rich)
"""


def rich(bench, out, learner, **more):
    bench.write('rich.cu', RICH)
    its = {'learner__name': learner, 'env__count': 16, 'run__total_steps': 20000, 'solved__return': 'null', **more}
    return bench.run('train', './rich.cu', *CPU, '--quiet', '--episodes', '2', '--out', out, *setting(**its))


@case
def a_learner_that_has_diverged_ends_the_run_and_replaces_no_checkpoint(bench):
    replay = {'learner__batch': 32, 'learner__warm_up': 64, 'learner__capacity': 512}
    kinds = [('ppo', {}), ('ppo', {'policies__default__hidden': '[{"gru": 8}]'}), ('a2c', {}), ('dqn', {**replay, 'learner__priority': 0.6})]
    kinds += [('torch_ppo', {}), ('torch_dqn', replay)] if has_libtorch(bench) else []
    for number, (learner, more) in enumerate(kinds):
        out = f'{learner}-{number}'
        result = rich(bench, out, learner, run__evaluate_every=0, run__checkpoint_every=2000, run__keep=2,
                      **{'policies__default__hidden': '[8]', **more})
        assert result.status == 1 and result.out == '', result
        told = re.fullmatch(rf'{learner}: has diverged: \S+ (is|has a number that is) (not a number|infinite|minus infinity) at step (\d+), which '
                            r'is not saved \(earlier checkpoints are kept; .*\)\n', result.err)
        assert told, result
        [run] = bench.lines('inspect', out)
        steps = [one['steps'] for one in run['checkpoints']]
        assert len(steps) == 2 and all(one['whole'] for one in run['checkpoints']) and 7000 < steps[0] < int(told[3]), run
        assert 'has diverged' in json.loads((bench.folder / out / 'state.json').read_text())['failure']
        bench.good('eval', out, *CPU, '--episodes', '2')


@case
def weights_that_are_not_finite_neither_act_nor_go_on(bench):
    out = copy(bench, 'numberless')
    file = newest(out, 'safetensors')
    data = bytearray(file.read_bytes())
    [size] = struct.unpack('<Q', data[:8])
    begin = 8 + size + json.loads(data[8:8 + size])['random_search.mean']['data_offsets'][0]
    data[begin:begin + 4] = struct.pack('<f', float('nan'))
    file.write_bytes(data)
    told = json.loads(newest(out, 'json').read_text())
    told['tensors']['checksum'] = hashed(bytes(data))
    newest(out, 'json').write_text(json.dumps(sealed(told)))
    refusal = r'numberless/checkpoints/step-\d+\.json: its random_search\.mean has a number that is not a number: training failed \(.*\)'
    bench.refused(refusal, 'eval', 'numberless', *CPU, '--checkpoint', 'latest')
    bench.refused(refusal, 'resume', 'numberless', *CPU, *setting(run__total_steps=8000000))


@case
def a_return_that_overflows_is_no_score_and_its_checkpoint_can_be_read(bench):
    result = rich(bench, 'scored', 'random_search', run__evaluate_every=1, run__total_steps=4000, run__checkpoint_every=1000, solved__return=100)
    assert result.status == 0 and result.out.startswith('Ended after') and 'return too large for a float, length 8.0' in result.out, result
    readings = [json.loads(line) for line in (bench.folder / 'scored' / 'metrics.jsonl').read_text().splitlines()]
    ends = [reading['evaluation.return'] for reading in readings]
    assert len(ends) > 4 and not any(ends), ends
    [told] = bench.lines('inspect', 'scored')
    assert len(told['checkpoints']) == 3 and told['best'] is None, told
    assert all(one['whole'] and one['evaluation'] is None for one in told['checkpoints']), told
    bench.good('resume', 'scored', *CPU, '--quiet', '--episodes', '2')


def limited(bytes_in_a_file):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_in_a_file, bytes_in_a_file))
    return limit


@case
def a_disk_that_takes_no_more_ends_the_run_with_the_last_checkpoint_whole(bench):
    out = copy(bench, 'full')
    before = content(out)
    words = [bench.program, 'resume', 'full', *CPU, *setting(run__total_steps=8000000), '--episodes', '10']
    done = subprocess.run(words, cwd=bench.folder, env=bench.settings, capture_output=True, text=True, timeout=LONGEST,
                          preexec_fn=limited(16384))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done
    assert re.match(r'(full/checkpoints/.*\.safetensors: cannot be written: the file is larger than the system allows'
                    r'|jsonl: .*metrics\.jsonl cannot be written)', done.stderr), done
    after = content(out)
    assert all(after[name] == before[name] for name in before), after.keys()
    assert not [name for name in after if name.startswith('.nacelle')], after.keys()
    [*_, result] = bench.lines('resume', 'full', *CPU, '--episodes', '10')
    assert result['steps'] == 8000000 // 12800 * 12800, result


@case
def a_full_disk_ends_the_run_and_is_named(bench):
    (bench.folder / 'small').mkdir()
    command = 'mount -t tmpfs -o size=32k none small && exec "$0" "$@"'
    words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=4000000), '--out', 'small/run']
    done = subprocess.run(['unshare', '-m', 'sh', '-c', command, bench.program, *words], cwd=bench.folder,
                          env=bench.settings, capture_output=True, text=True, timeout=LONGEST)
    if re.search('^(unshare|mount):', done.stderr):
        raise Skip('this user may not mount a disk')
    assert done.returncode == 1, done
    assert re.fullmatch(r'(jsonl: )?small/run/[^ ]+:? cannot be written: the disk is full\n', done.stderr), done.stderr


@case
def a_run_whose_directory_goes_away_says_so(bench):
    words = ['train', 'cartpole', *SHORT, *setting(run__total_steps=9000000000, run__checkpoint_every=1000000), '--out', 'gone']
    with subprocess.Popen([bench.program, *words], cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        wait_for(running, lambda: list((bench.folder / 'gone').glob('checkpoints/step-*.json')))
        (bench.folder / 'gone').rename(bench.folder / 'gone-elsewhere')
        out, err = running.communicate(timeout=LONGEST)
    assert running.returncode == 1 and out == '', (out, err)
    assert re.fullmatch(r"gone/checkpoints/[a-z0-9.-]+: cannot be written: there is no directory 'gone/checkpoints'\n", err), err
    [one, *_] = bench.lines('inspect', 'gone-elsewhere')[0]['checkpoints']
    assert one['whole'], one


raise SystemExit(main())
