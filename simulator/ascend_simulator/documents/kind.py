"""A kind of scenario: from a document to an object and back, and the presets of the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
import yaml

from ascend_ref.cli.suggest import unknown

from .complaint import check
from .schema import ScenarioSchema
from .text import Document, Path, ScenarioError, file_text, read, spell, whole

Scenario = TypeVar("Scenario")
Problem: TypeAlias = tuple[Path, str]
"""A place of a scenario, and what is wrong with it: ``is 9; expected at most 8``."""

SUFFIX = ".yaml"


@dataclass(frozen=True)
class ScenarioKind(Generic[Scenario]):
    """What documents of one kind are.

    type: dataclass of frozen dataclasses, the sections. schema: completed by it. package: holds the
    folder ``presets``. problems: everything that is impossible about a scenario whose fields are
    sound by themselves. noun: what a preset is called in errors. listing: command that lists them.
    size: by which presets are in order, smaller ones first; else by name.
    """

    type: type[Scenario]
    schema: Callable[[], ScenarioSchema]
    package: str
    problems: Callable[[Scenario], Iterable[Problem]]
    noun: str
    listing: str
    size: Callable[[Scenario], int] | None = None

    def load(self, path: FilePath | str) -> Scenario:
        """The scenario in a YAML file. Raises :class:`ScenarioError`, ``OSError``."""
        return self.parse(file_text(path), str(path))

    def parse(self, text: str, name: str = "scenario") -> Scenario:
        """The scenario in a YAML text; ``name`` stands for it in errors.

        Raises :class:`ScenarioError`: one line with the name, the line, the field, what was found
        there and what was expected.
        """
        return self._built(read(text, name))

    def validate(self, scenario: Scenario, name: str = "scenario") -> Scenario:
        """The scenario itself, when it is possible. Raises :class:`ScenarioError`."""
        return self.from_document(self.to_document(scenario), name)

    def from_document(self, document: Mapping[str, Any], name: str = "scenario") -> Scenario:
        """The scenario of plain values. Raises :class:`ScenarioError` as :meth:`parse`."""
        return self._built(Document(name, document, {}))

    def to_document(self, scenario: Scenario, *, defaults: bool = False) -> dict[str, Any]:
        """The scenario as plain values; fields at their defaults only where they are asked for."""
        found: dict[str, Any] = _plain(scenario, defaults)
        return found

    def to_yaml(self, scenario: Scenario) -> str:
        """The scenario as a document that :meth:`parse` reads back, without fields at defaults."""
        return yaml.safe_dump(
            self.to_document(scenario), sort_keys=False, allow_unicode=True, default_flow_style=None
        )

    def preset_names(self) -> list[str]:
        """The names of all presets, in alphabetical order; none of them is read."""
        folder = (files(self.package) / "presets").iterdir()
        names = (entry.name for entry in folder)
        return sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))

    def preset_text(self, name: str) -> str:
        """The document of a preset as it was written. Raises :class:`ScenarioError`."""
        if name not in self.preset_names():
            raise ScenarioError(
                f"{unknown(self.noun, name, self.preset_names())} (see {self.listing})"
            )
        return (files(self.package) / "presets" / f"{name}{SUFFIX}").read_text(encoding="utf-8")

    def preset(self, name: str) -> Scenario:
        """One preset. Raises :class:`ScenarioError` for a name that none has."""
        return self.parse(self.preset_text(name), f"preset {name}")

    def presets(self) -> Mapping[str, Scenario]:
        """All presets by name."""
        return self._presets

    @cached_property
    def _presets(self) -> Mapping[str, Scenario]:
        found = {name: self.preset(name) for name in self.preset_names()}
        size = self.size
        return dict(sorted(found.items(), key=lambda one: size(one[1]))) if size else found

    def _built(self, document: Document) -> Scenario:
        check(document, self.schema())
        scenario = msgspec.convert(whole(document.value), self.type)
        for path, text in self.problems(scenario):
            raise document.error(path, f"{spell(path)} {text}")
        return scenario


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
