"""Writes rows of `nacelle bench` into a file of results, with the date.

    tests/bench/record.py tests/bench/results/h200.json                       all that the README's tables show
    tests/bench/record.py tests/bench/results/h200.json bench --train         what this command measures

A row takes the place of the one that measured the same on the same device; all others stay."""
import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SINGLE = ['cartpole', 'mountain_car', 'mountain_car_continuous', 'acrobot', 'pendulum', 'mazes']
# A team's numbers of agents, how many teams, and steps of a fused rollout, so that what it records fits.
TEAMS = [('tag_gridworld', {'taggers': 4, 'observe_all': 1}, 2000, 128),
         ('tag_gridworld', {'taggers': 104, 'observe_all': 0}, 2000, 128),
         ('tag_gridworld', {'taggers': 104, 'observe_all': 1}, 2000, 16),
         ('tag_gridworld', {'taggers': 999, 'observe_all': 0}, 2000, 64),
         ('tag_continuous', {'taggers': 2, 'runners': 3, 'observe_all': 1}, 2000, 128),
         ('tag_continuous', {'taggers': 5, 'runners': 100, 'observe_all': 0}, 2000, 32),
         ('pursuit_swarm', {'predators': 32, 'preys': 224}, 4096, 16),
         ('pursuit_swarm', {'predators': 128, 'preys': 896}, 1024, 16),
         ('pursuit_swarm', {'predators': 512, 'preys': 3584}, 256, 16),
         ('pursuit_swarm', {'predators': 2048, 'preys': 14336}, 64, 16),
         ('connect_four', {}, 65536, 128), ('rooms', {}, 65536, 32)]
# Games as their files have them, whatever the settings beside them say.
PLAIN = {'tag_gridworld': ['env.constants.length=100', 'env.constants.time_limit=100', 'env.params.random_starts=false'],
         'tag_continuous': ['env.constants.time_limit=500', 'env.params.tagger_skill=1'],
         'connect_four': ['env.params.opening=0'], 'rooms': ['env.params.door_reward=0']}


def configuration(constants):
    """The text that rows of these teams have in the results."""
    names = {'preys': 'prey'}
    parts = [f'{value} {names.get(name, name[:-1] if value == 1 else name)}'
             for name, value in constants.items() if name != 'observe_all']
    if 'taggers' in constants and 'runners' not in constants:
        parts.append('1 runner')
    if constants.get('observe_all') == 1:
        parts.append('full observation')
    elif 'runners' in constants:
        parts.append('10 nearest')
    elif 'observe_all' in constants:
        parts.append('partial observation')
    return ', '.join(parts)


def standard():
    """Command lines behind `nacelle`, each with the text for rows that have none of their own."""
    yield ['bench', *SINGLE, '--envs', '4096,1048576'], ''
    yield ['bench', 'cartpole', '--envs', '65536'], ''
    yield ['bench', 'cartpole', '--envs', '4194304', '--kind', 'step'], ''
    for name, constants, envs, steps in TEAMS:
        changes = [f'env.constants.{key}={value}' for key, value in constants.items()] + PLAIN.get(name, [])
        words = [word for change in changes for word in ('--set', change)]
        yield ['bench', name, '--envs', str(envs), '--rollout-steps', str(steps), *words], configuration(constants)
    yield ['bench', '--train'], ''


def identity(row):
    # Rows of environments alone once had no text.
    return tuple(row.get(key, '') for key in ('environment', 'kind', 'envs', 'steps', 'device', 'configuration'))


def measured(program, words):
    done = subprocess.run([program, *words, '--json'], stdout=subprocess.PIPE, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for row in rows:
        if 'refused' in row:
            print(f'{row["environment"]}: {row["configuration"]}: refused: {row["refused"]}', file=sys.stderr)
    return done.returncode, [row for row in rows if 'refused' not in row]


def merged(old, new):
    fresh = {identity(row): row for row in new}
    kept = []
    for row in old:
        # Where it stood more than once, the first place is the fresh row's.
        if identity(row) not in fresh:
            kept.append(row)
        elif fresh[identity(row)] not in kept:
            kept.append(fresh[identity(row)])
    return kept + [row for row in fresh.values() if row not in kept]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', type=Path, default=ROOT / 'build' / 'tools' / 'nacelle')
    parser.add_argument('results', type=Path)
    parser.add_argument('command', nargs=argparse.REMAINDER, help='bench and what it takes; all tables where left out')
    options = parser.parse_args()
    if options.command and options.command[0] != 'bench':
        parser.error(f"the command is 'bench' with what it takes, not '{options.command[0]}'")
    failed = 0
    for words, text in [(options.command, '')] if options.command else standard():
        status, rows = measured(options.program, words)
        if status != 0:
            print(f'nacelle {" ".join(words)}: ended with {status}', file=sys.stderr)
            failed = 1
        for row in rows:
            row.setdefault('configuration', text)
            row['date'] = datetime.date.today().isoformat()
        # After each command, so that what has been measured outlives what fails later.
        old = json.loads(options.results.read_text())['rows'] if options.results.exists() else []
        whole = {'rows': merged(old, rows)}
        fresh = options.results.with_suffix('.fresh')
        fresh.write_text(json.dumps(whole, indent=1, sort_keys=True) + '\n')
        fresh.replace(options.results)
    return failed


if __name__ == '__main__':
    sys.exit(main())
