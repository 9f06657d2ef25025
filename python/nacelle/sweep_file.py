"""What a sweep is told: a dict, or a file of JSON that holds one. Each fault is named where it is."""
import hashlib
import itertools
import json
import math
import os
import re
import secrets
from decimal import Decimal
from pathlib import Path

from nacelle._engine import Error, source_hashes
from nacelle.engine import configuration, plain

SEARCHES = ("grid", "random", "bayesian", "population")
RUNNERS = ("local", "slurm", "ray")
TAKEN = {"env": "an environment's name or path", "settings": "what is varied: settings by path", "search": " or ".join(SEARCHES),
         "trials": "how many", "config": "settings of all trials", "score": '"return", or a metric', "goal": '"max" or "min"',
         "seeds": "how many each trial has", "side_by_side": "how many trials run at a time",
         "prune": "when trials end early", "population": "how the members of a population go on", "seed": "of the search",
         "device": '"auto", "cuda" or "cpu"', "runner": " or ".join(RUNNERS), "slurm": "words for sbatch", "ray": "what ray.remote takes",
         "out": "a folder"}
KINDS = {dict: "an object", list: "a list", str: "text"}
# What a checkpoint's arrays are as large as: the members of a population go on from one another's.
SHAPES = re.compile(r"policies\.[^.]+\.(hidden|model|trunk|critic|deviation)\b.*|learner\.(name|normalise_\w+)|"
                    r"env\.(source|count|constants\b.*|policies\b.*)")
MOST_TRIALS = 10**6
RANGE_TAKES = ("from", "to", "step", "log")


def damaged(where, why):
    """The error for a file that no sweep has written."""
    return Error(f'{where}: is damaged ({why}); another "out" begins a new sweep')


def write_whole(path, value):
    """Writes a file of JSON: a process that is killed leaves the old one or the new one."""
    write_text(path, json.dumps(value, indent=2) + "\n")


