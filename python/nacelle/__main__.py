"""`python -m nacelle` is the command line."""
import os
import sys

from nacelle.engine import FOLDER

os.environ["NACELLE_PYTHON"] = sys.executable       # of its command `sweep`
program = FOLDER / "bin" / "nacelle"
os.execv(program, [str(program), *sys.argv[1:]])
