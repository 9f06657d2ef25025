"""Training leaves the bits that it left before: each shipped environment, by each learner, twenty iterations on a CPU,
and by the kernels of a GPU, thread by thread; and the kinds of networks, rollouts and learners, each once.

`--update` writes the hashes anew, for a change that is meant to change bits."""
import argparse
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HASHES = Path(__file__).with_name('hashes.json')
ITERATIONS, HORIZON, ENVIRONMENTS, TEAMS = 20, 8, 24, 4
# Each has what the one before has not.
POLICIES = {
    'ppo': ('learner.name="ppo"', 'learner.epochs=2', 'learner.minibatches=2', 'policies.default.hidden=[16,16]'),
    'ppo_separate': ('learner.name="ppo"', 'learner.epochs=1', 'learner.minibatches=1', 'learner.advantage="vtrace"',
                     'policies.default.hidden=[24]', 'policies.default.trunk="separate"', 'policies.default.activation="gelu"'),
    'a2c': ('learner.name="a2c"', 'policies.default.hidden=[16]'),
    'random_search': ('learner.name="random_search"', 'learner.episodes=2', 'learner.steps=20'),
}
# Both sides learn against a pool, each in 64 environments at least.
POOLED = {'tag_duel': 128}
EMULATED = ('cartpole', 'pendulum', 'connect_four')

PPO = ('learner.name="ppo"', 'learner.epochs=2', 'learner.minibatches=2')
REPLAY = ('learner.batch=32', 'learner.warm_up=64', 'learner.capacity=512', 'policies.default.hidden=[16,16]')
IMAGES = '[{"one_hot":3},{"conv":4,"size":3},{"conv":6,"size":3,"stride":2},%s]'


def hidden(layers, *more):
    return (*PPO, f'policies.default.hidden={layers}', *more)


def on_threads(layers, *more):
    """By the kernels of a GPU."""
    return (*hidden(layers, *more), 'learner.emulate=true', 'learner.epochs=1')


BY_LAYER = 'policies.default.execution="streamed"'
STEPWISE = 'learner.rollout="stepwise"'
BF16 = 'policies.default.precision="bf16"'
# Kinds of networks, rollouts and learners: the settings, the environments, the settings of the learner.
KINDS = {
    'gru': ('cartpole', 24, hidden('[12,{"gru":16}]')),
    'mingru, two networks': ('pendulum', 24, hidden('[{"mingru":16},9]', 'policies.default.trunk="separate"', 'learner.sequence=4')),
    'convolutions': ('mazes', 8, hidden(IMAGES % 24)),
    'convolutions and mingru': ('mazes', 8, hidden(IMAGES % '{"mingru":12}')),
    'a central critic': ('levers', 4, hidden('[16]', 'policies.default.critic={"sees":["global","team","own"],"hidden":[12,8]}')),
    'dqn': ('cartpole', 24, ('learner.name="dqn"', *REPLAY)),
    'dqn, priorities': ('acrobot', 24, ('learner.name="dqn"', *REPLAY, 'learner.priority=0.6', 'learner.n_step=5')),
    'sac': ('pendulum', 24, ('learner.name="sac"', *REPLAY)),
    'td3': ('pendulum', 24, ('learner.name="td3"', *REPLAY)),
    'ddpg': ('mountain_car_continuous', 24, ('learner.name="ddpg"', *REPLAY)),
    'emulated: by layers, each step': ('cartpole', 16, on_threads('[70,33]', BY_LAYER, STEPWISE)),
    'emulated: by layers, two networks in bf16': ('pendulum', 16, on_threads('[130,33]', BY_LAYER, STEPWISE, BF16, 'policies.default.trunk="separate"')),
    'emulated: one kernel for all layers of an update': ('cartpole', 16, on_threads('[70,9]', 'policies.default.execution="row_pass"', BF16)),
    'emulated: weights in shared memory': ('cartpole', 16, on_threads('[70,33]', BY_LAYER, BF16)),
    'emulated: weights in shared memory, teams': ('tag_chase', 4, on_threads('[40]', BY_LAYER, BF16)),
    'emulated: gru': ('cartpole', 16, on_threads('[12,{"gru":16}]', BY_LAYER)),
    'emulated: gru, each step': ('cartpole', 16, on_threads('[12,{"gru":16}]', BY_LAYER, STEPWISE)),
    'emulated: mingru in bf16': ('pendulum', 16, on_threads('[{"mingru":16},9]', BY_LAYER, BF16)),
    'emulated: convolutions': ('mazes', 8, on_threads(IMAGES % 24)),
    'emulated: a pool': ('tag_duel', 128, on_threads('[16]')),
}


