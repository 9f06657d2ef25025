"""What a call is given: each refusal says what it is, and what is taken."""
import difflib
import operator
import os


def one_of(value, name, words):
    """A text that is one of some."""
    if not isinstance(value, str) or value not in words:
        said = [f'"{word}"' for word in words]
        raise ValueError(f"{name} is {value!r}; there is {', '.join(said[:-1])} and {said[-1]}")
    return value


def whole(value, name, least, most):
    """A whole number from `least` to `most`, also one of NumPy."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise ValueError(f"{name} is {value!r}; a whole number from {least} to {most} is taken")
    return number


def keywords(given, whose, known, others=()):
    """Raises TypeError for a keyword that is not `known`, with the nearest name of `known` and `others`."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, [each for each in (*known, *others) if each != name], 1)
            there = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(known)}" if known else "there is none"
            raise TypeError(f"{whose} got an unexpected keyword argument {name!r}; {there}") from None


def path(value, name, example):
    """The text of a path."""
    if not isinstance(value, (str, os.PathLike)) or not str(value):
        raise TypeError(f'{name} is {value!r}; a path is taken, such as "{example}"')
    return os.fspath(value)


def callback(value):
    """A function to be called, or None."""
    if value is not None and not callable(value):
        raise TypeError(f"callback is {value!r}; a function is taken that is called with a dict")
    return value
