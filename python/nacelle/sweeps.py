"""Many trials of a training with varied settings; Optuna proposes them and keeps what came of them."""
import contextlib
import csv
import fcntl
import json
import math
import sys
import warnings
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from nacelle._engine import Error
from nacelle.comparing import plot
from nacelle.sweep_file import SweepFile, points_of
from nacelle.sweep_trial import PARTS, PlayedTrial

MOST_CURVES = 8     # as many as `plot` tells apart


def needed():
    """Optuna, or an error that says how it is had."""
    try:
        import optuna
    except ImportError:
        raise ImportError(f"a sweep needs Optuna: {sys.executable} -m pip install 'optuna>=4' installs it") from None
    return optuna


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


class TrialInStudy:
    """A trial as Optuna keeps it."""

    def __init__(self, optuna, study, trial, told):
        self._optuna, self.kept = optuna, trial
        before = study.trials[trial.number].intermediate_values if told.prune else {}
        self.reported = max(before, default=-1)

    def is_poor(self, part, value):
        """Whether it is to end early, as it is worse than most were at this part of their steps."""
        self.kept.report(value, part)
        return self.kept.should_prune()


class Study:
    """Optuna's side of a sweep: which settings come next, and what came of those before."""

    def __init__(self, told):
        self._optuna, self._told = needed(), told
        optuna = self._optuna
        pruner = optuna.pruners.NopPruner()
        if told.prune:
            share = told.prune["after"] / (told.config.get("run", {}).get("total_steps") or math.inf)
            pruner = optuna.pruners.MedianPruner(n_startup_trials=told.prune["trials"], n_warmup_steps=math.ceil(share * PARTS))
        journal = optuna.storages.journal.JournalFileBackend(str(told.out / "trials.journal"))
        self._study = optuna.create_study(storage=optuna.storages.JournalStorage(journal), study_name="sweep", load_if_exists=True,
                                          direction="maximize" if told.goal == "max" else "minimize", pruner=pruner)
        self._forms = {name: self._form(given) for name, given in told.ranges.items()}
        self._left = [trial for trial in self._study.trials if not trial.state.is_finished()]

    def _form(self, given):
        forms = self._optuna.distributions
        if isinstance(given, list):
            return forms.CategoricalDistribution([json.dumps(value) for value in given])
        low, high, step, log = given["from"], given["to"], given.get("step"), given.get("log", False)
        if step:
            high = points_of(given)[-1]
        if isinstance(low, int) and isinstance(high, int):
            return forms.IntDistribution(low, high, log=log, step=step or 1)
        return forms.FloatDistribution(low, high, log=log, step=step)

    def next(self):
        """The next trial, one that was left unfinished before a new one; None where there is none."""
        if self._left:
            trial = self._optuna.trial.Trial(self._study, self._left.pop(0)._trial_id)
        elif len(self._study.trials) >= self._told.trials:
            return None
        else:
            trial = self._ask(len(self._study.trials))
        return TrialInStudy(self._optuna, self._study, trial, self._told)

    def _ask(self, number):
        samplers = self._optuna.samplers
        # Of this number's own seed, so that a sweep that was interrupted proposes what one that was not does.
        seed = self._told.seed + number
        if self._told.search == "bayesian":
            self._study.sampler = samplers.TPESampler(seed=seed, constant_liar=True)
        else:
            self._study.sampler = samplers.RandomSampler(seed=seed)
        if self._told.search == "grid":
            point = self._told.grid()[number]
            self._study.enqueue_trial({name: json.dumps(value) if isinstance(self._told.ranges[name], list) else value
                                       for name, value in point.items()})
        return self._study.ask(self._forms)

    def chosen(self, kept):
        """The settings of a trial."""
        return {name: json.loads(value) if isinstance(self._told.ranges[name], list) else value
                for name, value in kept.params.items() if name in self._told.ranges}

    def tell(self, trial, score, pruned, error):
        """Keeps what came of a trial."""
        states = self._optuna.trial.TrialState
        if error:
            trial.kept.set_user_attr("error", error)
            self._study.tell(trial.kept, state=states.FAIL)
        elif pruned:
            self._study.tell(trial.kept, state=states.PRUNED)
        else:
            self._study.tell(trial.kept, score)

    def trials(self):
        """All trials as a Sweep has them."""
        names = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
        found = []
        for kept in self._study.trials:
            state = names.get(kept.state.name, "running")
            found.append({"number": kept.number + 1, "state": state, "score": kept.value if state == "complete" else None,
                          "settings": self.chosen(kept), "folder": str(folder_of(self._told, kept.number)),
                          "error": kept.user_attrs.get("error", "")})
        return found


def folder_of(told, number):
    """Where a trial's run lies."""
    return told.out / f"trial-{number + 1}"


@contextlib.contextmanager
def _kept_alone(told):
    """The folder of a sweep, that no other process uses."""
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
        yield


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
    with _quiet(optuna), _kept_alone(told):
        study = Study(told)
        try:
            _run_trials(told, study, callback)
        finally:
            found = Sweep(told, study.trials())
            found._write()
        return found


def _run_trials(told, study, callback):
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
                        played = PlayedTrial(told, trial, folder_of(told, number), study.chosen(trial.kept))
                        playing[pool.submit(played.run)] = trial, played
                if playing:
                    for done in wait(playing, return_when=FIRST_COMPLETED).done:
                        _end(done, *playing.pop(done), study, callback)
        finally:
            for _, played in playing.values():      # interrupted: they stay unfinished, and a later call goes on
                played.stop()


def _end(done, trial, played, study, callback):
    error = ""
    try:
        score = done.result()
    except Error as fault:
        score, error = None, str(fault)
    study.tell(trial, score, played.pruned, error)
    trials = study.trials()
    if error and all(each["state"] != "complete" for each in trials):
        raise Error(f"{trials[trial.kept.number]['folder']}: {error}")      # it is no matter of these settings alone
    if callback is not None:
        callback(trials[trial.kept.number])
