"""Options and arguments that several verbs have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from ascend_spec import catalog

from .suggest import unknown

AnyVerb = TypeVar("AnyVerb", bound=Callable[..., Any])

STAGED = "The folder to write; it appears only when all is written."

WORKERS = click.IntRange(1, 64)
"""Numbers of processes."""


def output(
    metavar: str, text: str = STAGED, *, required: bool = True
) -> Callable[[AnyVerb], AnyVerb]:
    """``-o`` for the FILE or DIR that a verb writes, and ``--force`` to replace one."""
    what = "file" if metavar == "FILE" else "folder"
    path = click.Path(path_type=Path)

    def add(verb: AnyVerb) -> AnyVerb:
        forced = click.option("--force", is_flag=True, help=f"Replace a {what} that exists.")(verb)
        return click.option(
            "-o", "--output", type=path, required=required, metavar=metavar, help=text
        )(forced)

    return add


def number(
    name: str, least: int, most: int | None, default: int, text: str
) -> Callable[[AnyVerb], AnyVerb]:
    """A whole number within bounds, whose default is shown."""
    bounds = click.IntRange(least, most)
    return click.option(name, type=bounds, default=default, show_default=True, help=text)


def separated(texts: Iterable[str]) -> list[str]:
    """The names in texts that separate them by commas."""
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def deliverables(texts: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """The names of what to write, each once. Raises ``click.BadParameter``."""
    names = separated(texts)
    for name in names:
        if name not in known:
            raise click.BadParameter(unknown("deliverable", name, known))
    if texts and not names:
        raise click.BadParameter(f"names nothing; expected some of {', '.join(known)}")
    return tuple(dict.fromkeys(names))


class Known(click.ParamType[Any]):
    """One of a few names, capitals aside, as what the name stands for."""

    def __init__(
        self,
        name: str,
        known: Callable[[], Mapping[str, Any]],
        also: Callable[[], Mapping[str, Any]] = dict,
        hint: str = "",
    ) -> None:
        """``also``: further names, which are not suggested. ``hint`` follows the error."""
        self.name = name
        self.known = known
        self.also = also
        self.hint = hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What a name stands for."""
        for name, meant in ({**self.known(), **self.also()}).items():
            if name.casefold() == value.casefold():
                return meant
        raise click.UsageError(f"{unknown(self.name, value, list(self.known()))}{self.hint}", ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so."""
        wanted = incomplete.casefold()
        return [CompletionItem(one) for one in self.known() if one.casefold().startswith(wanted)]


REVISION = Known(
    "revision",
    lambda: {one.id: one for one in catalog().revisions},
    lambda: {one.schema_version: one for one in catalog().revisions},
)
"""A revision, or the newest one of a SCHEMA_VERSION."""
