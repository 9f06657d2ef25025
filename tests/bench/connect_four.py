"""How strong runs play Connect Four: against alpha-beta of some depths that is written for it, from both seats, and by
exact values.

    tests/bench/connect_four.py runs/four-1                               depths 0 (random) to 6, 1,000 games each
    tests/bench/connect_four.py runs/four-1 runs/four-2 --depths 4 6 8

An opponent of depth D looks at D stones and draws one of the moves that are equally good within that. The last line is the
share of the policy's moves that have the exact value of the position, in different positions of 12 stones and more from
these games; then the same where another move would have had less. Intervals are of 95 % (Wilson)."""
import argparse
import json
import subprocess
import sys

from command import ROOT

BUILD = ROOT / 'build'
PROGRAM = BUILD / 'tests/connect_four/connect_four_strength'


def lines_of(run, options):
    words = [run, options.checkpoint, options.games, options.positions, options.seed,
             'sampled' if options.sampled else 'greedy', *options.depths]
    with subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            yield {'run': run, **json.loads(line)}
    if process.returncode != 0:
        sys.exit(process.returncode)


def share(found):
    return f'{100 * found["share"]:5.1f} % ({100 * found["low"]:.1f} to {100 * found["high"]:.1f})'


def text_of(line):
    if line['kind'] == 'values':
        return (f'{line["run"]}: moves that keep the exact value: {share(line["kept"])} of {line["positions"]}; '
                f'{share(line["kept_there"])} of {line["positions_with_a_mistake"]} where another move loses some')
    opponent = f'depth {line["depth"]}' if line['depth'] else 'random'
    return (f'{line["run"]} {"begins" if line["starts"] else "second"} against {opponent:8} won {share(line["won"])}  '
            f'drawn {line["drawn"]["count"]:5}  lost {line["lost"]["count"]:5}  of {line["games"]}, '
            f'{line["different"]} different')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('runs', nargs='+')
    parser.add_argument('--checkpoint', default='best', help='best (the latest where none is), latest, or a number of steps')
    parser.add_argument('--depths', type=int, nargs='+', default=[0, 1, 2, 3, 4, 5, 6], choices=range(9), metavar='D')
    parser.add_argument('--games', type=int, default=1000, help='from each seat')
    parser.add_argument('--positions', type=int, default=500, help='whose exact values are worked out')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--sampled', action='store_true', help='draw the actions as training does')
    parser.add_argument('--json', action='store_true')
    options = parser.parse_args()
    subprocess.run(['ninja', '-C', BUILD, PROGRAM.relative_to(BUILD)], stdout=subprocess.DEVNULL, check=True)
    for run in options.runs:
        for line in lines_of(run, options):
            print(json.dumps(line) if options.json else text_of(line), flush=True)


if __name__ == '__main__':
    main()
