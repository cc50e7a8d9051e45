"""A form of a message for each function of ``ge/ge_prof.h``, from its arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ascend_spec.ge.life_cycle import FunctionArgument, GeFunction

CONFIGURATION = "aclgrphProfConfig *"
_NUMBER = {"type": "integer", "minimum": 0, "maximum": 0xFFFFFFFF}
_POINTER = {"$ref": "#/$defs/config"}
IN_JSON: dict[str, dict[str, Any]] = {
    "const char *": {"type": ["string", "null"]},
    "uint32_t": _NUMBER,
    "uint32_t *": {"type": ["array", "null"], "items": _NUMBER},
    "ProfilingAicoreMetrics": _NUMBER,
    "ProfAicoreEvents *": {"type": "null"},
    "uint64_t": {"$ref": "#/$defs/bits"},
    CONFIGURATION: _POINTER,
}
"""What stands for a type of C; null for a null pointer."""


def call_forms(functions: Iterable[GeFunction]) -> dict[str, dict[str, Any]]:
    """A JSON Schema for the message of each function that controls the profiling, by its name.

    A configuration that is made has its number as ``config`` before its arguments.
    """
    return {one.function: _form(one) for one in functions if one.of == "control"}


def _form(function: GeFunction) -> dict[str, Any]:
    given = {one.name: _argument(function, one) for one in function.arguments}
    if function.returns == CONFIGURATION:
        given = {"config": _POINTER, **given}
    return {
        "description": f"Call of {function.function}.",
        "type": "object",
        "required": ["call", "arguments"],
        "additionalProperties": False,
        "properties": {
            "call": {"description": "What is called.", "const": function.function},
            "arguments": {
                "description": f"Its arguments: {', '.join(given) or 'none'}.",
                "type": "object",
                "required": list(given),
                "additionalProperties": False,
                "properties": given,
            },
        },
    }


def _argument(function: GeFunction, argument: FunctionArgument) -> dict[str, Any]:
    """A configuration may be null where that has a defined answer."""
    node = IN_JSON[argument.type]
    if argument.type == CONFIGURATION:
        if any(one.check == "config" for one in function.checks):
            return {"anyOf": [node, {"type": "null"}]}
        return node
    return {"description": argument.summary, **node} if "$ref" not in node else node
