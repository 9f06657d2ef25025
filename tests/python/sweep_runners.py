"""Sweeps whose trials train elsewhere, by Slurm and by Ray, and populations."""
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "fake_ray"))      # in front of the real one

import nacelle
import ray
from cases import case, refused, run_cases
from nacelle import sweep_workers
from sweep_asked import QUICK, VARIED, outcomes, quick

sweep_workers.BETWEEN_LOOKS = 0.1


def jobs():
    return sorted(Path(os.environ["FAKE_SLURM"]).iterdir())


def pids_of(job):
    return json.loads(job.read_text())["pids"]


@case
def an_array_of_slurm_trains_what_this_machine_does():
    shown = []
    stranger = Path("optuna.py")
    stranger.write_text("raise SystemExit('a module of the working directory ran')")
    here = nacelle.sweep(quick("here"))
    found = nacelle.sweep(quick("array", side_by_side=2, runner="slurm", slurm=["--partition=short"]), callback=shown.append)
    stranger.unlink()       # the stand-in for Ray starts Python with the working directory
    assert outcomes(found) == outcomes(here), (outcomes(found), outcomes(here))
    assert sorted(trial["number"] for trial in shown) == [1, 2, 3] and found.best and Path(found.best_file).exists()
    words = json.loads(jobs()[-1].read_text())["words"]
    assert {"--partition=short", "--array=1-2", "--job-name=sweep-cartpole", "--requeue"} <= set(words), words
    count = len(jobs())
    assert outcomes(nacelle.sweep(quick("array", runner="slurm"))) == outcomes(here) and len(jobs()) == count


@case
def an_array_outlives_the_call_that_began_it():
    longer = {**QUICK, "run": {"total_steps": 100000}}
    asked = quick("outlived", config=longer, trials=2, side_by_side=2, runner="slurm")
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    refused(KeyboardInterrupt, lambda: nacelle.sweep(asked), "")
    count = len(jobs())
    for wrong in '{"job": 5}', '["a"]', "{}", '{"job": "\\u0000"}', "[" * 100000:
        Path("damaged").mkdir(exist_ok=True)
        Path("damaged/slurm.json").write_text(wrong)
        refused(nacelle.Error, lambda: sweep_workers._running(Path("damaged")), "damaged/slurm.json: is damaged")
    if sweep_workers._running(Path("outlived")):
        refused(nacelle.Error, lambda: nacelle.sweep({**asked, "runner": "local"}), "of Slurm works on it")
    found = nacelle.sweep(asked)
    assert len(jobs()) == count and [trial["state"] for trial in found.trials] == ["complete"] * 2
    assert outcomes(nacelle.sweep(quick("straight", config=longer, trials=2))) == outcomes(found)


@case
def trials_of_a_killed_worker_are_taken_up():
    longer = {**QUICK, "run": {"total_steps": 100000, "checkpoint_every": 8192}}
    asked = quick("killed", config=longer, trials=1, runner="slurm")

    def kill():
        while not list(Path("killed").glob("trial-1/checkpoints/step-*.json")):
            time.sleep(0.02)
        for pid in pids_of(jobs()[-1]):
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    refused(nacelle.Error, lambda: nacelle.sweep(asked), "killed: the workers have ended before the trials; the same call goes on")
    killer.join()
    for _ in range(100):        # what it began ends by itself, since nobody reads what it prints
        try:
            found = nacelle.sweep(asked)
            break
        except nacelle.Error as error:
            assert "another process" in str(error), error
            time.sleep(0.1)
    assert outcomes(found) == outcomes(nacelle.sweep(quick("unkilled", config=longer, trials=1)))


@case
def a_worker_that_is_ended_in_order_goes_on_when_it_is_started_again():
    longer = {**QUICK, "run": {"total_steps": 100000}}
    told = nacelle.sweep_file.SweepFile(quick("requeued", config=longer, trials=1, runner="slurm"), {})
    told.out.mkdir()
    sweep_workers.write_whole(told.out / sweep_workers.ASKED, {**told.given, "out": str(told.out.resolve())})
    job = sweep_workers._submitted(told)
    while not list(Path("requeued").glob("trial-1/config.json")):
        time.sleep(0.02)
    sweep_workers._asked("scancel", job)
    while sweep_workers._running(told.out):
        time.sleep(0.05)
    study = nacelle.sweep_study.Study(told, f"{job}_2")
    assert study.next() is None, "a trial of the other worker of this job is not left"
    again, settings = nacelle.sweep_study.Study(told, f"{job}_1").next()
    assert again.number == 0 and settings.keys() == VARIED.keys()
    assert nacelle.sweep_study.Study(told, "later_2").next()[0].number == 0


