"""Kills runs of every learner again and again: resumed, each ends with the bytes and metrics of a run that nobody touched.

    tests/bench/kills.py --backend cuda --kills 20 --jobs 12
    tests/bench/kills.py --backend cpu --seconds 600 --only dqn,torch_sac

--kills is for each learner. With --seconds, learners take turns until the time is over. A last line per learner says what was done."""
import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from os import environ
from pathlib import Path
from types import SimpleNamespace

from command import PROGRAM, ROOT
from sanitize import learner_cases

sys.path.append(str(ROOT / 'tests' / 'tools'))
from training import content, different, kill_and_resume, metrics_without_times  # noqa: E402

ITERATIONS, SAVES = 60, 12
SMALLER = {'learner.horizon': 8, 'learner.batch': 64}    # where a learner has them: many kills in a short time


class Learner:
    def __init__(self, options, folder, case):
        self.name, environment, settings, _ = case
        self.options, self.kills, self.runs, self.wrong = options, 0, 0, ''
        self.bench = SimpleNamespace(program=options.program, folder=folder, settings=environ)
        settings = settings | {key: value for key, value in SMALLER.items() if key in settings}
        if settings['learner.name'] == 'random_search':
            settings = settings | {'learner.steps': 100}
        steps = settings['env.count'] * settings.get('learner.horizon', settings.get('learner.steps', 0))
        settings = settings | {'run.total_steps': steps * ITERATIONS, 'run.checkpoint_every': steps * ITERATIONS // SAVES, 'run.report_every': 1, 'run.keep': 100}
        own = [word for key, value in settings.items() if value is not None for word in ('--set', f'{key}={value}')]
        self.begin = ['train', environment, *own]
        self.common = ['--backend', options.backend, '--threads', '1', '--quiet', '--episodes', '1']
        self.whole = folder / f'{self.name}-whole'

    def train_whole(self):
        done = subprocess.run([self.options.program, *self.begin, *self.common, '--out', self.whole], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.wrong = done.stderr.strip()
        elif len(content(self.whole)) < 2 * SAVES:
            self.wrong = f'{len(content(self.whole))} files of checkpoints'

    def words(self, out):
        begun = (self.bench.folder / out / 'config.json').exists()
        return ['resume', out, *self.common] if begun else [*self.begin, *self.common, '--out', out]

    def kill_one_run(self, most):
        self.runs += 1
        out = f'{self.name}-{self.runs}'
        self.kills += kill_and_resume(self.bench, out, lambda _: self.words(out), most, random.Random(f'{self.options.seed} {out}'))
        subprocess.run([self.options.program, *self.words(out)], cwd=self.bench.folder, capture_output=True, check=False)
        run = self.bench.folder / out
        files = different(content(run), content(self.whole))
        if files:
            self.wrong = f'{out}: {", ".join(files)}'
        elif metrics_without_times(run) != metrics_without_times(self.whole):
            self.wrong = f'{out}: metrics.jsonl'
        else:
            shutil.rmtree(run)

    def goes_on(self):
        return not self.wrong and self.kills < self.options.kills

    def take_turn(self):
        """Trains the whole run, and later kills one more run at each turn."""
        try:
            if self.whole.exists():
                self.kill_one_run(self.options.kills - self.kills)
            else:
                self.train_whole()
        except (AssertionError, OSError) as error:
            self.wrong = f'{type(error).__name__}: {error}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=PROGRAM)
    parser.add_argument('--backend', default='cuda')
    parser.add_argument('--kills', type=int, default=20)
    parser.add_argument('--seconds', type=float, default=0)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--only', default='')
    parser.add_argument('--seed', default=str(time.time_ns()))
    options = parser.parse_args()
    ends = time.monotonic() + (options.seconds or float('inf'))
    if options.seconds:
        options.kills = sys.maxsize
    only = options.only.split(',') if options.only else []
    folder = Path(tempfile.mkdtemp(prefix='nacelle-kills-'))
    learners = [Learner(options, folder, case) for case in learner_cases() if not only or case[0] in only]
    with ThreadPoolExecutor(options.jobs) as pool:
        while time.monotonic() < ends and (left := [learner for learner in learners if learner.goes_on()]):
            list(pool.map(Learner.take_turn, left))
    for learner in learners:
        print(f'{learner.name:14} {learner.kills:5} kills, {learner.runs:4} runs  {learner.wrong or "same bytes and metrics"}')
    bad = [learner for learner in learners if learner.wrong or not learner.kills]
    print(f'{"FAIL" if bad else "PASS"}: {sum(learner.kills for learner in learners)} kills, seed {options.seed}' + (f', {folder} is kept' if bad else ''))
    if not bad:
        shutil.rmtree(folder)
    return bool(bad)


if __name__ == '__main__':
    sys.exit(main())
