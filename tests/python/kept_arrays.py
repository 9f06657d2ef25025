"""Whose the arrays are that a step hands out, and how long they stay as they were."""
import nacelle
import numpy as np
from cases import case, refused


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
        for _ in range(3):
            actions = env.action_space.sample()
            assert np.array_equal(env.step(actions)[1], twin.step(actions)[1])
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
    text = (nacelle.engine.ENV_FOLDERS[0] / "cartpole.cu").read_text()
    env = nacelle.Env.from_source(text.replace(".reward = 1.0f", ".reward = 1.0f / float(s.x < 0.1f)"), 8, device="cpu")
    env.reset(seed=1)
    refused(nacelle.Error, lambda: [env.step(np.ones(8, np.int64)) for _ in range(20)], "is infinite")


@case
def a_step_takes_a_target_for_each_array():
    env = cartpole()
    env.reset(seed=1)
    outputs, actions = env._batch.outputs(["obs", "reward"], 0), np.zeros(8, np.int64)
    targets = [np.empty(array.shape, nacelle.spaces.TYPES[array.dtype]) for array in outputs.arrays]
    env._batch.step_from([actions], outputs, targets)
    assert np.array_equal(targets[1], env.arrays["obs"])
    before = env.arrays["obs"].copy()
    for few in (targets[:2], [*targets, targets[0]]):
        refused(ValueError, lambda: env._batch.step_from([actions], outputs, few), "3 are taken, one for each array, or none")
        refused(ValueError, lambda: env._batch.step_at([(actions.ctypes.data, 0, 8)], 0, outputs, [each.ctypes.data for each in few]), "3 are taken")
    assert np.array_equal(before, env.arrays["obs"])
