"""The Python package, from a build: training, and what is kept of it."""
import json
import os
import signal
import tempfile
import threading
from pathlib import Path

import gymnasium
import numpy as np

import nacelle
from cases import case, refused, run_cases
from nacelle.trackers import kept_runs


@case
def a_run_learns_and_its_policy_acts():
    run = nacelle.train("cartpole", device="cpu", run={"total_steps": 60000})
    readings = list(run)
    assert readings and readings[-1]["steps"] >= 60000 and run.steps == readings[-1]["steps"]
    assert run.eval(50) > 60
    assert list(run.frame()["steps"]) == [reading["steps"] for reading in readings]
    assert list(run) == [] and run.history == readings      # of a run that has ended there is no more
    assert set(run.policy(np.random.default_rng(1).normal(size=(64, 4)))) <= {0, 1}
    refused(ValueError, lambda: run.policy(np.zeros((2, 3))), "[rows, 4]")
    assert (run.policy(np.zeros((5, 4)), masks=np.tile([0, 1], (5, 1))) == 1).all()
    refused(ValueError, lambda: run.policy(np.zeros((5, 4)), masks=np.ones(5)), "(5, 2) is taken")
    assert run.remembered(5) is None
    refused(ValueError, lambda: run.policy(np.zeros((5, 4)), memory=np.zeros((5, 1), np.float32)), "remembers nothing")
    refused(ValueError, lambda: nacelle.train("cartpole", device="cpu", learner={"gamma": float("nan")}), "learner.gamma is nan")


@case
def a_damaged_run_is_no_trackers():
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "hostile")
        Path(folder, "secret.json").write_text('{"word": 1}')
        run.mkdir()
        settings, readings = run / "config.json", run / "metrics.jsonl"
        settings.write_text('{"env": {"count": 3}}')
        readings.write_text('{"step": 1, "loss": 2, "huge": 1' + 400 * "0" + '}\n{"step": 2, "lo')
        [kept] = kept_runs(run)
        assert kept.readings == [(1, {"loss": 2})] and kept.settings() == {"env.count": 3}
        for path, text, words in ((settings, b"[]", "it is no object"), (settings, b"[" * 100000, "config.json: is damaged"), (settings, b'"\xff"', "config.json: is damaged"),
                                  (readings, b"{}\n", "metrics.jsonl:1: is damaged (it has no step)"), (readings, b"3\n", "metrics.jsonl:1: is damaged"),
                                  (readings, b'{"step": 99999999999999999999}\n', "metrics.jsonl:1: is damaged (it has no step)"),
                                  (readings, b'{"step": 1, "a\\u001b]0;b": 1}\n', "metrics.jsonl:1: is damaged"),
                                  (readings, b'{"step": 1, "a?*%": 1}\n', "metrics.jsonl:1: is damaged"),
                                  (settings, b'{"a\\u001b[31m": 1}', "config.json: is damaged")):
            whole = path.read_bytes()
            path.write_bytes(text)
            refused(nacelle.Error, lambda: kept_runs(run), words)
            path.write_bytes(whole)
        for path in settings, readings:
            path.unlink()
            path.symlink_to("../secret.json")
            refused(nacelle.Error, lambda: kept_runs(run), f"{path.name}: is a link")
            path.unlink()
            os.mkfifo(path)
            refused(nacelle.Error, lambda: kept_runs(run), path.name)
            path.unlink()
            path.write_text("{}")
        readings.unlink()
        refused(nacelle.Error, lambda: kept_runs(run), "a run has it where jsonl is among its sinks")


@case
def settings_lie_over_those_of_the_environment_as_the_command_lays_them():
    learner = lambda given: nacelle.engine.configuration("cartpole", {"learner": given})["learner"]    # noqa: E731
    changed = learner({"learning_rate": {"cosine": [0.01, 0]}})
    assert changed["learning_rate"] == {"cosine": [0.01, 0]} and changed["name"] == "ppo", changed
    # Those of pendulum.json are for ppo, which alone knows some of them.
    assert learner({"name": "dqn"}) == {"name": "dqn"}
    run = nacelle.train("pendulum", device="cpu", env={"count": 8}, run={"total_steps": 800, "evaluate_every": 0}, solved={"return": None},
                        learner={"name": "sac", "batch": 32, "warm_up": 64}, policies={"default": {"hidden": [8]}})
    list(run)
    assert run.steps == 800


