"""Optuna's side of a sweep: it proposes settings, and keeps what came of them."""
import contextlib
import json
import math
import sys
import warnings

from nacelle import sweep_journal
from nacelle._engine import Error
from nacelle.sweep_file import damaged, points_of
from nacelle.sweep_trial import PARTS


def needed():
    """Optuna, or an error that says how it is had."""
    try:
        import optuna
    except ImportError:
        raise ImportError(f"a sweep needs Optuna: {sys.executable} -m pip install 'optuna>=4' installs it") from None
    return optuna


@contextlib.contextmanager
def quiet(optuna):
    """Optuna tells each study and trial; a sweep does that itself."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


class TrialInStudy:
    """A trial as Optuna keeps it."""

    def __init__(self, kept, before):
        self.number, self._kept, self.reported = kept.number, kept, max(before, default=-1)

    def is_poor(self, part, value):
        """Whether it is to end early, as it is worse than most were at this part of their steps."""
        self._kept.report(value, part)
        return self._kept.should_prune()

    def note(self, name, text):
        """Keeps a text beside it."""
        self._kept.set_user_attr(name, text)


class Study:
    """Optuna's side of a sweep: which settings come next, and what came of those before. Workers of one job, such as
    "1234_1" and "1234_2", share it: each begins trials of its own, and goes on with its own and those of earlier jobs."""

    def __init__(self, told, worker=""):
        self._optuna, self._told, self._worker, self._begun = needed(), told, worker, set()
        optuna = self._optuna
        pruner = optuna.pruners.NopPruner()
        if told.prune:
            share = told.prune["after"] / (told.total_steps or math.inf)
            pruner = optuna.pruners.MedianPruner(n_startup_trials=told.prune["trials"], n_warmup_steps=math.ceil(share * PARTS))
        self._alone = sweep_journal.Lock(told.out / "trials.lock")
        journal = told.out / "trials.journal"
        self._storage = sweep_journal.opened(optuna, journal)
        try:
            self._study = optuna.create_study(storage=self._storage, study_name="sweep", load_if_exists=True,
                                              direction=self._direction(), pruner=pruner)
            self._check()
        except Error:
            raise
        except Exception as error:      # lines of another program raise errors of any kind in Optuna
            raise damaged(journal, repr(error)) from None
        self._forms = {name: self._form(given) for name, given in told.ranges.items()}

    def _check(self):
        for trial in self.trials():
            if trial["settings"].keys() != self._told.ranges.keys():
                raise ValueError(f"trial {trial['number']} has other settings")
            if trial["state"] == "complete" and not math.isfinite(trial["score"]):
                raise ValueError(f"the score of trial {trial['number']} is no number")

    def _direction(self):
        return "maximize" if self._told.goal == "max" else "minimize"

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
        """The next trial, one that was left unfinished before a new one, and its settings; None where there is none."""
        self._alone.acquire()
        try:
            trials = self._study.get_trials(deepcopy=False)
            left = next((trial for trial in trials if self._is_left(trial)), None)
            if left is None and len(trials) >= self._told.trials:
                return None
            if left is None:
                self._study.add_trial(self._new(trials))
                left = self._study.get_trials(deepcopy=False)[len(trials)]
            study = self._storage.get_study_id_from_name("sweep")
            kept = self._optuna.trial.Trial(self._study, self._storage.get_trial_id_from_study_id_trial_number(study, left.number))
            if left.user_attrs.get("worker", "") != self._worker:
                kept.set_user_attr("worker", self._worker)
        finally:
            self._alone.release()
        self._begun.add(left.number)
        return TrialInStudy(kept, left.intermediate_values if self._told.prune else {}), self.chosen(left)

    def _is_left(self, trial):
        if trial.state.is_finished() or trial.number in self._begun:
            return False
        worker = trial.user_attrs.get("worker", "")
        return not self._worker or worker == self._worker or worker.rpartition("_")[0] != self._worker.rpartition("_")[0]

    def _new(self, trials):
        """A trial that begins, written at once: it has its settings or is not there, wherever a process is killed."""
        self._told.require_same_source()
        number, trial = len(trials), self._optuna.trial
        if self._told.search == "grid":
            point = self._told.grid()[number]
            params = {name: json.dumps(value) if isinstance(self._told.ranges[name], list) else value for name, value in point.items()}
        else:
            proposing = self._optuna.create_study(direction=self._direction(), sampler=self._sampler(number))
            proposing.add_trials(trials)
            params = proposing.ask(self._forms).params
        return trial.create_trial(state=trial.TrialState.RUNNING, params=params, distributions=self._forms,
                                  user_attrs={"worker": self._worker})

    def _sampler(self, number):
        # Of this number's own seed, so that a sweep that was interrupted proposes what one that was not does.
        samplers, seed = self._optuna.samplers, self._told.seed + number
        if self._told.search == "bayesian":
            return samplers.TPESampler(seed=seed, constant_liar=True)
        return samplers.RandomSampler(seed=seed)

    def chosen(self, kept):
        """The settings of a trial."""
        return {name: json.loads(value) if isinstance(self._told.ranges[name], list) else value
                for name, value in kept.params.items() if name in self._told.ranges}

    def tell(self, trial, score, pruned, error):
        """Keeps what came of a trial."""
        states = self._optuna.trial.TrialState
        if error:
            trial.note("error", error)
            self._study.tell(trial.number, state=states.FAIL)
        elif pruned:
            self._study.tell(trial.number, state=states.PRUNED)
        else:
            self._study.tell(trial.number, score)

    def trials(self):
        """All trials as a Sweep has them."""
        names = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
        found = []
        for kept in self._study.get_trials(deepcopy=False):
            state = names.get(kept.state.name, "running")
            found.append({"number": kept.number + 1, "state": state, "score": kept.value if state == "complete" else None,
                          "settings": self.chosen(kept), "folder": str(folder_of(self._told, kept.number)),
                          "error": kept.user_attrs.get("error", "")})
        return found


def folder_of(told, number):
    """Where a trial's run lies."""
    return told.out / f"trial-{number + 1}"
