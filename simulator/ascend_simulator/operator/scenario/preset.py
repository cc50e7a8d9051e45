"""The presets: kernels that come with the package, each a document to copy from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from ascend_ref.cli.suggest import unknown

from ...scenario.errors import ScenarioError
from .load import parse
from .model import KernelScenario

SUFFIX = ".yaml"


@cache
def presets() -> Mapping[str, KernelScenario]:
    """All presets by name, in alphabetical order."""
    return {name: preset(name) for name in preset_names()}


def preset(name: str) -> KernelScenario:
    """One preset. Raises :class:`ScenarioError` for a name that none has."""
    if name not in preset_names():
        raise ScenarioError(
            f"{unknown('kernel preset', name, preset_names())} (see ascend-ref kernel --list)"
        )
    text = (files(__package__) / "presets" / f"{name}{SUFFIX}").read_text(encoding="utf-8")
    return parse(text, f"preset {name}")


def preset_names() -> list[str]:
    """The names of all presets, in alphabetical order; none of them is read."""
    folder = files(__package__) / "presets"
    return sorted(
        entry.name.removesuffix(SUFFIX) for entry in folder.iterdir() if entry.name.endswith(SUFFIX)
    )
