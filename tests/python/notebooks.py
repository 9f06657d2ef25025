"""The notebooks of docs/notebooks, each run whole in a folder of its own: notebooks.py FOLDER. It needs an environment that has
nbclient, PyTorch and CleanRL's scripts: `tools/nacelle test notebooks` makes it."""
import json
import os
import sys
import tempfile
from pathlib import Path


def skipped(why):
    print(f"skipped: {why}\n0 passed, 0 failed, 1 skipped")
    raise SystemExit(0)


ENVIRONMENT, FOLDER = Path(os.environ.get("NACELLE_TEST_NOTEBOOKS", "/nowhere")), Path(sys.argv[1])
if not (ENVIRONMENT / "bin" / "python").exists():
    skipped("`tools/nacelle test notebooks` installs PyTorch, nbclient and CleanRL, and runs this")
if not ENVIRONMENT.samefile(sys.prefix):
    program = str(ENVIRONMENT / "bin" / "python")       # by its path: a word alone would be another Python of PATH
    os.execv(program, [program, "-B", *sys.argv])

import nbformat
from nbclient import NotebookClient

from cases import case, run_cases

PATHS = sorted(FOLDER.absolute().glob("*.ipynb"))


@case
def they_are_kept_without_outputs():
    assert [path.stem for path in PATHS] == ["cleanrl", "first_policy", "own_environment", "sweep", "teams"]
    for path in PATHS:
        notebook = json.loads(path.read_text())
        for cell in notebook["cells"]:
            assert not cell.get("outputs") and cell.get("execution_count") is None, path
        assert notebook["metadata"]["kernelspec"]["name"] == "python3", path
        nbformat.validate(nbformat.from_dict(notebook))


def case_of(path):
    def runs():
        with tempfile.TemporaryDirectory(prefix="nacelle-notebook-") as folder:
            for wheel in (ENVIRONMENT / "cleanrl").glob("*.whl"):
                (Path(folder) / wheel.name).symlink_to(wheel)
            notebook = nbformat.read(path, as_version=4)
            NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
            shown = [output for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "stream"]
            print("  ", shown[-1].text.strip().splitlines()[-1][:120])
    runs.__name__ = f"{path.stem}_runs"
    case(runs)


for path in PATHS:
    case_of(path)
os.environ["OMP_NUM_THREADS"] = "1"
run_cases()
