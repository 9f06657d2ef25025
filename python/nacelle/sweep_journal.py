"""The journal in which Optuna keeps a sweep's trials, a line for each change."""
import fcntl
import math
import os
import threading

from nacelle._engine import Error
from nacelle.sweep_file import damaged


class Lock:
    """A lock in the form that Optuna asks for, on a file closed to other users. A kill frees the lock."""

    def __init__(self, path):
        self._path, self._held = path, threading.local()

    def acquire(self):
        self._held.file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._held.file, fcntl.LOCK_EX)
        return True

    def release(self):
        os.close(self._held.file)


class WholeLines(Lock):
    """The journal's lock. Taking the lock cuts off a last line without an end, left by a killed process or a full disk: the next line
    would continue the torn one, and no process could read on."""

    def __init__(self, path):
        super().__init__(path.with_name("journal.lock"))       # Optuna has its own trials.journal.lock
        self._journal = path

    def acquire(self):
        super().acquire()
        try:
            self._cut()
        except BaseException:
            self.release()
            raise
        return True

    def _cut(self):
        if not self._journal.exists():
            return
        with open(self._journal, "r+b") as file:
            end = begin = file.seek(0, os.SEEK_END)
            while begin > 0:
                first = max(0, begin - 4096)
                file.seek(first)
                found = file.read(begin - first).rfind(b"\n")
                begin = first + found + 1 if found >= 0 else first
                if found >= 0:
                    break
            if begin < end:
                file.truncate(begin)


def opened(optuna, path):
    """Optuna's storage in this file. An error names the damaged line."""
    journal = optuna.storages.journal

    class Journal(journal.JournalFileBackend):
        line = 0    # the last one read

        def read_logs(self, log_number_from):
            self.line = log_number_from
            try:
                for log in super().read_logs(log_number_from):
                    if isinstance(log, dict) and not all(map(math.isfinite, log.get("values") or ())):
                        raise ValueError("a score is no number")
                    self.line += 1
                    yield log
            except (ValueError, TypeError) as error:
                raise damaged(f"{path}:{self.line + 1}", error) from None

        def append_logs(self, logs):
            try:
                super().append_logs(logs)
            except OSError as error:
                raise Error(f"{path}: cannot be written: {error.strerror}") from None

    lock = WholeLines(path)
    try:
        backend = Journal(str(path), lock)
        lock.acquire()
        lock.release()
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror}") from None
    try:
        return optuna.storages.JournalStorage(backend)
    except Error:
        raise
    except Exception as error:    # a line of JSON that Optuna did not write
        raise damaged(f"{path}:{backend.line}", repr(error)) from None
