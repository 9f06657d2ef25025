"""The Python package, from a build: environments, their errors, memory that outlives them, and training."""
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from pathlib import Path

import gymnasium
import numpy as np

import nacelle

cases = []


def case(function):
    cases.append(function)
    return function


def refused(kind, call, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"nothing was refused; expected {words!r}")


def cartpole(count=8, **settings):
    return nacelle.make_vec("cartpole", num_envs=count, device="cpu", **settings)


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
    refused(nacelle.Error, lambda: cartpole(gravty=1), "gravity")
    refused(ValueError, lambda: nacelle.make_vec("cartpol", device="cpu"), "cartpole")
    refused(ValueError, lambda: nacelle.make_vec("cartpole", device="tpu"), '"cpu"')
    refused(ValueError, lambda: nacelle.make_vec("tag_gridworld", num_envs=2, device="cpu"), "team")
    swing = nacelle.make_vec("pendulum", num_envs=4, device="cpu")
    swing.reset(seed=1)
    refused(ValueError, lambda: swing.step(np.full((4, 1), np.nan, np.float32)), "not a number")
    refused(ValueError, lambda: swing.step(np.full((4, 1), 9, np.float32)), "is 9")
    env.close()
    refused(RuntimeError, lambda: env.step(np.zeros(8, np.int64)), "closed")


@case
def arrays_are_the_engines_memory_and_outlive_it():
    env = cartpole(copy=False)
    seen, _ = env.reset(seed=1)
    array = env._batch.array("obs")
    assert seen.ctypes.data == array.pointer
    before = seen.copy()
    env.step(np.ones(8, np.int64))
    assert not np.array_equal(seen, before)
    kept, x = seen.copy(), env.arrays["state.x"]
    at = x.copy()
    env.close()
    del env, array
    others = [cartpole(8) for _ in range(3)]
    for other in others:
        other.reset(seed=9)
    assert np.array_equal(seen, kept) and np.array_equal(x, at)


@case
def gymnasiums_checker_takes_one_environment():
    from gymnasium.utils.env_checker import check_env
    names = [name for name in gymnasium.registry if name.startswith("nacelle/")]
    assert "nacelle/CartPole-v1" in names and "nacelle/TagGridworld-v1" not in names, names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(gymnasium.make("nacelle/CartPole-v1").unwrapped)
    many = gymnasium.make_vec("nacelle/CartPole-v1", num_envs=4, vectorization_mode="vector_entry_point", device="cpu")
    assert many.reset(seed=1)[0].shape == (4, 4)


@case
def parameters_go_by_name():
    env = cartpole(gravity=5)
    assert env.param("gravity") == 5
    env.set_param("gravity", 6)
    assert env.param("gravity") == 6


@case
def a_text_is_an_environment_and_may_change():
    from nacelle.engine import FOLDER
    text = (FOLDER / "env_sources" / "cartpole.cu").read_text()
    env = nacelle.Env.from_source(text, 4, device="cpu")
    env.reset(seed=1)
    assert env.reload() is False
    path = env.description["source"]
    with open(path, "w") as file:
        file.write(text.replace(".reward = 1.0f", ".reward = 2.0f"))
    assert env.reload() is True
    assert (env.step(np.zeros(4, np.int64))[1] == 2).all()


@case
def a_forked_process_says_what_to_do():
    env = cartpole()
    env.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            env.step(np.zeros(8, np.int64))
        except RuntimeError as error:
            os._exit(0 if "spawn" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


@case
def a_run_learns_and_its_policy_acts():
    run = nacelle.train("cartpole", device="cpu", run={"total_steps": 60000})
    readings = list(run)
    assert readings and readings[-1]["steps"] >= 60000 and run.steps == readings[-1]["steps"]
    assert run.eval(50) > 60
    assert set(run.policy(np.random.default_rng(1).normal(size=(64, 4)))) <= {0, 1}
    refused(ValueError, lambda: run.policy(np.zeros((2, 3))), "[rows, 4]")


@case
def control_c_ends_a_call():
    run = nacelle.train("cartpole", device="cpu", run={"total_steps": 10**9, "report_every": 1000000},
                        solved={"return": 1e9})
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    refused(KeyboardInterrupt, lambda: list(run), "")
    assert 0 < run.steps < 10**9


@case
def the_documentations_blocks_run():
    text = Path(sys.argv[1]).read_text() if len(sys.argv) > 1 else ""
    blocks = re.findall(r"```python run\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    exec("\n".join(blocks), {})


failed = 0
for test in cases:
    try:
        test()
        print("ok", test.__name__)
    except Exception:
        failed += 1
        print("FAILED", test.__name__)
        traceback.print_exc(file=sys.stdout)
sys.stdout.flush()
print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
raise SystemExit(1 if failed else 0)