def source_of(path):
    """The environment of settings, which are its own or say whose they are."""
    return path.with_name(json.loads(path.read_text()).get('env', {}).get('source', path.stem) + '.cu')


def cases():
    for path in sorted((ROOT / 'env_sources').glob('*.json')):
        team = 'Agent' in source_of(path).read_text()
        for learner in POLICIES:
            if team and learner == 'random_search':
                continue        # it trains one agent alone
            yield f'{path.stem} {learner}', path, POOLED.get(path.stem, TEAMS) if team else ENVIRONMENTS, POLICIES[learner]
        if path.stem in EMULATED:
            yield f'{path.stem} emulated', path, 2 if team else 16, (*POLICIES['ppo'], 'learner.emulate=true')


    for name, (settings, count, assignments) in KINDS.items():
        few = (f'run.total_steps={3 * count * HORIZON}',) if name.startswith('emulated') else ()
        yield name, ROOT / 'env_sources' / f'{settings}.json', count, (*assignments, *few)


def configuration_of(path, count, assignments, folder):
    """The shipped settings of the environment; those of its learner are given here."""
    shipped = json.loads(path.read_text())
    kept = ('env',) if 'random_search' in str(assignments) else ('env', 'policies')      # that learner has no networks
    shipped = {key: value for key, value in shipped.items() if key in kept}
    file = folder / 'settings.json'
    file.write_text(json.dumps(shipped))
    settings = (f'env.count={count}', 'seed=7', 'run.evaluate_every=0', 'run.stagger=false', 'solved.return=null', *assignments)
    if 'random_search' not in str(assignments):
        settings = (f'learner.horizon={HORIZON}', f'run.total_steps={ITERATIONS * count * HORIZON}', *settings)
    else:
        settings = (f'run.total_steps={ITERATIONS * count * 20}', *settings)
    (folder / 'mazes.npy').symlink_to(ROOT / 'env_sources' / 'mazes.npy')
    return [word for setting in settings for word in ('--set', setting)], file


def tensors(path):
    """The bytes of each tensor of a safetensors file; names may change, what they name may not."""
    data = path.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:8 + size])
    for name, about in header.items():
        if name != '__metadata__':
            begin, end = about['data_offsets']
            yield about['dtype'], about['shape'], hashlib.sha256(data[8 + size + begin:8 + size + end]).hexdigest()


def trained(nacelle, case):
    """A hash of the last checkpoint."""
    name, path, count, assignments = case
    with tempfile.TemporaryDirectory(prefix='nacelle-bits-') as place:
        folder = Path(place)
        words, file = configuration_of(path, count, assignments, folder)
        done = subprocess.run([nacelle, 'train', source_of(path), file, '--backend', 'cpu', '--quiet', '--episodes', '1',
                               '--out', folder / 'run', *words],
                              capture_output=True, text=True, cwd=folder)
        if done.returncode:
            return 'failed: ' + done.stderr.strip().replace(str(folder), '')
        last = sorted((folder / 'run' / 'checkpoints').glob('step-*.safetensors'))[-1]
        whole = hashlib.sha256(json.dumps(sorted(tensors(last))).encode()).hexdigest()
        return f'{last.stem} {whole[:32]}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('nacelle', type=Path)
    parser.add_argument('--update', action='store_true')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    chosen = [case for case in cases() if not options.names or any(name in case[0] for name in options.names)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = dict(zip((case[0] for case in chosen),
                         pool.map(lambda case: trained(options.nacelle, case), chosen)))
    if options.update:
        HASHES.write_text(json.dumps((json.loads(HASHES.read_text()) if options.names else {}) | found, indent=1) + '\n')
    known = json.loads(HASHES.read_text())
    failed = [name for name, value in found.items() if known.get(name) != value or value.startswith('failed')]
    for name, value in found.items():
        print('FAILED' if name in failed else 'ok', name, '' if name not in failed else f'\n  was {known.get(name)}\n  is  {value}')
    print(f'{len(found) - len(failed)} passed, {len(failed)} failed, 0 skipped')
    return 1 if failed else 0


sys.exit(main())
