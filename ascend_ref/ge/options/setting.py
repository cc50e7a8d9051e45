"""One option as it is in effect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascend_spec import ge_catalog
from ascend_spec.ge import Option

from .check import quote
from .given import Source

_UNIT = "MB"


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
        return _storage(value, node["pattern"], source, warnings)
    if name == "aic_metrics" and value == "":
        return Setting(name, ge_catalog().entry.empty_metrics, source, "")
    if value == "" and "off" in node.get("enum", ()) and name not in ("task_time", "task_trace"):
        return Setting(name, "off", source, "")
    if name == "optype" and isinstance(value, str):
        once = ",".join(dict.fromkeys(value.split(",")))
        return Setting(name, once, source, None if once == value else value)
    return Setting(name, value, source)


def _storage(value: str, pattern: str, source: Source, warnings: list[str]) -> Setting:
    limit, name = ge_catalog().entry.storage, "storage_limit"
    if not value:
        return Setting(name, None, source)
    number = int(value.removesuffix(_UNIT)) if re.fullmatch(pattern, value) else limit.most + 1
    if number < limit.least:
        raised = f"{limit.least}{_UNIT}"
        warnings.append(f"{name} is {quote(value)} and is raised to {raised}")
        return Setting(name, raised, source, value)
    if number > limit.most:
        expects = f"{ge_catalog().options[name].expects}, at most {limit.most}{_UNIT}"
        warnings.append(f"{name} is {quote(value)}; expected {expects}: it has no effect")
        return Setting(name, None, source, value)
    return Setting(name, value, source)
