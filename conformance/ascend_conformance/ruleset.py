"""The rules, loaded from ``rules/*.yaml``. A rule is data: how to find, and how to break."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal, TypeVar

from ascend_spec import per_spec
from ascend_spec.core import DAYS, Bounds, Grade, parse
from ascend_spec.db.model import Carrier

from .finding import Verdict

BETWEEN_RANKS = "group-name-differs-between-ranks"
"""The code of the rule that compares the databases of several ranks (:mod:`.checks.ranks`)."""

Format = Literal["db", "bin", "api", "text", "relation", "any"]
"""What a rule judges: a profile database, a ``visualize_data.bin``, a server's answers, the text
deliverables of an output folder; ``relation``: the entities of the recording in whatever shows
them; ``any``: the checker itself, on whatever it judges.
"""

LAST_STAGE = 3
"""Stages: 0 kind of value, 1 range, 2 reference, 3 everything with a meaning."""


@dataclass(frozen=True, slots=True)
class Rule(Bounds):
    """One rule document.

    Exactly one of ``row``, ``select`` and ``code`` says how bad rows are found: a boolean over one
    row of the table, a SELECT with one result row per bad row (first column ``row``), or the name
    of a check in Python (``media.db.checks``). ``stage`` orders the rules: rows that a lower
    stage condemned are left out when a higher stage looks at the same columns.
    ``repeats`` names a column without which repeated values the rule cannot be broken.
    A ``fragile`` rule is not judged at all then, because leaving rows out could break it by itself.
    ``breaks`` are the statements or edits that make a clean profile break this rule and no other,
    but for those that ``also`` names, each with the reason. ``found`` says what is found then,
    where it is not the rows that they change: a number of rows, or a SELECT of them. ``keeps`` are
    the nearest legal cases: by their words, what makes one of a clean profile.
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
    format: Format = "db"
    invariant: str | None = None
    erratum: str | None = None
    carriers: tuple[Carrier, ...] = ()
    places: str | tuple[Mapping[str, str], ...] = "file"
    column: str | None = None
    uses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    row: str | None = None
    select: str | None = None
    code: str | None = None
    oracle: str | None = None
    breaks: tuple[Any, ...] = ()
    found: int | str | None = None
    keeps: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    also: Mapping[str, str] = field(default_factory=dict)
    repeats: str | None = None
    stage: int = LAST_STAGE
    fragile: bool = False

    def applies_at(self, carrier: Carrier, date: str) -> bool:
        """Whether the rule is in force for a carrier on a revision's date."""
        return (not self.carriers or carrier in self.carriers) and DAYS.in_force(self, date)

    @property
    def compares_ranks(self) -> bool:
        """Judged over all databases of a run together, not over one."""
        return self.code == BETWEEN_RANKS

    @property
    def structural(self) -> bool:
        """Generated from the spec's tables and columns rather than from a stated invariant."""
        return self.theme in {"structure", "files"}


AnyRule = TypeVar("AnyRule", bound=Rule)


@per_spec
def load_rules() -> Mapping[str, Rule]:
    """Every rule of every format by id, in the order of the ids."""
    from .engine.relations.rule import load_relations
    from .media.api.rules import load_api_rules
    from .media.bin.rules import load_bin_rules  # both build on this module
    from .media.text.rules import load_text_rules

    found = {
        **rules_in("", _rule),
        **load_bin_rules(),
        **load_api_rules(),
        **load_text_rules(),
        **load_relations(),
        **rules_in("any", _rule_on_any),
    }
    return dict(sorted(found.items()))


def rules_in(
    subfolder: str, make: Callable[[Mapping[str, Any], str], AnyRule]
) -> dict[str, AnyRule]:
    """The rules of the documents in a folder below ``rules``, by id and in the order of the ids.

    ``make`` gets a document and its theme, which is the name of its file. Raises ``ValueError`` for
    an id that is taken.
    """
    found: dict[str, AnyRule] = {}
    folder = files(__package__).joinpath("rules", subfolder)
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".yaml"):
            for document in parse(entry.read_text(encoding="utf-8")) or []:
                rule = make(document, entry.name.removesuffix(".yaml"))
                if rule.id in found:
                    raise ValueError(f"{entry.name}: rule id {rule.id} is taken")
                found[rule.id] = rule
    return dict(sorted(found.items()))


def common_fields(document: Mapping[str, Any], theme: str) -> dict[str, Any]:
    """What a rule document of any format tells, as arguments of :class:`Rule`."""
    taken = ("name", "verdict", "grade", "summary", "why", "fix", "example", "expected")
    return {
        "id": document["rule"],
        **{name: document[name] for name in taken},
        "source": tuple(document["source"]),
        "theme": theme,
        "breaks": _as_tuple(document.get("break", ())),
        "found": document.get("found"),
        "keeps": {words: _as_tuple(one) for words, one in document.get("keep", {}).items()},
        "also": document.get("also", {}),
    }


def _rule(document: Mapping[str, Any], theme: str) -> Rule:
    return Rule(
        **common_fields(document, theme),
        invariant=document.get("invariant"),
        erratum=document.get("erratum"),
        carriers=tuple(document.get("carriers", ())),
        since=document.get("since"),
        until=document.get("until"),
        places=_places(document),
        column=document.get("column"),
        uses=tuple(document.get("uses", ())),
        needs=_as_tuple(document.get("needs", ())),
        row=document.get("row"),
        select=document.get("select"),
        code=document.get("code"),
        oracle=document.get("oracle"),
        repeats=document.get("repeats"),
        stage=document.get("stage", LAST_STAGE),
        fragile=document.get("fragile", False),
    )


def _rule_on_any(document: Mapping[str, Any], theme: str) -> Rule:
    return Rule(**common_fields(document, theme), format="any", code=document["finds"])


def _places(document: Mapping[str, Any]) -> str | tuple[Mapping[str, str], ...]:
    selector = document.get("for")
    if isinstance(selector, dict):
        return tuple(selector["places"])
    if selector:
        return str(selector)
    return ({"table": document["table"]},) if "table" in document else "file"


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
