"""`python -m nacelle sweep SWEEP.json`."""
import argparse
import json
import signal
import sys

from nacelle._engine import Error
from nacelle.sweep_file import SEARCHES
from nacelle.sweeps import sweep


def parsed(words):
    """The words of the command line."""
    parser = argparse.ArgumentParser(prog="nacelle sweep", description="Train with varied settings, and find the best. The same command "
                                     "goes on with a sweep that was interrupted.")
    parser.add_argument("file", metavar="SWEEP.json", help="what is varied, as docs/sweeps.md says")
    parser.add_argument("--out", help="folder of the sweep; the file's, or sweeps/NAME")
    parser.add_argument("--trials", type=int, help="how many trials; the file's, or 20")
    parser.add_argument("--side-by-side", type=int, help="how many trials run at a time; the file's, or 1")
    parser.add_argument("--search", choices=SEARCHES, help="how settings are chosen; the file's, or random")
    parser.add_argument("--backend", dest="device", choices=("auto", "cuda", "cpu"), help="where to run; the file's, or auto")
    parser.add_argument("--json", action="store_true", help="one JSON object per line, nothing else on standard output")
    return parser.parse_args(words)


def interrupt(*_):
    raise KeyboardInterrupt


def main(words):
    """Runs the command; returns its exit status."""
    given = vars(parsed(words))
    file, as_json = given.pop("file"), given.pop("json")
    changes = {key: value for key, value in given.items() if value is not None}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)

    def tell(trial):
        if as_json:
            print(json.dumps({"kind": "trial", **trial}), flush=True)
            return
        end = f"failed: {trial['error']}" if trial["error"] else trial["state"] if trial["score"] is None else f"{trial['score']:.6g}"
        settings = "  ".join(f"{name}={value}" for name, value in trial["settings"].items())
        print(f"trial {trial['number']}: {end}  {settings}", flush=True)

    try:
        found = sweep(file, callback=tell, **changes)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 0
    except (Error, ImportError) as error:
        print(error, file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps({"kind": "sweep", "folder": found.folder, "trials": len(found.trials), "best": found.best}))
        return 0
    print(found.summary())
    if found.best:
        print(found.table())
        print(f"the best trial's settings are in {found.folder}/best.json, its curve in {found.plot().path}")
    return 0 if found.best else 1
