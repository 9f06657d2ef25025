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


def evaluated(program, run, seed, more, *words):
    """What the last policy of a run from this seed comes to, over a thousand episodes on seeds that no run meets; of what was given to
    `nacelle train`, too, it takes the backend."""
    return last_row(program, ['eval', run, '--checkpoint', 'latest', '--episodes', '1000', '--seed', str(1_000_000 + seed), *words, *backend_of(more)],
                    'evaluation')


def backend_of(more):
    """Of what was given to `nacelle train`, the backend."""
    return [word for at, word in enumerate(more) if '--backend' in (word, more[at - 1] if at else '')]


def arguments_of(parser):
    """What stands before `--`, parsed, and the words behind it."""
    here, _, more = ' '.join(sys.argv[1:]).partition(' -- ')
    return parser.parse_args(here.split()), more.split()
