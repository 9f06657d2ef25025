"""A worker of a sweep on another machine, or beside others on this one: it trains trials of a study that all share.
`main(FOLDER)` is one task of a Slurm array."""
import json
import os
import signal
from pathlib import Path

from nacelle._engine import Error
from nacelle.sweep_file import SweepFile
from nacelle.sweep_local import run_trials
from nacelle.sweep_study import Study, needed, quiet

ASKED = "asked.json"    # what the workers of a sweep are told, in its folder


def work(folder, worker):
    """Trains trials until there is none left."""
    told = SweepFile(json.loads((Path(folder) / ASKED).read_text()), {})
    with quiet(needed()):
        run_trials(told, Study(told, worker), None, 1)


def main(folder):
    """One task of an array. Slurm ends it by SIGTERM where it takes the node back, and starts it again: then it goes on."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        work(folder, f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}")
    except KeyboardInterrupt:
        return 0
    except Error as error:
        print(f"failed: {error}", flush=True)
        return 1
    return 0

