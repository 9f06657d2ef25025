"""Training from Python."""
import sys
import tempfile
from pathlib import Path

import numpy as np

from nacelle import _engine, checks
from nacelle.engine import MOST_SEED, configuration, shared_engine, written
from nacelle.program import lines_of, machine


# The keys of a configuration, keywords here.
_OBJECTS = "env", "seed", "hooks", "learner", "policies", "run", "solved", "reload"


class Run:
    """A training run. Iterating over it gives a dict of metrics at each reading."""

    def __init__(self, training, folder=""):
        self._training = training
        self.folder = str(folder)       # "" where nothing is kept
        self.history = []

    def __iter__(self):
        more = True
        while more:
            before = self.steps
            more = self._training.iterate()
            if not more and self.steps == before:       # it had ended already
                return
            self.history.append({"steps": self.steps, **self._training.metrics()})
            yield self.history[-1]

    @property
    def steps(self):
        """The steps of all environments together."""
        return self._training.steps

    @property
    def solved(self):
        """Whether the mean return that the settings ask for was reached."""
        return self._training.solved

    def eval(self, episodes=100):
        """The mean return of the greedy policy over whole episodes."""
        return self._training.evaluate(checks.whole(episodes, "episodes", 1, 2**31 - 1))

    def policy(self, observations, name="", sample=False, masks=None, memory=None):
        """An action for each observation, by the policy as it is now: see act()."""
        return act(self._training.policy(name), observations, sample, masks, memory)

    def remembered(self, count, name=""):
        """What a policy remembers of `count` environments where episodes begin, to be given as `memory`; None of one that
        remembers nothing."""
        floats, rows = self._training.policy(name).memory, checks.whole(count, "count", 0, 2**31 - 1)
        return np.zeros((rows, floats), np.float32) if floats else None

    def frame(self):
        """The metrics so far as a frame of pandas, a row for each reading."""
        import pandas
        return pandas.DataFrame(self.history)

    def save(self):
        """Saves a checkpoint now."""
        self._training.save()

    def stop(self):
        """Ends the run."""
        self._training.stop()


def act(policy, observations, sample=False, masks=None, memory=None):
    """Actions of a trained policy, one for each observation, as an environment shows them: whole numbers where all parts are
    choices, else floats. Masks forbid choices by 0. A policy that remembers takes `memory`, float32 [rows, policy.memory], which it changes, and which is 0
    where an episode begins. Tensors of PyTorch give a tensor on their device; a GPU's come to the host and go back."""
    if not isinstance(policy, _engine.Policy):
        raise TypeError(f'policy is {policy!r}; a nacelle.Policy is taken, such as nacelle.Policy("runs/mine")')
    torch = sys.modules.get("torch")
    parts = [observations]
    if isinstance(observations, dict) and observations:      # the numbers first, as networks take them
        parts = [observations[name] for name in sorted(observations, key=lambda name: name != "obs")]
    if torch is not None and isinstance(parts[0], torch.Tensor):
        host = lambda given: given.detach().cpu().numpy() if isinstance(given, torch.Tensor) else given
        seen = dict(enumerate(map(host, parts))) if len(parts) > 1 else host(parts[0])
        return torch.from_numpy(act(policy, seen, sample, host(masks), memory)).to(parts[0].device)
    parts = [_numbers(part, "observations") for part in parts]
    if len({part.shape[:1] for part in parts}) > 1:
        raise ValueError(f"observations have the shapes {[part.shape for part in parts]}; each part has a row for each environment")
    rows = [part.reshape(len(part), -1) if part.ndim > 2 or part.ndim and len(parts) > 1 else part for part in parts]
    seen = np.ascontiguousarray(np.concatenate(rows, 1) if len(rows) > 1 else rows[0], np.float32)
    if seen.ndim != 2 or seen.shape[1] != policy.inputs:
        raise ValueError(f"observations have the shape {seen.shape}; [rows, {policy.inputs}] is taken")
    if masks is not None:
        masks = np.ascontiguousarray(_numbers(masks, "masks") != 0, np.uint8)
        if masks.shape != (len(seen), policy.choices):
            raise ValueError(f"masks have the shape {masks.shape}; ({len(seen)}, {policy.choices}) is taken")
    if policy.memory and (not isinstance(memory, np.ndarray) or memory.dtype != np.float32 or memory.shape != (len(seen), policy.memory)):
        raise ValueError(f"the policy remembers: memory is a float32 array ({len(seen)}, {policy.memory}), as remembered() makes it")
    if memory is not None and not policy.memory:
        raise ValueError("the policy remembers nothing: it takes no memory")
    actions = np.empty((len(seen), len(policy.actions)), np.float32)
    policy.act_into(seen, actions, masks, memory, sample)
    if all(choices for _, choices, _, _ in policy.actions):
        actions = actions.astype(np.int64)
        return actions[:, 0] if actions.shape[1] == 1 else actions
    return actions


