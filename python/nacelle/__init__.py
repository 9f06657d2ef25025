"""Nacelle in Python: environments of C++ structs, thousands side by side, on a GPU or a CPU.

>>> env = nacelle.make_vec("cartpole", num_envs=4096)
>>> observations, info = env.reset(seed=1)
"""
from nacelle._engine import Error, Policy
from nacelle.comparing import Comparison, Picture, compare, plot
from nacelle.engine import Engine
from nacelle.single import SingleEnv, register_all
from nacelle.rollouts import Rollout, rollout
from nacelle.sweeps import Sweep, sweep
from nacelle.training import Run, Seeds, act, load, resume, train
from nacelle.magic import load_ipython_extension
from nacelle.parallel import parallel_env
from nacelle.team import TeamEnv
from nacelle.trackers import to_mlflow, to_wandb
from nacelle.vector import Env, make_vec

__all__ = ["Comparison", "Engine", "Env", "Error", "Picture", "Policy", "Rollout", "Run", "Seeds", "SingleEnv", "Sweep", "TeamEnv", "act", "compare",
           "load", "make_vec", "parallel_env", "plot", "resume", "rollout", "sweep", "to_mlflow", "to_wandb",
           "train"]

register_all()
