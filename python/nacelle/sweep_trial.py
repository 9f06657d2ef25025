"""One trial of a sweep: a training run, or those of several seeds, in a process of its own."""
import json
import math
import os

from nacelle._engine import Error
from nacelle.program import Command, machine
from nacelle.sweep_file import write_whole

WITHOUT = 20    # readings of a policy that learns, after which a score that was in none is no metric
RARE = {"evaluation", "episode", "log", "policy", "opponents", "reload"}     # those that come now and then; others of their kind come with them
PARTS = 20      # a trial is compared with others as often, at equal shares of its steps: settings may change the readings' steps


def processors():
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


class PlayedTrial:
    """A trial that trains, beside `together` - 1 others, to its end or for so many steps. run() returns its score, or None
    where it was pruned or stopped. Where it goes on with a run, `changes` are set over the run's own settings."""

    def __init__(self, told, trial, folder, chosen, lock, together=1, until=0, changes=None):
        self._told, self._trial, self._folder, self._chosen, self._lock = told, trial, folder, chosen, lock
        self._together, self._until, self._changes = together, until, changes or {}
        self._command, self._stopped = None, False
        self._readings = {}     # the last one of each seed
        self._parts = {}        # by seed: its values at each share of the steps
        self._reported, self._without = -1, 0
        self.pruned = False

    def run(self):
        """Trains to the end, from the newest checkpoint where the folder holds one."""
        if self._stopped:
            return None
        self._reported = self._trial.reported
        ended = None
        self._command = Command(*self._words(), holds=self._lock)
        if self._stopped:
            self._command.stop()
        for line in self._command:
            if line["kind"] == "progress":
                self._take(line)
            elif line["kind"] in ("result", "seeds"):
                ended = line
        if self._stopped or self.pruned:
            return None
        if self._without >= WITHOUT:
            raise self._no_metric(self._last_readings()[0])
        return self._score(ended)

    def stop(self):
        """Ends it in order, from another thread."""
        self._stopped = True
        if self._command is not None:
            self._command.stop()

    def _words(self):
        begun = any((self._folder / name).exists() for name in ("config.json", "seeds.json"))
        threads = ["--threads", max(1, processors() // self._together)] if self._together > 1 else []
        until = ["--until", self._until] if self._until else []
        common = [*machine(self._told.device), *threads, *until]
        if begun:
            changes = [word for path, value in self._changes.items() for word in ("--set", f"{path}={json.dumps(value)}")]
            return ["resume", self._folder, *common, *changes]
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        path = self._folder.with_suffix(".json")
        settings = self._told.configured(self._chosen)
        write_whole(path, settings)
        seeds = ["--seeds", self._told.seeds] if self._told.seeds > 1 else []
        return ["train", settings["env"]["source"], path, "--out", self._folder, *seeds, *common]

    def _take(self, reading):
        seed = reading.get("seed", 1)
        self._readings[seed] = reading
        self._look_for_score(reading)
        if self._told.prune is None or self.pruned:
            return
        value = self._value(reading)
        if value is None or not reading.get("total_steps"):
            return
        parts = self._parts.setdefault(seed, [])
        reached = min(PARTS, int(PARTS * reading["step"] / reading["total_steps"]))
        parts.extend([value] * (reached + 1 - len(parts)))
        if len(self._parts) < self._told.seeds:
            return
        for part in range(self._reported + 1, min(map(len, self._parts.values()))):
            self._reported = part
            if part and self._trial.is_poor(part, sum(its[part] for its in self._parts.values()) / len(self._parts)):
                self.pruned = True
                self._command.stop()
                return

    def _look_for_score(self, reading):
        """Ends the trial early where its readings have no such metric, as where its name is misspelt."""
        score = self._told.score
        if score == "return" or self._without >= WITHOUT:
            return
        if score in reading:
            self._without = -math.inf
        words = score.split(".")
        if RARE.intersection(words[:2]):
            learns = any(name.startswith(f"{words[0]}.") for name in reading)
        else:
            learns = any({"loss", "search"}.intersection(name.split(".")[:2]) for name in reading)
        self._without += learns
        if self._without == WITHOUT:
            self._command.stop()

    def _no_metric(self, reading):
        metrics = sorted(name for name, value in reading.items() if type(value) in (int, float))
        return Error(f"score {self._told.score} is no metric of its readings; there is return, {', '.join(metrics)}")

    def _value(self, reading):
        if self._told.score == "return":
            return reading.get("evaluation.return", reading.get("episode.return"))
        return reading.get(self._told.score)

    def _score(self, ended):
        if ended is None:
            raise Error("the training ended without a result")
        if self._told.score == "return":
            score = ended["mean_return"] if ended["kind"] == "result" else (ended["return"] or {}).get("mean")
        else:
            readings = self._last_readings()
            for reading in readings:
                if type(reading.get(self._told.score)) not in (int, float):
                    raise self._no_metric(reading)
            score = sum(reading[self._told.score] for reading in readings) / len(readings)
        if score is None or not math.isfinite(score):
            raise Error(f"its score is {score}")
        return score

    def _last_readings(self):
        """Of each run; from its file where it had ended before this process has followed it."""
        if len(self._readings) == self._told.seeds:
            return list(self._readings.values())
        runs = sorted(self._folder.glob("seed-*")) or [self._folder]
        try:
            return [json.loads((run / "metrics.jsonl").read_text().splitlines()[-1]) for run in runs]
        except (OSError, IndexError, ValueError):
            raise Error(f"score {self._told.score}: {self._folder} has no readings of it in metrics.jsonl") from None
