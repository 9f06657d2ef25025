"""The Python package as Gymnasium has it: one environment, how episodes begin anew, its checker and its wrappers."""
import warnings

import gymnasium
import numpy as np

import nacelle
from cases import case, refused, run_cases
from modes import hold_alike


def cartpole(count=8, **settings):
    return nacelle.make_vec("cartpole", num_envs=count, device="cpu", **settings)


@case
def an_ended_episode_begins_when_its_mode_says():
    modes = gymnasium.vector.AutoresetMode
    ones = np.ones(8, np.int64)
    same, late = cartpole(), cartpole(autoreset_mode=modes.NEXT_STEP)
    held = cartpole(autoreset_mode=modes.DISABLED)
    for env, mode in ((same, modes.SAME_STEP), (late, modes.NEXT_STEP), (held, modes.DISABLED)):
        assert env.autoreset_mode is mode, "TorchRL's GymWrapper looks at it"
        env.reset(seed=1)
    while True:
        _, _, done, _, info = same.step(ones)
        seen, reward, ended, _, _ = late.step(ones)
        shown, _, over, _, _ = held.step(ones)
        if done.any():
            break
    assert np.array_equal(done, ended) and np.array_equal(done, over) and not done.all()
    assert np.array_equal(seen[done], info["final_obs"][done]) and np.array_equal(seen, shown)
    refused(ValueError, lambda: held.step(ones), f"environment {np.flatnonzero(done)[0]} has ended")
    mask = done.copy()
    first, _ = held.reset(options={"reset_mask": mask})
    assert (np.abs(first[done]) <= 0.05).all() and np.array_equal(first[~done], shown[~done])
    held.step(ones)
    ignored = ones.copy()
    ignored[done] = 99
    seen, reward, ended, _, _ = late.step(ignored)
    assert (np.abs(seen[done]) <= 0.05).all() and (reward[done] == 0).all() and not ended[done].any()
    assert (reward[~done] == 1).all()
    begun, _ = same.reset(options={"reset_mask": np.arange(8) == 3})
    assert np.abs(begun[3]).max() <= 0.05
    refused(ValueError, lambda: same.reset(options={"reset_mask": np.ones(3, bool)}), "bool (8,) is taken")
    refused(ValueError, lambda: same.reset(seed=1, options={"reset_mask": mask}), "anew")
    refused(ValueError, lambda: same.reset(options={"x0": 1}), "reset_mask")
    refused(ValueError, lambda: cartpole(autoreset_mode=modes.DISABLED, copy=False), "SameStep")
    hold_alike("numpy", np.asarray)


@case
def one_environment_keeps_nothing_of_what_it_returned():
    one, many = gymnasium.make("nacelle/CartPole-v1", device="cpu"), cartpole(1)
    kept = [(one.reset(seed=3)[0], many.reset(seed=3)[0][0].copy())]
    for step in range(60):
        push = step % 3 == 0
        seen, reward, *ended, _ = one.step((push, np.int64(push), np.array(push, np.int64))[step % 3])
        wanted, rewards, terminated, truncated, info = many.step(np.array([push], np.int64))
        assert (reward, *ended) == (rewards[0], terminated[0], truncated[0])
        kept.append((seen, (info["final_obs"] if any(ended) else wanted)[0].copy()))
        if any(ended):
            kept.append((one.reset()[0], many.reset(options={"reset_mask": np.ones(1, bool)})[0][0].copy()))
    assert len(kept) > 63 and all(np.array_equal(seen, copied) for seen, copied in kept)
    shared = gymnasium.make("nacelle/CartPole-v1", device="cpu", copy=False).unwrapped
    first = shared.reset(seed=3)[0]
    shared.step(0)
    assert not np.array_equal(first, kept[0][0])


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
def gymnasiums_wrappers_take_all_environments():
    wrappers = gymnasium.wrappers.vector
    counted = wrappers.RecordEpisodeStatistics(cartpole())
    counted.reset(seed=1)
    told = []
    for _ in range(60):
        *_, info = counted.step(np.ones(8, np.int64))
        if "final_info" in info:
            told += info["final_info"]["episode"]["r"][info["_final_info"]].tolist()
    assert len(told) > 8 and list(counted.return_queue) == told
    for wrapper, mode in ((wrappers.NormalizeReward, "SAME_STEP"), (wrappers.NormalizeObservation, "NEXT_STEP"),
                          (wrappers.FlattenObservation, "NEXT_STEP"), (wrappers.ClipAction, "DISABLED")):
        env = wrapper(nacelle.make_vec("pendulum", num_envs=4, device="cpu", autoreset_mode=gymnasium.vector.AutoresetMode[mode]))
        env.reset(seed=1)
        seen = env.step(np.full((4, 1), 0.5, np.float32))[0]
        assert env.observation_space.contains(seen), wrapper


run_cases()
