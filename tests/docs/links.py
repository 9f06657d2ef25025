"""Every relative link of the documents leads to a file that is there, and to a heading that is in it."""
import re
import sys
from pathlib import Path

LINK = re.compile(r'(?<!`)!?\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)')


def without_code(text):
    return re.sub(r'^```.*?^```$', '', text, flags=re.DOTALL | re.MULTILINE)


def anchors_of(path):
    """As GitHub makes them: lower case, without punctuation, spaces as dashes."""
    headings = re.findall(r'^#+ (.*)$', without_code(path.read_text()), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def wrong(root, document, text):
    for target in LINK.findall(without_code(text)):
        if '://' in target or target.startswith('mailto:'):
            continue
        name, _, anchor = target.partition('#')
        path = (document.parent / name).resolve() if name else document
        if not path.exists():
            yield f'{document.relative_to(root)}: {target} is not there'
        elif anchor and anchor not in anchors_of(path):
            yield f'{document.relative_to(root)}: {target}: there is no such heading'


def main(root):
    documents = [path for path in sorted(root.rglob('*.md')) if not any(part.startswith(('build', '.')) for part in path.relative_to(root).parts[:1])]
    found = [line for document in documents for line in wrong(root, document, document.read_text())]
    planted = list(wrong(root, root / 'README.md', '[a](nowhere.md) [b](README.md#no-such-heading) [c](README.md#speed)\n'))
    if len(planted) != 2 or len(documents) < 15:
        found.append(f'{len(planted)} of 2 planted mistakes and {len(documents)} documents were found')
    print(''.join(f'FAILED {line}\n' for line in found), end='')
    print(f'{len(documents) - len(found)} passed, {len(found)} failed, 0 skipped')
    return int(bool(found))


sys.exit(main(Path(sys.argv[1]).resolve()))
