"""The Python package with PyTorch on a CPU and with trackers of runs: cases of adapters.py."""
import json
import re
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import torch
from torch import nn

import nacelle
from cases import case, refused
from modes import hold_alike

DOCUMENT = Path(sys.argv[1]).absolute()


def cartpole(count=32, output="torch", **settings):
    return nacelle.make_vec("cartpole", num_envs=count, device="cpu", output=output, **settings)


def network(outputs):
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


@case
def a_rollout_is_the_steps_of_its_policy():
    torch.manual_seed(1)
    choice = network(2)
    act = lambda seen: {"actions": choice(seen).argmax(1), "values": seen.sum(1)}
    rolled, stepped = cartpole(16), cartpole(16)
    rolled.reset(seed=1)
    seen, _ = stepped.reset(seed=1)
    roll, ended = nacelle.rollout(rolled, act, steps=20, final=True), 0
    for _ in range(3):
        batch = roll()
        assert batch["observations"].shape == (20, 16, 4) and not batch["values"].requires_grad
        for step in range(20):
            assert torch.equal(batch["observations"][step], seen)
            with torch.no_grad():
                actions = act(seen)["actions"]
            seen, rewards, terminated, truncated, info = stepped.step(actions)
            for name, its in (("actions", actions), ("rewards", rewards), ("terminated", terminated), ("truncated", truncated)):
                assert torch.equal(batch[name][step], its), name
            if "final_obs" in info:
                done, ended = info["_final_obs"], ended + 1
                assert torch.equal(batch["final_observations"][step][done], info["final_obs"][done])
        assert torch.equal(batch["next_observations"], seen)
    assert ended > 0
    text = (nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text()
    changed = nacelle.Env.from_source(text, 4, device="cpu", output="torch")
    changed.reset(seed=1)
    roll = nacelle.rollout(changed, choice_of(choice), steps=2)
    assert (roll()["rewards"] == 1).all()
    Path(changed.description["source"]).write_text(text.replace(".reward = 1.0f", ".reward = 2.0f"))
    assert changed.reload() and (roll()["rewards"] == 2).all()
    changed.close()
    refused(RuntimeError, roll, "the environment is closed")
    saved = nacelle.Env.from_source(text, 4, device="cpu", output="torch", reload_on_save=True)
    saved.reset(seed=1)
    roll, deadline = nacelle.rollout(saved, choice_of(choice), steps=20), time.monotonic() + 100
    Path(saved.description["source"]).write_text(text.replace(".reward = 1.0f", ".reward = 3.0f"))
    while (roll()["rewards"] == 1).all():
        assert time.monotonic() < deadline
    assert (roll()["rewards"] == 3).all()
    refused(ValueError, nacelle.rollout(rolled, lambda seen: {"values": seen}), 'gave [\'values\'] and no "actions"')
    refused(ValueError, lambda: nacelle.rollout(cartpole(output="numpy"), act), 'output="torch"')
    refused(ValueError, lambda: nacelle.rollout(rolled, act, steps=0), "steps is 0")
    refused(TypeError, lambda: nacelle.rollout(gymnasium.make("CartPole-v1"), act), "takes a nacelle.Env")


@case
def one_environment_takes_and_returns_tensors():
    one, plain = (gymnasium.make("nacelle/CartPole-v1", output=output).unwrapped for output in ("torch", "numpy"))
    shared = gymnasium.make("nacelle/CartPole-v1", output="torch", copy=False).unwrapped
    kept = [(one.reset(seed=1)[0], plain.reset(seed=1)[0])]
    shared.reset(seed=1)
    for step in range(40):
        seen, reward, *ended, _ = one.step(torch.tensor(step % 2) if step % 3 else step % 2)
        wanted, *others, _ = plain.step(step % 2)
        assert isinstance(seen, torch.Tensor) and [reward, *ended] == others
        kept.append((seen, wanted))
    assert all(np.array_equal(seen, wanted) for seen, wanted in kept)
    first, second = shared.step(0)[0], shared.step(0)[0]
    assert first.data_ptr() == second.data_ptr() and kept[-1][0].data_ptr() != kept[-2][0].data_ptr()


@case
def a_policy_takes_tensors():
    run = nacelle.train("cartpole", device="cpu", env={"count": 64}, run={"total_steps": 4000})
    list(run)
    env = cartpole(8)
    seen, _ = env.reset(seed=1)
    actions = run.policy(seen)
    assert isinstance(actions, torch.Tensor) and actions.dtype == torch.int64 and np.array_equal(actions, run.policy(seen.numpy()))
    assert (run.policy(seen, masks=torch.tensor([[0, 1]] * 8)) == 1).all()
    env.step(actions)
    env.save_snapshots(torch.arange(8) < 2)
    kept = seen.clone()
    env.step(actions)
    assert torch.equal(env.restore_snapshots(torch.tensor([5]), torch.tensor([1]))[0][5], kept[1])


def choice_of(network):
    return lambda seen: network(seen).argmax(1)


@case
def trackers_get_runs_without_a_network():
    short = {"env": {"count": 32}, "run": {"total_steps": 4000}, "device": "cpu"}
    run = nacelle.train("cartpole", out="tracked", callback=lambda metrics: None, **short)
    seeds = nacelle.train("cartpole", out="seeds", seeds=2, **short)
    from mlflow import MlflowClient
    ids = nacelle.to_mlflow([run, seeds], "poles", tracking="sqlite:///tracked.db")
    client = MlflowClient(tracking_uri="sqlite:///tracked.db")
    kept = [client.get_run(each) for each in ids]
    assert [each.info.run_name for each in kept] == ["tracked", "seeds/seed-1", "seeds/seed-2"]
    assert kept[0].data.params["env.count"] == "32" and kept[0].info.status == "FINISHED" and kept[1].data.tags["group"] == "seeds"
    history = client.get_metric_history(ids[0], "loss.value")
    told = [json.loads(line) for line in Path("tracked/metrics.jsonl").read_text().splitlines()]
    assert [(each.step, each.value) for each in history] == [(each["step"], each["loss.value"]) for each in told]
    assert len(nacelle.to_mlflow("tracked", "poles", tracking="sqlite:///tracked.db")) == 1
    import wandb
    ids = nacelle.to_wandb([run, seeds], settings=wandb.Settings(silent=True))
    assert len(ids) == 3 and all(list(Path("wandb").glob(f"offline-run-*{each}/run-{each}.wandb")) for each in ids)
    refused(nacelle.Error, lambda: nacelle.to_wandb("seeds/seed-1/source"), "holds no run")
    refused(nacelle.Error, lambda: nacelle.to_mlflow("nowhere"), "nowhere: holds no run")


@case
def torchs_tensors_are_the_engines_memory():
    for copy in (False, True):
        env, host = cartpole(copy=copy), cartpole(output="numpy")
        seen, _ = env.reset(seed=1)
        host.reset(seed=1)
        assert (seen.data_ptr() == env._batch.array("obs").pointer) is not copy
        kept = []
        for step in range(60):
            actions = torch.full((32,), step % 3 == 0, dtype=(torch.int64, torch.int32, torch.bool)[step % 3])
            mine, its = env.step(actions), host.step(actions.numpy())
            assert all(np.array_equal(one, other) for one, other in zip(mine[:4], its[:4]))
            assert ("final_obs" in mine[4]) == ("final_obs" in its[4])
            if "final_obs" in its[4]:
                done = its[4]["_final_obs"]
                assert np.array_equal(mine[4]["_final_obs"], done) and np.array_equal(mine[4]["final_obs"][done], its[4]["final_obs"][done])
            kept.append((mine[0], mine[0].clone()))
        assert all(torch.equal(*pair) for pair in kept) is copy
    refused(ValueError, lambda: env.step(torch.full((32,), 2)), "action.push of environment 0 is 2")
    refused(TypeError, lambda: env.step(torch.zeros(32, dtype=torch.complex64)), "complex64")
    env.step(torch.zeros(64, dtype=torch.int64)[::2])       # not in one piece
    seen, kept = env.arrays["obs"], env.arrays["obs"].clone()
    env.close()
    del env
    for other in [cartpole() for _ in range(3)]:
        other.reset(seed=9)
    assert torch.equal(seen, kept)


@case
def an_ended_episode_begins_when_its_mode_says():
    hold_alike("torch", torch.as_tensor)


@case
def teams_give_tensors():
    settings = {"env": {"policies": {"a": [0, 1, 3], "b": 2, "runner": 4}}}
    for copy in (False, True):
        mine, its = (nacelle.make_vec("tag_gridworld", 50, device="cpu", output=output, copy=copy, settings=settings)
                     for output in ("torch", "numpy"))
        mine.reset(seed=1)
        its.reset(seed=1)
        its.action_space.seed(2)
        for _ in range(120):
            actions = its.action_space.sample()
            for one, other in zip(mine.step(actions)[:4], its.step(actions)[:4]):
                assert all(np.array_equal(one[name], other[name]) for name in other)


@case
def the_documentations_block_runs():
    blocks = re.findall(r"```python run torch\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(blocks) == 1
    exec(blocks[0], {})
