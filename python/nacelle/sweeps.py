"""Many trials of a training with varied settings."""
import contextlib
import csv
import fcntl
import json
import warnings
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from nacelle._engine import Error
from nacelle.comparing import plot
from nacelle.sweep_file import SweepFile
from nacelle.sweep_study import Study, folder_of, needed
from nacelle.sweep_trial import PlayedTrial

MOST_CURVES = 8     # as many as `plot` tells apart


class Sweep:
    """What came of a sweep: `trials`, a list of dicts with number, state ("complete", "pruned", "failed" or "running"),
    score, settings, folder and error; `best`, that of the best score, or None; `best_file`, its configuration; `folder`; `env`."""

    def __init__(self, told, trials):
        self.folder, self.env, self._told, self.trials = str(told.out), told.env, told, trials
        self.best = next(iter(self._ranked()), None)
        self.best_file = str(told.out / "best.json")

    def _ranked(self):
        sign = -1 if self._told.goal == "max" else 1
        return sorted((trial for trial in self.trials if trial["state"] == "complete"), key=lambda trial: sign * trial["score"])

    def table(self, most=10):
        """The best trials as text, best first."""
        names = list(self._told.ranges)
        rows = [["trial", self._told.score, *names]]
        for trial in self._ranked()[:most]:
            rows.append([str(trial["number"]), f"{trial['score']:.6g}", *(_short(trial["settings"][name]) for name in names)])
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def summary(self):
        """One sentence: how many trials ended how."""
        states = [trial["state"] for trial in self.trials]
        counts = ", ".join(f"{states.count(state)} {state}" for state in ("complete", "pruned", "failed", "running") if state in states)
        return f"{len(self.trials)} trials: {counts}; results in {self.folder}"

    def frame(self):
        """All trials as a frame of pandas, a row for each."""
        import pandas
        return pandas.DataFrame([{**{key: trial[key] for key in ("number", "state", "score", "folder")}, **trial["settings"]}
                                 for trial in self.trials])

    def plot(self, out=None, **drawn):
        """Draws the curves of the best trials, as nacelle.plot does."""
        best = [trial["folder"] for trial in self._ranked()[:MOST_CURVES]]
        if not best:
            raise Error(f"{self.folder}: no trial is complete, and so there is no curve")
        return plot(best, out=out or Path(self.folder) / "best.svg", **drawn)

    def _write(self):
        names = list(self._told.ranges)
        with open(self._told.out / "trials.csv", "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["trial", "state", self._told.score, *names])
            for trial in self.trials:
                rows.writerow([trial["number"], trial["state"], trial["score"], *(_text(trial["settings"][name]) for name in names)])
        if self.best:
            settings = self._told.configured(self.best["settings"])
            Path(self.best_file).write_text(json.dumps(settings, indent=2) + "\n")


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


def _short(value):
    return f"{value:.6g}" if isinstance(value, float) else _text(value)


@contextlib.contextmanager
def _kept_alone(told):
    """The folder of a sweep, which no other process uses, nor a trial that a killed one has left; a lock's descriptor."""
    try:
        told.out.mkdir(parents=True, exist_ok=True)
        lock = open(told.out / "sweep.lock", "w")
    except OSError as error:
        raise Error(f"{told.out}: cannot be made: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Error(f"{told.out}: another process sweeps there") from None
        path, identity = told.out / "sweep.json", json.loads(json.dumps(told.identity()))
        if path.exists():
            kept = json.loads(path.read_text())
            differ = [key for key in identity if kept.get(key) != identity[key]]
            if differ:
                raise Error(f"{told.out}: holds a sweep with another {', '.join(differ)}; another \"out\" begins a new one")
        elif any(told.out.glob("trial-*")):
            raise Error(f"{told.out}: holds runs, and no sweep")
        else:
            path.write_text(json.dumps(identity, indent=2) + "\n")
        yield lock.fileno()


@contextlib.contextmanager
def _quiet(optuna):
    """Optuna tells each study and trial; a sweep does that itself."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


def sweep(source, *, callback=None, **changes):
    """Tries settings: `source` is a dict or the path of a file, as docs/sweeps.md says; keywords replace its values. The
    same call goes on with a sweep that was interrupted. A callback gets each trial that has ended."""
    told, optuna = SweepFile(source, changes), needed()
    with _quiet(optuna), _kept_alone(told) as lock:
        study = Study(told)
        try:
            _run_trials(told, study, callback, lock)
        finally:
            found = Sweep(told, study.trials())
            found._write()
        return found


def _run_trials(told, study, callback, lock):
    playing = {}
    with ThreadPoolExecutor(told.side_by_side) as pool:
        try:
            more = True
            while more or playing:
                while more and len(playing) < told.side_by_side:
                    trial = study.next()
                    more = trial is not None
                    if more:
                        number = trial.kept.number
                        played = PlayedTrial(told, trial, folder_of(told, number), study.chosen(trial.kept), lock)
                        playing[pool.submit(played.run)] = trial, played
                if playing:
                    for done in wait(playing, return_when=FIRST_COMPLETED).done:
                        _end(done, *playing.pop(done), study, callback, min(told.side_by_side, told.trials))
        finally:
            for _, played in playing.values():      # interrupted: they stay unfinished, and a later call goes on
                played.stop()


def _end(done, trial, played, study, callback, most_failures):
    error = ""
    try:
        score = done.result()
    except Error as fault:
        score, error = None, str(fault)
    study.tell(trial, score, played.pruned, error)
    trials = study.trials()
    states = [each["state"] for each in trials]
    if error and "complete" not in states and states.count("failed") >= most_failures:
        raise Error(f"{trials[trial.kept.number]['folder']}: {error}")      # it is no matter of these settings alone
    if callback is not None:
        callback(trials[trial.kept.number])
