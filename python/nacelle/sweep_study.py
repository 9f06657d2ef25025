"""Optuna's side of a sweep: it proposes settings, and keeps what came of them."""
import json
import math
import sys

from nacelle.sweep_file import points_of
from nacelle.sweep_trial import PARTS


def needed():
    """Optuna, or an error that says how it is had."""
    try:
        import optuna
    except ImportError:
        raise ImportError(f"a sweep needs Optuna: {sys.executable} -m pip install 'optuna>=4' installs it") from None
    return optuna


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
