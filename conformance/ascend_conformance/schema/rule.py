"""Rules of changes: what kind of difference each names, whom it breaks, which bump it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, Literal, get_args

import msgspec

from ascend_ref.markdown import anchor
from ascend_ref.states import Difference, How
from ascend_spec.core import Grade, parse

from .bump import Bump

Breaks = Literal["sql by name", "readers by position", "bytes", "meaning", "ordering", "nobody"]

BREAKS: Mapping[Breaks, str] = {
    "sql by name": "Whoever asks for a table, column, key or file by its name does not find it, or "
    "finds a value that it does not take.",
    "readers by position": "Whoever counts columns takes one for another.",
    "bytes": "Whoever takes bytes apart reads other numbers.",
    "meaning": "Everything is read as before, and means something else.",
    "ordering": "Whoever relies on the order of rows or events finds another one.",
    "nobody": "What was read before is read as before.",
}
"""Who is broken by a change, gravest first, and how."""

assert tuple(BREAKS) == get_args(Breaks)  # noqa: S101

DESCRIBED = "summary"
"""The fact that something is described in other words, which is one rule for everything."""

ANY = "*"
"""Every sort of things, or every event, that no other rule names."""


@dataclass(frozen=True, slots=True)
class Example:
    """A change that the rule names: the address, the place below it, and the texts."""

    address: str
    before: str = ""
    after: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """One kind of change.

    ``of``: sorts of things (``column``, ``table index``) that it is about; ``event``: what happens
    to them, one of these; ``how``: only in these ways (:class:`ascend_ref.states.Difference`).
    ``edit``: a change of the documents of the spec (:mod:`.edits`) that is this change alone, that
    of the ``example``, but for the rules in ``also``; ``keep``: the nearest edit that is none;
    ``given``: edits that are made before either, where the spec has no such thing.
    ``source``: who says what it breaks. ``theme``: the document that states the rule.
    """

    id: str
    name: str
    of: tuple[str, ...]
    event: tuple[str, ...]
    breaks: Breaks
    bump: Bump
    summary: str
    why: str
    fix: str
    example: Example
    source: tuple[str, ...]
    grade: Grade
    edit: tuple[Mapping[str, Any], ...]
    keep: tuple[Mapping[str, Any], ...]
    theme: str
    how: tuple[How, ...] = ()
    also: tuple[str, ...] = ()
    given: tuple[Mapping[str, Any], ...] = ()

    @property
    def page(self) -> str:
        """Where the site has it, among the rules of its theme: path and fragment."""
        return f"changes/{self.theme}.md#{anchor(f'{self.id} {self.name}')}"


@cache
def change_rules() -> Mapping[str, ChangeRule]:
    """Every rule of changes by id, in the order of the ids.

    Raises ``ValueError`` for an id that is taken, and for two rules about the same difference.
    """
    found: dict[str, ChangeRule] = {}
    for entry in files(__package__).joinpath("rules").iterdir():
        if entry.name.endswith(".yaml"):
            for row in parse(entry.read_text(encoding="utf-8")):
                rule = _rule(row, entry.name)
                if rule.id in found:
                    raise ValueError(f"{entry.name}: rule id {rule.id} is taken")
                found[rule.id] = rule
    return dict(sorted(found.items()))


def _rule(row: Mapping[str, Any], document: str) -> ChangeRule:
    """A row of a document as it is, whose keys are the fields."""
    own = {"id" if key == "rule" else key: value for key, value in row.items()}
    unknown = own.keys() - {one.name for one in fields(ChangeRule)} | own.keys() & {"theme"}
    if unknown:
        raise ValueError(f"{document}: {own.get('id')}: unknown key {min(unknown)!r}")
    try:
        return msgspec.convert({**own, "theme": document.removesuffix(".yaml")}, ChangeRule)
    except msgspec.ValidationError as error:
        raise ValueError(f"{document}: {own.get('id')}: {error}") from error


def rule_of(difference: Difference) -> ChangeRule:
    """The rule that names a difference: the most special one.

    Raises ``KeyError`` for a difference of a sort that no rule names.
    """
    known = _by_difference()
    sort, event, how = difference.element.sort, difference.event, difference.how
    own = ((sort, event, how), (sort, event, ""), (sort, ANY, ""))
    tried = (*own[: 0 if event == DESCRIBED else 3], (ANY, event, ""), (ANY, ANY, ""))
    found = next((known[one] for one in tried if one in known), None)
    if found is None:
        raise KeyError(f"no rule of changes names {' '.join((sort, event, how))!r}")
    return found


@cache
def _by_difference() -> Mapping[tuple[str, str, str], ChangeRule]:
    found: dict[tuple[str, str, str], ChangeRule] = {}
    for rule in change_rules().values():
        for key in product(rule.of, rule.event, rule.how or ("",)):
            if key in found:
                raise ValueError(f"{rule.id} and {found[key].id} are about the same: {key}")
            found[key] = rule
    return found
