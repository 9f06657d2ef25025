"""The version of meson.build is that of CITATION.cff and of the first entries of CHANGELOG.md and debian/changelog, and the program's own."""
import re
import subprocess
import sys
from pathlib import Path

PLACES = {'meson.build': r"project\('nacelle'.*?version: '([\d.]+)'", 'CITATION.cff': r'^version: ([\d.]+)$',
          'CHANGELOG.md': r'^## ([\d.]+)$', 'debian/changelog': r'^nacelle \(([\d.]+)\)'}


def main(root, program):
    found = {name: re.search(pattern, (root / name).read_text(), re.DOTALL | re.MULTILINE)[1] for name, pattern in PLACES.items()}
    found['nacelle --version'] = subprocess.run([program, '--version'], capture_output=True, text=True).stdout.split()[-1]
    same = len(set(found.values())) == 1
    print('ok' if same else 'FAILED', found)
    print(f'{int(same)} passed, {int(not same)} failed, 0 skipped')
    return int(not same)


sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
