"""Spaces of Gymnasium for an environment's observations and actions."""
import re

import numpy as np
from gymnasium import spaces

TYPES = {"f32": np.float32, "f64": np.float64, "u8": np.uint8, "i8": np.int8, "i16": np.int16, "u16": np.uint16,
         "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "b8": np.bool_}


def names_of(description, role, group=0):
    """The arrays of a role that a group's agents have: the name of each by its part, "obs" where it has none."""
    fields = [field for field in description["fields"] if field["role"] == role and field["group"] == group]
    return {re.fullmatch(r"(?:.*\.)?(?:final_)?obs(?:\.(.+))?|.*", field["name"])[1] or "obs": field["name"] for field in fields}


def _box(field):
    kind = TYPES[field["dtype"]]
    if issubclass(kind, np.floating):
        return spaces.Box(-np.inf, np.inf, field["dims"], kind)
    low, high = (0, 1) if kind == np.bool_ else (np.iinfo(kind).min, np.iinfo(kind).max)
    return spaces.Box(low, high, field["dims"], np.uint8 if kind == np.bool_ else kind)


def observation_space(description, group=0):
    """A Box for numbers or an image alone; a Dict of both."""
    fields = {field["name"]: field for field in description["fields"]}
    boxes = {part: _box(fields[name]) for part, name in names_of(description, "obs", group).items()}
    return next(iter(boxes.values())) if len(boxes) == 1 else spaces.Dict(boxes)


def action_space(description, group=0):
    """Discrete or MultiDiscrete for choices, a Box for real numbers."""
    parts = [field for field in description["fields"] if field["role"] == "action" and field["group"] == group
             for _ in range(field["count"])]
    choices = [part["choices"] for part in parts]
    if all(choices):
        return spaces.Discrete(choices[0]) if len(parts) == 1 else spaces.MultiDiscrete(choices)
    if any(choices):
        raise NotImplementedError("actions of choices and real numbers together have no space here yet")
    return spaces.Box(np.float32([part["low"] for part in parts]), np.float32([part["high"] for part in parts]))
