"""The Python package on a GPU, with PyTorch: memory that is shared, numbers that equal a CPU's, order between streams, and
what a step costs. Prints a line for each, and fails where one does; it is skipped where there is no GPU or no PyTorch.
Arguments are the names of the cases to be run."""
import sys
import time
from pathlib import Path


def skipped(why):
    print(f"skipped: {why}\n0 passed, 0 failed, 1 skipped")
    raise SystemExit(0)


try:
    import torch
except ImportError:
    skipped("PyTorch is not there")
if not torch.cuda.is_available():
    skipped("there is no GPU")

import numpy as np

import nacelle
from cases import case, refused, run_cases
from modes import hold_alike
from nacelle._engine import taken_type


def cartpole(count, device="cuda", **settings):
    settings = {"output": "torch" if device == "cuda" else "numpy", **settings}
    return nacelle.make_vec("cartpole", num_envs=count, device=device, **settings)


@case
def tensors_are_the_engines_memory():
    env = cartpole(64)
    seen, _ = env.reset(seed=1)
    assert seen.is_cuda and seen.shape == (64, 4) and seen.dtype == torch.float32
    assert seen.data_ptr() == env._batch.array("obs").pointer
    after, reward, terminated, _, _ = env.step(torch.ones(64, dtype=torch.int64, device="cuda"))
    assert after.data_ptr() == seen.data_ptr() and terminated.dtype == torch.bool and (reward == 1).all()
    own = cartpole(64, copy=True)
    assert own.reset(seed=1)[0].data_ptr() != own._batch.array("obs").pointer
    env.arrays["state.x"] = 0.25
    assert (env.arrays["state.x"] == 0.25).all()


@case
def two_hundred_steps_equal_the_cpus():
    for settings, steps, most in (({"env": {"strict": True}}, 200, 0), ({}, 12, 1e-4)):
        there, here = cartpole(256, settings=settings), cartpole(256, "cpu", settings=settings)
        seen, _ = there.reset(seed=3)
        numbers, _ = here.reset(seed=3)
        random, farthest = np.random.default_rng(1), 0.0
        for _ in range(steps):
            chosen = random.integers(0, 2, 256)
            seen, reward, terminated, truncated, info = there.step(torch.as_tensor(chosen, device="cuda"))
            numbers, rewards, ended, cut, _ = here.step(chosen)
            farthest = max(farthest, float(np.abs(seen.cpu().numpy() - numbers).max()))
            assert np.array_equal(terminated.cpu(), ended) and np.array_equal(truncated.cpu(), cut)
            assert np.array_equal(reward.cpu(), rewards) and np.array_equal(info["_final_obs"].cpu(), ended | cut)
        there.check()
        print(f"   strict={bool(settings)}: farthest {farthest:g}")
        assert farthest <= most, farthest


@case
def teams_equal_the_cpus():
    settings = {"env": {"strict": True, "policies": {"a": [0, 1, 3], "b": 2, "runner": 4}}}
    there, here = (nacelle.make_vec("tag_gridworld", num_envs=500, device=device, output=output, settings=settings)
                   for device, output in (("cuda", "torch"), ("cpu", "numpy")))
    there.reset(seed=3)
    here.reset(seed=3)
    here.action_space.seed(1)
    for _ in range(120):
        actions = here.action_space.sample()
        got = there.step({name: torch.as_tensor(given, device="cuda") for name, given in actions.items()})
        wanted = here.step(actions)
        for mine, its in zip(got[:4], wanted[:4]):
            assert all(np.array_equal(mine[name].cpu(), its[name]) for name in its)
        assert np.array_equal(got[4]["_final_obs"].cpu(), wanted[4].get("_final_obs", np.zeros(500, bool)))
    there.check()


@case
def numpy_and_jax_get_the_same_numbers():
    host = cartpole(32, output="numpy")
    seen, _ = host.reset(seed=2)
    tensors = cartpole(32)
    tensors.reset(seed=2)
    chosen = np.arange(32) % 2
    seen, *_ = host.step(chosen)
    assert isinstance(seen, np.ndarray) and np.array_equal(seen, tensors.step(chosen)[0].cpu())
    refused(ValueError, lambda: host.step(np.full(32, 2)), "action.push of environment 0 was not allowed; it is one of 0 to 1")
    try:
        import jax
    except ImportError:
        print("   JAX is not there")
        return
    if jax.default_backend() != "gpu":
        print("   JAX sees no GPU")
        return
    env = cartpole(32, output="jax")
    env.reset(seed=2)
    first, *_ = env.step(jax.numpy.asarray(chosen))
    kept = np.asarray(first)
    env.step(jax.numpy.asarray(chosen))
    assert np.array_equal(kept, seen) and np.array_equal(np.asarray(first), kept)


