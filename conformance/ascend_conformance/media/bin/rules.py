"""The rules of ``visualize_data.bin``, loaded from ``rules/bin/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from ascend_spec import bin_catalog, per_spec

from ...ruleset import Rule, rules_in

SchemaFinds = Literal["fault", "unknown", "older", "advisory"]


@dataclass(frozen=True, slots=True)
class SchemaSearch:
    """Which errors of the payload schemas are findings of a rule.

    ``fault``: errors by the schema of the file's own epoch, at the ``places`` (block type and path)
    or, for the general rules, by one of the ``keywords``; no keywords: what no other rule takes.
    ``advisory``: those that the spec marks as such. ``older``: what only the newest epoch's schema
    finds. ``unknown``: keys that the schema does not describe.
    """

    finds: SchemaFinds = "fault"
    keywords: tuple[str, ...] = ()
    places: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordSearch:
    """Which packed records are bad (:mod:`.records`): a check by name, and its fields."""

    block: int
    check: str
    fields: tuple[str, ...]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BinSearch:
    """Where a rule looks in the blocks of a file.

    ``table`` is the table of facts whose rows ``row`` looks at, or ``select`` returns in its first
    column, called ``row``; ``shows`` are its columns that are shown as examples. A rule without SQL
    has a ``schema`` or ``records``. ``present`` are block types without which the rule has nothing
    to judge. The breaks are edits (:mod:`.edits`); ``victim`` is a SELECT over the clean file's
    facts, whose columns fill the ``{names}`` in them.
    """

    table: str | None = None
    shows: tuple[str, ...] = ()
    schema: SchemaSearch | None = None
    records: RecordSearch | None = None
    present: tuple[int, ...] = ()
    victim: str | None = None


BinRule: TypeAlias = Rule[BinSearch]


def in_force(rule: BinRule, epoch: str) -> bool:
    """Whether a rule is for files of an epoch; ``since`` and ``until`` are ids of epochs."""
    return bin_catalog().axis.in_force(rule, epoch)


@per_spec
def load_bin_rules() -> Mapping[str, BinRule]:
    """Every rule by id, in the order of the ids."""
    return rules_in("bin", lambda document: msgspec.convert(document, BinSearch))
