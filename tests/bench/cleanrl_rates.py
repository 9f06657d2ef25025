"""Steps a second of CleanRL's ppo.py with CartPole: in our environments on each device, and in EnvPool's where it is installed:
cleanrl_rates.py cleanrl-1.2.0-py3-none-any.whl [--envs 4096] [--updates 8]. The wheel is PyPI's; its dependencies are not needed."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ENVPOOL = '''
class EnvPools:
    """EnvPool's copies as ppo.py of CleanRL 1.2.0 steps them, with no infos."""

    def __init__(self, count):
        import envpool
        self._envs = envpool.make_gymnasium("CartPole-v1", num_envs=count)
        self.single_action_space, self.single_observation_space = self._envs.action_space, self._envs.observation_space

    def reset(self):
        return self._envs.reset()[0]

    def step(self, actions):
        seen, rewards, terminated, truncated, _ = self._envs.step(actions)
        return seen, rewards, terminated | truncated, ()

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
    text, count = re.subn(r"envs = gym\.vector\.SyncVectorEnv\(\n.*?\n    \)", f"envs = {made}", text, flags=re.DOTALL)
    for old, new in (("import gym\n", "import gymnasium as gym\n"), ("from torch.utils.tensorboard import SummaryWriter\n", WRITER),
                     ("from distutils.util import strtobool\n", "strtobool = lambda word: word.lower() in ('true', '1', 'yes')\n")):
        count += old in text
        text = text.replace(old, new)
    if count != 4:
        sys.exit(f"{wheel}: its cleanrl/ppo.py is another one than that of CleanRL 1.2.0")
    return ENVPOOL + text


def rate(text, envs, steps, updates, cuda):
    """Steps a second from its second update on, and the last sentence that it said where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "ppo.py").write_text(text)
        words = ["--num-envs", envs, "--num-steps", steps, "--total-timesteps", envs * steps * updates, "--cuda", cuda]
        told, times, tail = subprocess.Popen([sys.executable, "-B", "-u", "-W", "ignore", "ppo.py", *map(str, words)], cwd=folder, text=True,
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT), [], ""
        for line in told.stdout:
            tail = line.strip() or tail
            if line.startswith("SPS:"):
                times.append(time.perf_counter())
        if told.wait() != 0 or len(times) < 3:
            return 0, tail
    return envs * steps * (len(times) - 2) / (times[-1] - times[1]), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=128)
    parser.add_argument("--updates", type=int, default=8)
    arguments = parser.parse_args()
    import torch
    cuda = torch.cuda.is_available()
    ours = lambda device: f'__import__("nacelle.adapters.cleanrl").adapters.cleanrl.make("cartpole", args.num_envs, api="gym", device="{device}")'
    ways = {**({"ours on the GPU": ours("cuda")} if cuda else {}), "ours on the CPU": ours("cpu"), "EnvPool": "EnvPools(args.num_envs)"}
    where = f"{torch.cuda.get_device_name()}, {os.cpu_count()} processors" if cuda else f"no GPU, {os.cpu_count()} processors"
    for name, made in ways.items():
        found, wrong = rate(script(arguments.wheel, made), arguments.envs, arguments.steps, arguments.updates, cuda)
        print(f"CleanRL's ppo.py, {arguments.envs} x {arguments.steps}, {where}: {name:16} "
              f"{found / 1e6:.3f} M steps/s {wrong}", flush=True)


if __name__ == "__main__":
    main()
