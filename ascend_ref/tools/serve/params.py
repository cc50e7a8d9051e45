"""Parameters of requests, read by their schemas.

A parameter of another kind than the schema's counts as missing, and a missing one has the schema's
default; so the viewer reads them. Only then texts that break a limit are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ascend_spec import api_catalog, per_spec
from ascend_spec.core.dialect import Node, inlined

from .answer import Failure, Params, failure

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


def refusal(command: str, params: Params) -> Failure | None:
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
    for name, rule in inlined(api_catalog().params_schema(command)).get("properties", {}).items():
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
