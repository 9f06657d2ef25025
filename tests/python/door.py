"""The Python package, from a build: environments, their errors, memory that outlives them, and the documentation's blocks."""
import copy
import os
import pickle
import re
import sys
import tempfile
import warnings
import weakref
from pathlib import Path

import gymnasium
import numpy as np

import nacelle
from cases import case, refused, run_cases
from kept_arrays import cartpole
from modes import hold_alike


@case
def the_same_seed_gives_the_same_episodes():
    env = cartpole()
    actions = np.arange(8) % 2
    runs = []
    for _ in range(2):
        seen, _ = env.reset(seed=7)
        runs.append([seen] + [env.step(actions)[0] for _ in range(30)])
    assert np.array_equal(*map(np.stack, runs))
    assert not np.array_equal(env.reset(seed=8)[0], runs[0][0])


@case
def copies_that_no_seed_tells_apart_are_no_twins():
    one = lambda **settings: gymnasium.make("nacelle/CartPole-v1", **settings).reset()[0]
    assert not np.array_equal(one(), one())
    assert not np.array_equal(cartpole().reset()[0], cartpole().reset()[0])
    assert not np.array_equal(*gymnasium.make_vec("nacelle/CartPole-v1", num_envs=2, vectorization_mode="sync").reset()[0])
    teams = [nacelle.make_vec("tag_gridworld", 8, device="cpu").reset()[0]["tagger"] for _ in range(2)]
    assert not np.array_equal(*teams)
    assert np.array_equal(one(settings={"seed": 3}), one(settings={"seed": 3}))


TYPES = """#include <nacelle/env.h>
struct Types {
    static constexpr int time_limit = 4;
    struct Params {};
    struct State { double fine; int64_t whole; uint64_t bits; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { nacelle::Array<double, 2> far; nacelle::Array<int64_t, 3> count; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s = {}; }
    static nacelle::Outcome step(State&, const Action&, const Params&, nacelle::Rng&) { return {}; }
    static void observe(const State& s, const Params&, Obs& obs) { obs.far.fill(s.fine); obs.count.fill(s.whole); }
};
NACELLE_ENV(Types)
"""


@case
def arrays_of_every_type_are_written_by_name():
    env = nacelle.Env.from_source(TYPES, 8, device="cpu")
    for name, value in (("total", 2.5), ("state.fine", 1e300), ("state.whole", -2**62), ("state.bits", 2**64 - 1)):
        env.arrays[name] = value
        assert (env.arrays[name] == value).all(), name
    assert env.arrays["total"].dtype == np.float64
    env.reset(seed=1)
    assert env.observation_space.contains(env.step(np.zeros(8, int))[0])


@case
def an_environment_goes_with_its_last_reference():
    for name, actions in (("cartpole", np.zeros(4, int)), ("connect_four", None)):
        env = nacelle.make_vec(name, 4, device="cpu")
        env.reset(seed=1)
        if actions is not None:
            env.step(actions)
        held = weakref.ref(env)
        del env
        assert held() is None, name


@case
def spaces_hold_what_steps_return():
    for name in ("cartpole", "pendulum", "rooms"):
        env = nacelle.make_vec(name, num_envs=4, device="cpu")
        assert isinstance(env, gymnasium.vector.VectorEnv)
        assert env.observation_space.contains(env.reset(seed=1)[0]), name
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen), name
        assert reward.dtype == np.float32 and terminated.dtype == truncated.dtype == np.bool_
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP


@case
def an_episode_that_ends_leaves_its_last_observation():
    env = cartpole()
    env.reset(seed=1)
    for _ in range(100):
        seen, _, terminated, _, info = env.step(np.ones(8, np.int64))
        assert terminated.any() == ("final_obs" in info)
        if terminated.any():
            last = info["final_obs"][terminated]
            assert (np.abs(last[:, 2]) > 0.2).all() and (np.abs(seen[terminated]) <= 0.05).all()
            return
    raise AssertionError("no episode has ended")


