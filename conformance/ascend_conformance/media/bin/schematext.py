"""Places and expectations of schema errors in the words of findings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ascend_spec.core.dialect import annotation_at

LISTED = 12
"""Values of an enumeration that are spelled out."""

IN_PLACE = {"then", "else", "if", "not"}
IN_PLACE_LISTS = {"allOf", "anyOf", "oneOf"}


def place_of(path: Sequence[str | int], missing: str | None = None) -> str:
    """The place of a failing keyword, such as ``core_memory_map[].core_no``; ``""`` is the payload.

    ``path`` leads through the schema to the keyword; ``missing`` is the key that ``required`` asks
    for.
    """
    place = ""
    steps = iter(path[:-1])
    for step in steps:
        if step == "properties":
            place += f".{next(steps)}"
        elif step == "items":
            place += "[]"
        elif step == "prefixItems":
            place += "[]"
            next(steps)
        elif step in {"additionalProperties", "propertyNames"}:
            place += "{}"
        elif step in IN_PLACE_LISTS:
            next(steps)
        elif step not in IN_PLACE:
            break
    return (f"{place}.{missing}" if missing else place).removeprefix(".")


def expectation(schema: dict[str, Any], path: Sequence[str | int], missing: str | None) -> str:
    """What the keyword at the end of ``path`` asks for, as the report's "expected"."""
    if missing is not None:
        return f"the key {missing}"
    value: Any = schema
    for step in path:
        value = value[step]
    keyword = path[-1]
    phrase = _PHRASES.get(str(keyword))
    if keyword in {"enum", "type"}:
        values = value if isinstance(value, list) else [value]
        listed = [one if keyword == "type" else json.dumps(one) for one in values[:LISTED]]
        more = f" or {len(values) - LISTED} more" if len(values) > LISTED else ""
        return f"{', '.join(listed[:-1])}{' or ' if len(listed) > 1 else ''}{listed[-1]}{more}"
    if keyword == "not" and "enum" in value:
        return f"none of {', '.join(map(json.dumps, value['enum'][:LISTED]))}"
    if keyword == "contains" and "const" in value:
        return f"{json.dumps(value['const'])} among the elements"
    if phrase is None:
        described = annotation_at(schema, path, "description")
        return str(described) if described else f"what {keyword!r} asks for"
    return phrase.format(json.dumps(value, ensure_ascii=False))


_PHRASES = {
    "const": "{0}",
    "minimum": "at least {0}",
    "maximum": "at most {0}",
    "exclusiveMinimum": "more than {0}",
    "exclusiveMaximum": "less than {0}",
    "minLength": "at least {0} characters",
    "maxLength": "at most {0} characters",
    "minItems": "at least {0} elements",
    "maxItems": "at most {0} elements",
    "minProperties": "at least {0} keys",
    "maxProperties": "at most {0} keys",
    "pattern": "a text that matches {0}",
}
