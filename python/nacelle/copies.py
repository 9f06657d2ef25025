"""Copies of one environment, side by side: what those of one agent and those of teams share."""
import json
import secrets
import tempfile
import warnings
import weakref
from pathlib import Path

import numpy as np
from gymnasium.vector import AutoresetMode

from nacelle import _engine, checks
from nacelle.checks import one_of, whole
from nacelle.engine import DEVICES, MOST_SEED, configuration, merge, shared_engine, written
from nacelle.outputs import opened
from nacelle.spaces import TYPES


_TAKEN = "env", "seed", "hooks"     # the keys of a configuration that an environment takes
# Keywords of an environment next to its parameters.
_KEYWORDS = "num_envs", "device", "engine", "output", "copy", "autoreset_mode", "render_mode", "settings", "reload_on_save"


class Arrays:
    """The arrays of an environment by name. `env.arrays["state.x"]` is the engine's memory itself, but a copy where NumPy
    cannot share it; assignment writes it."""

    def __init__(self, batch, door):
        self._batch, self._door = batch, door

    def __getitem__(self, name):
        return self._door.one(name)

    def __setitem__(self, name, values):
        array = self._batch.array(name)
        filled = np.empty(array.shape, TYPES[array.dtype])
        filled[...] = values
        self._door.ordered(lambda: array.write_from(filled))

    def __iter__(self):
        return iter(self._batch.names())


def loaded(source, num_envs, device, engine, settings, params):
    """An environment of the engine: a name, the path of a .cu, or one that is loaded already."""
    if isinstance(source, _engine.Batch):
        return source
    if not isinstance(settings or {}, dict):
        raise TypeError(f"settings are a dict such as {{'env': {{'levels': 50}}}}, not of the type {type(settings).__name__}")
    unknown = set(settings or {}) - set(_TAKEN)
    if unknown:
        raise ValueError(f"settings have {sorted(map(str, unknown))}; an environment takes {', '.join(_TAKEN)}")
    changes = {"env": {"params": dict(params)}}
    if num_envs is not None:
        changes["env"]["count"] = num_envs
        own = (settings or {}).get("env")
        if isinstance(own, dict) and own.get("count", num_envs) != num_envs:
            raise ValueError(f"num_envs is {num_envs}, and settings['env']['count'] is {own['count']!r}: give one of both")
    merge(changes, settings or {})
    if engine is not None and not isinstance(engine, _engine.Engine):
        raise TypeError(f"engine is {engine!r}; what nacelle.Engine() returns is taken, or a device")
    asked = configuration(source, changes)
    # As Gymnasium says: a first reset without a seed takes entropy, and copies without a seed differ.
    whole(asked.setdefault("seed", secrets.randbelow(MOST_SEED)), "seed", 0, MOST_SEED)
    if engine is not None and device != "auto" and (one_of(device, "device", DEVICES) == "cpu") != (engine.backend == "cpu"):
        raise ValueError(f"device is {device!r}, and the engine that was given has the backend {engine.backend!r}: give one of both")
    engine = shared_engine(device) if engine is None else engine
    asked = {key: asked[key] for key in _TAKEN if key in asked}
    try:
        return engine.load(written(asked))
    except _engine.Error:
        if params:
            _require_parameters(params, engine, asked)
        raise


def _require_parameters(keywords, engine, asked):
    """Raises TypeError for keywords that name no parameter of an environment. The engine refused `asked`."""
    params = {name: value for name, value in asked["env"]["params"].items() if name not in keywords}
    try:
        bare = json.loads(engine.load(written({**asked, "env": {**asked["env"], "params": params, "count": 1}})).describe())
    except _engine.Error:
        return      # the keywords are not why
    known = list(dict.fromkeys(field["name"].split(".")[1] for field in bare["fields"] if field["role"] == "param"))
    checks.keywords(keywords, bare["name"], known, _KEYWORDS)


def from_text(make, text, num_envs, settings):
    """What `make` makes of the text of a .cu, which is kept in a file as long."""
    folder = tempfile.TemporaryDirectory(prefix="nacelle-")
    path = Path(folder.name) / "source.cu"
    path.write_text(text)
    env = make(str(path), num_envs, **settings)
    env._folder = folder
    return env


def weakly(method):
    """A method as a function that does not keep its object: who has it may be kept by that object."""
    its = weakref.WeakMethod(method)
    return lambda *given: its()(*given)


