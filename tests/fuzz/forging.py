"""JSON and arrays as a forger would change them: right in form, wrong in what they say."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np

__all__ = ["forged_array", "forged_json"]

_VALUES: list[Any] = [
    None, True, 0, 1, -1, 10**9, 2**63, -(2**70), 0.5, 1e308, "", "x", "../../etc/passwd", "\ud800",
    "a" * 5000, [], [1], [[1], [1, 2]], {}, {"a": 1}, {"$": "nonsense"},
    {"$": "float", "value": "nan"}, {"$": "list", "items": [1]}, {"array": "0-x"},
    {"$": "value", "cls": "coterie:load", "fields": {}},
]  # fmt: skip


def _places(node: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every value inside."""
    found: list[tuple[Any, Any]] = []
    inside = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in inside:
        found.append((node, key))
        if isinstance(value, dict | list):
            found += _places(value)
    return found


def forged_json(content: Any, rng: random.Random) -> Any:
    """The same with a value or two replaced, left out, doubled or put under another name."""
    made = copy.deepcopy(content)
    for _ in range(rng.choice((1, 1, 2))):
        places = _places(made)
        if not places:
            break
        node, key = rng.choice(places)
        way = rng.choice(("value", "value", "drop", "other", "rename"))
        if way == "drop":
            del node[key]
        elif way == "other":
            other, name = rng.choice(places)
            node[key] = copy.deepcopy(other[name])
        elif way == "rename" and isinstance(node, dict):
            node[f"{key}x"] = node.pop(key)
        else:
            node[key] = copy.deepcopy(rng.choice(_VALUES))
    return made


def forged_array(array: Any, rng: random.Random) -> Any:
    """Another shape, another type, or other numbers, some of which are no places of anything."""
    way = rng.choice(("shape", "type", "number", "number", "all", "order"))
    made = np.array(array)
    if way == "shape":
        size = tuple(rng.choice((0, 1, 2, s, s + 1, max(s - 1, 0))) for s in made.shape)
        return np.resize(made, rng.choice((size, (*size, 2), size[:-1])))
    if way == "type":
        return made.astype(rng.choice(("U3", "i8", "f8", "f4", "u1", "?", "c16")))
    if way == "order":
        return made.T.copy()
    if not made.size or made.dtype.kind not in "iuf":
        return np.empty(0)
    value: Any = rng.choice((-1, -(2**31), 2**31, 10**12, 0, 7, 1e300, -1e300, np.nan, np.inf))
    if made.dtype.kind in "iu":
        bounds = np.iinfo(made.dtype)
        value = min(max(int(np.nan_to_num(value)), bounds.min), bounds.max)
    if way == "all":
        return np.full_like(made, value)
    made.reshape(-1)[rng.randrange(made.size)] = value
    return made
