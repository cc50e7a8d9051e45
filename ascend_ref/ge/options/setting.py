"""One option as it is in effect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascend_spec import ge_catalog
from ascend_spec.ge import Option

from .check import shown
from .given import Source

_STORAGE = re.compile(r"([0-9]{1,10})MB")
_LEAST_STORAGE, _MOST_STORAGE = 200, 4_294_967_295
"""MB (ge-profiling 1.3)."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An option in effect; ``value`` is ``None`` for nothing. ``given``: what stands in the text
    where that is another value."""

    option: str
    value: str | int | None
    source: Source
    given: str | int | None = None


def setting_of(
    option: Option, found: Mapping[str, Any], source: Source, warnings: list[str]
) -> Setting:
    """What is in effect of an option; what has no meaning counts as missing.

    found: the object of the text. warnings: takes what is to be said about it.
    """
    name = option.option
    node = ge_catalog().options_schema["properties"][name]
    usual = node.get("default")
    value = found.get(name)
    kind = str if node["type"] == "string" else int
    if not isinstance(value, kind) or isinstance(value, bool):
        return Setting(name, usual, "default")
    if name == "storage_limit" and isinstance(value, str):
        return _storage(value, source, warnings)
    if name == "aic_metrics" and value == "":
        return Setting(name, ge_catalog().entry.empty_metrics, source, "")
    if value == "" and "off" in node.get("enum", ()) and name not in ("task_time", "task_trace"):
        return Setting(name, "off", source, "")
    if name == "optype" and isinstance(value, str):
        once = ",".join(dict.fromkeys(value.split(",")))
        return Setting(name, once, source, None if once == value else value)
    return Setting(name, value, source)


def _storage(value: str, source: Source, warnings: list[str]) -> Setting:
    match, name = _STORAGE.fullmatch(value), "storage_limit"
    number = int(match[1]) if match else _MOST_STORAGE + 1
    if number < _LEAST_STORAGE:
        warnings.append(f"{name} is {shown(value)} and is raised to {_LEAST_STORAGE}MB")
        return Setting(name, f"{_LEAST_STORAGE}MB", source, value)
    if number > _MOST_STORAGE and value:
        expects = ge_catalog().options[name].expects
        warnings.append(f"{name} is {shown(value)}; expected {expects}: it has no effect")
        return Setting(name, None, source, value)
    return Setting(name, value or None, source)
