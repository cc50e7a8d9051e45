"""From a document to a scenario and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import yaml

from ascend_ref.capture import Switches

from .complaint import check
from .consistency import problems
from .document import Document, argument, file_text, read, spell
from .model import (
    FaultChoice,
    HardwareChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
)

_SECTIONS = {
    "hardware": HardwareChoice,
    "model": ModelChoice,
    "parallelism": Parallelism,
    "schedule": Schedule,
    "capture": Switches,
}


def load(path: Path | str) -> Scenario:
    """The scenario in a YAML file. Raises :class:`ScenarioError`, ``OSError``."""
    return parse(file_text(path), str(path))


def parse(text: str, name: str = "scenario") -> Scenario:
    """The scenario in a YAML text; ``name`` stands for it in errors.

    Raises :class:`ScenarioError`: one line with the name, the line, the field, what was found there
    and what was expected.
    """
    return _built(read(text, name))


def validate(scenario: Scenario, name: str = "scenario") -> Scenario:
    """The scenario itself, when it is possible. Raises :class:`ScenarioError`."""
    return _built(Document(name, to_document(scenario), {}))


def override(
    scenario: Scenario,
    *,
    ranks: int | None = None,
    steps: int | None = None,
    level: int | None = None,
) -> Scenario:
    """The scenario with other ranks, captured steps per round or level; not validated."""
    changed = scenario
    if ranks is not None:
        changed = replace(changed, parallelism=replace(changed.parallelism, ranks=ranks))
    if steps is not None:
        changed = replace(changed, schedule=replace(changed.schedule, active=steps))
    if level is not None:
        changed = replace(changed, capture=replace(changed.capture, level=level))  # type: ignore[arg-type]
    return changed


def to_document(scenario: Scenario, *, defaults: bool = False) -> dict[str, Any]:
    """The scenario as plain values; fields at their defaults only where they are asked for."""
    found: dict[str, Any] = _plain(scenario, defaults)
    return found


def to_yaml(scenario: Scenario) -> str:
    """The scenario as a document that :func:`parse` reads back, without fields at defaults."""
    return yaml.safe_dump(
        to_document(scenario), sort_keys=False, allow_unicode=True, default_flow_style=None
    )


def _built(document: Document) -> Scenario:
    check(document)
    scenario = _scenario(document.value)
    for path, text in problems(scenario):
        raise document.error(path, f"{spell(path)} {text}")
    return scenario


def _scenario(value: Mapping[str, Any]) -> Scenario:
    sections = {
        name: kind(**_arguments(value[name])) for name, kind in _SECTIONS.items() if name in value
    }
    faults = tuple(FaultChoice(**_arguments(fault)) for fault in value.get("faults", ()))
    rest = {name: value[name] for name in ("name", "summary") if name in value}
    return Scenario(**rest, **sections, faults=faults)


def _arguments(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: argument(one) for name, one in value.items()}


def _plain(value: Any, defaults: bool) -> Any:
    if isinstance(value, tuple):
        return [_plain(item, defaults) for item in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    found: dict[str, Any] = {}
    for field in fields(value):
        one = getattr(value, field.name)
        default = field.default
        if default is MISSING and field.default_factory is not MISSING:
            default = field.default_factory()
        if defaults or one != default or type(one) is not type(default):
            found[field.name] = _plain(one, defaults)
    return found
