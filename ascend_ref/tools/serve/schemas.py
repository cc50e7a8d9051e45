"""Parameters and bodies by the schemas of the spec, which say what each member shows (``shows``).

A parameter of another kind than the schema's counts as missing, and a missing one has the schema's
default; so the viewer reads them. Only then texts that break a limit are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ascend_spec import api_catalog, per_spec
from ascend_spec.api import ErrorCode
from ascend_spec.core.dialect import Node, inlined

from .answer import Body, Params, failure
from .blocks import Blocks
from .values import integer, items, member, text

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
}


def read_params(command: str, given: Mapping[str, Any]) -> Params:
    """The parameters that a command reads, each with a value of its kind."""
    return {
        name: _read(rule, given.get(name))
        for name, rule in _rules(command).items()
        if "default" in rule
    }


def refusal(command: str, params: Params) -> ErrorCode | None:
    """Why a command is refused for its texts; ``None`` where it is not.

    Module source reports the reason with code 9999, module timeline only that there is one (A17).
    """
    for name, rule in _rules(command).items():
        value = params.get(name)
        if isinstance(value, str) and value not in rule.get("exempt", ()):
            if not (problem := _problem(rule, value)):
                continue
            if api_catalog().commands[command].module == "source":
                return failure("unspecified", f"{name} {problem}")
            return failure("parameters")
    return None


def _problem(rule: Mapping[str, Any], value: str) -> str | None:
    limit = rule.get("maxBytes")
    if limit is not None and len(value.encode("utf-8", "surrogatepass")) > limit:
        return f"is longer than {limit} bytes"
    if len(value) < rule.get("minLength", 0):
        return "is empty"
    if not re.search(rule.get("pattern", ""), value):
        return "holds a character that is not allowed"
    return None


@per_spec
def _rules(command: str) -> dict[str, Node]:
    """The schemas of a command's parameters; ``exempt`` are texts that an alternative allows."""
    rules: dict[str, Node] = {}
    params = shape(api_catalog().commands[command].params)
    for name, rule in params.get("properties", {}).items():
        *constants, main = sorted(rule.get("anyOf", [{}]), key=lambda one: "const" not in one)
        rules[name] = {**main, "exempt": [one["const"] for one in constants], **rule}
    return rules


def _read(rule: Mapping[str, Any], value: Any) -> Any:
    if not _is_of_kind(rule, value):
        return rule["default"]
    if rule["type"] == "array":
        return [item if isinstance(item, str) else "" for item in value]
    return value


def _is_of_kind(rule: Mapping[str, Any], value: Any) -> bool:
    kind = rule["type"]
    if not isinstance(value, _KINDS[kind]) or (kind != "boolean" and isinstance(value, bool)):
        return False
    if kind == "integer":
        return bool(rule.get("minimum", value) <= value <= rule.get("maximum", value))
    return True


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
