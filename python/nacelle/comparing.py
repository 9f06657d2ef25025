"""Runs side by side: their curves, and a table of what came of them."""
from pathlib import Path

from nacelle.checks import one_of, path, whole
from nacelle.program import lines_of


def folders(runs):
    """The folders of one run or of several: paths, or what train() returned."""
    listed = runs if isinstance(runs, (list, tuple)) else [runs]
    if not listed:
        raise ValueError("no runs are given: a folder is taken, what train() returned, or a list of them")
    found = []
    for run in listed:
        folder = getattr(run, "folder", run)
        if not isinstance(folder, (str, Path)) or not str(folder):
            raise ValueError(f"{run!r} has no folder; train(..., out=\"runs/mine\") gives a run one")
        found.append(str(folder))
    return found


class Picture:
    """A picture in a file, which a notebook shows."""

    def __init__(self, path, curves):
        self.path, self.curves = Path(path), curves

    def _repr_svg_(self):
        return self.path.read_text() if self.path.suffix == ".svg" else None

    def _repr_png_(self):
        return self.path.read_bytes() if self.path.suffix == ".png" else None

    def __repr__(self):
        return f"nacelle.Picture({str(self.path)!r})"


def plot(runs, metrics=(), *, x="steps", out=None, pixels=None):
    """Draws the curves of runs, with intervals over seeds, as `nacelle plot` does: .svg or .png. The default is the
    mean return over steps, as an .svg in the working directory."""
    words = ["plot", *folders(runs), "--x", one_of(x, "x", ("steps", "seconds"))]
    named = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(named, (list, tuple)) or not all(isinstance(metric, str) for metric in named):
        raise TypeError(f"metrics is {metrics!r}; a metric's name is taken, or a list of them")
    for metric in named:
        words += ["--metric", metric]
    if out is not None:
        words += ["--out", path(out, "out", "curves.svg")]
    if pixels is not None:
        words += ["--size", whole(pixels, "pixels", 200, 16384)]
    drawn = lines_of(*words)[0]
    return Picture(drawn["out"], drawn["curves"])


class Comparison:
    """What `nacelle compare` finds: `runs`, a dict of results by run; `settings`, those that differ; `sources`, lines
    that differ from the first run's."""

    def __init__(self, lines):
        of = lambda kind: [{key: value for key, value in line.items() if key != "kind"} for line in lines if line["kind"] == kind]
        self.runs = {line.pop("run"): line for line in of("run")}
        self.settings = {line["setting"]: line["values"] for line in of("setting")}
        self.sources = of("source")

    def frame(self):
        """The results as a frame of pandas: a row for each run, the mean and the interval of each number."""
        import pandas
        rows = {}
        for run, its in self.runs.items():
            row = rows[run] = {}
            for key, value in its.items():
                if isinstance(value, dict):
                    row[key], row[key + "_interval"] = value["mean"], value["interval"]
                else:
                    row[key] = value
        return pandas.DataFrame.from_dict(rows, orient="index")


def compare(runs):
    """Compares two runs or more, or those of several seeds: results with intervals, settings and source that differ."""
    listed = folders(runs)
    if len(listed) < 2:
        raise ValueError("compare takes two runs or more")
    return Comparison(lines_of("compare", *listed))
