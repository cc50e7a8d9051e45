"""The presets: scenarios that come with the package, each a document to copy from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from ascend_ref.cli.suggest import unknown

from .errors import ScenarioError
from .estimate import rows_per_rank
from .load import parse
from .model import Scenario

SUFFIX = ".yaml"


@cache
def presets() -> Mapping[str, Scenario]:
    """All presets by name, the smaller ones first."""
    found = [preset(name) for name in preset_names()]
    found.sort(key=lambda one: rows_per_rank(one) * one.parallelism.ranks)
    return {one.name: one for one in found}


def preset(name: str) -> Scenario:
    """One preset. Raises :class:`ScenarioError` for a name that none has."""
    return parse(preset_text(name), f"preset {name}")


def preset_names() -> list[str]:
    """The names of all presets, in alphabetical order; none of them is read."""
    folder = files(__package__) / "presets"
    return sorted(
        entry.name.removesuffix(SUFFIX) for entry in folder.iterdir() if entry.name.endswith(SUFFIX)
    )


def preset_text(name: str) -> str:
    """The document of a preset as it was written. Raises :class:`ScenarioError`."""
    if name not in preset_names():
        raise ScenarioError(f"{unknown('preset', name, preset_names())} (see ascend-ref scenarios)")
    return (files(__package__) / "presets" / f"{name}{SUFFIX}").read_text(encoding="utf-8")
