"""How long a save takes until its code runs, and whether versions go live while saves come faster than they compile.

    tests/bench/saves.py                            cartpole, in watch and in a PPO run, on the GPU where there is one
    tests/bench/saves.py pendulum --backend cpu --saves 5

Each save changes a comment, so that nothing comes from a cache. The goals: a median of at most 0.4 s in watch and 0.6 s in
a run; with a save each 1.2 s a new version at least each 3 s."""
import argparse
import json
import queue
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from command import PROGRAM, ROOT

GOALS = {'watch': 0.4, 'train': 0.6}
EVERY, GAP = 1.2, 3.0


class Running:
    """A process that watches a file, and the reloads that it tells of."""

    def __init__(self, program, command, source, backend, folder):
        self.source, self.text, self.reloads = source, source.read_text(), queue.Queue()
        words = [program, command, str(source), '--json', '--backend', backend]
        if command == 'train':
            words += ['--set', 'run.total_steps=9e15', '--set', 'solved.return=null', '--set', 'run.evaluate_every=0',
                      '--set', 'run.checkpoint_every=0', '--out', str(folder / 'run')]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.began = threading.Event()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for text in self.process.stdout:
            self.began.set()
            line = json.loads(text)
            reload = line if line.get('kind') == 'reload' else line.get('reload') if line.get('kind') == 'news' else None
            if reload and reload.get('taken', True):
                self.reloads.put((time.monotonic(), reload))

    def save(self):
        fresh = self.source.with_suffix('.new')
        fresh.write_text(f'{self.text}// {time.time_ns()}\n')
        fresh.rename(self.source)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def one_by_one(running, saves):
    """The seconds that a save took, and those of them that the compiler took."""
    rows = []
    for _ in range(saves):
        running.save()
        rows.append(running.reloads.get(timeout=60)[1])
        time.sleep(1.5)     # a full build follows a draft
    return [row['seconds'] for row in rows], [row['compile_seconds'] for row in rows]


def gaps(running, seconds):
    """Between versions that go live while saves come in, in seconds."""
    began = time.monotonic()
    saves = 0
    while time.monotonic() < began + seconds:
        running.save()
        saves += 1
        time.sleep(max(0, began + saves * EVERY - time.monotonic()))
    end, live = time.monotonic(), [began]
    while not running.reloads.empty():
        live.append(running.reloads.get()[0])
    live.append(end)
    return [after - before for before, after in zip(live, live[1:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('environment', nargs='?', default='cartpole')
    parser.add_argument('--program', default=PROGRAM)
    parser.add_argument('--backend', default='auto')
    parser.add_argument('--saves', type=int, default=20)
    parser.add_argument('--seconds', type=float, default=12, help='of saves in a row')
    options = parser.parse_args()
    good = True
    for command, goal in GOALS.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            for file in (ROOT / 'env_sources').glob(f'{options.environment}.*'):
                shutil.copy(file, folder)
            running = Running(options.program, command, folder / f'{options.environment}.cu', options.backend, folder)
            try:
                while not running.began.wait(1):
                    if running.process.poll() is not None:
                        raise SystemExit(f'nacelle {command} ended with {running.process.returncode}')
                time.sleep(2)
                all_seconds, compile_seconds = one_by_one(running, options.saves)
                between = gaps(running, options.seconds)
            finally:
                running.stop()
            median = statistics.median(all_seconds)
            good = good and median <= goal and max(between) <= GAP
            print(f'{command}: {options.saves} saves, median {median:.3f} s ({min(all_seconds):.3f} to '
                  f'{max(all_seconds):.3f}; goal {goal}), of which the compiler {statistics.median(compile_seconds):.3f} s; '
                  f'a save each {EVERY} s: {len(between) - 1} versions, at most {max(between):.2f} s apart (goal {GAP})',
                  flush=True)
    return 0 if good else 1


raise SystemExit(main())
