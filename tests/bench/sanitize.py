"""Runs the tools of compute-sanitizer over one short training by every shipped setting and by every learner, on a GPU.

    tests/bench/sanitize.py                           all of them, a report of each that is not known, and a table
    tests/bench/sanitize.py --only mazes,sac --tools racecheck
    tests/bench/sanitize.py --jobs 16 --kept FOLDER   the tools' whole output

Each training compiles without a tool first and fills the cache. It ends with 1 if a tool reports what KNOWN does not list. The learners
on LibTorch run under memcheck alone, since most of their kernels are LibTorch's."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from command import PROGRAM, ROOT

TOOLS = 'memcheck', 'racecheck', 'initcheck', 'synccheck'
# Pairs of functions between which racecheck reports hazards although barriers order them, as docs/decisions/learners.md shows.
KNOWN = {
    ('ColumnSums::add', 'bring_tile'),      # readers give a stage back by `empty`, and the copy waits for it
    ('bring_tile', 'low_half'),             # the same read, inlined
    ('ClusterSum::run', 'ClusterSum::tell'),    # the words of a part go with its first stage
    ('ColumnSums::finish', 'ColumnSums::finish'),    # threads meet by barrier 2, after a `bar.arrive` at barrier 1
}
# Few environments, one rollout, one or two minibatches.
SHORT = {'env.count': 64, 'learner.horizon': 16, 'learner.epochs': 1, 'learner.minibatches': 2, 'run.evaluate_every': 0, 'solved.return': 'null'}
# Racecheck slows kernels down a thousandfold: many agents and images get fewer rows, and the evaluation a short episode.
BRIEF = {'env.constants.time_limit': 20}
FEW = BRIEF | {'env.count': 16, 'learner.horizon': 8}
FEWER = {'connect_four': {'env.count': 16, 'learner.horizon': 8}, 'tag_duel': BRIEF | {'env.count': 128, 'learner.horizon': 4}} | {
    name: FEW for name in ('mazes', 'rooms', 'rooms_short', 'tag_gridworld')} | {
    name: BRIEF | {'env.count': 2, 'learner.horizon': 4} for name in ('tag_continuous', 'pursuit_swarm', 'pursuit_wild')}
REPLAY = {'env.count': 64, 'learner.horizon': 1, 'learner.batch': 128, 'learner.warm_up': 256, 'run.evaluate_every': 0, 'solved.return': 'null'}
LAYERS = {'policies.default.hidden': '[32,32]'}


def settings_cases():
    for path in sorted((ROOT / 'env_sources').glob('*.json')):
        name = path.stem
        settings = SHORT | FEWER.get(name, {})
        if name == 'rooms_short':
            settings['learner.sequence'] = settings['learner.horizon']
        yield name, name, settings, 1


def learner_cases():
    for learner, layers in {'a2c': {}, 'ppo_gru': {'policies.default.hidden': '[{"gru":64}]'}, 'ppo_mingru': {'policies.default.hidden': '[{"mingru":64}]'},
                            'ppo_wide': {'policies.default.hidden': '[512,512]'}, 'ppo_f32': {'policies.default.precision': '"f32"'},
                            'ppo_wide_f32': {'policies.default.hidden': '[512,512]', 'policies.default.precision': '"f32"'},
                            'torch_ppo': LAYERS, 'torch_a2c': LAYERS}.items():
        name = learner if learner.startswith('torch') else learner.partition('_')[0]
        yield learner, 'cartpole', SHORT | ({'learner.epochs': None, 'learner.minibatches': None} if 'a2c' in name else {}) | {'learner.name': name} | layers, 1
    for learner in ('dqn', 'sac', 'td3', 'ddpg'):
        for prefix in ('', 'torch_'):
            env = 'cartpole' if learner == 'dqn' else 'pendulum'
            yield prefix + learner, env, REPLAY | {'learner.name': prefix + learner} | LAYERS, 8
    yield 'dqn_priority', 'cartpole', REPLAY | {'learner.name': 'dqn', 'learner.priority': 0.6} | LAYERS, 8
    yield 'random_search', 'cartpole', {'env.count': 64, 'learner.name': 'random_search', 'run.evaluate_every': 0, 'solved.return': 'null'}, 1


def command(program, case, folder):
    _, env, settings, iterations = case
    steps = settings['env.count'] * settings.get('learner.horizon', 16) * iterations
    words = [program, 'train', env, '--backend', 'cuda', '--until', str(steps), '--episodes', '1', '--quiet', '--out', folder, '--set', f'run.total_steps={4 * steps}']
    for path, value in settings.items():
        words += [] if value is None else ['--set', f'{path}={value}']
    return words


def run(words, limit):
    began = time.monotonic()
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=limit, cwd=ROOT, check=False)
        return done.returncode, done.stdout, time.monotonic() - began
    except subprocess.TimeoutExpired as late:
        text = late.stdout.decode(errors='replace') if late.stdout else ''
        return 124, f'{text}\nended after {limit} s\n', time.monotonic() - began


def function(access):
    """`void learn::ColumnSums<(int)1>::add(const unsigned char *) const` as ColumnSums::add."""
    fewer = None
    while fewer != access:
        fewer, access = access, re.sub(r'<[^<>()]*>|\([^<>()]*\)', '', access)
    words = [word for word in access.split() if word != 'const']
    return re.sub(r'^(learn|nacelle)::', '', words[-1])


def reports(output):
    """Each report as a pair of functions, for racecheck, or as the line that begins it."""
    found = {}
    for block in output.split('========= Error: ')[1:]:
        race = re.match(r'Race reported between \w+ access at (.*?)\+0x\w+ in (\S+)', block)
        if race:
            for other in re.findall(r'and \w+ access at (.*?)\+0x\w+ in (\S+)', block):
                pair = tuple(sorted((function(race[1]), function(other[0]))))
                found.setdefault(pair, f'{pair[0]} ({race[2]}) and {pair[1]} ({other[1]})')
        else:
            found.setdefault(block.splitlines()[0], block[:600])
    for line in re.findall(r'========= (Invalid .*|Uninitialized .*|Barrier error.*|Program hit .*|Unused memory.*)', output):
        found.setdefault(line, line)
    return found


class Campaign:
    def __init__(self, options):
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix='nacelle-sanitize-'))
        self.rows = {}
        self.new = []

    def prepare(self, case):
        status, output, _ = run(command(self.options.program, case, self.folder / f'{case[0]}-plain'), self.options.limit)
        self.rows[case[0]] = {'plain': 'ok' if status == 0 else 'failed'}
        if status != 0:
            self.new.append(f'{case[0]} without a tool: {output.strip().splitlines()[-1:]}')
        return status == 0

    def check(self, work):
        case, tool = work
        words = [self.options.sanitizer, '--tool', tool, '--print-limit', '1000', *command(self.options.program, case, self.folder / f'{case[0]}-{tool}')]
        status, output, seconds = run(words, self.options.limit)
        if self.options.kept:
            (self.options.kept / f'{case[0]}-{tool}.txt').write_text(output, encoding='utf-8')
        found = reports(output)
        new = {key: text for key, text in found.items() if key not in KNOWN}
        if status != 0:
            new['status'] = f'ended with {status}: {output.strip().splitlines()[-1:]}'
        self.rows[case[0]][tool] = f'{len(new)} new' if new else f'{len(found)} known' if found else '0'
        self.new += [f'{case[0]} {tool}: {text}' for text in new.values()]
        print(f'{case[0]} {tool}: {self.rows[case[0]][tool]} ({seconds:.0f} s)', flush=True)


def table(rows, tools):
    yield f'| training | {" | ".join(tools)} |'
    yield f'| --- |{" --- |" * len(tools)}'
    for name, row in rows.items():
        yield f'| `{name}` | {" | ".join(row.get(tool, "") for tool in tools)} |'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', help='names of settings and learners, separated by commas')
    parser.add_argument('--tools', default=','.join(TOOLS))
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1, help='trainings at a time')
    parser.add_argument('--limit', type=int, default=300, help='seconds of one training under one tool')
    parser.add_argument('--kept', type=Path, help='a folder for the whole output of the tools')
    parser.add_argument('--program', default=PROGRAM)
    parser.add_argument('--sanitizer', default='compute-sanitizer')
    options = parser.parse_args()
    tools = options.tools.split(',')
    cases = [*settings_cases(), *learner_cases()]
    if options.only:
        known = {case[0]: case for case in cases}
        wrong = [name for name in options.only.split(',') if name not in known]
        if wrong:
            sys.exit(f'sanitize.py: there is no {wrong[0]}; there is: {", ".join(known)}')
        cases = [known[name] for name in options.only.split(',')]
    if options.kept:
        options.kept.mkdir(parents=True, exist_ok=True)
    campaign = Campaign(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        cases = [case for case, good in zip(cases, pool.map(campaign.prepare, cases)) if good]
        list(pool.map(campaign.check, [(case, tool) for tool in tools for case in cases if tool == 'memcheck' or not case[0].startswith('torch')]))
    shutil.rmtree(campaign.folder, ignore_errors=True)
    print('\n'.join(table(campaign.rows, tools)))
    for line in campaign.new:
        print(f'new: {line}')
    print(f'{len(campaign.new)} new reports of {len(campaign.rows)} trainings')
    return 1 if campaign.new else 0


if __name__ == '__main__':
    sys.exit(main())
