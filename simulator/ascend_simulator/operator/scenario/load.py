"""From a document to a kernel's scenario and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import yaml

from ...scenario.document import Document, argument, file_text, read, spell
from .complaint import check
from .consistency import problems
from .model import Capture, Conditions, Device, KernelScenario, Operator, Tiling

_SECTIONS = {
    "operator": Operator,
    "device": Device,
    "tiling": Tiling,
    "conditions": Conditions,
    "capture": Capture,
}


def load(path: Path | str) -> KernelScenario:
    """The scenario in a YAML file. Raises :class:`ScenarioError`, ``OSError``."""
    return parse(file_text(path), str(path))


def parse(text: str, name: str = "kernel") -> KernelScenario:
    """The scenario in a YAML text; ``name`` stands for it in errors.

    Raises :class:`ScenarioError`: one line with the name, the line, the field, what was found there
    and what was expected.
    """
    return _built(read(text, name))


def validate(scenario: KernelScenario, name: str = "kernel") -> KernelScenario:
    """The scenario itself, when it is possible. Raises :class:`ScenarioError`."""
    return _built(Document(name, to_document(scenario), {}))


def override(
    scenario: KernelScenario,
    *,
    mode: str | None = None,
    chip: str | None = None,
    block_dim: int | None = None,
) -> KernelScenario:
    """The scenario in another mode, on another chip, with other blocks; not validated."""
    device, capture = scenario.device, scenario.capture
    if chip is not None:
        device = replace(device, chip=chip)
    if block_dim is not None:
        device = replace(device, block_dim=block_dim)
    if mode is not None:
        capture = replace(capture, mode=mode)  # type: ignore[arg-type]
    return replace(scenario, device=device, capture=capture)


def to_document(scenario: KernelScenario, *, defaults: bool = False) -> dict[str, Any]:
    """The scenario as plain values; fields at their defaults only where they are asked for."""
    document: dict[str, Any] = {}
    for name, kind in _SECTIONS.items():
        section = _plain(getattr(scenario, name), kind(), defaults)
        if section or defaults:
            document[name] = section
    return {"name": scenario.name, "summary": scenario.summary, **document}


def to_yaml(scenario: KernelScenario) -> str:
    """The scenario as a document that :func:`parse` reads back, without fields at defaults."""
    return yaml.safe_dump(
        to_document(scenario), sort_keys=False, allow_unicode=True, default_flow_style=None
    )


def _built(document: Document) -> KernelScenario:
    check(document)
    scenario = _scenario(document.value)
    for path, text in problems(scenario):
        raise document.error(path, f"{spell(path)} {text}")
    return scenario


def _scenario(value: Mapping[str, Any]) -> KernelScenario:
    sections = {
        name: kind(**{field: argument(one) for field, one in value[name].items()})
        for name, kind in _SECTIONS.items()
        if name in value
    }
    rest = {name: value[name] for name in ("name", "summary") if name in value}
    return KernelScenario(**rest, **sections)


def _plain(section: Any, usual: Any, defaults: bool) -> dict[str, Any]:
    found = {field.name: getattr(section, field.name) for field in fields(section)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in found.items()
        if defaults
        or value != getattr(usual, name)
        or type(value) is not type(getattr(usual, name))
    }
