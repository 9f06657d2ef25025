"""The Python package, from a build: training, and what is kept of it."""
import os
import signal
import tempfile
import threading
from pathlib import Path

import numpy as np

import nacelle
from cases import case, refused, run_cases


@case
def a_run_learns_and_its_policy_acts():
    run = nacelle.train("cartpole", device="cpu", run={"total_steps": 60000})
    readings = list(run)
    assert readings and readings[-1]["steps"] >= 60000 and run.steps == readings[-1]["steps"]
    assert run.eval(50) > 60
    assert set(run.policy(np.random.default_rng(1).normal(size=(64, 4)))) <= {0, 1}
    refused(ValueError, lambda: run.policy(np.zeros((2, 3))), "[rows, 4]")
    assert (run.policy(np.zeros((5, 4)), masks=np.tile([0, 1], (5, 1))) == 1).all()
    refused(ValueError, lambda: run.policy(np.zeros((5, 4)), masks=np.ones(5)), "(5, 2) is taken")


@case
def a_run_is_resumed_and_loaded():
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        first = nacelle.train("cartpole", device="cpu", out=out, run={"total_steps": 20000})
        list(first)
        refused(nacelle.Error, lambda: nacelle.resume(out, device="cpu"), "is training in it")
        steps = first.steps
        first.stop()
        del first       # a run holds its folder
        more = nacelle.resume(out, device="cpu", run={"total_steps": 60000})
        assert more.steps == steps
        list(more)
        assert more.steps >= 60000
        more.save()
        more.stop()
        loaded = nacelle.load(out, "latest", device="cpu")
        assert loaded.steps == more.steps and loaded.eval(20) > 20
        seen = np.random.default_rng(1).normal(size=(16, 4))
        assert np.array_equal(loaded.policy(seen), more.policy(seen))
        policy = nacelle.Policy(out, checkpoint="latest")
        assert policy.steps == more.steps and np.array_equal(nacelle.act(policy, seen), more.policy(seen))
        refused(nacelle.Error, lambda: nacelle.load(Path(folder) / "none", device="cpu"), "none")


@case
def control_c_ends_a_call():
    run = nacelle.train("cartpole", device="cpu", run={"total_steps": 10**9, "report_every": 1000000},
                        solved={"return": 1e9})
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    refused(KeyboardInterrupt, lambda: list(run), "")
    assert 0 < run.steps < 10**9


run_cases()
