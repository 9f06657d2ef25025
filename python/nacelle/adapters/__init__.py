"""Environments for the trainers of other libraries: a module for each, named as the library is."""


def require(env, output, what):
    """Refuses an environment of another output."""
    if env.output != output:
        raise ValueError(f'{what} takes an environment with output="{output}", not "{env.output}"')
    return env


def own(env):
    """What makes an observation the caller's, who may look at it after the next step."""
    return (lambda seen: seen) if env.copies else (lambda seen: seen.clone())
