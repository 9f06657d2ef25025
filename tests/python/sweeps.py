"""Sweeps, several seeds, plots and comparisons from Python: sweeps.py [docs/sweeps.md]."""
import csv
import json
import os
import re
import signal
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

import nacelle
from cases import case, refused, run_cases
from nacelle.sweep_file import SweepFile
from sweep_asked import QUICK, outcomes, quick


def grid(out, settings, **changes):
    asked = quick(out, search="grid", settings=settings, **changes)
    del asked["trials"]
    return asked


@case
def several_seeds_train_in_one_call():
    found = nacelle.train("cartpole", device="cpu", seeds=2, out="seeds", **QUICK)
    assert found.folder == "seeds" and sorted(found.runs) == [1, 2] and found.solved == 0
    assert found.summary["return"]["seeds"] == 2 and found.runs[2]["out"] == "seeds/seed-2"
    assert nacelle.load("seeds/seed-2", device="cpu").steps > 0
    refused(ValueError, lambda: nacelle.train("cartpole", seeds=2, callback=print), "no callback")
    refused(nacelle.Error, lambda: nacelle.train("cartpole", device="cpu", seeds=2, out="seeds", **QUICK), "seeds")


@case
def an_interrupted_call_has_ended_its_command():
    threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
    long = {"run": {"total_steps": 10**9}, "solved": {"return": None}}
    refused(KeyboardInterrupt, lambda: nacelle.train("cartpole", device="cpu", seeds=2, out="cut", **long), "")
    assert not Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()
    assert nacelle.load("cut/seed-1", "latest", device="cpu").steps > 0


@case
def plots_and_comparisons_are_the_command_lines():
    found = nacelle.load("seeds/seed-1", device="cpu")
    drawn = nacelle.plot(["seeds", found], out="curves.svg")
    assert drawn.path.read_text() == drawn._repr_svg_() and "<svg" in drawn._repr_svg_()
    assert [curve["runs"] for curve in drawn.curves] == [2, 1]
    assert nacelle.plot("seeds", ["episode.return", "loss.value"], out="curves.png", pixels=300)._repr_png_()[1:4] == b"PNG"
    compared = nacelle.compare(["seeds", "seeds/seed-1"])
    assert compared.runs["seeds"]["runs"] == 2 and compared.settings == {"seed": {"seeds": "2 seeds", "seed-1": 1}}
    frame = compared.frame()
    assert frame.loc["seeds", "runs"] == 2 and frame.loc["seeds", "steps"] == compared.runs["seeds"]["steps"]["mean"]
    refused(ValueError, lambda: nacelle.compare("seeds"), "two runs or more")
    refused(ValueError, lambda: nacelle.plot([]), "no runs are given")
    refused(ValueError, lambda: nacelle.plot(nacelle.train("cartpole", device="cpu", **QUICK)), "has no folder")
    refused(nacelle.Error, lambda: nacelle.plot("nowhere"), "nowhere")
    refused(nacelle.Error, lambda: nacelle.plot("seeds", "loss.frob"), "loss.frob")


@case
def an_interrupted_sweep_ends_as_one_that_was_not():
    def interrupt(trial):
        raise KeyboardInterrupt

    whole = nacelle.sweep(quick("whole"))
    assert [trial["state"] for trial in whole.trials] == ["complete"] * 3
    try:
        nacelle.sweep(quick("parts", side_by_side=2), callback=interrupt)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("nothing was interrupted")
    parts = nacelle.sweep(quick("parts"))
    assert outcomes(parts) == outcomes(whole), (outcomes(parts), outcomes(whole))
    frame = parts.frame()
    assert list(frame["score"]) == [trial["score"] for trial in whole.trials] and frame["learner.epochs"].between(1, 4).all()
    assert parts.best["score"] == max(trial["score"] for trial in whole.trials)
    rows = list(csv.DictReader(open("parts/trials.csv")))
    assert [float(row["return"]) for row in rows] == [trial["score"] for trial in whole.trials]
    more = nacelle.sweep(quick("parts", trials=4))
    assert outcomes(more)[:3] == outcomes(whole) and len(more.trials) == 4


@case
def a_grid_has_every_point_once():
    settings = {"learner.epochs": {"from": 1, "to": 2, "step": 1}, "policies.default.hidden": [[8], [16, 16]]}
    found = nacelle.sweep(grid("grid", settings, side_by_side=2))
    points = [(trial["settings"]["learner.epochs"], trial["settings"]["policies.default.hidden"]) for trial in found.trials]
    assert points == [(1, [8]), (1, [16, 16]), (2, [8]), (2, [16, 16])] and found.best
    run = json.loads(Path("grid/trial-4/config.json").read_text())
    assert run["policies"]["default"]["hidden"] == [16, 16] and run["learner"]["epochs"] == 2
    best = json.loads(Path(found.best_file).read_text())
    assert best["policies"]["default"]["hidden"] == found.best["settings"]["policies.default.hidden"]


