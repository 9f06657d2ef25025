"""Trials that train in processes of this machine, so many at a time."""
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from nacelle._engine import Error
from nacelle.sweep_study import folder_of
from nacelle.sweep_trial import PlayedTrial


def run_trials(told, study, callback, together, lock=None):
    """Trains all that a study proposes; a callback gets each trial that has ended. Interrupted, trials stay unfinished, and
    a later call goes on with them."""
    playing, begun = {}, []
    with ThreadPoolExecutor(together) as pool:
        try:
            more = True
            while more or playing:
                while more and len(playing) < together:
                    proposed = study.next()
                    more = proposed is not None
                    if more:
                        trial, chosen = proposed
                        played = PlayedTrial(told, trial, folder_of(told, trial.number), chosen, lock, together)
                        begun.append(played)        # before submit(): after an interruption there the trial trains
                        playing[pool.submit(played.run)] = trial, played
                if playing:
                    for done in wait(playing, return_when=FIRST_COMPLETED).done:
                        _end(done, *playing.pop(done), study, callback, told)
        finally:
            for played in begun:
                played.stop()


def _end(done, trial, played, study, callback, told):
    error = ""
    try:
        score = done.result()
    except Error as fault:
        score, error = None, str(fault)
    if "cannot be written: " in error:      # a full disk: a later call goes on with this trial
        raise Error(f"{folder_of(told, trial.number)}: {error}")
    study.tell(trial, score, played.pruned, error)
    trials = study.trials()
    states = [each["state"] for each in trials]
    if error and "complete" not in states and states.count("failed") >= min(told.side_by_side, told.trials):
        raise Error(f"{trials[trial.number]['folder']}: {error}")      # it is no matter of these settings alone
    if callback is not None:
        callback(trials[trial.number])
