"""Environments for the trainers of other libraries: a module for each, named as the library is."""

from gymnasium.vector import AutoresetMode


def require(env, output, what):
    """Refuses an environment of another output, and every autoreset mode but SAME_STEP."""
    if env.output != output:
        raise ValueError(f'{what} takes an environment with output="{output}", not "{env.output}"')
    if env.autoreset_mode is not AutoresetMode.SAME_STEP:
        raise ValueError(f"{what} takes an environment with autoreset_mode=AutoresetMode.SAME_STEP, the default, not "
                         f"{env.autoreset_mode.name}: trainers read the end of an episode from the step itself")
    return env


def own(env):
    """What makes an observation the caller's, who may look at it after the next step."""
    return (lambda seen: seen) if env.copies else (lambda seen: seen.clone())
