"""The sets of values of ``enums.yaml``, and those that follow from other documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ascend_spec.loader import read_document

from .model import BinEnum, EnumMember


def load_enums() -> dict[str, BinEnum]:
    """The enums of the document by name."""
    return {
        name: BinEnum(
            name=name,
            summary=row["summary"],
            source=tuple(row["source"]),
            members=tuple(map(_member, row["members"])),
            closed=row.get("closed", True),
        )
        for name, row in read_document("bin/enums.yaml").items()
    }


def _member(row: Mapping[str, Any]) -> EnumMember:
    return EnumMember(**{**row, "chips": tuple(row.get("chips", ()))})


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a name is in use, from one epoch to another."""

    value: str
    since: str | None
    until: str | None
    erratum: str | None


def names_in_use(name: str, summary: str, source: tuple[str, ...], uses: Iterable[Use]) -> BinEnum:
    """The open enum of all names in use: each from its first epoch to its last.

    The erratum about a name is that of its last use, told only where the name came out of use.
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
