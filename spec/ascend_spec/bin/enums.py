"""The sets of values of ``enums.yaml``, and those that follow from other documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ascend_spec.core import Bounds, Loader

from .model import BinEnum, EnumMember


def load_enums(loader: Loader) -> dict[str, BinEnum]:
    """The enums of the document by name."""
    document = "bin/enums.yaml"
    return {
        name: loader.fact(BinEnum, row, f"{document}: {name}", name=name)
        for name, row in loader.folder.read(document).items()
    }


@dataclass(frozen=True, slots=True)
class Use(Bounds):
    """One place where a name is in use, from one epoch to another."""

    value: str
    erratum: str | None


def names_in_use(name: str, summary: str, source: tuple[str, ...], uses: Iterable[Use]) -> BinEnum:
    """The open enum of all names in use: each from its first epoch to its last.

    The erratum about a name is that of its last use, given only where the name went out of use.
    """
    by_value: dict[str, list[Use]] = {}
    for use in uses:
        by_value.setdefault(use.value, []).append(use)
    members = tuple(_joined(value, held) for value, held in by_value.items())
    return BinEnum(name, summary, source, members, closed=False)


def _joined(value: str, uses: list[Use]) -> EnumMember:
    starts = [use.since for use in uses]
    ends = [use.until for use in uses]
    since = None if None in starts else min(start for start in starts if start)
    until = None if None in ends else max(end for end in ends if end)
    last = next(use for use in uses if use.until == until)
    return EnumMember(value, since=since, until=until, erratum=last.erratum if until else None)
