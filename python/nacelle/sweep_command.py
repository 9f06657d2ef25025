"""The work of the command `sweep`, whose words the program has read."""
import json
import shlex
import signal
import sys

from nacelle._engine import Error
from nacelle.sweeps import sweep


def interrupt(*_):
    raise KeyboardInterrupt


def printed(trial):
    """A trial that has ended, as a line."""
    end = f"failed: {trial['error']}" if trial["error"] else trial["state"] if trial["score"] is None else f"{trial['score']:.6g}"
    settings = "  ".join(f"{name}={value}" for name, value in trial["settings"].items())
    return f"trial {trial['number']}: {end}  {settings}"


def main(file, changes, as_json=None):
    """Sweeps by a file with changes, which are JSON; returns the exit status."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    shown = (lambda trial: json.dumps({"kind": "trial", **trial})) if as_json else printed
    try:
        found = sweep(file, callback=lambda trial: print(shown(trial), flush=True), **json.loads(changes))
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
        print(f"nacelle train {shlex.quote(found.env)} {shlex.quote(str(found.best_file))} trains with the best settings; the best trials' curves are in {found.plot().path}")
    return 0