class Copies:
    """Loading, arrays, parameters, snapshots and pictures."""

    autoreset_mode = AutoresetMode.SAME_STEP    # teams have no other
    _ended = None       # of one agent: those whose new episode the caller has not seen

    def _begin(self, batch, output, copy, render_mode, reload_on_save):
        if copy is not None and not isinstance(copy, (bool, np.bool_)):
            raise TypeError(f"copy is {copy!r}; True, False or None is taken")
        copy = copy if copy is None else bool(copy)
        self._batch = batch
        self.description = json.loads(batch.describe())
        self.num_envs, name = self.description["count"], self.description["name"]
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f'render_mode is {render_mode!r}; there is "rgb_array"')
        if render_mode and not self.description["has_draw"]:
            raise ValueError(f'{name} has no draw(), and render_mode="rgb_array" is its picture')
        self.render_mode, self.output = render_mode, output
        self.copies = output != "torch" if copy is None else bool(copy)     # whether a step's arrays are the caller's
        self._door = opened(output, batch, copy)
        self._arrays = Arrays(batch, self._door)
        self._watches = bool(reload_on_save)
        if self._watches:
            batch.watch()

    @property
    def arrays(self):
        """The engine's arrays by name."""
        self._open()
        return self._arrays

    def __reduce_ex__(self, _):
        raise TypeError("an environment cannot be pickled or copied: it holds memory of the engine. Make one in the other process; "
                        "save_snapshots() keeps states")

    @classmethod
    def from_source(cls, text, num_envs=64, **settings):
        """An environment from the text of a .cu, for notebooks."""
        return from_text(cls, text, num_envs, settings)

    def check(self):
        """Raises for an action of the GPU's memory that was not allowed, or a reward or an observation that is not
        finite, in a step before. Waits for the device."""
        self._open().check()

    def param(self, name):
        """A parameter, as a configuration writes it."""
        return json.loads(self._open().param(name))

    def set_param(self, name, value):
        """Sets a parameter to a number, or to a distribution as a configuration writes it."""
        self._open().set_param(name, written(value, name))

    def reload(self):
        """Compiles the source as it is now and goes on in that version. False where nothing has changed."""
        batch, changed = self._open(), False
        def reload():
            nonlocal changed
            changed = batch.reload()
        self._door.ordered(reload)
        if changed:
            self._find_arrays()
        return changed

    def save_snapshots(self, which=None):
        """The states of these environments, a mask or numbers, become snapshots 0, 1, ... in place of those that were kept: of
        all, unless it is told."""
        chosen = list(range(self.num_envs)) if which is None else self._chosen(which)
        batch = self._open()
        self._door.ordered(lambda: batch.save_snapshots(chosen))

    def restore_snapshots(self, which, snapshots):
        """The environments of `which`, a mask or numbers, go on from these snapshots, a number for each. Returns what reset does."""
        chosen, places, batch = self._chosen(which), self._numbers(snapshots, "snapshots"), self._open()
        self._door.ordered(lambda: batch.restore_snapshots(chosen, places))
        if self._ended is not None:
            self._ended[chosen] = False
        return self._shown()

    def set_snapshot_chance(self, chance):
        """From now on an episode begins in a random snapshot with this probability."""
        batch = self._open()
        self._door.ordered(lambda: batch.set_snapshot_chance(chance))

    def picture(self, which=0, pixels=480):
        """One environment as an image, RGB [height, width, 3]."""
        which, pixels = whole(which, "which", 0, self.num_envs - 1), whole(pixels, "pixels", 1, 8192)
        width, height, rgb = self._open().picture(which, pixels)
        return np.frombuffer(rgb, np.uint8).reshape(height, width, 3)

    def render(self):
        """An image of each environment, where it was made with render_mode="rgb_array"."""
        return tuple(self.picture(which) for which in range(self.num_envs)) if self.render_mode else None

    def close_extras(self, **_):
        """Lets go of the engine's arrays; those that are held elsewhere stay valid."""
        self._batch = self._door = self._arrays = None

    def _take_save(self):
        """Goes on in the version that was saved, where it is compiled; warns where it is none."""
        batch, told = self._open(), None
        if not batch.has_save():
            return
        def take():
            nonlocal told
            told = batch.take_save()
        self._door.ordered(take)
        if told is not None and told[0]:
            self._find_arrays()
        elif told is not None:
            warnings.warn(told[1], RuntimeWarning, stacklevel=3)

    def _chosen(self, which):
        """Numbers of environments from a mask or numbers."""
        which = np.asarray(which.cpu() if hasattr(which, "cpu") else which)
        if which.dtype == bool and which.shape != (self.num_envs,):
            raise ValueError(f"the mask of environments has the shape {which.shape}; ({self.num_envs},) is taken")
        return self._numbers(np.flatnonzero(which) if which.dtype == bool else which, "environments")

    @staticmethod
    def _numbers(given, what):
        """Whole numbers from 0, as a list."""
        given = np.asarray(given.cpu() if hasattr(given, "cpu") else given).reshape(-1)
        if given.size and (not np.issubdtype(given.dtype, np.integer) or given.min() < 0):
            raise ValueError(f"{what} are numbered from 0 in whole numbers, not {given[:4].tolist()}")
        return given.tolist()

    def _open(self):
        if self._batch is None:
            raise RuntimeError("the environment is closed: make another one")
        return self._batch

    def _mask(self, options):
        """The one option of reset, a mask of environments, or None."""
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        if options:
            raise ValueError(f'reset takes the option "reset_mask", not {sorted(options)}')
        if mask is None:
            return None
        mask = np.asarray(mask.cpu() if hasattr(mask, "cpu") else mask)
        if mask.dtype != bool or mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask is {mask.dtype} {mask.shape}; bool ({self.num_envs},) is taken")
        return mask

    def _begin_anew(self, mask, seed):
        """Begins episodes in the engine, everywhere or where a mask is true."""
        batch = self._open()
        if seed is not None and not 0 <= seed < 2**64:
            raise ValueError(f"seed is {seed}; 0 to 2^64 - 1 are taken")
        if mask is None:
            self._door.ordered(lambda: batch.reset(seed), anew=True)
            return
        if seed is not None:
            raise ValueError("a seed begins every environment anew: reset takes it without a reset_mask")
        chosen = np.flatnonzero(mask)
        if chosen.size:
            self._door.ordered(lambda: batch.reset_some(chosen.tolist()))

    @staticmethod
    def _shaped(actions, shape, what="actions"):
        """Actions that have the shape that is taken."""
        if not hasattr(actions, "shape"):
            actions = np.asarray(actions)
        if tuple(actions.shape) != shape:
            raise ValueError(f"{what} have the shape {tuple(actions.shape)}; {shape} is taken")
        return actions
