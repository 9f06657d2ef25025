"""The fenced code blocks of a Markdown file, with what their tags say."""
import re
from dataclasses import dataclass, field

FENCE = re.compile(r'^(\s*)```\s*(.*?)\s*$')


@dataclass
class Block:
    line: int                                   # of the fence, from 1
    words: list                                 # of the tag: ['cpp', 'env', 'fails']
    values: dict = field(default_factory=dict)  # name=cartpole and the like
    text: str = ''

    @property
    def title(self):
        given = ' '.join(f'{key}={value}' for key, value in self.values.items())
        return ' '.join([*self.words, given]).strip() or '(no tag)'


def blocks_of(markdown):
    """Every block in order; one that is never closed ends with the file, and says so in its tag."""
    found, open_block = [], None
    for number, line in enumerate(markdown.splitlines(), 1):
        fence = FENCE.match(line)
        if open_block is None and fence:
            words = fence[2].split()
            values = dict(word.split('=', 1) for word in words if '=' in word)
            open_block = Block(number, [word for word in words if '=' not in word], values)
        elif open_block is not None and fence and not fence[2]:
            found.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block.text += line + '\n'
    if open_block is not None:
        open_block.words = ['(never', 'closed)']
        found.append(open_block)
    return found
