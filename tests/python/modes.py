"""What a step shows where an episode's end comes first and the next one's beginning later, in arrays of any library."""
import gymnasium
import numpy as np

import nacelle
from cases import refused

MODES = gymnasium.vector.AutoresetMode


def hold_alike(output, taken, device="cpu", count=16):
    """Both modes show in arrays of a library, whose actions `taken` makes, what is shown by the steps of an environment
    that begins anew at once: its last observations, then the first ones of a new episode."""
    make = lambda mode, **settings: nacelle.make_vec("cartpole", count, device=device, autoreset_mode=mode, **settings)
    same = make(MODES.SAME_STEP, output="numpy")
    late, held = (make(mode, output=output) for mode in (MODES.NEXT_STEP, MODES.DISABLED))
    for env in (same, late, held):
        env.reset(seed=1)
    host = lambda array: np.array(array.cpu() if hasattr(array, "cpu") else array)
    ones, kept, ends = np.ones(count, np.int64), [], 0
    while True:
        _, _, done, _, info = same.step(ones)
        shown = [[host(part) for part in env.step(taken(ones))[:4]] for env in (late, held)]
        if done.any():
            break
    assert not done.all()
    for seen, reward, ended, cut in shown:
        assert np.array_equal(seen[done], info["final_obs"][done]) and np.array_equal(ended, done)
        assert (reward == 1).all() and not cut.any()
    seen = shown[0][0]
    refused(ValueError, lambda: held.step(taken(ones)), f"environment {np.flatnonzero(done)[0]} has ended")
    first = host(held.reset(options={"reset_mask": taken(done)})[0])
    assert (np.abs(first[done]) <= 0.05).all() and np.array_equal(first[~done], seen[~done])
    for _ in range(40):
        ignored = ones.copy()
        ignored[done] = 99          # what is not looked at may be anything
        now = late.step(taken(ignored))
        kept.append((now[:3], [host(part) for part in now[:3]]))
        seen, reward, ended = kept[-1][1]
        assert (np.abs(seen[done]) <= 0.05).all() and (reward == ~done).all() and not ended[done].any()
        assert (np.abs(seen[ended]).max(axis=1) > 0.2).all() if ended.any() else True
        held.reset(options={"reset_mask": held._ended})
        over = host(held.step(taken(ones))[2])
        done, ends = ended, ends + int(over.sum())
    assert ends > count and all(np.array_equal(host(array), copied) for arrays, copies in kept for array, copied in zip(arrays, copies))
    refused(ValueError, lambda: make(MODES.NEXT_STEP, output=output, copy=False), "SameStep" if output != "jax" else "copy=False")
