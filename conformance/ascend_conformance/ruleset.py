"""Rules: what is wrong with a file, why it matters, how it is found, and how it is broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Generic, TypeVar

from ascend_ref.markdown import anchor
from ascend_spec.core import Bounds, Grade, parse

from .finding import Finding, Verdict
from .loss import OF_A_SIDE, Loss, loss_of

AnySearch = TypeVar("AnySearch")

SYSTEMATIC_ROWS = 4
"""Bad rows from which a share of the rows means anything."""


@dataclass(frozen=True, slots=True)
class Rule(Bounds, Generic[AnySearch]):
    """One rule document.

    ``medium`` is the one that the rule judges, and ``theme`` the name of its document. How bad rows
    are found is the same for all media where SQL finds them: ``row`` is a boolean over one row of a
    table, ``select`` has one result row per bad row. Where to look, and every other way to find
    them, is the medium's own: ``search``.

    ``breaks`` are the statements or edits that make something clean break this rule and no other,
    but for those that ``also`` names, each with the reason. ``found`` says what is found then,
    where it is not the rows that they change: a number of rows, or a SELECT of them. ``keeps`` are
    the nearest legal cases: by their words, what makes one of something clean. ``loss`` says what
    a finding shows to be lost, and where.

    ``systematic``: the share of the rows from which a finding of an advice is a violation. What
    single rows of a program may have a reason for, most of them owe to the exporter.
    """

    id: str
    name: str
    verdict: Verdict
    grade: Grade
    summary: str
    why: str
    fix: str
    example: str
    source: tuple[str, ...]
    expected: str
    theme: str
    medium: str
    search: AnySearch
    invariant: str | None = None
    erratum: str | None = None
    column: str | None = None
    row: str | None = None
    select: str | None = None
    breaks: tuple[Any, ...] = ()
    found: int | str | None = None
    keeps: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    also: Mapping[str, str] = field(default_factory=dict)
    loss: Loss | None = None
    systematic: float | None = None

    @property
    def structural(self) -> bool:
        """Generated from the spec's tables and columns rather than from a stated invariant."""
        return self.theme in {"structure", "files"}

    @property
    def page(self) -> str:
        """Where the site has it, among the rules of its theme: path and fragment."""
        return f"rules/{self.medium}-{self.theme}.md#{anchor(f'{self.id} {self.name}')}"

    def finding(self, file: str, message: str, count: int = 1, total: int = 1) -> Finding:
        """That the rule is broken in a file, in so many of its rows; where is still to be added."""
        share = self.systematic
        is_systematic = share is not None and count >= max(SYSTEMATIC_ROWS, share * total)
        return Finding(
            rule=self.id,
            name=self.name,
            verdict="violation" if is_systematic else self.verdict,
            count=count,
            file=file,
            message=message,
            expected=self.expected,
            erratum=self.erratum,
        )

    def counted(self, count: int, total: int) -> str:
        """Its summary, and how many of how many rows break it where there could be several."""
        number = f": {count:,} of {total:,}" if total > 1 else ""
        return self.summary.rstrip(".") + number


LOSSES = "loss"
"""Selects every rule whose findings all show something to be lost."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules the user asked for: prefixes of ids, names, or :data:`LOSSES`.

    Empty ``select``: all.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def wants(self, rule: Rule[Any]) -> bool:
        """Whether the rule is selected and not ignored."""
        chosen = not self.select or self._matches(rule, self.select)
        return chosen and not self._matches(rule, self.ignore)

    @staticmethod
    def _matches(rule: Rule[Any], patterns: tuple[str, ...]) -> bool:
        certain = rule.loss is not None and rule.loss.is_certain
        named = rule.name in patterns or (certain and LOSSES in patterns)
        return named or rule.id.startswith(patterns)


EVERYTHING = Selection()


def rules_in(
    medium: str, search_of: Callable[[Mapping[str, Any]], AnySearch], folder: str | None = None
) -> dict[str, Rule[AnySearch]]:
    """The rules of a medium by id and in the order of the ids.

    Their documents stand in a folder below ``rules``, which is called like the medium, or in
    ``folder``. ``search_of`` gets a document and returns how the medium finds what is wrong. Raises
    ``ValueError`` for an id that is taken.
    """
    found: dict[str, Rule[AnySearch]] = {}
    place = files(__package__).joinpath("rules", medium if folder is None else folder)
    for entry in sorted(place.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".yaml"):
            for document in parse(entry.read_text(encoding="utf-8")) or []:
                theme = entry.name.removesuffix(".yaml")
                rule = rule_of(document, theme, medium, search_of(document))
                if rule.id in found:
                    raise ValueError(f"{entry.name}: rule id {rule.id} is taken")
                found[rule.id] = rule
    return dict(sorted(found.items()))


def rule_of(
    document: Mapping[str, Any], theme: str, medium: str, search: AnySearch
) -> Rule[AnySearch]:
    """The rule of a document."""
    needed = ("name", "verdict", "grade", "summary", "why", "fix", "example", "expected")
    fields: dict[str, Any] = {name: document[name] for name in needed}
    optional = (
        "since",
        "until",
        "invariant",
        "erratum",
        "column",
        "row",
        "select",
        "found",
        "systematic",
    )
    fields |= {name: document.get(name) for name in optional}
    return Rule(
        id=document["rule"] if "rule" in document else document["relation"],
        **fields,
        source=tuple(document["source"]),
        theme=theme,
        medium=medium,
        search=search,
        breaks=as_tuple(document.get("break", ())),
        keeps=_cases(document.get("keep", {})),
        also=document.get("also", {}),
        loss=loss_of(document.get("loss")) or (OF_A_SIDE if "agreement" in document else None),
    )


def _cases(stated: Any) -> Mapping[str, tuple[Any, ...]]:
    """Legal cases by their words; of a relation there is one."""
    if isinstance(stated, Mapping):
        return {words: as_tuple(change) for words, change in stated.items()}
    return {"a neighbour": as_tuple(stated)}


def fill(template: Any, place: Mapping[str, str]) -> Any:
    """A text, or a part of a document, with its placeholders replaced; lists become tuples.

    Unknown braces, and what is no text, are left alone.
    """
    if isinstance(template, Mapping):
        return {fill(name, place): fill(one, place) for name, one in template.items()}
    if isinstance(template, (list, tuple)):
        return tuple(fill(one, place) for one in template)
    if isinstance(template, str):
        for name, value in place.items():
            template = template.replace(f"{{{name}}}", value)
    return template


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One text or several."""
    return (value,) if isinstance(value, str) else tuple(value)
