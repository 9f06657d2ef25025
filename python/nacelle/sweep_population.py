"""Population-based training: members train side by side, and from time to time a poor one goes on as a better one, from its
checkpoint and with its settings, varied."""
import json
import math
import random
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

from nacelle._engine import Error
from nacelle.sweep_file import damaged, is_of, points_of, write_whole
from nacelle.sweep_study import folder_of
from nacelle.sweep_trial import PlayedTrial

STATE = "population.json"
CHECKPOINT = re.compile(r"(best|(best-)?step-[0-9]{15,})\.(json|safetensors)")


class Population:
    """The members of a sweep. All that was decided lies in population.json: `rounds`, of which each has a score, settings
    and, where a member went on as another one, that one's number ("from") of every member."""

    def __init__(self, told, lock):
        self._told, self._lock = told, lock
        self._path = told.out / STATE
        self._rounds, self._copied = [], 0      # how many rounds' copies are made
        if self._path.exists():
            self._read()

    def _read(self):
        try:
            kept = json.loads(self._path.read_text())
            self._rounds, self._copied = kept["rounds"], kept["copied"]
            if not isinstance(self._rounds, list) or len(self._rounds) > len(self._ends()) or self._copied not in (len(self._rounds), len(self._rounds) - 1):
                raise ValueError("\"copied\" does not fit the rounds")
            for number, each in enumerate(self._rounds):
                self._check(each, number)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise damaged(self._path, error) from None

    def _check(self, decided, number):
        members = range(1, self._told.trials + 1)
        if any(len(decided[name]) != len(members) for name in ("scores", "settings", "from")):
            raise ValueError("it is of another number of members")
        for own, score, settings, source in zip(members, decided["scores"], decided["settings"], decided["from"]):
            if not math.isfinite(score) or settings.keys() != self._told.ranges.keys():
                raise ValueError(f"member {own} has no score, or other settings")
            for name, told in self._told.ranges.items():
                if not is_of(told, settings[name]):
                    raise ValueError(f"rounds[{number}].settings[{own - 1}]: {name} is {json.dumps(settings[name])}; there is {json.dumps(told)}")
            if source is not None and (type(source) is not int or source not in members or decided["from"][source - 1] is not None):
                raise ValueError(f"member {own} goes on as {source}")

    def _keep(self):
        write_whole(self._path, {"rounds": self._rounds, "copied": self._copied})

    def train(self, callback):
        """Trains all rounds that are left; a callback gets each member at the end."""
        ends = self._ends()
        for number, until in enumerate(ends):
            if number < self._copied:
                continue
            if number == len(self._rounds):
                scores = self._scores(number, until)
                last = number + 1 == len(ends)
                self._rounds.append(self._decided(number, scores, exploits=not last))
                self._keep()
            self._copy(self._rounds[number])
            self._copied = number + 1
            self._keep()
        for trial in self.trials():
            if callback is not None:
                callback(trial)

    def _ends(self):
        every, total = self._told.population["every"], self._told.total_steps
        return [*range(every, total, every), total]

    def _scores(self, number, until):
        """What each member reaches in a round. They train so many at a time; the first fault ends all."""
        together = self._told.side_by_side
        playing = [self._member(member, number, until, together) for member in range(self._told.trials)]
        with ThreadPoolExecutor(together) as pool:
            try:
                futures = [pool.submit(played.run) for played in playing]
                return [future.result() for future in futures]
            finally:
                for played in playing:
                    played.stop()

    def _member(self, member, number, until, together):
        settings = self._settings(number)[member]

        class Trial:
            reported = -1

        first = self._told.config.get("seed")
        first = 1 if first is None else first
        own = first + member if isinstance(first, int) else first       # the engine says what is wrong with another
        begins = {**settings, "seed": own}
        return PlayedTrial(self._told, Trial, folder_of(self._told, member), begins, self._lock, together, until, settings)

    def _settings(self, number):
        """Those that each member trains with in a round."""
        if number:
            return self._rounds[number - 1]["settings"]
        return [self._drawn(random.Random(f"{self._told.seed} {member}")) for member in range(self._told.trials)]

    def _drawn(self, chance):
        drawn = {}
        for name, told in self._told.ranges.items():
            if isinstance(told, list) or told.get("step"):
                drawn[name] = chance.choice(points_of(told))
            elif told.get("log"):
                drawn[name] = _fitting(told, math.exp(chance.uniform(math.log(told["from"]), math.log(told["to"]))))
            else:
                drawn[name] = _fitting(told, chance.uniform(told["from"], told["to"]))
        return drawn

    def _decided(self, number, scores, exploits):
        """Who goes on as whom. A member that has no better one goes on as it is."""
        settings, sources = [dict(each) for each in self._settings(number)], [None] * len(scores)
        if exploits:
            chance = random.Random(f"{self._told.seed} round {number}")
            sign = -1 if self._told.goal == "max" else 1
            ranked = sorted(range(len(scores)), key=lambda member: (sign * scores[member], member))
            share = max(1, int(len(ranked) * self._told.population["share"]))
            for poor in ranked[-share:]:
                better = chance.choice(ranked[:share])
                if scores[better] == scores[poor]:
                    continue
                sources[poor] = better + 1
                settings[poor] = {name: self._varied(name, settings[better][name], chance) for name in self._told.ranges}
        return {"scores": scores, "from": sources, "settings": settings}

    def _varied(self, name, value, chance):
        """A neighbour of a value: the next of a list or of steps, else smaller or larger by the factor."""
        told, up = self._told.ranges[name], chance.random() < 0.5
        if isinstance(told, list) or told.get("step"):
            points = points_of(told)
            return points[min(max(points.index(value) + (1 if up else -1), 0), len(points) - 1)]
        factor = self._told.population["factor"]
        return _fitting(told, value * factor if up else value / factor)

    def _copy(self, decided):
        """Gives poor members the checkpoints of better ones. Nobody has trained on before all are given."""
        for member, source in enumerate(decided["from"]):
            if source is not None:
                own, its = (folder_of(self._told, each) / "checkpoints" for each in (member, source - 1))
                try:
                    for path in _checkpoints(own):
                        path.unlink()
                    for path in _checkpoints(its):
                        shutil.copy2(path, own)
                except OSError as error:
                    raise Error(f"{error.filename}: {error.strerror}") from None

    def trials(self):
        """All members as a Sweep has trials: with the scores and settings of the last round that has ended."""
        if not self._rounds:
            return []
        settings, ended = self._settings(len(self._rounds) - 1), len(self._rounds) == len(self._ends())
        return [{"number": member + 1, "state": "complete" if ended else "running", "score": score, "settings": settings[member],
                 "folder": str(folder_of(self._told, member)), "error": "", "from": self._lineage(member)}
                for member, score in enumerate(self._rounds[-1]["scores"])]

    def _lineage(self, member):
        """The members as which it went on, the last one first."""
        names, now = [], member
        for decided in reversed(self._rounds):
            source = decided["from"][now]
            if source is not None:
                names.append(source)
                now = source - 1
        return names


def _checkpoints(folder):
    """The files of a run's checkpoints; a folder may hold other files."""
    return [path for path in folder.iterdir() if CHECKPOINT.fullmatch(path.name)]


def _fitting(told, value):
    """A value within its range, whole where the range is."""
    value = min(max(value, told["from"]), told["to"])
    return round(value) if isinstance(told["from"], int) and isinstance(told["to"], int) else value
