"""What the value of an option may be, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascend_spec.core.dialect import Node

EMPTY = "an empty text"


def either(words: Sequence[object]) -> str:
    """``a, b or c``; an empty text by its name."""
    *others, last = [str(one) or EMPTY for one in words]
    return f"{', '.join(others)} or {last}" if others else last


def expectation(option: Mapping[str, Any], node: Node) -> str:
    """What the schema allows, and on which chips that is more or less.

    option: a row of ``options.yaml``. Empty where the schema states neither bounds nor words.
    """
    if "minimum" in node:
        most = option.get("most", {"value": node["maximum"]})
        words = f"a whole number from {node['minimum']} to {most['value']}"
        if "most" in option:
            words += f", on chips {' and '.join(map(str, most['not_on']))} to {node['maximum']}"
        return words
    if "enum" not in node:
        return ""
    only = (
        f"; {value} only on chip {either(chips)}"
        for value, chips in option.get("values", {}).items()
    )
    return either(node["enum"]) + "".join(only)