@case
def what_slurm_refuses_is_told():
    refused(nacelle.Error, lambda: nacelle.sweep(quick("refused", runner="slurm", slurm=["--partition=none"])), "sbatch: sbatch: error: invalid partition")
    refused(nacelle.Error, lambda: nacelle.sweep(quick("failing", runner="slurm", settings={"learner.horizon": [-1]})), "worker-1.out: ")
    path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
    try:
        refused(nacelle.Error, lambda: nacelle.sweep(quick("missing", runner="slurm")), '"runner": "slurm" needs sbatch on PATH')
    finally:
        os.environ["PATH"] = path


@case
def tasks_of_ray_train_what_this_machine_does():
    found = nacelle.sweep(quick("ray", side_by_side=2, runner="ray", ray={"num_gpus": 0.5, "address": "auto"}))
    assert outcomes(found) == outcomes(nacelle.sweep(quick("here")))
    assert ray.started["address"] == "auto" and len(ray.started["tasks"]) == 2
    assert ray.started["options"] == {"num_cpus": 1, "max_retries": -1, "num_gpus": 0.5}
    refused(nacelle.Error, lambda: nacelle.sweep(quick("ray_fails", runner="ray", settings={"learner.horizon": [-1]})), "learner.horizon")
    kept, sys.modules["ray"] = sys.modules["ray"], None
    try:
        refused(ImportError, lambda: nacelle.sweep(quick("no_ray", runner="ray")), "-m pip install ray installs it")
    finally:
        sys.modules["ray"] = kept


def population(out, **changes):
    return quick(out, search="population", trials=4, side_by_side=2, population={"every": 4096, "share": 0.5}, **changes)


@case
def a_population_goes_on_as_its_better_half():
    found = nacelle.sweep(population("population"))
    assert [trial["state"] for trial in found.trials] == ["complete"] * 4 and found.best["score"] == max(trial["score"] for trial in found.trials)
    kept = json.loads(Path("population/population.json").read_text())
    assert len(kept["rounds"]) == 3 and kept["copied"] == 3 and kept["rounds"][-1]["from"] == [None] * 4
    first = kept["rounds"][0]
    poor = [member for member, source in enumerate(first["from"]) if source]
    assert len(poor) == 2 and all(first["scores"][member] <= first["scores"][first["from"][member] - 1] for member in poor)
    for member in poor:
        rate = first["settings"][member]["learner.learning_rate"]
        assert rate != first["settings"][first["from"][member] - 1]["learner.learning_rate"] and 0.0005 <= rate <= 0.005
    config = json.loads(Path(f"population/trial-{poor[0] + 1}/config.json").read_text())
    assert config["learner"]["epochs"] == found.trials[poor[0]]["settings"]["learner.epochs"]
    assert {json.loads(Path(f"population/trial-{n}/config.json").read_text())["seed"] for n in range(1, 5)} == {1, 2, 3, 4}


@case
def a_round_once_more_leaves_other_files():
    shutil.copytree("population", "again")
    path = Path("again/population.json")
    rounds = json.loads(path.read_text())["rounds"][:1]
    poor = next(member for member, source in enumerate(rounds[0]["from"]) if source)
    notes = Path(f"again/trial-{poor + 1}/checkpoints/my-notes-1.txt")
    notes.write_text("mine")
    path.write_text(json.dumps({"rounds": rounds, "copied": 0}))
    nacelle.sweep(population("again"))
    assert notes.read_text() == "mine" and json.loads(path.read_text())["copied"] == 3


