"""The Python package with PyTorch on a CPU (tensors.py), and with other libraries' trainers, each of which solves CartPole
here: adapters.py docs/python.md. It needs an environment that has them: `tools/nacelle test adapters` makes it."""
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path


def skipped(why):
    print(f"skipped: {why}\n0 passed, 0 failed, 1 skipped")
    raise SystemExit(0)


ENVIRONMENT = Path(os.environ.get("NACELLE_TEST_ADAPTERS", "/nowhere"))
if not (ENVIRONMENT / "bin" / "python").exists():
    skipped("`tools/nacelle test adapters` installs PyTorch and the trainers of six libraries, and runs this")
if not ENVIRONMENT.samefile(sys.prefix):
    program = str(ENVIRONMENT / "bin" / "python")       # by its path: a word alone would be another Python of PATH
    os.execv(program, [program, "-B", *sys.argv])
os.environ["OMP_NUM_THREADS"] = "1"

import gymnasium
import numpy as np
import torch
from torch import nn

import nacelle
from cases import case, refused, run_cases
from tensors import cartpole, network       # and its cases

torch.set_num_threads(1)
WHERE = tempfile.TemporaryDirectory()
os.chdir(WHERE.name)


@torch.no_grad()
def score(choose, count=64):
    """The mean return of the first episodes of a policy."""
    env = cartpole(count, copy=True)
    seen, _ = env.reset(seed=5)
    returns = torch.zeros(count)
    for _ in range(500):
        seen, *_, info = env.step(choose(seen))
        if "final_info" in info:
            first = info["_final_info"] & (returns == 0)
            returns[first] = info["final_info"]["episode"]["r"][first]
    return returns.mean().item()


def solved(name, choose):
    mean = score(choose)
    print(f"   {name}: a mean return of {mean:.1f}")
    assert mean >= 475, mean


@case
def stable_baselines3_solves_cartpole():
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_checker import check_env
    from stable_baselines3.common.evaluation import evaluate_policy
    from nacelle.adapters.stable_baselines3 import VecEnv
    check_env(gymnasium.make("nacelle/CartPole-v1").unwrapped)
    refused(ValueError, lambda: VecEnv(cartpole(output="numpy", copy=False)), "copy=True")
    refused(ValueError, lambda: VecEnv(cartpole()), 'output="numpy"')
    env = VecEnv(cartpole(output="numpy"))
    env.env_method("set_param", "gravity", 9.8)
    refused(ValueError, lambda: env.env_method("set_param", "gravity", 9.8, indices=[0]), "indices")
    refused(AttributeError, lambda: env.env_method("action_masks"), "no masks")
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=256, n_epochs=8, learning_rate=1e-3, seed=1, device="cpu").learn(40960)
    assert len(model.ep_info_buffer) == 100
    mean, _ = evaluate_policy(model, VecEnv(cartpole(16, "numpy")), n_eval_episodes=32)
    print(f"   evaluate_policy: {mean:.1f}")
    solved("Stable-Baselines3", lambda seen: torch.as_tensor(model.predict(seen.numpy(), deterministic=True)[0]))
    rooms = VecEnv(nacelle.make_vec("rooms", num_envs=4, device="cpu", render_mode="rgb_array"))
    assert rooms.has_attr("action_masks"), "MaskablePPO's evaluate_policy asks before the first reset"
    rooms.reset()
    assert np.stack(rooms.env_method("action_masks")).shape == (4, 5) and rooms.render().ndim == 3


@case
def episodes_that_begin_in_a_later_step_are_refused():
    from rl_games.common import vecenv
    from nacelle.adapters import cleanrl, rl_games, rsl_rl, skrl, stable_baselines3, torchrl
    later = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP, "device": "cpu"}
    rl_games.register("late", "cartpole", **later)
    makers = [lambda: stable_baselines3.VecEnv(nacelle.make_vec("cartpole", 4, **later)), lambda: cleanrl.make("cartpole", 4, **later),
              lambda: vecenv.create_vec_env("late", 4)]
    makers += [lambda make=make: make(nacelle.make_vec("cartpole", 4, output="torch", **later)) for make in (skrl.Wrapper, rsl_rl.VecEnv, torchrl.Env)]
    for make in makers:
        refused(ValueError, make, "autoreset_mode=AutoresetMode.SAME_STEP, the default, not NEXT_STEP")


