"""Bodies of answers from payloads: the spec says what each of their members shows (``shows``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ascend_spec import api_catalog, per_spec
from ascend_spec.core.dialect import Node, inlined

from .answer import Body
from .blocks import Blocks
from .values import integer, items, member, text


@per_spec
def shape(definition: str) -> Node:
    """A definition of the API in force, with what it refers to in place."""
    return inlined(api_catalog().schema(definition))


def filled(node: Node, value: Any) -> Any:
    """What a payload's value is in an answer; empty of what it lacks and of what shows nothing.

    Of an object with a half ``compare`` only this half shows the value. A truth value is true for
    the integer 1 and texts that begin with it, not for ``true``.
    """
    node = node if "type" in node else node.get("anyOf", [node])[-1]
    match node.get("type"):
        case "object":
            halves = "compare" in node["properties"]
            return {
                name: filled(part, value if halves else member(value, part.get("shows", "")))
                if not halves or name == "compare"
                else filled(part, None)
                for name, part in node["properties"].items()
            }
        case "array":
            return [filled(node["items"], item) for item in items(value)]
        case "boolean":
            return integer(value) == 1
        case "integer":
            return integer(value)
        case _:
            return text(value)


def body(definition: str, payload: Any = None) -> Body:
    """The body of a definition, of a payload as :meth:`.Blocks.details` reads it; else empty."""
    found: Body = filled(shape(definition), payload)
    return found


def elements_of(
    blocks: Blocks,
    code: int,
    definition: str,
    block_id: str,
    sound: Callable[[Body], Body] = lambda element: element,
) -> list[Body] | None:
    """The list that is all of a body, with the elements of one block, each advice once.

    ``sound`` leaves out what an element of the payload must not show. ``None`` where the payload
    has no such list.
    """
    if blocks.is_empty(code):
        return []
    (listed,) = shape(definition)["properties"].values()
    payload = member(blocks.details(code), listed["shows"])
    if not isinstance(payload, list):
        return None
    key = listed["items"]["properties"]["blockId"]["shows"]
    own = [one for one in payload if isinstance(one, dict) and text(one.get(key)) == block_id]
    found: list[Body] = filled(listed, [sound(one) for one in own])
    for element in found:
        element["advice"] = list(dict.fromkeys(element["advice"]))
    return found


def empty_element(definition: str) -> Body:
    """An element of such a list that shows nothing."""
    (listed,) = shape(definition)["properties"].values()
    found: Body = filled(listed["items"], None)
    return found