@case
def what_training_may_not_be_given_is_refused_with_a_sentence():
    begin = lambda **given: nacelle.train("cartpole", device="cpu", **given)    # noqa: E731
    for seeds in (0, 2.5, True, [1, 2]):
        refused(ValueError, lambda: begin(seeds=seeds), f"seeds is {seeds!r}; a whole number from 1 to 10000")
    for seed in (-1, 1.5, "a", None, 2**60):
        refused(ValueError, lambda: begin(seed=seed), f"seed is {seed!r}; a whole number from 0")
    refused(TypeError, lambda: begin(callback=3), "callback is 3; a function")
    refused(TypeError, lambda: begin(out=3), 'out is 3; a path is taken, such as "runs/mine"')
    refused(ValueError, lambda: nacelle.train("cartpole", device=["cpu"]), 'there is "auto", "cuda" and "cpu"')
    refused(TypeError, lambda: nacelle.resume(None), "folder is None")
    refused(TypeError, lambda: nacelle.load(3), "folder is 3")
    refused(TypeError, lambda: nacelle.act("runs/mine", np.zeros((1, 4))), "a nacelle.Policy is taken")
    refused(TypeError, lambda: nacelle.plot("runs/mine", 3), "metrics is 3")
    refused(ValueError, lambda: nacelle.plot("runs/mine", pixels="a"), "pixels is 'a'; a whole number from 200")
    run = begin(out=None, env={"count": 16}, run={"total_steps": 400})
    assert run.folder == ""
    for episodes in (0, -1, 1.5, "a"):
        refused(ValueError, lambda: run.eval(episodes), f"episodes is {episodes!r}; a whole number from 1")
    refused(ValueError, lambda: run.remembered(-1), "count is -1")
    for seen in (None, "abcd", {}, np.zeros((2, 4), complex)):
        refused(TypeError, lambda: run.policy(seen), "an array of real numbers is taken")
    refused(ValueError, lambda: run.policy([[0], [0, 1]]), "rows of different lengths")
    refused(ValueError, lambda: run.policy({"obs": np.zeros((2, 3)), "x": np.zeros((3, 1))}), "a row for each environment")
    assert (run.policy(np.zeros((5, 4)), masks=np.tile([0, 0.5], (5, 1))) == 1).all(), "0 alone forbids"


LAMP = """#include <nacelle/env.h>
// One cell of an image is lit; right is its column, or the next one where `shift` is 1.
struct Lamp {
    static constexpr int time_limit = 8;
    struct Params {};
    struct State { int lit, row, shift; };
    struct Action { nacelle::Discrete<3> choice; };
    struct Obs { nacelle::Array<uint8_t, 5, 3> image; float shift; };
    static void light(State& s, nacelle::Rng& rng) { s = {int(rng.below(3)), int(rng.below(5)), int(rng.below(2))}; }
    static void reset(State& s, const Params&, nacelle::Rng& rng) { light(s, rng); }
    static nacelle::Outcome step(State& s, const Action& action, const Params&, nacelle::Rng& rng) {
        const bool right = int(action.choice) == (s.lit + s.shift) % 3;
        light(s, rng);
        return {.reward = right ? 1.0f : 0.0f};
    }
    static void observe(const State& s, const Params&, Obs& obs) {
        obs.image.fill([&](int row, int column) -> uint8_t { return row == s.row && column == s.lit; });
        obs.shift = float(s.shift);
    }
};
NACELLE_ENV(Lamp)
"""


@case
def a_policy_takes_what_an_environment_shows():
    env = nacelle.Env.from_source(LAMP, 64, device="cpu")
    run = nacelle.train(env.description["source"], device="cpu", env={"count": 64}, run={"total_steps": 60000}, learner={"learning_rate": 3e-3})
    list(run)
    seen, _ = env.reset(seed=1)
    assert seen["image"].shape == (64, 5, 3) and seen["obs"].shape == (64, 1)
    right = 0
    for _ in range(8):
        seen, rewards, *_ = env.step(run.policy(seen))
        right += rewards.mean()
    assert right > 7.9 and run.eval(64) > 7.9