@case
def episodes_of_stable_baselines3_end_as_it_expects():
    from nacelle.adapters.stable_baselines3 import VecEnv
    env, bare = VecEnv(cartpole(8, "numpy")), cartpole(8, "numpy")
    env.seed(3)
    assert np.array_equal(env.reset(), bare.reset(seed=3)[0])
    ended = 0
    for _ in range(40):
        seen, _, done, infos = env.step(np.ones(8, np.int64))
        other, _, terminated, _, info = bare.step(np.ones(8, np.int64))
        assert np.array_equal(seen, other) and np.array_equal(done, terminated)
        for i in np.flatnonzero(done):
            assert np.array_equal(infos[i]["terminal_observation"], info["final_obs"][i]) and not infos[i]["TimeLimit.truncated"]
            assert infos[i]["episode"]["r"] == infos[i]["episode"]["l"]
        ended += done.sum()
    assert ended > 8
    swing = VecEnv(nacelle.make_vec("pendulum", num_envs=2, device="cpu"))
    swing.reset()
    for _ in range(200):
        _, _, done, infos = swing.step(np.zeros((2, 1), np.float32))
    assert done.all() and infos[0]["TimeLimit.truncated"] and infos[0]["episode"]["l"] == 200


def cleanrl_script(name, make, replaced=()):
    """A script of CleanRL's package with the line that makes its environments changed."""
    wheel = next((ENVIRONMENT / "cleanrl").glob("*.whl"))
    text = zipfile.ZipFile(wheel).read(f"cleanrl/{name}").decode()
    text, count = re.subn(r"envs = gym\.vector\.SyncVectorEnv\(\n.*?\n    \)", f"envs = {make}", text, flags=re.DOTALL)
    assert count == 1
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    Path(name).write_text("import nacelle.adapters.cleanrl\n" + text)
    return lambda *arguments: subprocess.run([sys.executable, "-B", name, "--cuda", "False", *arguments], check=True,
                                             capture_output=True, text=True).stdout


@case
def cleanrls_scripts_run():
    run = cleanrl_script("ppo.py", 'nacelle.adapters.cleanrl.make("cartpole", args.num_envs, api="gym", device="cpu")',
                         [("import gym\n", "import gymnasium as gym\n")])
    output = run("--num-envs", "32", "--num-steps", "64", "--total-timesteps", "409600", "--learning-rate", "1e-3", "--ent-coef", "0")
    returns = [float(number) for number in re.findall(r"episodic_return=([\d.]+)", output)]
    print(f"   CleanRL's ppo.py: the last 50 returns have a mean of {np.mean(returns[-50:]):.1f}, {re.findall('SPS: .*', output)[-1]}")
    assert np.mean(returns[-50:]) >= 475        # of sampled actions
    run = cleanrl_script("ppo_continuous_action.py", 'nacelle.adapters.cleanrl.make("pendulum", args.num_envs, device="cpu")')
    returns = re.findall(r"episodic_return=\[(-?[\d.]+)\]", run("--num-envs", "8", "--num-steps", "64", "--total-timesteps", "4096"))
    assert len(returns) == 16
    refused(ValueError, lambda: __import__("nacelle.adapters.cleanrl").adapters.cleanrl.make("cartpole", 2, api="jax"), '"gym"')


@case
def skrl_solves_cartpole():
    from skrl.agents.torch.ppo import PPO, PPO_CFG
    from skrl.memories.torch import RandomMemory
    from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
    from skrl.trainers.torch import SequentialTrainer
    from nacelle.adapters.skrl import Wrapper
    torch.manual_seed(1)
    env = Wrapper(cartpole())
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": env.device}

    class Of(Model):
        def __init__(self, outputs):
            Model.__init__(self, **spaces)
            self.mixin.__init__(self)
            self.net = network(outputs)

        def compute(self, inputs, role):
            return self.net(inputs["observations"]), {}

    class Policy(CategoricalMixin, Of):
        mixin = CategoricalMixin

    class Value(DeterministicMixin, Of):
        mixin = DeterministicMixin

    models = {"policy": Of.__new__(Policy), "value": Of.__new__(Value)}
    Of.__init__(models["policy"], 2)
    Of.__init__(models["value"], 1)
    settings = PPO_CFG(rollouts=64, learning_epochs=8, mini_batches=8, learning_rate=1e-3, time_limit_bootstrap=True)
    settings.experiment.write_interval = settings.experiment.checkpoint_interval = 0
    agent = PPO(models=models, memory=RandomMemory(memory_size=64, num_envs=32, device=env.device), cfg=settings, **spaces)
    SequentialTrainer(env=env, agents=agent, cfg={"timesteps": 1920, "headless": True, "disable_progressbar": True}).train()
    solved("skrl", lambda seen: models["policy"].net(seen).argmax(1))


