"""What came of a sweep, as Python has it and as its folder keeps it."""
import csv
import io
import json
from pathlib import Path

from nacelle._engine import Error
from nacelle.comparing import plot
from nacelle.sweep_file import write_text, write_whole

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

    def write(self):
        """Writes trials.csv and best.json."""
        names = list(self._told.ranges)
        table = io.StringIO(newline="")
        rows = csv.writer(table)
        rows.writerow(["trial", "state", self._told.score, *names])
        for trial in self.trials:
            rows.writerow([trial["number"], trial["state"], trial["score"], *(_text(trial["settings"][name]) for name in names)])
        write_text(self._told.out / "trials.csv", table.getvalue())
        if self.best:
            write_whole(Path(self.best_file), self._told.configured(self.best["settings"]))


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


def _short(value):
    return f"{value:.6g}" if isinstance(value, float) else _text(value)
