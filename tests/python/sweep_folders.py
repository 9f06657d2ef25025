"""Folders of sweeps: of other users, led elsewhere, left by a killed call, with a damaged journal."""
import hashlib
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nacelle
from cases import case, refused, run_cases
from nacelle.program import PROGRAM
from nacelle.sweep_file import SweepFile
from nacelle.sweep_study import Study
from sweep_asked import outcomes, quick


@case
def a_folder_that_others_can_write_holds_no_sweep():
    Path("shared").mkdir()
    Path("shared").chmod(0o777)
    Path("kept.txt").write_text("a line\nand a last one")
    for name in "sweep.lock", "trials.journal":
        Path("shared", name).symlink_to(Path("kept.txt").resolve())
    refused(nacelle.Error, lambda: nacelle.sweep(quick("shared")), 'shared: can be written by other users: a sweep takes no trials from others; another "out"')
    assert Path("kept.txt").read_text() == "a line\nand a last one"


@case
def no_empty_word_of_pythonpath_means_the_working_directory():
    Path("optuna.py").write_text("raise SystemExit('a module of the working directory ran')")
    for around in ":{}", "{}:", "{}":
        variables = {**os.environ, "PYTHONPATH": around.format(os.environ["PYTHONPATH"]), "NACELLE_PYTHON": sys.executable}
        said = subprocess.run([PROGRAM, "sweep", "nothing.json"], capture_output=True, text=True, env=variables)
        assert said.returncode == 1 and said.stderr == "nothing.json: No such file or directory\n", said
    Path("optuna.py").unlink()


@case
def a_folder_that_leads_elsewhere_holds_no_sweep():
    nacelle.sweep(quick("led", trials=1))
    Path("elsewhere.csv").write_text("somebody's")
    table = Path("led/trials.csv")
    table.unlink()
    table.symlink_to(Path("elsewhere.csv").resolve())
    refused(nacelle.Error, lambda: nacelle.sweep(quick("led", trials=2)), "trials.csv: is a link that leads out")
    table.unlink()
    os.mkfifo(table)
    refused(nacelle.Error, lambda: nacelle.sweep(quick("led", trials=2)), "trials.csv: is no plain file")
    table.unlink()
    if os.geteuid() == 0:
        os.chown("led/trial-1", 65534, -1)
        refused(nacelle.Error, lambda: nacelle.sweep(quick("led", trials=2)), "trial-1: belongs to another user")
        os.chown("led/trial-1", 0, -1)
    Path("led/sweep.json").write_text("[" * 100000)
    refused(nacelle.Error, lambda: nacelle.sweep(quick("led", trials=2)), "sweep.json: is damaged")
    assert Path("elsewhere.csv").read_text() == "somebody's"


@case
def a_terminal_obeys_nothing_of_a_sweep():
    Path("turned.json").write_text(json.dumps({**quick("turned", trials=1), "env": "\x1b[31m\u202ered"}))
    said = subprocess.run([sys.executable, "-B", "-m", "nacelle", "sweep", "turned.json"], capture_output=True, text=True)
    assert said.returncode == 1 and "red" in said.stderr and not {"\x1b", "\u202e"} & set(said.stderr + said.stdout), said


