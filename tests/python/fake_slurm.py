#!/usr/bin/env python3
"""Slurm as far as a sweep uses it, on this machine: linked under the names sbatch, squeue and scancel, with its jobs in the
folder $FAKE_SLURM."""
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ["FAKE_SLURM"])


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def sbatch(words):
    given = dict(word.lstrip("-").partition("=")[::2] for word in words)
    if given.get("partition") == "none":
        sys.exit("sbatch: error: invalid partition specified: none")
    script, job = sys.stdin.read(), str(1000 + len(list(FOLDER.iterdir())))
    first, last = map(int, re.fullmatch(r"(\d+)-(\d+)", given["array"]).groups())
    pids = []
    for task in range(first, last + 1):
        where = {"SLURM_ARRAY_JOB_ID": job, "SLURM_ARRAY_TASK_ID": str(task), "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}
        with open(given["output"].replace("%a", str(task)), "a") as said:
            pids.append(subprocess.Popen(["sh", "-c", script.split("\n", 1)[1]], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                         cwd=given["chdir"], env={**os.environ, **where}, start_new_session=True).pid)
    (FOLDER / job).write_text(json.dumps({"pids": pids, "words": words}))
    print(f"{job};cluster")


def squeue(words):
    path = FOLDER / words[words.index("--jobs") + 1]
    if not path.exists():
        sys.exit("slurm_load_jobs error: Invalid job id specified")
    for pid in filter(is_alive, json.loads(path.read_text())["pids"]):
        print(pid, "RUNNING")


def scancel(words):
    for pid in filter(is_alive, json.loads((FOLDER / words[0]).read_text())["pids"]):
        os.kill(pid, signal.SIGTERM)


globals()[Path(sys.argv[0]).name](sys.argv[1:])
