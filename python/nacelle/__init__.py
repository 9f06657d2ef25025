"""Nacelle in Python: environments of C++ structs, thousands side by side, on a GPU or a CPU.

>>> env = nacelle.make_vec("cartpole", num_envs=4096)
>>> observations, info = env.reset(seed=1)
"""
from nacelle._engine import Error, Policy
from nacelle.engine import Engine
from nacelle.single import SingleEnv, register_all
from nacelle.training import Run, act, load, resume, train
from nacelle.parallel import parallel_env
from nacelle.team import TeamEnv
from nacelle.vector import Env, make_vec

__all__ = ["Engine", "Env", "Error", "Policy", "Run", "SingleEnv", "TeamEnv", "act", "load", "make_vec", "parallel_env", "resume", "train"]

register_all()
