"""The cell magic `%%nacelle NAME`: the cell is the text of a .cu, and NAME an environment of it."""
import shlex

from nacelle._engine import Error
from nacelle.copies import from_text
from nacelle.vector import make_vec


def parsed(line):
    """The variable's name, the number of environments and the other keywords of a magic's line."""
    words = shlex.split(line)
    if not words or not words[0].isidentifier():
        raise ValueError("%%nacelle takes the name of a variable, and then keywords: %%nacelle env num_envs=64 device=cpu")
    taken = {"num_envs": int, "device": str, "output": str, "render_mode": str}
    keywords = {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals or key not in taken:
            raise ValueError(f"%%nacelle: {word} is not known; there is {', '.join(f'{name}=' for name in taken)}")
        try:
            keywords[key] = taken[key](value)
        except ValueError:
            raise ValueError(f"%%nacelle: {key}={value} is no whole number") from None
    return words[0], keywords


def _shown(error):
    """An error that IPython shows without the way through the modules: it is the cell's."""
    try:
        from IPython.core.error import UsageError
    except ImportError:
        return error
    return UsageError(str(error))


def load_ipython_extension(shell):
    """`%load_ext nacelle`."""
    def nacelle(line, cell):
        """%%nacelle NAME [num_envs=64 device=cpu output=torch render_mode=rgb_array]: makes the cell an environment."""
        try:
            name, keywords = parsed(line)
            shell.user_ns[name] = from_text(make_vec, cell, keywords.pop("num_envs", 64), keywords)
        except (Error, ValueError) as error:
            raise _shown(error) from None
    shell.register_magic_function(nacelle, "cell")
