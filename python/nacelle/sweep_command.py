"""The work of the command `sweep`, whose words the program has read."""
import json
import shlex
import signal
import sys

from nacelle._engine import Error, printable
from nacelle.sweeps import sweep


def interrupt(*_):
    raise KeyboardInterrupt


def tell(text, file=None):
    """Prints lines of which a terminal obeys nothing."""
    lines = text.encode(errors="backslashreplace").decode().split("\n")
    print("\n".join(map(printable, lines)), file=file, flush=True)


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
        found = sweep(file, callback=lambda trial: tell(shown(trial)), **json.loads(changes))
        if as_json:
            tell(json.dumps({"kind": "sweep", "folder": found.folder, "trials": len(found.trials), "best": found.best}))
            return 0
        tell(found.summary())
        if found.best:
            tell(found.table())
            tell(f"nacelle train {shlex.quote(found.env)} {shlex.quote(str(found.best_file))} trains with the best settings; the best trials' curves are in {found.plot().path}")
        return 0
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 0
    except (Error, ImportError) as error:
        tell(str(error), sys.stderr)
        return 1