@case
def trials_are_laid_over_as_the_command_line_lays():
    asked = {"settings": {"policies.default.hidden": [[8]], "learner.entropy": [{"linear": [0.1, 0]}]}}
    chosen = {"policies.default.hidden": [8], "learner.entropy": {"linear": [0.1, 0]}}
    Path("team/source").mkdir(parents=True)
    Path("team/config.json").write_text(json.dumps({
        "env": {"source": "tag_gridworld"}, "learner": {"name": "ppo", "entropy": {"cosine": [1, 0]}},
        "policies": {"default": {}, "tagger": {"hidden": [64]}, "runner": {"train": "random"}}}))
    whole = SweepFile({"env": "team/config.json", **asked}, {}).configured(chosen)
    assert whole["policies"] == {"default": {"hidden": [8]}, "tagger": {"hidden": [8]}, "runner": {"train": "random"}}, whole
    assert whole["learner"]["entropy"] == {"linear": [0.1, 0]} and whole["env"]["source"].endswith("/tag_gridworld.cu")


@case
def a_grid_in_tenths_has_all_of_them():
    found = nacelle.sweep(grid("tenths", {"learner.clip": {"from": 0.1, "to": 0.3, "step": 0.1}}))
    assert [trial["settings"]["learner.clip"] for trial in found.trials] == [0.1, 0.2, 0.3]
    assert {trial["state"] for trial in found.trials} == {"complete"}


@case
def poor_trials_end_early():
    longer = {**QUICK, "run": {"total_steps": 60000}}
    found = nacelle.sweep(grid("pruned", {"learner.learning_rate": [0.003, 1e-9]}, prune={"trials": 1, "after": 4000}, config=longer))
    assert [trial["state"] for trial in found.trials] == ["complete", "pruned"] and found.trials[1]["score"] is None
    steps = json.loads(Path("pruned/trial-2/metrics.jsonl").read_text().splitlines()[-1])["step"]
    assert 4000 <= steps < 50000, steps


@case
def scores_are_of_metrics_and_of_seeds():
    found = nacelle.sweep(quick("metric", search="bayesian", seeds=2, score="loss.value", goal="min", trials=2))
    assert found.best["score"] == min(trial["score"] for trial in found.trials)
    assert Path("metric/trial-1/seed-2/metrics.jsonl").exists() and "loss.value" in found.table()
    refused(nacelle.Error, lambda: nacelle.sweep(quick("frob", score="loss.frob")), "score loss.frob is no metric")
    refused(nacelle.Error, lambda: nacelle.sweep(quick("kind", score="kind", trials=1)), "score kind is no metric")
    # Of a long trial it is told soon; what comes now and then is waited for.
    forever = {"env": {"count": 64}, "run": {"total_steps": 10**12, "evaluate_every": 10**6}, "solved": {"return": None}}
    for score in ("loss.frob", "entropie", "episode.retrun", "lgo.solved", "tagger.elo"):
        refused(nacelle.Error, lambda: nacelle.sweep(quick(f"long-{score}", score=score, config=forever)), f"score {score} is no metric of its readings; there is")
    late = {**QUICK, "run": {"total_steps": 600000, "evaluate_every": 200, "report_every": 1}}
    found = nacelle.sweep(quick("late", score="evaluation.return", config=late, trials=1))
    assert found.best["score"] > 0


@case
def a_trial_that_had_ended_unseen_has_its_score():
    from nacelle.sweep_trial import PlayedTrial
    seen = nacelle.sweep(quick("ended", score="loss.value", goal="min", trials=1)).best
    told = nacelle.sweep_file.SweepFile(quick("ended", score="loss.value", goal="min"), {})

    class Trial:
        reported = -1

    assert PlayedTrial(told, Trial(), Path(seen["folder"]), seen["settings"], None).run() == seen["score"]


@case
def a_trial_trains_alone_wherever_its_call_was_made():
    os.environ |= {"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "RANKED": "yes"}
    try:
        assert nacelle.sweep(quick("ranked", trials=1)).best
        assert nacelle.program.alone(os.environ)["RANKED"] == "yes"
    finally:
        for name in ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "RANKED"):
            del os.environ[name]


@case
def trials_that_fail_are_told():
    found = nacelle.sweep(grid("failing", {"learner.horizon": [-1, 16]}, side_by_side=2))
    assert [trial["state"] for trial in found.trials] == ["failed", "complete"]
    assert "learner.horizon" in found.trials[0]["error"], found.trials[0]
    refused(nacelle.Error, lambda: nacelle.sweep(quick("typing", settings={"learner.learnig_rate": [0.1]})), "learnig_rate")


