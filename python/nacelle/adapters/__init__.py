"""Environments for the trainers of other libraries: a module for each, named as the library is."""

from gymnasium.vector import AutoresetMode


def require(env, output, what):
    """Refuses an environment of another output, or one whose episodes do not begin anew in the step that ends them."""
    if env.output != output:
        raise ValueError(f'{what} takes an environment with output="{output}", not "{env.output}"')
    if env.autoreset_mode is not AutoresetMode.SAME_STEP:
        raise ValueError(f"{what} learns where episodes end from the step that ends them: make the environment with "
                         f"autoreset_mode=AutoresetMode.SAME_STEP, the default, not {env.autoreset_mode.name}")
    return env


def own(env):
    """What makes an observation the caller's, who may look at it after the next step."""
    return (lambda seen: seen) if env.copies else (lambda seen: seen.clone())
