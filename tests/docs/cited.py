"""Every test that docs/security.md names is there: a promise without its test is none."""
import re
import sys
from pathlib import Path

CITED = re.compile(r'`(tests/[\w./]+)`((?:,?\s*"[^"]+")*)')


def cases_of(path):
    """The names of a file's cases, in words."""
    text = path.read_text()
    if path.suffix == '.py':
        return {name.replace('_', ' ') for name in re.findall(r'^def (\w+)', text, re.MULTILINE)}
    # A long name is broken into several texts.
    return {''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', name)) for name in re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', text)}


def wrong(root, text):
    for path, names in CITED.findall(text):
        if not (root / path).exists():
            yield f'{path} is not there'
            continue
        for name in re.findall(r'"([^"]+)"', names):
            if name not in cases_of(root / path):
                yield f'{path} has no case "{name}"'


def main(root):
    text = (root / 'docs' / 'security.md').read_text()
    cited = len(CITED.findall(text))
    found = list(wrong(root, text))
    planted = list(wrong(root, '`tests/nowhere.py` and `tests/docs/cited.py` "main", "no such case"'))
    if len(planted) != 2 or cited < 20:
        found.append(f'{len(planted)} of 2 planted mistakes and {cited} tests were found')
    print(''.join(f'FAILED {line}\n' for line in found), end='')
    print(f'{int(not found)} passed, {int(bool(found))} failed, 0 skipped')
    return int(bool(found))


raise SystemExit(main(Path(sys.argv[1]).resolve()))
