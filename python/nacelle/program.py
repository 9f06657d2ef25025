"""The command line as other modules call it: what it computes is computed there alone."""
import json
import os
import signal
import subprocess
import tempfile
import threading

from nacelle._engine import Error
from nacelle.checks import one_of
from nacelle.engine import DEVICES, FOLDER

PROGRAM = FOLDER / "bin" / "nacelle"
# Of launchers of ranks: a command trains alone, also where this process is one of several.
LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "SLURM_", "OMPI_", "PMI_", "PMIX_")


def alone(variables):
    """The variables of a process without those by which a launcher numbers it among others."""
    return {name: value for name, value in variables.items()
            if not any(name == each or each.endswith("_") and name.startswith(each) for each in LAUNCHERS)}


class Command:
    """A command that runs with --json. Iterating gives its lines as dicts; one that fails raises nacelle.Error with what
    the command said. Ctrl-C of the terminal reaches it through stop() alone, since a second signal would cost its checkpoint.
    A lock that it holds, a descriptor, is free when the command has ended, also where this process was killed before."""

    def __init__(self, *words, holds=None):
        self._said = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen([PROGRAM, *map(str, words), "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=self._said, text=True, start_new_session=True, env=alone(os.environ),
                                         pass_fds=() if holds is None else (holds,))
        self._stopped, self._lock = False, threading.Lock()

    def __iter__(self):
        failures = []
        with self._process.stdout as lines:
            for text in lines:
                line = json.loads(text)
                if "failure" in line:
                    failures.append(f"seed {line['seed']}: {line['failure']}")
                yield line
        status = self._process.wait()
        self._said.seek(0)
        if status != 0 and not self._stopped:
            said = self._said.read().strip() or "\n".join(failures)
            raise Error(said or f"nacelle {self._process.args[1]} ended with {status} and said nothing")

    def wait(self):
        """Waits for its end; what it says until then is not read."""
        self._process.stdout.close()
        self._process.wait()

    def stop(self):
        """Asks the command to end in order: a training run saves a checkpoint."""
        with self._lock:
            if not self._stopped and self._process.poll() is None:
                self._stopped = True
                os.kill(self._process.pid, signal.SIGINT)


def lines_of(*words):
    """All lines of a command. An interruption ends it in order, too."""
    command = Command(*words)
    try:
        return list(command)
    except KeyboardInterrupt:
        command.stop()
        command.wait()
        raise


def machine(device):
    """The words that say where a command runs."""
    return ("--backend", one_of(device, "device", DEVICES))