def _numbers(given, what):
    """An array of real numbers."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise ValueError(f"{what} are rows of different lengths; an array [rows, numbers] is taken") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} are of the type {type(given).__name__} ({array.dtype}); an array of real numbers is taken")
    return array


class Seeds:
    """The runs of several seeds, which have ended: `folder`, `runs` by seed, and the mean, the interval, the best and the worst
    of each number in `summary`. nacelle.load(seeds.runs[1]["out"]) opens one."""

    def __init__(self, lines):
        self.runs = {line["seed"]: line for line in lines if line["kind"] == "seed"}
        self.summary = next(line for line in lines if line["kind"] == "seeds")
        self.folder = self.summary["out"]

    @property
    def solved(self):
        """How many seeds have reached the mean return that the settings ask for."""
        return self.summary["solved"]


def train(source, *, device="auto", out="", callback=None, seeds=None, **settings):
    """Begins a run: settings are those of a configuration, such as learner={"name": "ppo"}. With a callback, which gets
    each reading's metrics, it trains to the end. With seeds=10 ten seeds train to their ends, side by side where they
    have room, in the folder `out` or the first free one of runs/NAME-1, -2."""
    checks.keywords(settings, "train", _OBJECTS, ("device", "out", "callback", "seeds"))
    checks.callback(callback)
    out = "" if out is None or out == "" else checks.path(out, "out", "runs/mine")
    asked = configuration(source, settings)
    checks.whole(asked.get("seed", 1), "seed", 0, MOST_SEED)
    if seeds is not None:
        if callback is not None:
            raise ValueError("seeds=: the runs of several seeds take no callback; their metrics lie in their folders")
        return train_seeds(asked, checks.whole(seeds, "seeds", 1, 10000), out, device)
    run = Run(_engine.begin_run(shared_engine(device), written(asked), out), out)
    if callback is not None:
        for metrics in run:
            callback(metrics)
    return run


def train_seeds(settings, seeds, out, device):
    """Several seeds to their ends, with whole settings."""
    with tempfile.TemporaryDirectory(prefix="nacelle-") as folder:
        path = Path(folder) / "config.json"
        path.write_text(written(settings))
        place = ["--out", out] if out else []
        return Seeds(lines_of("train", settings["env"]["source"], path, "--seeds", seeds, *place, *machine(device)))


def models_of(model):
    """The file of a policy's model, or a dict of such files by policy, as the engine takes them."""
    if model is None:
        return []
    if isinstance(model, dict):
        return [f"{policy}={checks.path(path, f'model[{policy!r}]', 'net.pt')}" for policy, path in model.items()]
    return [checks.path(model, "model", "net.pt")]


def resume(folder, *, device="auto", model=None, **changes):
    """Goes on with the run in a folder. `model` names a file of TorchScript or AOTInductor that a policy's network lies in."""
    checks.keywords(changes, "resume", _OBJECTS, ("device", "model"))
    place = checks.path(folder, "folder", "runs/mine")
    return Run(_engine.resume_run(shared_engine(device), place, written(changes), models_of(model)), place)


def load(folder, checkpoint="best", *, device="auto", model=None):
    """Opens a run at a checkpoint, "best", "latest" or a number of steps; its folder stays as it is. `model` is as for resume()."""
    place = checks.path(folder, "folder", "runs/mine")
    if not isinstance(checkpoint, str):
        checkpoint = str(checks.whole(checkpoint, 'checkpoint, where not "best" or "latest",', 0, 2**53))
    return Run(_engine.load_run(shared_engine(device), place, checkpoint, models_of(model)), place)
