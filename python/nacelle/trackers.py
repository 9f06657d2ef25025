"""Runs for Weights & Biases and MLflow, from what their folders hold; neither needs a network."""
import json
import math
import re
from pathlib import Path

from nacelle._engine import Error, printable, read_plain
from nacelle.comparing import folders

MOST_PARAMETER = 6000       # letters that MLflow keeps of one
MOST_BYTES = 1 << 30
PLAIN = re.compile(r"[\w./: -]{1,250}", re.ASCII)


class KeptRun:
    """What a run's folder holds: its name, that of the folder around the runs of seeds or of a sweep, its settings, its readings."""

    def __init__(self, folder, around=None):
        self.name = str(folder.relative_to(around.parent)) if around else folder.name
        self.group = around.name if around else ""
        self.configuration = _object(_kept(folder / "config.json"), folder / "config.json")
        _require_plain(self.settings(), folder / "config.json")
        path, self.readings = folder / "metrics.jsonl", []
        *lines, _ = _kept(path).split(b"\n")      # a killed run may have begun a last line
        for number, line in enumerate(lines, 1):
            reading = _object(line, f"{path}:{number}")
            step = reading.pop("step", None)
            if type(step) is not int or not 0 <= step < 2**63:
                raise Error(f"{path}:{number}: is damaged (it has no step)")
            _require_plain(reading, f"{path}:{number}")
            self.readings.append((step, {name: value for name, value in reading.items() if _is_finite(value)}))

    def settings(self):
        """Each setting by its path."""
        return dict(_flat(self.configuration, ""))


def _kept(path):
    """The bytes of a run's file. A run may be somebody else's: a link could lead to any file."""
    if path.is_symlink():
        raise Error(f"{path}: is a link, and a run has files of its own")
    try:
        return read_plain(path, MOST_BYTES)
    except Error as error:
        raise Error(f"{error}; a run has it where jsonl is among its sinks" if path.suffix == ".jsonl" else str(error)) from None


def _object(text, where):
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        told = error
    if not isinstance(told, dict):
        raise Error(f"{where}: is damaged ({told if isinstance(told, Exception) else 'it is no object'})")
    return told


def _require_plain(names, where):
    """Trackers print names, and MLflow takes no others."""
    for name in names:
        if not PLAIN.fullmatch(name):
            raise Error(f"{where}: is damaged ({printable(name)!r} is no name of letters, digits and _ . - / : and spaces)")


def _is_finite(value):
    try:
        return isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:
        return False


def _flat(settings, prefix):
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def kept_runs(runs):
    """The runs of folders, of what train() returned and of sweeps, those of several seeds each for itself."""
    found = []
    for folder in map(Path, folders(runs)):
        if (folder / "config.json").exists():
            found.append(KeptRun(folder))
            continue
        inner = sorted(path.parent for pattern in ("*", "*/*") for path in folder.glob(f"{pattern}/config.json"))
        if not inner:
            raise Error(f"{folder}: holds no run")
        for each in inner:
            linked = next((part for part in (each, each.parent) if part != folder and part.is_symlink()), None)
            if linked:
                raise Error(f"{linked}: is a link, and runs of seeds and of a sweep lie in one folder")
            found.append(KeptRun(each, folder))
    return found


def to_wandb(runs, project="nacelle", *, mode="offline", **init):
    """Gives runs to Weights & Biases; with mode="offline" into ./wandb, which `wandb sync` sends later. Further keywords are
    those of wandb.init. Returns the ids of their runs."""
    try:
        import wandb
    except ImportError:
        raise ImportError("to_wandb needs Weights & Biases: python -m pip install wandb") from None
    ids = []
    for kept in kept_runs(runs):
        told = {"name": kept.name, "group": kept.group or None, "config": kept.configuration, "reinit": "create_new", **init}
        run = wandb.init(project=project, mode=mode, **told)
        for step, values in kept.readings:
            run.log(values, step=step)
        ids.append(run.id)
        run.finish()
    return ids


def to_mlflow(runs, experiment="nacelle", *, tracking="sqlite:///mlflow.db"):
    """Gives runs to MLflow, into a file here unless `tracking` names another store or a server. Returns the ids of their runs."""
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param
    except ImportError:
        raise ImportError("to_mlflow needs MLflow: python -m pip install mlflow") from None
    kept = kept_runs(runs)
    client = MlflowClient(tracking_uri=tracking)
    known = client.get_experiment_by_name(experiment)
    place = known.experiment_id if known else client.create_experiment(experiment)
    ids = []
    for one in kept:
        run = client.create_run(place, run_name=one.name, tags={"group": one.group} if one.group else None).info.run_id
        parameters = [Param(name, str(value)[:MOST_PARAMETER]) for name, value in one.settings().items()]
        metrics = [Metric(name, value, int(1000 * values.get("seconds", 0)), step)
                   for step, values in one.readings for name, value in values.items()]
        for begin in range(0, len(parameters), 100):        # as many as a batch takes
            client.log_batch(run, params=parameters[begin:begin + 100])
        for begin in range(0, len(metrics), 1000):
            client.log_batch(run, metrics=metrics[begin:begin + 1000])
        client.set_terminated(run)
        ids.append(run)
    return ids
