"""Many trials of a training with varied settings."""
import contextlib
import fcntl
import json
import os
import time

from nacelle import checks, sweep_workers
from nacelle._engine import Error, other_writer, require_own_folder
from nacelle.sweep_file import SweepFile, damaged, write_whole
from nacelle.sweep_local import run_trials
from nacelle.sweep_population import Population
from nacelle.sweep_result import Sweep
from nacelle.sweep_study import Study, needed, quiet

PATIENCE = 5    # seconds
WRITTEN = ("asked.json", "best.json", "best.svg", "population.json", "slurm.json", "trials.csv", "trials.journal")


def sweep(source, *, callback=None, **changes):
    """Tries settings: `source` is a dict or the path of a file, as docs/sweeps.md says; keywords replace its values. The
    same call goes on with a sweep that was interrupted. A callback gets each trial that has ended."""
    checks.callback(callback)
    told = SweepFile(source, changes)
    if told.search == "population":
        with _kept_alone(told) as lock:
            population = Population(told, lock)
            return _ended(told, population, lambda: population.train(callback))
    optuna = needed()
    if told.runner == "ray":
        sweep_workers.needed()
    with quiet(optuna), _kept_alone(told) as lock:
        sweep_workers.require_none(told)
        study = Study(told)
        if told.runner == "local":
            return _ended(told, study, lambda: run_trials(told, study, callback, told.side_by_side, lock))
        return _ended(told, study, lambda: sweep_workers.run(told, study, callback))


def _ended(told, kept, work):
    """What there is behind the work, or as far as it came."""
    try:
        work()
    finally:
        found = Sweep(told, kept.trials())
        found.write()
    return found


@contextlib.contextmanager
def _kept_alone(told):
    """The folder of a sweep, which no other call uses, nor a trial that a killed one has left; a lock's descriptor."""
    try:
        told.out.mkdir(parents=True, exist_ok=True)
        other = other_writer(told.out)
        if other:
            raise Error(f'{told.out}: {other}: a sweep takes no trials from others; another "out" begins a new one')
        require_own_folder(told.out)
        # Closed to other users: an open file can be locked.
        lock = open(os.open(told.out / "sweep.lock", os.O_RDWR | os.O_CREAT, 0o600), "r+")
        os.fchmod(lock.fileno(), 0o600)
    except OSError as error:
        raise Error(f"{told.out}: cannot be made: {error.strerror}") from None
    with lock:
        if not _taken(lock):
            raise Error(f"{told.out}: another process sweeps there")
        path, identity = told.out / "sweep.json", json.loads(json.dumps(told.identity()))
        if path.exists():
            kept = _read(path)
            kept.setdefault("source", identity["source"])       # an earlier version kept no hash
            differ = [key for key in {**identity, **kept} if kept.get(key) != identity.get(key)]
            if differ:
                raise Error(f"{told.out}: holds a sweep with another {', '.join(differ)}; another \"out\" begins a new one")
        elif any(each.name.startswith("trial-") or each.name in WRITTEN for each in told.out.iterdir()):
            raise Error(f"{told.out}: holds files that a sweep would overwrite, and no sweep")
        else:
            write_whole(path, identity)
        yield lock.fileno()


def _taken(lock):
    """Waits a moment for the last trials of an interrupted call."""
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > ends:
                return False
            time.sleep(0.05)


def _read(path):
    """The sweep that a folder holds."""
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        kept = error
    if not isinstance(kept, dict):
        raise damaged(path, kept if isinstance(kept, Exception) else "it is no object")
    return kept
