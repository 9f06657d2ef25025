"""`python -m nacelle` is the command line."""
import os
import sys

from nacelle.engine import FOLDER

program = FOLDER / "bin" / "nacelle"
os.execv(program, [str(program), *sys.argv[1:]])
