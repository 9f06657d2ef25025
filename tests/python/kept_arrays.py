"""Whose the arrays are that a step hands out, and how long they stay as they were."""
import ctypes
from pathlib import Path

import nacelle
import numpy as np
from cases import case, refused
from nacelle._engine import OwnArrays


def cartpole(count=8, **settings):
    return nacelle.make_vec("cartpole", num_envs=count, device="cpu", **settings)


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
def arrays_that_the_caller_keeps_stay_as_they_were():
    env = cartpole(4096)
    env.reset(seed=1)
    kept = []
    for step in range(12):
        seen, reward, *_ = env.step(np.full(4096, step % 2, np.int32))
        kept.append((seen, seen.copy(), reward[:7]))
    assert all(np.array_equal(seen, copied) for seen, copied, _ in kept)
    assert len({seen.ctypes.data for seen, *_ in kept}) == 12
    for _ in range(4):
        seen = env.step(np.zeros(4096, np.int64))[0]
    places = {env.step(np.zeros(4096, np.int64))[0].ctypes.data for _ in range(8)}
    assert len(places) <= 4, "what was let go of is not filled again"
    env.arrays["state.x"] = 0.5
    assert (env.arrays["state.x"] == 0.5).all()
    refused(ValueError, lambda: env.arrays.__setitem__("state.x", np.zeros(7)), "")


@case
def what_a_step_has_written_into_the_callers_arrays_is_his_alone():
    for name, count in (("cartpole", 300), ("pendulum", 40), ("rooms", 24)):
        env, twin = (nacelle.make_vec(name, count, device="cpu", copy=copy) for copy in (True, False))
        random, kept = np.random.default_rng(7), []
        env.reset(seed=3)
        twin.reset(seed=3)
        env.action_space.seed(3)
        for step in range(150):
            actions = env.action_space.sample()
            (mine, its), final = (each.step(actions) for each in (env, twin)), "final_obs"
            assert final in its[4] or final not in mine[4]
            parts = [*zip(leaves(mine[0]), leaves(its[0])), *zip(mine[1:4], its[1:4])]
            if final in its[4]:
                done = its[4]["_final_obs"]
                ends = [[*leaves(each[4][final]), *each[4]["final_info"]["episode"].values()] for each in (mine, its)]
                parts += [(mine[4]["_final_obs"], done), *((part[done], other[done]) for part, other in zip(*ends))]
            for part, other in parts:
                assert np.array_equal(part, other), (name, step)
            arrays = [*leaves(mine[0]), *mine[1:4], *leaves(mine[4].get(final, []))]
            if random.random() < 0.4:
                kept += [(array[2:], array[2:].copy(), step + random.integers(1, 30)) for array in arrays]
            elif random.random() < 0.5:
                arrays[0][...], arrays[-1][...] = 77, 0     # the caller's, to be written as he likes
            assert all(np.array_equal(array, copied) for array, copied, _ in kept), (name, step)
            kept = [each for each in kept if each[2] > step]
        writes = env._door._written
        assert writes and not twin._door._written
        arrays[0][...] = 77
        mask = random.random(count) < 0.3
        for mine, its in zip(*(leaves(each.reset(options={"reset_mask": mask})[0]) for each in (env, twin))):
            assert np.array_equal(mine, its), name
        assert env._door._last is None
        for _ in range(nacelle.outputs.STEPS_UNTIL_WRITES + 5):     # at first they are copied
            actions = env.action_space.sample()
            for mine, its in zip(*([*leaves(each[0]), *each[1:4]] for each in (env.step(actions), twin.step(actions)))):
                assert np.array_equal(mine, its), name
        assert env._door._last is not None
        for mine, its in zip(*(leaves(each.restore_snapshots([], [])[0]) for each in (env, twin))):
            assert np.array_equal(mine, its), name
    env, actions = cartpole(), np.ones(8, np.int64)
    env.reset(seed=1)
    for step in range(30):
        seen, reward, _, _, info = env.step(actions)
        if step > 8:        # from the first one on the engine's memory has each step
            assert np.array_equal(env.arrays["obs"], seen) and np.array_equal(env.arrays["reward"], reward)
            done = info.get("_final_obs", np.zeros(8, bool))
            assert "final_obs" not in info or np.array_equal(env.arrays["final_obs"][done], info["final_obs"][done])


def leaves(seen):
    return [*seen.values()] if isinstance(seen, dict) else [seen] if isinstance(seen, np.ndarray) else []


