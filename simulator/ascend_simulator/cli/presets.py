"""What a word on the command line stands for: a preset, or a scenario in a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from ..documents import ScenarioKind
    from ..scenario import Scenario

Any_ = TypeVar("Any_")
KINDS = ("run", "kernel")
"""What is simulated: a run on devices, or one kernel on the cores of a chip."""


def kind_of_scenario(name: str) -> ScenarioKind[Any]:
    """The documents of one of :data:`KINDS`."""
    if name == "run":
        from ..scenario import RUN

        return RUN
    from ..operator.scenario import KERNEL

    return KERNEL


def is_file(text: str) -> bool:
    """Whether a word stands for a file: no preset has a dot or a slash in its name."""
    return any(mark in text for mark in "./\\")


def scenario_of(kind: ScenarioKind[Any_], text: str) -> Any_:
    """The preset of this name, or the scenario in this file."""
    return kind.load(text) if is_file(text) else kind.preset(text)


def named(text: str) -> Scenario:
    """The preset of a run of this name, or the scenario in this file."""
    from ..scenario import RUN

    return scenario_of(RUN, text)


def overridden(
    kind: ScenarioKind[Any_], override: Callable[..., Any_], text: str, **options: object
) -> Any_:
    """The scenario that a word stands for, with what options say instead; ``None``: nothing."""
    changed = override(scenario_of(kind, text), **options)
    given = [
        f"--{name.replace('_', '-')} {value}"
        for name, value in options.items()
        if value is not None
    ]
    return kind.validate(changed, f"{text} with {' '.join(given)}") if given else changed


class PresetOrFile(click.ParamType[str]):
    """A preset of some kinds or a file; completed by the presets' names."""

    name = "preset"

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The presets that begin so, and files where none does."""
        names = [
            name
            for kind in self.kinds
            for name in kind_of_scenario(kind).preset_names()
            if name.startswith(incomplete)
        ]
        return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]
