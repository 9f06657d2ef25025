"""The Dockerfile installs what the set-up would install, and names files that are there."""
import re
import sys
from pathlib import Path


def main(root):
    text = (root / 'Dockerfile').read_text().replace('\\\n', ' ')
    setup = (root / 'tools' / 'build' / 'setup.sh').read_text()
    wanted = set(re.findall(r'(?:\|\| echo|then echo) ([a-z][\w.+-]+)', setup)) | {'libjs-chart.js'}
    installed = set(re.search(r'--no-install-recommends (.*?) &&', text)[1].split()) - {'ca-certificates'}
    programs = set(re.findall(r'/nacelle/([\w/]+)', text))
    wrong = [f'set-up would install {name}' for name in sorted(wanted - installed)]
    wrong += [f'{name} is nothing that set-up knows' for name in sorted(installed - wanted)]
    wrong += [f'{name} is not there' for name in sorted(programs) if not (root / name).exists()]
    print(''.join(f'FAILED {line}\n' for line in wrong), end='')
    good = not wrong and len(installed) > 10 and programs
    print(f'{int(bool(good))} passed, {int(not good)} failed, 0 skipped')
    return int(not good)


sys.exit(main(Path(sys.argv[1])))