@case
def a_policy_takes_an_image_alone():
    text = LAMP.replace("image; float shift;", "image;").replace("obs.shift = float(s.shift);", "").replace("rng.below(2)", "0")
    env = nacelle.Env.from_source(text, 64, device="cpu")
    assert env.single_observation_space == gymnasium.spaces.Box(0, 255, (5, 3), np.uint8) and "obs" not in env.arrays
    run = nacelle.train(env.description["source"], device="cpu", env={"count": 64}, run={"total_steps": 20000}, learner={"learning_rate": 3e-3})
    list(run)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    for _ in range(8):
        seen, rewards, *_, info = env.step(run.policy(seen))
        assert rewards.mean() > 0.95
    assert info["final_obs"].shape == (64, 5, 3) and (info["final_obs"].sum((1, 2)) == 1).all()


@case
def a_policy_that_remembers_is_given_its_memory():
    env = nacelle.make_vec("cartpole", num_envs=6, device="cpu")
    run = nacelle.train("cartpole", device="cpu", env={"count": 64}, run={"total_steps": 4000}, policies={"default": {"hidden": [{"mingru": 8}]}})
    list(run)
    seen, _ = env.reset(seed=1)
    refused(ValueError, lambda: run.policy(seen), "memory is a float32 array (6, 8), as remembered() makes it")
    memory, alone = run.remembered(6), run.remembered(1)
    for _ in range(5):
        actions = run.policy(seen, memory=memory)
        assert run.policy(seen[2:3], memory=alone)[0] == actions[2] and np.array_equal(memory[2:3], alone)
        seen, *_ = env.step(actions)
    assert np.abs(memory).min() > 0


@case
def a_run_is_resumed_and_loaded():
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        first = nacelle.train("cartpole", device="cpu", out=out, run={"total_steps": 20000})
        list(first)
        refused(nacelle.Error, lambda: nacelle.resume(out, device="cpu"), "is training in it")
        steps = first.steps
        first.stop()
        del first       # a run holds its folder
        more = nacelle.resume(out, device="cpu", run={"total_steps": 60000})
        assert more.steps == steps
        list(more)
        assert more.steps >= 60000
        more.save()
        more.stop()
        loaded = nacelle.load(out, "latest", device="cpu")
        assert loaded.steps == more.steps and loaded.eval(20) > 20
        seen = np.random.default_rng(1).normal(size=(16, 4))
        assert np.array_equal(loaded.policy(seen), more.policy(seen))
        policy = nacelle.Policy(out, checkpoint="latest")
        assert policy.steps == more.steps and np.array_equal(nacelle.act(policy, seen), more.policy(seen))
        refused(nacelle.Error, lambda: nacelle.load(Path(folder) / "none", device="cpu"), "none")


@case
def a_keyword_that_no_configuration_has_is_refused():
    refused(TypeError, lambda: nacelle.train("cartpole", device="cpu", lerner={}), "train got an unexpected keyword argument 'lerner'; did you mean 'learner'?")
    refused(TypeError, lambda: nacelle.train("cartpole", devise="cpu"), "'devise'; did you mean 'device'?")
    refused(TypeError, lambda: nacelle.resume("none", steps=3), "'steps'; there is env, seed, hooks, learner, policies, run, solved, reload")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd.json"
        path.write_text('{"env": {"source": "cartpole"}, "zzz": 1}')
        refused(nacelle.Error, lambda: nacelle.train(path, device="cpu"), "there is: env, seed, hooks, learner, policies, run, solved, reload")


@case
def control_c_ends_a_call():
    run = nacelle.train("cartpole", device="cpu", run={"total_steps": 10**9, "report_every": 1000000},
                        solved={"return": 1e9})
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    refused(KeyboardInterrupt, lambda: list(run), "")
    assert 0 < run.steps < 10**9


run_cases()
