"""CartPole from Python, ours beside Gymnasium's and EnvPool's: steps a second of the environments alone, and of PPO of
Stable-Baselines3 in them, by the time of one processor, which counts alike on a machine that others use; and what steps
of 65,536 keep of the engine's own rate. python_rates.py [ENVIRONMENTS...]; what is not installed is left out. It takes
about a minute."""
import sys
import time

import gymnasium
import numpy as np

import nacelle
from python_steps import print_shares


ENGINE = nacelle.Engine("cpu", threads=1)


def ours(count):
    return nacelle.make_vec("cartpole", num_envs=count, engine=ENGINE)


def gymnasiums(count):
    return gymnasium.make_vec("CartPole-v1", num_envs=count, vectorization_mode="vector_entry_point")


def one_by_one(count):
    return gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * count,
                                          autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)


def envpools(count):
    import envpool
    return envpool.make_gymnasium("CartPole-v1", num_envs=count, num_threads=1)


def environments_rate(make, count, seconds=2.0):
    """Steps of all environments a second, the best of three."""
    env, best = make(count), 0
    env.reset()
    actions = [np.random.default_rng(i).integers(0, 2, count) for i in range(16)]
    for _ in range(3):
        began, calls = time.process_time(), 0
        while time.process_time() - began < seconds / 3:
            env.step(actions[calls % 16])
            calls += 1
        best = max(best, calls * count / (time.process_time() - began))
    env.close()
    return best


def trainings(count):
    """What Stable-Baselines3 trains in, by name; Gymnasium's own by as thin a door as ours."""
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecEnv

    from nacelle.adapters import stable_baselines3

    class Gymnasiums(VecEnv):
        def __init__(self, env):
            self.env, self._done = env, np.zeros(env.num_envs, bool)
            super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

        def reset(self):
            return self.env.reset()[0]

        def step_async(self, actions):
            self._actions = actions

        def step_wait(self):
            seen, rewards, terminated, truncated, _ = self.env.step(self._actions)
            done = terminated | truncated
            infos = [{} for _ in range(self.num_envs)]
            for i in np.flatnonzero(done):
                infos[i] = {"terminal_observation": seen[i]}
            return seen, rewards, done, infos

        def close(self):
            self.env.close()

        def get_attr(self, attr_name, indices=None):
            return [getattr(self.env, attr_name)] * self.num_envs

        def set_attr(self, attr_name, value, indices=None):
            setattr(self.env, attr_name, value)

        def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
            return [getattr(self.env, method_name)(*method_args, **method_kwargs)] * self.num_envs

        def env_is_wrapped(self, wrapper_class, indices=None):
            return [False] * self.num_envs

    return {"ours": lambda: stable_baselines3.VecEnv(ours(count)),
            "Gymnasium's vector environment": lambda: Gymnasiums(gymnasiums(count)),
            "DummyVecEnv": lambda: make_vec_env("CartPole-v1", count)}


def training_rate(make, count):
    """Steps a second of PPO: of two iterations, the second one; and what of its time is spent in the environments."""
    from stable_baselines3 import PPO
    env = make()
    inside, step = [0.0], env.step

    def timed(actions):
        began = time.process_time()
        result = step(actions)
        inside[0] += time.process_time() - began
        return result

    env.step = timed
    horizon = max(16, 8192 // count)
    model = PPO("MlpPolicy", env, n_steps=horizon, batch_size=1024, n_epochs=4, device="cpu")
    model.learn(horizon * count)
    inside[0], began = 0.0, time.process_time()
    model.learn(2 * horizon * count)
    took = time.process_time() - began
    env.close()
    return 2 * horizon * count / took, inside[0] / took


def table(title, rates):
    base = rates.get("ours", (0,))[0]
    for name, (rate, share) in rates.items():
        inside = f", {100 * share:.0f} % of it in the environments" if share is not None else ""
        print(f"{title}  {name:32}{rate:12,.0f} steps/s{inside}; ours {base / rate:.2f} times that", flush=True)


def main(counts):
    for threads in (1, 0):
        print_shares(65536, threads, rounds=40)
    for count in counts:
        rates = {}
        for name, make in (("ours", ours), ("Gymnasium's vector environment", gymnasiums), ("SyncVectorEnv", one_by_one), ("EnvPool", envpools)):
            if name == "SyncVectorEnv" and count > 1024:
                continue
            try:
                rates[name] = environments_rate(make, count), None
            except ImportError as missing:
                print(f"{name}: left out, {missing}")
        table(f"{count:6} alone", rates)
        try:
            import torch
            torch.set_num_threads(1)
            rates = {name: training_rate(make, count) for name, make in trainings(count).items() if count <= 1024}
        except ImportError as missing:
            print(f"Stable-Baselines3: left out, {missing}")
            continue
        table(f"{count:6} SB3", rates)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [8, 64, 1024])
