"""Devices: each Engine is one, with its compiler and its plugins."""
import ctypes
import functools
import importlib.util
import json
import math
import os
import re
from pathlib import Path

from nacelle import _engine
from nacelle.checks import one_of, whole

DEVICES = "auto", "cuda", "cpu"
MOST_SEED = 2**53      # of a configuration
FOLDER = Path(__file__).parent.absolute()
ENVIRONMENTS = FOLDER / "env_sources"      # those that ship
PLUGIN_FOLDERS = [FOLDER / "plugins"]


def Engine(device="auto", threads=0):
    """Opens a device: "cuda", "cpu", or "auto", which takes a GPU where one works."""
    if one_of(device, "device", DEVICES) != "cpu":
        open_nvrtc()
    return _engine.Engine(device, whole(threads, "threads", 0, 1024), env_folders(), PLUGIN_FOLDERS)


def env_folders():
    """Where a name of an environment is looked for, in this order: as the command line does."""
    return [Path.cwd(), Path.cwd() / "env_sources", ENVIRONMENTS]


@functools.cache
def open_nvrtc():
    """Opens NVRTC where a wheel of PyPI has it, which no loader searches; the engine then finds it by its name."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations if found else []:
        for name in ("libnvrtc-builtins.so*", "libnvrtc.so*"):
            for path in Path(folder).glob(f"*/lib/{name}"):
                ctypes.CDLL(str(path))


_shared: dict = {}      # by device: the process that opened it, and the engine


def shared_engine(device):
    """The engine that all environments of a device share unless they are given one. A forked process opens one of its own on a
    CPU; a GPU's says what to do, since its driver does not work on in a forked process."""
    process, engine = _shared.get(one_of(device, "device", DEVICES), (None, None))
    if engine is None or process != os.getpid() and engine.backend == "cpu":
        engine = Engine(device)
        _shared[device] = os.getpid(), engine
    return engine


def configuration(source, changes):
    """The settings beside a source, with changes over them as `--set` lays them: those of another learner are dropped."""
    return json.loads(_engine.configuration(text(str(source), "the environment"), [f"{key}={written(value, key)}" for key, value in changes.items()], env_folders(), PLUGIN_FOLDERS))


def written(settings, where=""):
    """The text of settings: numbers of NumPy and paths are taken as Python's own."""
    try:
        return json.dumps(plain(settings, where))
    except RecursionError:
        raise _engine.Error(f"{where or 'the settings'}: is nested too deeply") from None


def plain(value, path):
    """A value of a setting as JSON has it; `path` says where it is."""
    if isinstance(value, dict):
        return {text(str(key), path): plain(each, f"{path}.{key}" if path else str(key)) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, f"{path}[{i}]") for i, each in enumerate(value)]
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise _engine.Error(f"{path} is {value}; a finite number is taken")
    if isinstance(value, int) and value.bit_length() > 64:
        raise _engine.Error(f"{path} is a whole number of {value.bit_length()} bits; at most 64 are taken")
    if isinstance(value, str):
        return text(value, path)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise TypeError(f"{path} is of the type {type(value).__name__}; a setting is a number, a text, a list or a dict")


def text(value, path):
    """A text that a file's name and JSON can have."""
    if re.search("[\0\ud800-\udfff]", value):
        raise _engine.Error(f"{path} is {ascii(value)}, which has a character that is no text")
    return value


def merge(settings, changes):
    """Objects key by key; other values are replaced."""
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(settings.get(key), dict):
            merge(settings[key], value)
        else:
            settings[key] = value
