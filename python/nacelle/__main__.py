"""`python -m nacelle` is the command line; `sweep` is Python's."""
import os
import sys

if sys.argv[1:2] == ["sweep"]:
    from nacelle.sweep_command import main
    raise SystemExit(main(sys.argv[2:]))

from nacelle.engine import FOLDER

program = FOLDER / "bin" / "nacelle"
os.execv(program, [str(program), *sys.argv[1:]])