@case
def rl_games_solves_cartpole():
    from rl_games.torch_runner import Runner
    from nacelle.adapters.rl_games import register
    register("cartpole", device="cpu")
    mlp = {"units": [64, 64], "activation": "tanh", "initializer": {"name": "default"}}
    learner = {
        "name": "cartpole", "env_name": "cartpole", "device": "cpu", "device_name": "cpu", "torch_compile": False,
        "reward_shaper": {"scale_value": 0.1}, "normalize_advantage": True, "gamma": 0.99, "tau": 0.95, "learning_rate": 1e-3,
        "score_to_win": 10**6, "grad_norm": 0.5, "truncate_grads": True, "entropy_coef": 0.0, "e_clip": 0.2, "clip_value": True,
        "num_actors": 32, "horizon_length": 64, "minibatch_size": 256, "mini_epochs": 8, "critic_coef": 1, "lr_schedule": None,
        "kl_threshold": 0.008, "normalize_input": False, "normalize_value": True, "value_bootstrap": True, "max_epochs": 60, "ppo": True,
        "save_best_after": 10**6, "save_frequency": 0, "print_stats": False, "mixed_precision": False, "train_dir": "runs",
        "player": {"use_vecenv": True}}
    network = {"name": "actor_critic", "separate": True, "space": {"discrete": None}, "mlp": mlp}
    runner = Runner()
    runner.load({"params": {"seed": 1, "torch_threads": 1, "algo": {"name": "a2c_discrete"}, "model": {"name": "discrete_a2c"}, "network": network, "config": learner}})
    runner.run({"train": True, "play": False})
    player = runner.create_player()
    player.restore(str(next(Path("runs").glob("*/nn/last_*.pth"))))
    player.has_batch_dimension = True
    solved("rl_games", lambda seen: player.get_action(seen, is_deterministic=True))


@case
def rsl_rl_solves_cartpole():
    from rsl_rl.runners import OnPolicyRunner
    from tensordict import TensorDict
    from nacelle.adapters.rsl_rl import VecEnv
    torch.manual_seed(1)
    model = {"class_name": "MLPModel", "hidden_dims": [64, 64], "activation": "tanh"}
    learner = {"class_name": "PPO", "num_learning_epochs": 8, "num_mini_batches": 8, "learning_rate": 1e-3, "schedule": "fixed", "desired_kl": 0.01,
               "gamma": 0.99, "lam": 0.95, "entropy_coef": 0.0, "clip_param": 0.2, "value_loss_coef": 1.0, "use_clipped_value_loss": True,
               "max_grad_norm": 0.5, "rnd_cfg": None, "symmetry_cfg": None}
    gaussian = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
    env = VecEnv(cartpole())
    assert env.num_actions == 2 and env.max_episode_length == 500
    refused(ValueError, lambda: setattr(env, "episode_length_buf", 3), "init_at_random_ep_len")
    refused(ValueError, lambda: env.step(torch.full((env.num_envs, 2), torch.nan)), "-1")
    runner = OnPolicyRunner(env, {"num_steps_per_env": 64, "save_interval": 10**6, "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
                                  "multi_gpu": None, "torch_compile_mode": None, "actor": {**model, "distribution_cfg": gaussian},
                                  "critic": dict(model), "algorithm": learner}, log_dir=None, device="cpu")
    runner.learn(45)
    policy = runner.get_inference_policy()
    solved("rsl_rl", lambda seen: policy(TensorDict({"policy": seen}, batch_size=[len(seen)])).argmax(1))
    swing = VecEnv(nacelle.make_vec("pendulum", num_envs=3, device="cpu", output="torch"))
    for step in range(200):
        seen, _, done, extras = swing.step(torch.full((3, 1), 9.0))
        assert swing.episode_length_buf[0] == (step + 1) % 200
    assert seen["policy"].shape == (3, 3) and done.all() and extras["time_outs"].all()


@case
def torchrl_solves_cartpole():
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs import GymWrapper
    from torchrl.envs.utils import check_env_specs
    from torchrl.modules import ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
    from nacelle.adapters.torchrl import Env
    for name in ("cartpole", "pendulum", "rooms"):
        check_env_specs(Env(nacelle.make_vec(name, num_envs=3, device="cpu", output="torch")))
    assert GymWrapper(cartpole(3, "numpy")).rollout(40, break_when_any_done=False)["next", "done"].any()
    torch.manual_seed(1)
    actor = ProbabilisticActor(TensorDictModule(network(2), ["observation"], ["logits"]), in_keys=["logits"],
                               distribution_class=torch.distributions.Categorical, return_log_prob=True)
    critic = ValueOperator(network(1))
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.0, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    for data in Collector(Env(cartpole()), actor, frames_per_batch=2048, total_frames=2048 * 30):
        with torch.no_grad():
            advantage(data)
        samples = data.reshape(-1)
        for _ in range(8):
            for chosen in torch.randperm(len(samples)).split(256):
                losses = loss(samples[chosen])
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    solved("TorchRL", lambda seen: actor[0].module(seen).argmax(1))


run_cases()
