"""The tests for a GPU, each a process: cases marked by on_gpu() in the test programs, and tests in Python."""
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

# The longest tests begin first, so that no core waits for one long test at the end. The others keep the order of the programs.
LONGEST = ('agree in every environment', 'keep the contract', 'clusters of blocks', 'ranks: ', 'through memory', 'whole gradient', 'networks that remember', 'many saves',
           'time from a save', 'runs: networks', 'algorithms', 'torch: rate')
# These tests measure time, or depend on the order of work on an idle GPU.
ALONE = re.compile(r'take milliseconds|what_a_step_costs|a_step_waits_for|torch: sac_learns')


@dataclass
class Job:
    name: str
    command: list
    environment: dict = field(default_factory=dict)
    skip: str = ''    # the reason if this machine cannot run the test

    @property
    def alone(self):
        return bool(ALONE.search(self.name))


def doctest_cases(here, part):
    """A process for each case. A case is chosen by number, since doctest's filters give commas in names a meaning."""
    marked = [str(here.here / 'build' / 'tests' / f'test_{part}'), '--test-suite=*gpu']
    environment = here.of_part(part)
    listed = subprocess.run([*marked, '--list-test-cases'], env={**os.environ, **environment}, capture_output=True, text=True)
    names = [line for line in listed.stdout.splitlines() if line and not line.startswith(('=', '[doctest]')) and not re.match(r'\d+ passed, ', line)]
    if not names:    # the failing run prints the reason
        return [Job(f'{part}: its cases cannot be listed', marked, environment)]
    return [Job(f'{part}: {name}', [*marked, f'--first={number}', f'--last={number}'], environment) for number, name in enumerate(names, 1)]


def python_cases(path):
    """The names of the functions marked as cases, in order."""
    return re.findall(r'^@case\n(?:@.*\n)*def (\w+)', path.read_text(), re.MULTILINE)


def script(here, *words):
    return [sys.executable, '-B', str(here.here / words[0]), *words[1:]]


def command_cases(here):
    path, environment = 'tests/tools/runs.py', here.of_part('runs')
    folders = ('--root', str(here.here), '--build', str(here.here / 'build'))
    for name in python_cases(here.here / path):
        if 'on_a_gpu' in name:
            yield Job(f'runs: {name}', script(here, path, *folders, '--only', name), environment, here.no_gpu)
    path, missing = 'tests/torch/gpu_check.py', here.no_gpu or here.no_torch
    for name in python_cases(here.here / path):
        yield Job(f'torch: {name}', script(here, path, *folders, '--only', name), here.of_part('torch'), missing)


def package_cases(here):
    path, missing = 'tests/python/gpu_check.py', here.no_gpu or here.no_python or here.no_torch
    for name in python_cases(here.here / path):
        yield Job(f'python: {name}', script(here, path, name), here.of_part('python'), missing)


def rank_tests(here):
    """Two processes train together, by NCCL."""
    few = here.no_gpu or ('one GPU: ranks have one each' if here.gpus < 2 else here.no_nccl)
    both = ('--program', str(here.here / 'build' / 'tools' / 'nacelle'), '--backend', 'cuda')
    for name, words, missing in (('splits', ('--seconds', '240'), ''), ('kills', ('--kills', '12', '--at-once', '4'), ''),
                                 ('restarts', ('--python', sys.executable, '--iterations', '10000'), here.no_torch)):
        yield Job(f'ranks: {name}', script(here, f'tests/ranks/{name}.py', *both, *words), here.of_part('ranks'), few or missing)


def all_jobs(here):
    found = [job for part in here.bundle['parts'] for job in doctest_cases(here, part)]
    found += [*rank_tests(here), *command_cases(here), *package_cases(here)]
    place = {id(job): next((i for i, words in enumerate(LONGEST) if words in job.name), len(LONGEST)) for job in found}
    return sorted(found, key=lambda job: place[id(job)])