@case
def a_number_that_is_not_finite_is_told_where_steps_write_into_the_callers_arrays():
    text = (nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text()
    env = nacelle.Env.from_source(text.replace(".reward = 1.0f", ".reward = 1.0f / float(s.x < 0.1f)"), 8, device="cpu")
    env.reset(seed=1)
    refused(nacelle.Error, lambda: [env.step(np.ones(8, np.int64)) for _ in range(20)], "is infinite")


@case
def a_step_takes_a_target_for_each_array():
    env = cartpole()
    env.reset(seed=1)
    outputs, actions = env._batch.outputs(["obs", "reward"], 0), np.zeros(8, np.int64)
    targets = [np.empty(array.shape, nacelle.spaces.TYPES[array.dtype]) for array in outputs.arrays]
    env._batch.step_from([actions], outputs, OwnArrays(targets))
    assert np.array_equal(targets[1], env.arrays["obs"])
    before = env.arrays["obs"].copy()
    for few in (targets[:2], [*targets, targets[0]]):
        refused(ValueError, lambda: env._batch.step_from([actions], outputs, OwnArrays(few)), "3 are taken, one for each array, or none")
        refused(ValueError, lambda: env._batch.step_at([(actions.ctypes.data, 0, 8)], 0, outputs, [each.ctypes.data for each in few]), "3 are taken")
    assert np.array_equal(before, env.arrays["obs"])


@case
def whatever_is_kept_of_a_step_stays_as_it_was():
    ways = (lambda array: array, lambda array: array[3:], lambda array: array[::7], lambda array: array.reshape(-1)[5:], memoryview,
            np.from_dlpack, lambda array: array.view(np.uint8), lambda array: np.frombuffer(array, np.uint8), lambda array: array.T,
            lambda array: [array], lambda array: np.broadcast_to(array[None], (2, *array.shape)), lambda array: array.ctypes.data_as(BYTES))
    random, count = np.random.default_rng(3), 24000        # sets of arrays from that size on share large pages
    engines = [nacelle.Engine("cpu", threads=threads) for threads in (1, 3)]
    envs = [nacelle.make_vec("cartpole", count, engine=engine) for engine in engines]
    kept, places = [], set()
    for env in envs:
        env.reset(seed=2)
    for step in range(70):
        actions = random.integers(0, 2, count)
        results = [env.step(actions) for env in envs]
        nothing = {"episode": {"r": None, "l": None}}
        each = [[*result[:4], result[4].get("final_obs"), result[4].get("_final_obs"),
                 *result[4].get("final_info", nothing)["episode"].values()] for result in results]
        assert all(np.array_equal(*pair) for parts in each for pair in zip(parts[:4], each[0])), step
        places |= {parts[0].ctypes.data for parts in each}
        for way in ways:
            array = each[random.integers(len(each))][random.integers(len(each[0]))]
            if array is not None and random.random() < 0.08:
                kept.append((way(array), way, array.copy(), step + random.integers(1, 12)))
        del results, each, array
        if step == 40:      # from here on they are copied
            mask = random.random(count) < 0.1
            for env in envs:
                env.reset(options={"reset_mask": mask})
        if step == 60:
            envs[0].close()
            envs = [envs[1]]
        for what, way, copied, _ in kept:
            assert same(what, way(copied), copied.nbytes), step
        kept = [part for part in kept if part[3] > step]
    assert len(places) < 30, f"memory that was let go of is not filled again: {len(places)} arrays"


BYTES = ctypes.POINTER(ctypes.c_uint8)


def same(one, other, size):
    if isinstance(one, BYTES):
        one, other = (ctypes.string_at(each, size) for each in (one, other))
    return np.array_equal(one, other)


@case
def arrays_whose_form_was_changed_in_place_are_not_filled_again():
    for change in (lambda array: setattr(array, "shape", (8, 1)), lambda array: array.setflags(write=False),
                   lambda array: setattr(array, "dtype", np.int32), lambda array: array.resize((4, 2), refcheck=False)):
        env = cartpole()
        env.reset(seed=1)
        for _ in range(12):
            reward = env.step(np.ones(8, np.int64))[1]
            assert reward.shape == (8,) and reward.dtype == np.float32 and reward.flags.writeable and (reward == 1).all()
            change(reward)


@case
def steps_of_a_reloaded_environment_have_other_arrays():
    text = (nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text()
    env = nacelle.Env.from_source(text, 16, device="cpu")
    env.reset(seed=1)
    kept = [env.step(np.ones(16, np.int64))[:2] for _ in range(3)]
    copied = [[part.copy() for part in parts] for parts in kept]
    Path(env.description["source"]).write_text(text.replace(".reward = 1.0f", ".reward = 2.0f"))
    assert env.reload()
    seen = [env.step(np.ones(16, np.int64)) for _ in range(9)]
    assert all((part[1] == 2).all() for part in seen)
    assert all(np.array_equal(*pair) for parts in zip(kept, copied) for pair in zip(*parts))