@case
def what_may_not_be_is_refused_with_a_sentence():
    env = cartpole()
    env.reset(seed=1)
    refused(ValueError, lambda: env.step(np.full(8, 2)), "action.push of environment 0 is 2; it is one of 0 to 1")
    refused(ValueError, lambda: env.step(np.zeros(7, np.int64)), "(8,) is taken")
    refused(TypeError, lambda: env.step(np.zeros(8)), "whole numbers")
    refused(TypeError, lambda: cartpole(gravty=1), "CartPole got an unexpected keyword argument 'gravty'; did you mean 'gravity'?")
    refused(TypeError, lambda: nacelle.make_vec("cartpole", num_env=4, device="cpu"), "'num_env'; did you mean 'num_envs'?")
    refused(TypeError, lambda: gymnasium.make("nacelle/CartPole-v1", zzz=1), "'zzz'; there is gravity, cart_mass, ")
    refused(nacelle.Error, lambda: cartpole(settings={"env": {"params": {"gravty": 1}}}), "did you mean 'gravity'?")
    refused(nacelle.Error, lambda: cartpole(gravity="heavy"), "env.params.gravity")
    refused(ValueError, lambda: cartpole(gravity=float("nan")), "env.params.gravity is nan; a finite number is taken")
    refused(TypeError, lambda: cartpole(gravity=1j), "env.params.gravity is of the type complex")
    refused(ValueError, lambda: nacelle.make_vec("cartpol", device="cpu"), "cartpole")
    refused(ValueError, lambda: nacelle.make_vec("cartpole", device="tpu"), '"cpu"')
    refused(ValueError, lambda: nacelle.Env("tag_gridworld", 2, device="cpu"), "team")
    swing = nacelle.make_vec("pendulum", num_envs=4, device="cpu")
    swing.reset(seed=1)
    refused(ValueError, lambda: swing.step(np.full((4, 1), np.nan, np.float32)), "not a number")
    refused(ValueError, lambda: swing.step(np.full((4, 1), 9, np.float32)), "is 9")
    for actions in (np.arange(8).astype(">i8") % 2, np.zeros(8, ">i4")):
        refused(TypeError, lambda: env.step(actions.astype(actions.dtype.newbyteorder(">"))), "another machine's order")
    refused(ValueError, lambda: env.reset(seed=2**64), "2^64 - 1")
    refused(ValueError, lambda: env.picture(-1), "from 0 to 7")
    refused(ValueError, lambda: env.picture(0.5), "which is 0.5; a whole number from 0")
    refused(ValueError, lambda: nacelle.make_vec("cartpole", 2, device="cuda", engine=nacelle.Engine("cpu")), "the backend 'cpu': give one of both")
    refused(ValueError, lambda: env.picture(0, 0), "pixels is 0")
    refused(ValueError, lambda: cartpole(settings={"envs": {}}), "['envs']; an environment takes env, seed, hooks")
    refused(TypeError, lambda: cartpole(settings=3), "settings are a dict")
    refused(ValueError, lambda: cartpole(settings={"env": {"count": 9}}), "'count'] is 9: give one of both")
    refused(ValueError, lambda: cartpole(settings={"env": {"params": {"gravity": 10**400}}}), "a whole number of 1329 bits")
    refused(ValueError, lambda: cartpole(settings={"seed": "a"}), "seed is 'a'; a whole number from 0")
    refused(TypeError, lambda: cartpole(engine=3), "engine is 3; what nacelle.Engine() returns is taken")
    refused(TypeError, lambda: cartpole(copy="no"), "copy is 'no'; True, False or None is taken")
    refused(ValueError, lambda: cartpole(output=["numpy"]), 'there is "numpy", "torch" and "jax"')
    refused(ValueError, lambda: cartpole(autoreset_mode="x"), "AutoresetMode.NEXT_STEP")
    refused(ValueError, lambda: nacelle.Engine("cpu", threads="a"), "threads is 'a'; a whole number from 0 to 1024")
    assert not cartpole(copy=np.False_).copies
    for copied in (pickle.dumps, copy.deepcopy, copy.copy):
        refused(TypeError, lambda: copied(env), "cannot be pickled or copied")
    env.close()
    refused(RuntimeError, lambda: env.step(np.zeros(8, np.int64)), "closed")
    refused(RuntimeError, lambda: env.arrays["obs"], "closed")


@case
def every_type_of_action_is_taken():
    env, random = cartpole(1000), np.random.default_rng(1)
    chosen, moved = random.integers(0, 2, 1000), []
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, bool):
        env.reset(seed=1)
        moved.append(env.step(chosen.astype(kind))[0])
        if kind is not bool:
            bad = chosen.astype(kind)
            bad[[700, 300]] = np.iinfo(kind).max, np.iinfo(kind).min or 2
            refused(ValueError, lambda: env.step(bad), "action.push of environment 300 is")
    assert all(np.array_equal(seen, moved[0]) for seen in moved)
    refused(TypeError, lambda: env.step(chosen.astype(np.uint64)), "int64")


@case
def masks_are_in_info():
    env = nacelle.make_vec("rooms", num_envs=4, device="cpu")
    _, info = env.reset(seed=1)
    assert info["action_mask"].shape == (4, 5) and info["action_mask"].dtype == np.int8
    assert env.single_action_space.sample(mask=info["action_mask"][0]) in range(5)
    kept = [env.step(np.full(4, step % 5))[4]["action_mask"] for step in range(12)]
    env.reset(seed=1)
    assert all(np.array_equal(mask, env.step(np.full(4, step % 5))[4]["action_mask"]) for step, mask in enumerate(kept))
    assert "action_mask" not in cartpole().reset()[1]
    one = gymnasium.make("nacelle/Rooms-v1")
    assert one.reset(seed=1)[1]["action_mask"].shape == (5,)


