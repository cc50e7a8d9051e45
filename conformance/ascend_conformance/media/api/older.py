"""Bodies as the older generation of the API has them, from those of the newest.

The two schemas show what became of a member: members that the older one does not describe are
left out, and where it does not know ``compare``, the value of that member takes the place of the
object around it (A8). Renamed members are listed here (A6).
"""

from __future__ import annotations

from typing import Any

from ascend_spec import api_catalog

RENAMED = {
    "source/api/line": {"Instruction Executed": "Instructions Executed", "Cycle": "Cycles"},
}
"""New names of members by command, each with its older one."""

WRAPPED = "compare"


def in_older_form(command: str, body: dict[str, Any], generation: str) -> dict[str, Any]:
    """The body of an answer as a generation has it. Raises ``KeyError`` where it has none."""
    schema = api_catalog().schema(api_catalog().commands[command].body, generation)
    found: dict[str, Any] = _converted(body, schema, schema, RENAMED.get(command, {}))
    return found


def _converted(
    value: Any, node: dict[str, Any], schema: dict[str, Any], renamed: dict[str, str]
) -> Any:
    node = _resolved(node, schema)
    if isinstance(value, list):
        inner = node.get("items")
        if not isinstance(inner, dict):
            return value
        return [_converted(element, inner, schema, renamed) for element in value]
    described = node.get("properties")
    if not isinstance(value, dict) or described is None:
        return value
    if WRAPPED in value and WRAPPED not in described:
        value = value[WRAPPED]
    return {
        renamed.get(key, key): _converted(member, described[renamed.get(key, key)], schema, renamed)
        for key, member in value.items()
        if renamed.get(key, key) in described
    }


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        target = schema["$defs"][node["$ref"].rpartition("/")[2]]
        node = {**target, **{key: node[key] for key in node if key != "$ref"}}
    return node