@case
def a_population_that_was_interrupted_ends_as_one_that_was_not():
    threading.Timer(1.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    refused(KeyboardInterrupt, lambda: nacelle.sweep(population("cut")), "")
    assert outcomes(nacelle.sweep(population("cut"))) == outcomes(nacelle.sweep(population("population")))
    shown = []
    nacelle.sweep(population("cut"), callback=shown.append)
    assert len(shown) == 4
    nacelle.sweep({**population("nulled"), "population": {"every": 12000}, "config": {**QUICK, "seed": None}})
    assert {json.loads(Path(f"nulled/trial-{n}/config.json").read_text())["seed"] for n in range(1, 5)} == {1, 2, 3, 4}
    whole, folders = json.loads(Path("cut/population.json").read_text()), sorted(Path("cut").glob("trial-*/checkpoints/*"))
    first = whole["rounds"][0]
    for changed in ({"rounds": [3]}, {"rounds": {}}, {"copied": 99}, *({"rounds": [{**first, **wrong}], "copied": 0} for wrong in (
            {"from": [2, 99, None, None]}, {"from": [1, None, None, None]}, {"from": [0, -1, None, None]}, {"from": [2, 1, None, None]},
            {"from": ["a", None, None, None]}, {"settings": [{}] * 4}, {"settings": [3] * 4}, {"scores": [None] * 4}, {"scores": [10**400] * 4})),
                    {"rounds": whole["rounds"] * 2, "copied": 6}):
        Path("cut/population.json").write_text(json.dumps({**whole, **changed}))
        refused(nacelle.Error, lambda: nacelle.sweep(population("cut")), "population.json: is damaged")
    shutil.copytree("cut", "listed")
    lists = {"learner.learning_rate": [0.001, 0.002], "learner.epochs": [1, 2]}
    kept = json.loads(Path("listed/sweep.json").read_text())
    Path("listed/sweep.json").write_text(json.dumps({**kept, "settings": lists}))
    for out, ranges, name, value in (("cut", VARIED, "learner.learning_rate", 0.7), ("cut", VARIED, "learner.learning_rate", True),
                                     ("cut", VARIED, "learner.epochs", 1.5), ("listed", lists, "learner.learning_rate", 0.7),
                                     ("listed", lists, "learner.epochs", True)):
        usual = {"learner.learning_rate": 0.001, "learner.epochs": 1}
        wrong = {**first, "settings": [usual, {**usual, name: value}, usual, usual]}
        Path(out, "population.json").write_text(json.dumps({"rounds": [wrong], "copied": 1}))
        refused(nacelle.Error, lambda: nacelle.sweep({**population(out), "settings": ranges}),
                f"{out}/population.json: is damaged (rounds[0].settings[1]: {name} is {json.dumps(value)}; there is {json.dumps(ranges[name])})")
    assert sorted(Path("cut").glob("trial-*/checkpoints/*")) == folders
    Path("cut/population.json").write_text(json.dumps({"rounds": [{**first, "from": [2, None, None, None]}], "copied": 0}))
    shutil.rmtree("cut/trial-1/checkpoints")
    refused(nacelle.Error, lambda: nacelle.sweep(population("cut")), "cut/trial-1/checkpoints: No such file")
    refused(nacelle.Error, lambda: nacelle.sweep({**population("population"), "trials": 5}), "another population")


@case
def wrong_words_are_told():
    Path("bare.cu").write_text((nacelle.engine.ENVIRONMENTS / "cartpole.cu").read_text())      # with no settings beside it
    for changes, words in (
            ({"runner": "pbs"}, 'runner is "pbs"; there is local, slurm, ray'),
            ({"slurm": ["-p"]}, 'slurm is for "runner": "slurm"'),
            ({"runner": "slurm", "slurm": "-p"}, 'slurm is "-p"; a list is taken'),
            ({"runner": "slurm", "slurm": [3]}, "slurm has what is no text"),
            ({"runner": "ray", "ray": []}, "ray is []; an object is taken"),
            ({"population": {}}, 'population is for "search": "population"'),
            ({"search": "population", "trials": 1}, "trials is 1; a population has two"),
            ({"search": "population", "seeds": 2}, "seeds is not for a population"),
            ({"search": "population", "prune": True}, "prune is not for a population"),
            ({"search": "population", "runner": "slurm"}, "runner is slurm; the members of a population train where"),
            ({"search": "population", "population": {"often": 1}}, "population.often is not known; there is every"),
            ({"search": "population", "population": {"share": 0.6}}, "population.share is 0.6; a number above 0, up to 0.5"),
            ({"search": "population", "population": {"factor": 1}}, "population.factor is 1; a number above 1"),
            ({"search": "population", "settings": {"policies.default.hidden": [[32], [64]]}}, "settings.policies.default.hidden gives members"),
            ({"search": "population", "settings": {"env.count": [32, 64]}}, "settings.env.count gives members checkpoints of different shapes"),
            ({"search": "population", "population": {"every": 0}}, "population.every is 0; a whole number from 1 to 12000"),
            ({"search": "population", "env": "bare", "config": {}}, 'population trains for run.total_steps, which "config" does not set')):
        refused(nacelle.Error, lambda: nacelle.sweep(quick("wrong"), **changes), words)
    assert not Path("wrong").exists()
    Path("here/sweep.json").write_text("{")
    refused(nacelle.Error, lambda: nacelle.sweep(quick("here")), "here/sweep.json: is damaged")
    Path("here/sweep.json").write_text("[]")
    refused(nacelle.Error, lambda: nacelle.sweep(quick("here")), "is damaged (it is no object)")


with tempfile.TemporaryDirectory(prefix="nacelle-runners-") as folder:
    os.chdir(folder)
    os.mkdir("commands")
    os.mkdir("jobs")
    for name in ("sbatch", "squeue", "scancel"):
        os.symlink(HERE / "fake_slurm.py", f"commands/{name}")
    os.environ["PATH"] = f"{folder}/commands{os.pathsep}{os.environ['PATH']}"
    os.environ["FAKE_SLURM"] = f"{folder}/jobs"
    run_cases()
