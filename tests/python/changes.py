"""The Python package, from a build: what changes while an environment is stepped: parameters, snapshots, its source."""
import tempfile
import time
import warnings
from pathlib import Path

import gymnasium
import numpy as np

import nacelle
from cases import case, refused, run_cases


def cartpole(count=8, **settings):
    return nacelle.make_vec("cartpole", num_envs=count, device="cpu", **settings)


@case
def parameters_go_by_name():
    env = cartpole(gravity=5)
    assert env.param("gravity") == 5
    env.set_param("gravity", np.float32(6))
    assert env.param("gravity") == 6
    refused(nacelle.Error, lambda: env.set_param("gravity", {"uniform": [1, 2]}), "when the environment is loaded")
    drawn = cartpole(gravity={"uniform": [5, 6]})
    for low in (5, 1):
        drawn.set_param("gravity", {"uniform": (low, low + 1)})
        drawn.reset(seed=1)
        values = drawn.arrays["param.gravity"]
        assert (values >= low).all() and (values <= low + 1).all() and len(np.unique(values)) > 4


@case
def snapshots_are_kept_and_restored():
    env = cartpole()
    env.reset(seed=1)
    for step in range(5):
        seen = env.step(np.arange(8) % 2)[0]
    env.save_snapshots([4, 2])
    at = env.arrays["state.x"].copy()
    for step in range(5):
        env.step(np.ones(8, np.int64))
    shown, info = env.restore_snapshots([0, 1, 7], [1, 0, 1])
    assert info == {} and np.array_equal(shown[[0, 1, 7]], seen[[2, 4, 2]])
    assert np.array_equal(env.arrays["state.x"][[0, 1, 7]], at[[2, 4, 2]])
    assert np.array_equal(env.restore_snapshots(np.arange(8) == 5, [0])[0][5], seen[4])
    env.set_snapshot_chance(1)
    begun, _ = env.reset()
    assert all(any(np.array_equal(row, seen[which]) for which in (2, 4)) for row in begun)
    refused(nacelle.Error, lambda: env.restore_snapshots([0], [2]), "there is no snapshot 2 (there are 0 to 1)")
    refused(nacelle.Error, lambda: env.restore_snapshots([8], [0]), "there is no environment 8")
    refused(nacelle.Error, lambda: env.set_snapshot_chance(2), "from 0 to 1")
    refused(ValueError, lambda: env.restore_snapshots([-1], [0]), "numbered from 0")
    refused(ValueError, lambda: env.save_snapshots(np.ones(3, bool)), "(8,) is taken")
    held = cartpole(autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED)
    held.reset(seed=1)
    held.save_snapshots()
    done = np.zeros(8, bool)
    while not done.any():
        _, _, done, _, _ = held.step(np.ones(8, np.int64))
    held.restore_snapshots(done, np.flatnonzero(done))
    assert not held.step(np.zeros(8, np.int64))[2][done].any()


@case
def a_text_is_an_environment_and_may_change():
    from nacelle.engine import FOLDER
    text = (FOLDER / "env_sources" / "cartpole.cu").read_text()
    env = nacelle.Env.from_source(text, 4, device="cpu")
    env.reset(seed=1)
    assert env.reload() is False
    path = env.description["source"]
    Path(path).write_text(text.replace(".reward = 1.0f", ".reward = 2.0f"))
    assert env.reload() is True
    assert (env.step(np.zeros(4, np.int64))[1] == 2).all()
    kept, values = env.arrays["state.x_dot"], env.arrays["state.x_dot"].copy()      # of an array that the next version lacks
    Path(path).write_text(text.replace("x_dot", "speed"))
    assert env.reload() and np.array_equal(kept, values) and "state.x_dot" not in list(env.arrays)
    others = [cartpole(4) for _ in range(3)]
    for other in others:
        other.reset(seed=9)
        env.step(np.ones(4, np.int64))
    assert np.array_equal(kept, values)
    refused(nacelle.Error, lambda: env.arrays["state.x_dot"], "there is no array 'state.x_dot'")


@case
def a_version_with_a_file_that_others_could_write_is_not_reloaded():
    text = (nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text()
    with tempfile.TemporaryDirectory() as folder:
        author, more = Path(folder, "pond.cu"), Path(folder, "more.h")
        author.write_text('#include "more.h"\n' + text)
        more.write_text("")
        env = nacelle.make_vec(str(author), num_envs=2, device="cpu")
        more.write_text("// changed\n")
        assert env.reload()
        more.write_text("// changed again\n")
        more.chmod(0o666)
        refused(nacelle.Error, env.reload, "more.h: can be written by other users, so that this version is not compiled")


@case
def a_save_runs_from_a_later_step_on():
    text = (nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text()
    env = nacelle.Env.from_source(text, 4, device="cpu", reload_on_save=True)
    env.reset(seed=1)

    def steps_until(told):
        deadline = time.monotonic() + 100
        while not told(env.step(np.zeros(4, np.int64))[1]):
            assert time.monotonic() < deadline, "the save was not taken"
            time.sleep(0.01)

    def save(changed):
        Path(env.description["source"]).write_text(changed)

    save(text.replace(".reward = 1.0f", ".reward = 2.0f"))
    steps_until(lambda reward: (reward == 2).all())
    for changed, words in ((text.replace(".reward = 1.0f", ".rewrd = 1.0f"), "rewrd"),
                           (text.replace("struct Obs { float x,", "struct Obs { float more, x,").replace("return {s.x,", "return {0.0f, s.x,"),
                            "make a new environment of the file")):
        save(changed)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            steps_until(lambda reward: told and (reward == 2).all())
        assert told[0].category is RuntimeWarning and words in str(told[0].message), told[0]
        assert "version 2 keeps running" in str(told[0].message)


@case
def a_cell_of_a_notebook_is_an_environment():
    class Shell:
        user_ns = {}

        def register_magic_function(self, function, kind):
            assert kind == "cell" and function.__name__ == "nacelle"
            self.magic = function

    shell = Shell()
    nacelle.load_ipython_extension(shell)
    text = (nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text()
    shell.magic("poles num_envs=3 device=cpu", text)
    assert shell.user_ns["poles"].reset(seed=1)[0].shape == (3, 4)
    try:
        from IPython.core.error import UsageError
    except ImportError:
        UsageError = (ValueError, nacelle.Error)
    refused(UsageError, lambda: shell.magic("", text), "takes the name of a variable")
    refused(UsageError, lambda: shell.magic("poles number=3", text), "number=3 is not known; there is num_envs=")
    refused(UsageError, lambda: shell.magic("poles num_envs=few", text), "num_envs=few is no whole number")
    refused(UsageError, lambda: shell.magic("poles device=cpu", "struct {"), "source.cu")


run_cases()
