"""CleanRL's ppo.py with CartPole in our environments on each device, and in EnvPool's where it is installed, which take turns: steps
a second, the processor's time for each, and what of both is spent in the environments' step, with the statistics of episodes that
the script reads. cleanrl_rates.py cleanrl-1.2.0-py3-none-any.whl [--envs 4096] [--updates 8] [--turns 2]. The wheel is PyPI's; its
dependencies are not needed."""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

BEGIN = '''
import builtins
import time

inside = [0.0, 0.0]


class Timed:
    """Environments, whose steps are timed."""

    def __init__(self, envs):
        self._envs = envs

    def __getattr__(self, name):
        return getattr(self._envs, name)

    def step(self, actions):
        clock, processor = time.perf_counter(), time.process_time()
        result = self._envs.step(actions)
        inside[0] += time.perf_counter() - clock
        inside[1] += time.process_time() - processor
        return result


def print(*words):
    times = (time.perf_counter(), time.process_time(), *inside) if words[0] == "SPS:" else ()
    builtins.print(*words, *times, flush=True)


class EnvPools:
    """EnvPool's copies as ppo.py of CleanRL 1.2.0 steps them, with the returns and lengths of episodes, which it lacks."""

    def __init__(self, count):
        import envpool
        self._envs = envpool.make_gymnasium("CartPole-v1", num_envs=count)
        self.single_action_space, self.single_observation_space = self._envs.action_space, self._envs.observation_space
        self._returns, self._lengths = np.zeros(count, np.float32), np.zeros(count, np.int32)

    def reset(self):
        return self._envs.reset()[0]

    def step(self, actions):
        seen, rewards, terminated, truncated, _ = self._envs.step(actions)
        self._returns += rewards
        self._lengths += 1
        done, infos = terminated | truncated, [{}] * len(rewards)
        for i in np.flatnonzero(done):
            infos[i] = {"episode": {"r": self._returns[i], "l": self._lengths[i]}}
        self._returns[done] = 0
        self._lengths[done] = 0
        return seen, rewards, done, infos

    def close(self):
        self._envs.close()
'''
WRITER = '''
class SummaryWriter:
    def __init__(self, *_):
        pass

    def __getattr__(self, _):
        return lambda *given: None
'''


def script(wheel, made):
    """Their ppo.py with the statement that makes its environments changed, and without its log for TensorBoard."""
    text = zipfile.ZipFile(wheel).read("cleanrl/ppo.py").decode()
    text, count = re.subn(r"envs = gym\.vector\.SyncVectorEnv\(\n.*?\n    \)", f"envs = Timed({made})", text, flags=re.DOTALL)
    for old, new in (("import gym\n", "import gymnasium as gym\n"), ("from torch.utils.tensorboard import SummaryWriter\n", WRITER),
                     ("from distutils.util import strtobool\n", "strtobool = lambda word: word.lower() in ('true', '1', 'yes')\n")):
        count += old in text
        text = text.replace(old, new)
    if count != 4:
        sys.exit(f"{wheel}: its cleanrl/ppo.py is another one than that of CleanRL 1.2.0")
    return BEGIN + text


def seconds(text, envs, steps, updates, cuda):
    """The seconds of an update from the second one on: by the clock, of the processor, and both of the environments' step; and
    what it said last where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "ppo.py").write_text(text)
        words = ["--num-envs", envs, "--num-steps", steps, "--total-timesteps", envs * steps * updates, "--cuda", cuda]
        told = subprocess.run([sys.executable, "-B", "-W", "ignore", "ppo.py", *map(str, words)], cwd=folder, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = told.stdout.split("\n")
        times = [[*map(float, line.split()[2:])] for line in lines if line.startswith("SPS:")]
        if told.returncode or len(times) < 3:
            return None, ([line for line in lines if line.strip()] or [""])[-1]
    return [(last - first) / (len(times) - 2) for first, last in zip(times[1], times[-1])], ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=128)
    parser.add_argument("--updates", type=int, default=8)
    parser.add_argument("--turns", type=int, default=2)
    arguments = parser.parse_args()
    import torch
    cuda = torch.cuda.is_available()
    ours = lambda device: f'__import__("nacelle.adapters.cleanrl").adapters.cleanrl.make("cartpole", args.num_envs, api="gym", device="{device}")'
    ways = {**({"ours on the GPU": ours("cuda")} if cuda else {}), "ours on the CPU": ours("cpu"), "EnvPool": "EnvPools(args.num_envs)"}
    print(f"CleanRL's ppo.py, {arguments.envs} x {arguments.steps}, {torch.cuda.get_device_name() if cuda else 'no GPU'}, {os.cpu_count()} processors")
    found = {name: [] for name in ways}
    for _ in range(arguments.turns):
        for name, made in ways.items():
            one, wrong = seconds(script(arguments.wheel, made), arguments.envs, arguments.steps, arguments.updates, cuda)
            if one is None:
                print(f"{name}: {wrong}", flush=True)
            else:
                found[name].append(one)
    for name, turns in found.items():
        if turns:
            clock, processor, inside, inside_processor = map(statistics.median, zip(*turns))
            taken = arguments.envs * arguments.steps
            print(f"{name:16} {taken / clock / 1e6:.3f} M steps/s, {processor / taken * 1e9:6.0f} ns of a processor a step; in the environments "
                  f"{100 * inside / clock:4.1f} % of the time, {inside_processor / taken * 1e9:5.0f} ns", flush=True)


if __name__ == "__main__":
    main()