def write_text(path, text):
    """Writes a whole file or none."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "w") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Error(f"{path}: cannot be written: {error.strerror}") from None


def points_of(told):
    """The values of a list, or of a range with a step: 0.1, 0.2 and 0.3 as they are written, and as Optuna finds them."""
    if isinstance(told, list):
        return told
    first, last, step = (Decimal(repr(told[key])) for key in ("from", "to", "step"))
    kind = int if all(isinstance(told[key], int) for key in ("from", "step")) else float
    return [kind(first + step * i) for i in range(int((last - first) // step) + 1)]


def is_of(told, value):
    """Whether a value is one of a list's or of a range's."""
    if isinstance(told, list):
        return any(type(each) is type(value) and each == value for each in told)
    whole = all(isinstance(told[key], int) for key in ("from", "to"))
    if not _is_number(value) or not told["from"] <= value <= told["to"] or (whole and not isinstance(value, int)):
        return False
    return not told.get("step") or value in points_of(told)


class SweepFile:
    """A sweep as it was asked for, every value checked."""

    def __init__(self, source, changes):
        self.where = "sweep"
        if not isinstance(source, dict):
            if not isinstance(source, (str, os.PathLike)):
                raise TypeError(f"a sweep is a dict or the path of a file, not of the type {type(source).__name__}")
            self.where = str(source)
            source = self._read(Path(source))
        # What Ray takes may be no JSON.
        try:
            given = self.given = {key: value if key == "ray" else plain(value, f"{self.where}: {key}")
                                  for key, value in {**source, **changes}.items()}
        except RecursionError:
            raise Error(f"{self.where}: is nested too deeply") from None
        for key in given:
            if key not in TAKEN:
                raise self._fault(key, f"is not known; there is {', '.join(TAKEN)}")
        for key in ("env", "settings"):
            if key not in given:
                raise self._fault(key, f"is missing: {TAKEN[key]}")
        self.env = self._kind(given, "env", str, "cartpole")
        self.search = self._one_of(given, "search", SEARCHES, "random")
        self.seeds = self._whole(given, "seeds", 1, 1, 1000)
        self.side_by_side = self._whole(given, "side_by_side", 1, 1, 1024)
        self.seed = self._whole(given, "seed", 1, 0, 2**31 - 1)
        self.device = self._one_of(given, "device", ("auto", "cuda", "cpu"), "auto")
        self.score = self._kind(given, "score", str, "return")
        self.goal = self._one_of(given, "goal", ("max", "min"), "max")
        self.ranges = self._ranges(given)
        if self.search == "grid" and "trials" in given:
            raise self._fault("trials", f"is not for a grid, which has {self._points()}")
        self.trials = self._points() if self.search == "grid" else self._whole(given, "trials", 20, 1, MOST_TRIALS)
        self.prune = self._prune(given)
        self._runner(given)
        self._own = self._kind(given, "config", dict, {})
        self.config = self.configured({})
        if "auto" in (self._part("env").get("count"), *self._listed("env.count")):
            raise self._fault("env.count", 'is "auto" in a trial, and trials of other counts are not compared; "nacelle train" finds one')
        self.total_steps = self._part("run").get("total_steps")
        if self.total_steps is not None and not _is_number(self.total_steps):
            raise self._fault("config.run.total_steps", f"is {json.dumps(self.total_steps)}; a number is taken")
        if self.prune and self.prune["after"] and not self.total_steps:
            raise self._fault("prune.after", 'is a share of run.total_steps, which "config" does not set')
        self.population = self._population(given)
        self.out = Path(self._kind(given, "out", str, f"sweeps/{Path(self.env).stem}"))

    def identity(self):
        """What a folder's trials depend on: a sweep goes on only where all of it is the same."""
        same = {key: getattr(self, key) for key in ("env", "search", "config", "score", "goal", "seeds", "seed")}
        members = {"population": {**self.population, "trials": self.trials}} if self.population else {}
        return {**same, "settings": self.ranges, "source": self._source(), **members}

    def _source(self):
        """What tells the environment's file, its includes and its tables from changed ones: a hash of each."""
        env = self._part("env")
        tried = [value for name in self.ranges if f"{name}.".startswith("env.params.") for value in self._listed(name)]
        params = {"all": env.get("params"), "tried": dict(enumerate(tried))}
        hashes = json.loads(source_hashes(env["source"], json.dumps(params)))
        # A file alone has the hash that sweeps of earlier versions have.
        return hashes if len(hashes) > 1 else hashlib.sha256(Path(env["source"]).read_bytes()).hexdigest()

    def require_same_source(self):
        """A trial begins with the code of the trials before."""
        path = self.out / "sweep.json"
        kept = json.loads(path.read_text()).get("source") if path.exists() else None
        if kept not in (None, self._source()):
            raise Error(f'{self.out}: holds a sweep with another source; another "out" begins a new one')

    def grid(self):
        """All settings of a grid, in order."""
        names = list(self.ranges)
        return [dict(zip(names, chosen)) for chosen in itertools.product(*map(points_of, self.ranges.values()))]

    def _points(self):
        """How many settings a grid has."""
        count = math.prod(len(points_of(told)) for told in self.ranges.values())
        if count > MOST_TRIALS:
            raise self._fault("settings", f"make a grid of {count} trials; at most {MOST_TRIALS} are taken")
        return count

    def _part(self, name):
        """An object of the trials' configuration."""
        part = self.config.get(name, {})
        if not isinstance(part, dict):
            raise self._fault(f"config.{name}", f"is {json.dumps(part)}; an object is taken")
        return part

    def configured(self, chosen):
        """The whole configuration of a trial, as `--set` would lay it."""
        return configuration(self.env, {**self._own, **chosen})

    def _ranges(self, given):
        ranges = self._kind(given, "settings", dict, {})
        if not ranges:
            raise self._fault("settings", 'varies nothing; {"learner.learning_rate": {"from": 0.0003, "to": 0.003, "log": true}} does')
        for name, told in ranges.items():
            self._check_range(f"settings.{name}", told)
        return ranges

    def _check_range(self, key, told):
        if isinstance(told, list):
            if not told:
                raise self._fault(key, "is an empty list of values")
            return
        if not isinstance(told, dict):
            raise self._fault(key, f'is {json.dumps(told)}; a list of values is taken, or {{"from": 1, "to": 8}}')
        for name in told:
            if name not in RANGE_TAKES:
                raise self._fault(f"{key}.{name}", f"is not known; there is {', '.join(RANGE_TAKES)}")
        for name in ("from", "to"):
            if not _is_number(told.get(name)):
                raise self._fault(f"{key}.{name}", f"is {json.dumps(told.get(name))}; a number is taken")
        low, high, step, log = told["from"], told["to"], told.get("step"), told.get("log", False)
        if low >= high:
            raise self._fault(key, f"goes from {low} to {high}; the first is to be smaller")
        if not math.isfinite(high - low):
            raise self._fault(key, f"goes from {low} to {high}, which is more than a float holds")
        if not isinstance(log, bool):
            raise self._fault(f"{key}.log", f"is {json.dumps(log)}; true or false is taken")
        if step is not None and (not _is_number(step) or step <= 0):
            raise self._fault(f"{key}.step", f"is {json.dumps(step)}; a number above 0 is taken")
        if step is not None and isinstance(low, int) and isinstance(high, int) and not isinstance(step, int):
            raise self._fault(f"{key}.step", f"is {step} between whole numbers; write {float(low)} for real ones")
        if step is not None and (high - low) / step > MOST_TRIALS:
            raise self._fault(f"{key}.step", f"is {step}: it makes more than {MOST_TRIALS} values")
        if log and (low <= 0 or step is not None):
            raise self._fault(f"{key}.log", 'is for numbers above 0 and without a "step"')
        if self.search == "grid" and step is None:
            raise self._fault(key, 'has no "step", and a grid needs one, or a list of values')

    def _listed(self, name):
        """The values of what a sweep varies, where they are listed."""
        told = self.ranges.get(name, [])
        return told if isinstance(told, list) else []

    def _prune(self, given):
        told = given.get("prune", False)
        if told is False:
            return None
        told = {} if told is True else self._kind(given, "prune", dict, {})
        for name in told:
            if name not in ("after", "trials"):
                raise self._fault(f"prune.{name}", "is not known; there is after (steps), trials (that end before one is compared)")
        if self.score in ("step", "seconds"):
            raise self._fault("prune", f"compares trials at equal steps, which says nothing of the score {self.score}")
        return {"after": self._whole(told, "after", 0, 0, 2**53, "prune."), "trials": self._whole(told, "trials", 5, 1, 10**6, "prune.")}

    def _population(self, given):
        if self.search != "population":
            if "population" in given:
                raise self._fault("population", 'is for "search": "population"')
            return None
        told = self._kind(given, "population", dict, {})
        for name in told:
            if name not in ("every", "share", "factor"):
                raise self._fault(f"population.{name}", "is not known; there is every (steps), share (of the members), factor")
        for key, asked, words in (("seeds", self.seeds > 1, "a member has one"), ("prune", self.prune, "a poor member goes on as a better one")):
            if asked:
                raise self._fault(key, f"is not for a population: {words}")
        for name in self.ranges:
            if SHAPES.fullmatch(name) or name in ("policies", "learner", "env"):
                raise self._fault(f"settings.{name}", "gives members checkpoints of different shapes, which cannot go on from one another's")
        if self.runner != "local":
            raise self._fault("runner", f"is {self.runner}; the members of a population train where the call is made")
        if self.trials < 2:
            raise self._fault("trials", "is 1; a population has two members or more")
        if not self.total_steps:
            raise self._fault("population", 'trains for run.total_steps, which "config" does not set')
        share, factor = (told.get(key, usual) for key, usual in (("share", 0.25), ("factor", 1.25)))
        if not _is_number(share) or not 0 < share <= 0.5:
            raise self._fault("population.share", f"is {json.dumps(share)}; a number above 0, up to 0.5, is taken")
        if not _is_number(factor) or factor <= 1:
            raise self._fault("population.factor", f"is {json.dumps(factor)}; a number above 1 is taken")
        every = self._whole(told, "every", max(1, self.total_steps // 10), 1, self.total_steps, "population.")
        return {"every": every, "share": share, "factor": factor}

    def _runner(self, given):
        self.runner = self._one_of(given, "runner", RUNNERS, "local")
        for key in ("slurm", "ray"):
            if key in given and self.runner != key:
                raise self._fault(key, f'is for "runner": "{key}"')
        self.slurm = self._kind(given, "slurm", list, [])
        if not all(isinstance(word, str) for word in self.slurm):
            raise self._fault("slurm", 'has what is no text; ["--partition=gpu", "--gres=gpu:1"] is taken')
        self.ray = self._kind(given, "ray", dict, {})

    def _kind(self, given, key, kind, default):
        value = given.get(key, default)
        if isinstance(value, Path):
            value = str(value)
        if not isinstance(value, kind) or (kind is str and not value):
            raise self._fault(key, f"is {json.dumps(value, default=str)}; {KINDS[kind]} is taken")
        return value

    def _one_of(self, given, key, words, default):
        value = given.get(key, default)
        if value not in words:
            raise self._fault(key, f"is {json.dumps(value, default=str)}; there is {', '.join(words)}")
        return value

    def _whole(self, given, key, default, least, most, prefix=""):
        value = given.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self._fault(prefix + key, f"is {json.dumps(value, default=str)}; a whole number from {least} to {most} is taken")
        return value

    def _read(self, path):
        try:
            told = json.loads(path.read_text())
        except OSError as error:
            raise Error(f"{path}: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise Error(f"{path}: is no JSON: {error}") from None
        if not isinstance(told, dict):
            raise Error(f"{path}: is no object of JSON")
        return told

    def _fault(self, key, words):
        return Error(f"{self.where}: {key} {words}")


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