@case
def an_ended_episode_begins_when_its_mode_says():
    hold_alike("torch", lambda array: torch.as_tensor(array, device="cuda"), "cuda", 4096)
    hold_alike("numpy", np.asarray, "cuda")
    try:
        import jax
    except ImportError:
        return
    if jax.default_backend() == "gpu":
        hold_alike("jax", jax.numpy.asarray, "cuda")


@case
def actions_that_are_not_allowed_are_told_at_check():
    env = cartpole(16)
    env.reset(seed=1)
    bad = torch.zeros(16, dtype=torch.int64, device="cuda")
    bad[5] = 7
    env.step(bad)
    refused(ValueError, env.check, "environment 5")
    env.check()
    refused(TypeError, lambda: env.step(torch.zeros(16, device="cuda")), "whole numbers")
    refused(ValueError, lambda: bare_step(env, np.zeros(16, np.int64).ctypes.data, 16, 0), "memory")


def bare_step(env, pointer, numbers, stream):
    """The extension's step, without Python's part of it."""
    env._batch.step_at([(pointer, taken_type("int64"), numbers)], stream, env._door._outputs, ())


def pushed(ordered):
    """The first environments' velocity after one step whose actions a side stream writes late."""
    env = cartpole(4096)
    env.reset(seed=1)
    side = torch.cuda.Stream()
    actions = torch.zeros(4096, dtype=torch.int64, device="cuda")
    env.step(actions)                       # loads what a step runs, for which the device stands still
    env.reset(seed=1)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)      # a tenth of a second
        actions.fill_(1)
        if ordered:
            seen = env.step(actions)[0].clone()
        else:                               # a race, planted: the engine is told of another stream
            other = torch.cuda.Stream()
            bare_step(env, actions.data_ptr(), 4096, other.cuda_stream)
            other.synchronize()
            seen = env.arrays["obs"].clone()
    torch.cuda.synchronize()
    return seen[:, 1].mean().item()


@case
def a_step_waits_for_the_stream_that_writes_its_actions():
    right, raced = pushed(True), pushed(False)
    print(f"   velocity {right:+.3f} in order, {raced:+.3f} raced")
    assert right > 0.1, "the step did not wait for the actions"
    assert raced < -0.1, "the planted race was not seen, so that this check proves nothing"


@case
def copies_are_the_callers():
    own, shared = cartpole(1000, copy=True), cartpole(1000)
    own.reset(seed=4)
    shared.reset(seed=4)
    kept = []
    for step in range(60):
        actions = torch.full((1000,), step % 3 == 0, dtype=torch.int32, device="cuda")
        mine, theirs = own.step(actions), shared.step(actions)
        for one, other in zip(mine[:4], theirs[:4]):
            assert torch.equal(one, other) and one.data_ptr() != other.data_ptr()
        done = mine[4]["_final_obs"]
        assert torch.equal(done, mine[2] | mine[3]) and torch.equal(done, theirs[4]["_final_obs"])
        assert torch.equal(mine[4]["final_obs"][done], theirs[4]["final_obs"][done])
        kept.append((mine[0], mine[0].clone()))
    assert all(torch.equal(seen, copied) for seen, copied in kept)


@case
def one_environment_shows_what_is_there_now():
    import gymnasium
    there = gymnasium.make("nacelle/CartPole-v1", device="cuda", output="torch", settings={"env": {"strict": True}})
    here = gymnasium.make("nacelle/CartPole-v1", device="cpu", settings={"env": {"strict": True}})
    kept, ends = [(there.reset(seed=2)[0], here.reset(seed=2)[0])], 0
    for step in range(200):
        push = torch.tensor(step % 3 == 0, dtype=torch.int64, device="cuda")
        (seen, reward, *ended, _), (wanted, *others, _) = there.step(push if step % 2 else push.item()), here.step(push.item())
        assert [reward, *ended] == others and [type(flag) for flag in ended] == [bool, bool], step
        kept.append((seen, wanted))
        if any(ended):
            ends += 1
            kept.append((there.reset()[0], here.reset()[0]))
    assert ends > 2 and all(seen.is_cuda and np.array_equal(seen.cpu(), wanted) for seen, wanted in kept)


@case
def what_reads_observations_is_done_before_the_next_step():
    env = cartpole(4096)
    seen, _ = env.reset(seed=1)
    before = seen.clone()
    ones = torch.ones(4096, dtype=torch.int64, device="cuda")
    torch.cuda.synchronize()
    torch.cuda._sleep(200_000_000)
    kept = seen.clone()                     # runs a tenth of a second from now; the step must come behind it
    env.step(ones)
    assert torch.equal(kept, before)


