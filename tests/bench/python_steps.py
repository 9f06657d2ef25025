"""What one step of CartPole from Python keeps of the engine's own rate on a CPU, with copy=False and copy=True:
python_steps.py [ENVIRONMENTS...] [--threads N]. Rounds of steps in each way take turns, by the time of the processor for one
thread, and by the clock for several; it prints the median of the rounds' ratios, and the rates of each way's median round."""
import argparse
import statistics
import time

import numpy as np

import nacelle


# Steps before each round that are not counted: another way's arrays are in the caches then, and of last observations a step meets
# few rows, with copies in every second step the same array's.
WARM = 24


def ways(count, engine, clock):
    """By name a function that takes so many steps and returns the seconds of one. The actions are made anew before each,
    as a policy does, and that time is not counted."""
    drawn = [np.random.default_rng(seed).integers(0, 2, count) for seed in range(16)]
    bare = nacelle.make_vec("cartpole", count, engine=engine, copy=False)
    bare.reset(seed=1)
    taken = bare.arrays["action.push"]

    def engines(steps):
        spent = 0
        for step in range(-WARM, steps):
            taken[...] = drawn[step % 16]
            began = clock()
            bare._batch.step()
            spent += clock() - began if step >= 0 else 0
        return spent / steps

    def of(copy):
        env = nacelle.make_vec("cartpole", count, engine=engine, copy=copy)
        env.reset(seed=1)

        def stepped(steps):
            spent, result = 0, None
            for step in range(-WARM, steps):
                actions = drawn[step % 16].copy()
                began = clock()
                result = env.step(actions)      # the one before is let go of here
                spent += clock() - began if step >= 0 else 0
            return spent / steps if result else 0
        return stepped

    return {"engine": engines, "copy=False": of(False), "copy=True": of(True)}


def print_shares(count, threads, rounds):
    """A line for each way."""
    clock, steps = time.process_time if threads == 1 else time.perf_counter, max(10, (1 << 20) // count)
    found = ways(count, nacelle.Engine("cpu", threads=threads), clock)
    seconds = [[way(steps) for way in found.values()] for _ in range(rounds + 3)][3:]
    for which, name in enumerate(found):
        share = statistics.median(each[0] / each[which] for each in seconds)
        typical = statistics.median(each[which] for each in seconds)
        print(f"{count} environments, {threads or 'all'} thread(s), {name:10} {typical * 1e6:7.1f} us a step, "
              f"{count / typical / 1e6:6.1f} M steps/s, {100 * share:.1f} % of the engine's rate", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environments", nargs="*", type=int, default=[4096, 65536])
    parser.add_argument("--threads", type=int, default=1, help="0: one for each processor")
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    for count in arguments.environments:
        print_shares(count, arguments.threads, arguments.rounds)


if __name__ == "__main__":
    main()
