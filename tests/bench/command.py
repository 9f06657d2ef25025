"""What the scripts of this folder share: the program, called for its lines of JSON."""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(ROOT / 'build/tools/nacelle')


def last_row(program, words, kind):
    """The last line of this kind that `nacelle WORDS` prints."""
    done = subprocess.run([program, *words, '--json'], stdout=subprocess.PIPE, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [row for row in rows if row.get('kind') == kind]
    if done.returncode != 0 or not rows:
        sys.exit(f'nacelle {" ".join(words)} ended with {done.returncode}')
    return rows[-1]