@case
def memory_outlives_its_environment():
    env = cartpole(4096)
    seen, _ = env.reset(seed=1)
    for _ in range(5):
        env.step(torch.ones(4096, dtype=torch.int64, device="cuda"))
    kept = seen.clone()
    env.close()
    del env
    others = [cartpole(4096) for _ in range(3)]
    for other in others:
        other.reset(seed=9)
        other.step(torch.zeros(4096, dtype=torch.int64, device="cuda"))
    torch.cuda.synchronize()
    assert torch.equal(seen, kept)


@case
def a_rollout_is_one_graph_of_its_steps():
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2)).to("cuda")
    choose = lambda seen: network(seen).argmax(1)
    rolled, stepped = cartpole(4096), cartpole(4096)
    rolled.reset(seed=3)
    seen, _ = stepped.reset(seed=3)
    roll = nacelle.rollout(rolled, choose, steps=16, final=True)
    for _ in range(6):
        batch = roll()
        for step in range(16):
            with torch.no_grad():
                assert torch.equal(batch["observations"][step], seen)
                seen, rewards, terminated, _, info = stepped.step(choose(seen))
            done = info["_final_obs"]
            assert torch.equal(batch["rewards"][step], rewards) and torch.equal(batch["terminated"][step], terminated)
            assert torch.equal(batch["final_observations"][step][done], info["final_obs"][done])
        assert torch.equal(batch["next_observations"], seen)
    rolled.set_param("force", 20)
    stepped.set_param("force", 20)
    batch = roll()
    for _ in range(16):
        with torch.no_grad():
            seen, *_ = stepped.step(choose(seen))
    assert torch.equal(batch["next_observations"], seen)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(50):
        roll()
    torch.cuda.synchronize()
    print(f"   4096 CartPoles and a network: {(time.perf_counter() - began) / 50 / 16 * 1e6:.1f} us a step in a graph")


@case
def snapshots_saves_and_policies():
    text = (nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text()
    env = nacelle.Env.from_source(text, 256, device="cuda", output="torch", reload_on_save=True)
    seen, _ = env.reset(seed=1)
    ones = torch.ones(256, dtype=torch.int64, device="cuda")
    env.step(ones)
    env.save_snapshots([3, 1])
    kept = seen.clone()
    env.step(ones)
    shown, _ = env.restore_snapshots(torch.tensor([0, 9], device="cuda"), [0, 1])
    assert torch.equal(shown[0], kept[3]) and torch.equal(shown[9], kept[1])
    roll = nacelle.rollout(env, lambda seen: (seen[:, 2] > 0).long(), steps=8)
    for _ in range(3):
        assert (roll()["rewards"] == 1).all()
    saved = time.monotonic()
    Path(env.description["source"]).write_text(text.replace(".reward = 1.0f", ".reward = 2.0f"))
    while (roll()["rewards"] == 1).all():
        assert time.monotonic() < saved + 30, "the save was not taken"
    print(f"   a save runs in a rollout after {time.monotonic() - saved:.2f} s")
    until = time.monotonic() + 3        # the full build of a draft comes behind it
    while time.monotonic() < until:
        assert (roll()["rewards"] == 2).all()
    run = nacelle.train("cartpole", device="cuda", run={"total_steps": 200000})
    list(run)
    actions = run.policy(seen)
    assert actions.is_cuda and np.array_equal(actions.cpu(), run.policy(seen.cpu().numpy()))


@case
def what_a_step_costs():
    env = cartpole(4096)
    env.reset(seed=1)
    actions = torch.ones(4096, dtype=torch.int64, device="cuda")

    def microseconds(call, times=2000):
        best = float("inf")
        for _ in range(5):
            torch.cuda.synchronize()
            env._batch.check()
            began = time.perf_counter()
            for _ in range(times):
                call()
            calls = time.perf_counter() - began
            env._batch.check()
            torch.cuda.synchronize()
            best = min(best, calls / times * 1e6)
        return best

    stream = torch.cuda.current_stream().cuda_stream
    launch = microseconds(env._batch.step)
    extension = microseconds(lambda: bare_step(env, actions.data_ptr(), 4096, stream))
    step = microseconds(lambda: env.step(actions))
    print(f"   4096 CartPoles: {step:.1f} us a step, {extension:.1f} us in the extension, {launch:.1f} us the engine's launch; "
          f"over it {step - launch:.1f} us")
    own = cartpole(4096, copy=True)
    own.reset(seed=1)
    copied = microseconds(lambda: own.step(actions))
    print(f"   copy=True: {copied:.1f} us a step; over the launch {copied - launch:.1f} us")
    assert step - launch <= 20, "a step costs more than 20 us above the engine's launch"


print(torch.cuda.get_device_name(), torch.__version__, sys.version.split()[0], nacelle._engine.__file__, flush=True)
run_cases(sys.argv[1:])
