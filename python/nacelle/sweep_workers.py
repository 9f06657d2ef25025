"""Workers of a sweep elsewhere: the tasks of a Slurm array, or tasks of Ray. Sweep and workers share a folder, in which
Optuna's study is; the call that began them tells what they do, and may end before them and come back."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from nacelle._engine import Error
from nacelle.sweep_file import damaged, write_whole
from nacelle.sweep_worker import ASKED, work

JOB = "slurm.json"      # the array that works on a folder's sweep
BETWEEN_LOOKS = 2.0     # seconds
# Without the working directory among Python's folders, which -m would put first: no code that lies there runs.
WORKER = """import sys
sys.path = [folder for folder in sys.path if folder]
from nacelle.sweep_worker import main
sys.exit(main(*sys.argv[1:]))"""


def needed():
    """Ray, or an error that says how it is had."""
    try:
        import ray
    except ImportError:
        raise ImportError(f'"runner": "ray" needs Ray: {sys.executable} -m pip install ray installs it') from None
    return ray


def require_none(told):
    """Refuses a sweep whose folder an array of Slurm works on, unless it is to be waited for."""
    job = told.runner != "slurm" and shutil.which("squeue") and _running(told.out)
    if job:
        raise Error(f'{told.out}: the array {job} of Slurm works on it; "runner": "slurm" waits for it, and scancel {job} ends it')


def run(told, study, callback):
    """Has workers train all trials, waits for them, and gives a callback each trial that has ended."""
    write_whole(told.out / ASKED, {**told.given, "out": str(told.out.resolve())})
    seen = _Ended(study, callback)
    seen.look()
    if seen.left(told):
        (_wait_for_slurm if told.runner == "slurm" else _wait_for_ray)(told, seen)
    if seen.left(told):
        raise Error(f"{told.out}: the workers have ended before the trials; the same call goes on. {_last_words(told)}")


class _Ended:
    """Tells of each trial once, when it has ended."""

    def __init__(self, study, callback):
        self._study, self._callback, self._told = study, callback, set()
        self._told.update(trial["number"] for trial in study.trials() if trial["state"] != "running")

    def look(self):
        for trial in self._study.trials():
            if trial["state"] != "running" and trial["number"] not in self._told:
                self._told.add(trial["number"])
                if self._callback is not None:
                    self._callback(trial)

    def left(self, told):
        return len(self._told) < told.trials


def _last_words(told):
    """Why a worker has failed."""
    for path in sorted(told.out.glob("worker-*.out")):
        for line in reversed(path.read_text(errors="replace").splitlines()):
            if line.startswith("failed: "):
                return f"{path.name}: {line[8:]}"
    return f"What they have said is in {told.out}/worker-*.out" if told.runner == "slurm" else ""


def _asked(*words, given=""):
    """What a command of Slurm says, and what it complains of where it fails."""
    try:
        said = subprocess.run(words, input=given, capture_output=True, text=True)
    except OSError as error:
        raise Error(f'"runner": "slurm" needs {words[0]} on PATH: {error.strerror}') from None
    return said.stdout.strip(), (said.stderr.strip() or said.stdout.strip() or "failed") if said.returncode else ""


def _running(folder):
    """The array that works on a folder's sweep, where there is one. One that Slurm does not answer for is thought to."""
    path = folder / JOB
    if not path.exists():
        return None
    try:
        job = json.loads(path.read_text())["job"]
        if not re.fullmatch(r"[0-9]+(_[0-9]+)?", job):
            raise ValueError("its job is no number")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path, error) from None
    tasks, fault = _asked("squeue", "--noheader", "--jobs", job)
    return job if tasks or (fault and "Invalid job id" not in fault) else None


def _submitted(told):
    """The number of a new array of as many workers as trials are to run at a time."""
    python, folder = shlex.quote(sys.executable), shlex.quote(str(told.out.resolve()))
    words = ["sbatch", "--parsable", f"--job-name=sweep-{Path(told.env).stem}", f"--array=1-{min(told.side_by_side, told.trials)}",
             f"--output={told.out.resolve()}/worker-%a.out", "--open-mode=append", "--requeue", f"--chdir={Path.cwd()}", *told.slurm]
    said, fault = _asked(*words, given=f"#!/bin/sh\nexec {python} -c {shlex.quote(WORKER)} {folder}\n")
    if fault:
        raise Error(f"sbatch: {fault}")
    job = said.partition(";")[0]
    write_whole(told.out / JOB, {"job": job})
    return job


def _wait_for_slurm(told, seen):
    job = _running(told.out) or _submitted(told)
    try:
        while _running(told.out):
            time.sleep(BETWEEN_LOOKS)
            seen.look()
    except KeyboardInterrupt:
        print(f"the array {job} of Slurm goes on; the same call waits for it, and scancel {job} ends it", file=sys.stderr)
        raise
    seen.look()


def _wait_for_ray(told, seen):
    ray = needed()
    options = {"num_cpus": 1, "max_retries": -1, **told.ray}
    address = options.pop("address", None)
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    job = f"ray-{os.getpid()}-{int(time.time())}"
    worker = ray.remote(**options)(work)
    playing = [worker.remote(str(told.out.resolve()), f"{job}_{number}") for number in range(min(told.side_by_side, told.trials))]
    try:
        while playing:
            done, playing = ray.wait(playing, timeout=BETWEEN_LOOKS)
            seen.look()
            for each in done:
                try:
                    ray.get(each)
                except ray.exceptions.RayTaskError as failure:
                    raise Error(f"{told.out}: {failure.cause}") from None
    finally:
        for each in playing:
            ray.cancel(each)