@case
def a_killed_command_goes_on():
    Path("killed.json").write_text(json.dumps(quick("killed", trials=2)))
    command = [sys.executable, "-B", "-m", "nacelle", "sweep", "killed.json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("trial 1: ")
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    result = subprocess.run([*command, "--json"], capture_output=True, text=True)       # waits for the trial that was left
    assert result.returncode == 0, result.stderr
    last = json.loads(result.stdout.splitlines()[-1])
    assert last["kind"] == "sweep" and last["trials"] == 2
    assert outcomes(nacelle.sweep("killed.json")) == outcomes(nacelle.sweep(quick("whole")))[:2]


@case
def a_journal_that_lost_the_end_of_a_line_goes_on():
    """A full disk or a killed process leaves a cut last line, or zeros after the last line."""
    wanted = outcomes(nacelle.sweep(quick("whole")))
    nacelle.sweep(quick("torn", trials=2))
    journal = Path("torn/trials.journal")
    kept = journal.read_bytes()
    last = kept.rstrip(b"\n").rfind(b"\n") + 1
    for torn in (kept[:-1], kept[:last + 1], kept[:last] + b"\0" * 5000, kept[:-1] + b"\0"):
        journal.write_bytes(torn)
        assert outcomes(nacelle.sweep(quick("torn", trials=2))) == wanted[:2], torn[-40:]
        assert journal.read_bytes().startswith(kept[:last]) and b"\0" not in journal.read_bytes()
    # One worker is killed, and another one writes the next line.
    study = Study(SweepFile(quick("torn"), {}))
    with open(journal, "ab") as file:
        file.write(b'{"op_code":4,"wor')
    trial, _ = study.next()
    trial.note("worker", "1")
    assert outcomes(nacelle.sweep(quick("torn"))) == wanted


@case
def a_sweep_that_a_disk_has_ended_goes_on():
    whole = nacelle.sweep(quick("whole"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12288, before[1]))       # less than a checkpoint
    try:
        refused(nacelle.Error, lambda: nacelle.sweep(quick("stopped")), "cannot be written: ")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert outcomes(nacelle.sweep(quick("stopped"))) == outcomes(whole)


@case
def a_folder_with_other_work_is_no_sweeps():
    Path("mine").mkdir()
    for name in "best.json", "sweep.lock":
        Path("mine", name).write_text("my own work")
    refused(nacelle.Error, lambda: nacelle.sweep(quick("mine")), "mine: holds files that a sweep would overwrite, and no sweep")
    assert [path.read_text() for path in Path("mine").iterdir()] == ["my own work"] * 2


@case
def trials_of_another_source_are_not_compared():
    source = Path(nacelle.__file__).parent / "env_sources" / "cartpole.cu"
    Path("pole.cu").write_text(source.read_text())
    asked = {**quick("poles", trials=1), "env": "./pole.cu"}
    nacelle.sweep(asked)
    assert stat.S_IMODE(Path("poles/sweep.lock").stat().st_mode) == 0o600
    Path("pole.cu").write_text(source.read_text().replace(".reward = 1.0f", ".reward = 100.0f"))
    refused(nacelle.Error, lambda: nacelle.sweep({**asked, "trials": 2}), "poles: holds a sweep with another source")


@case
def trials_of_another_include_or_table_are_not_compared():
    source = (Path(nacelle.__file__).parent / "env_sources" / "cartpole.cu").read_text()
    changed = source.replace(".reward = 1.0f", ".reward = paid").replace("struct CartPole", '#include "../paid.h"\nstruct CartPole', 1)
    Path("inner").mkdir()
    Path("inner/pole.cu").write_text(changed)
    Path("paid.h").write_text("constexpr float paid = 1.0f;\n")
    asked = {**quick("paid", trials=1), "env": "./inner/pole.cu"}
    nacelle.sweep(asked)
    kept = json.loads(Path("paid/sweep.json").read_text())
    assert set(kept["source"]) == {"pole.cu", "paid.h"}, kept
    Path("paid.h").write_text("constexpr float paid = 100.0f;\n")
    refused(nacelle.Error, lambda: nacelle.sweep({**asked, "trials": 2}), "paid: holds a sweep with another source")
    Path("paid.h").write_text("constexpr float paid = 1.0f;\n")
    assert len(nacelle.sweep({**asked, "trials": 2}).trials) == 2
    # Nor where it changes between two trials.
    def change(trial):
        Path("paid.h").write_text("constexpr float paid = 100.0f;\n")
    refused(nacelle.Error, lambda: nacelle.sweep({**asked, "trials": 5}, callback=change), "paid: holds a sweep with another source")

    # A file alone keeps the hash of earlier versions; a table counts wherever it is named.
    Path("inner/pole.cu").write_text(source)

    def told(config, **settings):
        return SweepFile({**quick("paid"), "env": "./inner/pole.cu", "config": config, "settings": settings}, {}).identity()["source"]

    assert told({}, seed=[1]) == hashlib.sha256(source.encode()).hexdigest()
    for config, settings in (({"env": {"params": {"map": "a.npy"}}}, {"seed": [1]}), ({}, {"env.params.map": ["a.npy"]}), ({}, {"env.params": [{"map": "a.npy"}]})):
        hashes = []
        for text in "12":
            Path("inner/a.npy").write_text(text)
            hashes.append(told(config, **settings))
        assert set(hashes[0]) == {"pole.cu", "a.npy"} and hashes[0] != hashes[1], hashes


@case
def what_no_sweep_can_be_is_refused_in_a_sentence():
    nested = {}
    for _ in range(3000):
        nested = {"a": nested}
    wide = {"from": -1.7e308, "to": 1.7e308}
    rate = "learner.learning_rate"
    for changes, words in (({"out": "a\0b"}, "'a\\x00b', which has a character that is no text"),
                           ({"score": "\ud800"}, "'\\ud800', which has a character that is no text"),
                           ({"config": {"run": 5}}, "run"), ({"config": nested}, "is nested too deeply"),
                           ({"config": {"run": {"total_steps": "x"}}, "search": "population"}, "config.run.total_steps is \"x\"; a number is taken"),
                           ({"settings": {rate: wide}}, "which is more than a float holds"),
                           ({"settings": {rate: {"from": 1e-308, "to": 1e308, "step": 1e-300}}, "search": "grid"}, "it makes more than 1000000 values"),
                           ({"settings": {name: {"from": 1, "to": 2000, "step": 1} for name in ("learner.epochs", "learner.horizon")}, "search": "grid"},
                            "make a grid of 4000000 trials; at most 1000000 are taken")):
        asked = {**quick("none"), **changes}
        if asked.get("search") == "grid":
            del asked["trials"]
        refused(nacelle.Error, lambda: nacelle.sweep(asked), words)
    refused(nacelle.Error, lambda: nacelle.make_vec("a\0b", device="cpu"), "'a\\x00b', which has a character that is no text")


@case
def a_damaged_journal_is_named_with_its_line():
    nacelle.sweep(quick("hurt", trials=1))
    journal = Path("hurt/trials.journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    for third in (b"{]\n", b"[1]\n", b"{}\n", b'{"op_code":4,"worker_id":"x"}\n', b"\xff\n",
                  b'{"op_code":6,"worker_id":"x","trial_id":0,"state":1,"values":[NaN]}\n'):
        journal.write_bytes(b"".join((*lines[:2], third, *lines[3:])))
        refused(nacelle.Error, lambda: nacelle.sweep(quick("hurt", trials=1)), 'hurt/trials.journal:3: is damaged (')
    journal.write_bytes(b"".join(lines))
    begun = next(number for number, line in enumerate(lines) if json.loads(line).get("params"))
    ended = next(number for number, line in enumerate(lines) if json.loads(line).get("values"))
    for number, changed in ((begun, {"params": {}, "distributions": {}}), (begun, {"params": None}), (begun, {"params": dict.fromkeys(json.loads(lines[begun])["params"], "x")}),
                            (ended, {"values": None}), (ended, {"values": [1, 2]}), (ended, {"values": ["a"]})):
        line = json.dumps({**json.loads(lines[number]), **changed}).encode() + b"\n"
        journal.write_bytes(b"".join((*lines[:number], line, *lines[number + 1:])))
        refused(nacelle.Error, lambda: nacelle.sweep(quick("hurt", trials=1)), "hurt/trials.journal")
    journal.unlink()
    journal.mkdir()
    refused(nacelle.Error, lambda: nacelle.sweep(quick("hurt", trials=1)), "hurt/trials.journal: cannot be written: ")


with tempfile.TemporaryDirectory(prefix="nacelle-folders-") as folder:
    os.chdir(folder)
    run_cases()