@case
def an_environment_is_drawn():
    env = cartpole(2, render_mode="rgb_array")
    env.reset(seed=1)
    images = env.render()
    assert len(images) == 2 and images[0].dtype == np.uint8 and images[0].shape[2] == 3 and len(np.unique(images[0])) > 2
    assert cartpole().render() is None
    one = gymnasium.make("nacelle/CartPole-v1", render_mode="rgb_array")
    one.reset(seed=1)
    assert one.render().shape == images[0].shape
    refused(ValueError, lambda: cartpole(render_mode="human"), "rgb_array")


@case
def jax_gets_copies():
    refused(ValueError, lambda: cartpole(output="tensorflow"), '"torch"')
    try:
        import jax
    except ImportError:
        return
    refused(ValueError, lambda: cartpole(output="jax", copy=False), "never changes")
    env, host = cartpole(output="jax"), cartpole()
    first, _ = env.reset(seed=1)
    host.reset(seed=1)
    before = np.array(first)
    seen, _, terminated, _, _ = env.step(jax.numpy.ones(8, "int32"))
    assert isinstance(seen, jax.Array) and np.array_equal(seen, host.step(np.ones(8, np.int64))[0])
    assert np.array_equal(first, before) and terminated.dtype == bool
    hold_alike("jax", jax.numpy.asarray)


@case
def an_engine_is_opened_by_its_name():
    engine = nacelle.Engine("cpu", threads=1)
    assert engine.backend == "cpu" and engine.why
    env = nacelle.make_vec("cartpole", num_envs=4, engine=engine)
    assert env.reset(seed=1)[0].shape == (4, 4)


@case
def names_are_found_where_the_command_line_looks():
    text, before = Path(nacelle.make_vec("cartpole", num_envs=1).description["source"]).read_text(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("env_sources").mkdir()
            Path("env_sources/pond.cu").write_text(text)
            assert Path(nacelle.make_vec("pond", num_envs=2).description["source"]) == Path.cwd() / "env_sources/pond.cu"
            Path("pond.cu").write_text(text)
            assert Path(nacelle.make_vec("pond", num_envs=2).description["source"]) == Path.cwd() / "pond.cu"
            refused(RuntimeError, lambda: nacelle.make_vec("pand"), "(did you mean 'pond'?)")
            Path("brisk.json").write_text('{"env": {"source": "pond", "count": 3, "params": {"force": 12}}}')
            brisk = nacelle.make_vec("brisk")
            assert (brisk.description["name"], brisk.num_envs) == ("CartPole", 3)
            run = nacelle.train("brisk", device="cpu", run={"total_steps": 384})
            assert list(run) and run.steps == 384
            for name, file in ("pond", "pond.cu"), ("brisk", "brisk.json"), ("hill", "env_sources/hill.cu"):
                Path(file).write_text(Path(file).read_text() if Path(file).exists() else text)
                Path(file).chmod(0o666)
                refused(RuntimeError, lambda name=name: nacelle.make_vec(name), "can be written by other users, so that its name alone does not run it")
        finally:
            os.chdir(before)


@case
def two_engines_step_side_by_side_alike():
    engines = [nacelle.Engine("cpu", threads=1), nacelle.Engine("cpu", threads=2)]
    envs = [nacelle.make_vec("cartpole", num_envs=64, engine=engine) for engine in engines]
    seen = [env.reset(seed=1)[0] for env in envs]
    for step in range(50):
        assert np.array_equal(*seen)
        actions = np.random.default_rng(step).integers(0, 2, 64)
        seen = [env.step(actions)[0] for env in envs]
    envs.pop().close()
    del engines[1]
    assert envs[0].step(actions)[0].shape == (64, 4)


@case
def a_forked_process_says_what_to_do():
    env = cartpole()
    env.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        good = False
        try:
            own = cartpole()
            own.reset(seed=1)
            own.step(np.zeros(8, np.int64))
            refused(RuntimeError, lambda: env.step(np.zeros(8, np.int64)), "spawn")
            good = True
        finally:
            os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        many = gymnasium.make_vec("nacelle/CartPole-v1", num_envs=2, vectorization_mode="async")
    assert many.reset(seed=1)[0].shape == (2, 4)
    many.close()


@case
def the_documentations_blocks_run():
    text = Path(sys.argv[1]).read_text() if len(sys.argv) > 1 else ""
    blocks = re.findall(r"```python run\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 4
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec("\n".join(blocks), {})
        finally:
            os.chdir(before)


run_cases()