@case
def wrong_words_are_told():
    Path("bare.cu").write_text((nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text())      # with no settings beside it
    for changes, words in (
            ({"env": 3}, "sweep: env is 3; text is taken"),
            ({"envs": "a"}, "sweep: envs is not known; there is env, settings"),
            ({"search": "best"}, 'search is "best"; there is grid, random, bayesian'),
            ({"settings": {}}, "settings varies nothing"),
            ({"settings": {"a": 3}}, "settings.a is 3; a list of values is taken"),
            ({"settings": {"a": []}}, "settings.a is an empty list"),
            ({"settings": {"a": {"from": 1}}}, "settings.a.to is null; a number is taken"),
            ({"settings": {"a": {"from": 1, "to": 2, "by": 1}}}, "settings.a.by is not known; there is from, to, step, log"),
            ({"settings": {"a": {"from": 2, "to": 1}}}, "settings.a goes from 2 to 1"),
            ({"settings": {"a": {"from": 0, "to": 1, "log": True}}}, "settings.a.log is for numbers above 0"),
            ({"settings": {"a": {"from": 1, "to": 2, "log": 1}}}, "settings.a.log is 1; true or false"),
            ({"settings": {"a": {"from": 1, "to": 2, "step": 0}}}, "settings.a.step is 0; a number above 0"),
            ({"settings": {"a": {"from": 1, "to": 2, "step": 0.5}}}, "settings.a.step is 0.5 between whole numbers; write 1.0"),
            ({"search": "grid"}, 'settings.learner.learning_rate has no "step"'),
            ({"search": "grid", "settings": {"a": [1, 2]}}, "trials is not for a grid, which has 2"),
            ({"trials": 0}, "trials is 0; a whole number from 1"),
            ({"seeds": True}, "seeds is true; a whole number from 1"),
            ({"goal": "up"}, 'goal is "up"; there is max, min'),
            ({"prune": {"before": 1}}, "prune.before is not known"),
            ({"prune": {"after": -1}}, "prune.after is -1; a whole number from 0"),
            ({"prune": {"after": 9}, "env": "bare", "config": {}}, 'prune.after is a share of run.total_steps, which "config" does not set'),
            ({"prune": True, "score": "step"}, "prune compares trials at equal steps"),
            ({"device": "tpu"}, 'device is "tpu"; there is auto, cuda, cpu'),
            ({"config": []}, "config is []; an object is taken"),
            ({"config": {"env": {"count": "auto"}}}, 'env.count is "auto" in a trial, and trials of other counts are not compared'),
            ({"settings": {"env.count": [64, "auto"]}}, 'env.count is "auto" in a trial'),
            ({"env": "nowhere_at_all"}, "nowhere_at_all")):
        refused(nacelle.Error, lambda: nacelle.sweep(quick("wrong"), **changes), words)
    refused(ValueError, lambda: nacelle.sweep(quick("wrong"), settings={"a": [float("nan")]}), "sweep: settings.a[0] is nan; a finite number")
    refused(TypeError, lambda: nacelle.sweep(quick("wrong"), settings={"a": [print]}), "sweep: settings.a[0] is of the type builtin")
    refused(TypeError, lambda: nacelle.sweep(3), "a dict or the path of a file")
    refused(TypeError, lambda: nacelle.sweep(quick("wrong"), callback=3), "callback is 3; a function")
    numbers = {"learner.epochs": np.array([1, 2]), "learner.gamma": (np.float64(0.5),)}
    assert SweepFile(quick("wrong"), {"settings": numbers}).ranges == {"learner.epochs": [1, 2], "learner.gamma": [0.5]}
    assert not Path("wrong").exists()
    refused(nacelle.Error, lambda: nacelle.sweep("none.json"), "none.json: No such file")
    Path("broken.json").write_text("{")
    refused(nacelle.Error, lambda: nacelle.sweep("broken.json"), "broken.json: is no JSON")
    Path("list.json").write_text("[]")
    refused(nacelle.Error, lambda: nacelle.sweep("list.json"), "list.json: is no object")
    refused(nacelle.Error, lambda: nacelle.sweep(quick("whole", settings={"learner.epochs": [1]})), "whole: holds a sweep with another settings")
    refused(nacelle.Error, lambda: nacelle.sweep(quick("seeds/seed-1/config.json")), "cannot be made")
    kept, sys.modules["optuna"] = sys.modules["optuna"], None
    try:
        refused(ImportError, lambda: nacelle.sweep(quick("wrong")), "-m pip install 'optuna>=4' installs it")
    finally:
        sys.modules["optuna"] = kept


@case
def the_documentations_blocks_run():
    text = Path(DOCUMENT).read_text()
    Path("sweep.json").write_text(re.search(r"```json file=sweep.json\n(.*?)```", text, re.DOTALL)[1])
    blocks = re.findall(r"```python run\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    exec("\n".join(blocks), {})
    assert Path("sweeps/cartpole/best.svg").exists() and Path("sweeps/population/best.json").exists()


DOCUMENT = Path(sys.argv[1]).absolute()
with tempfile.TemporaryDirectory(prefix="nacelle-sweeps-") as folder:
    os.chdir(folder)
    run_cases()
