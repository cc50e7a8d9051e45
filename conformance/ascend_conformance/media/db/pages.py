"""What only the page of a database rule says: its places, its SQL, and how a profile is broken."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.markdown import Style, code, fenced
from ascend_ref.tools.spec.pages import place_link
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS

from ...ruleset import fill
from .places import SELECTORS, instances
from .rules import DbRule


def where(rule: DbRule, style: Style) -> str:
    """The places that the rule looks at."""
    places = rule.search.places
    if isinstance(places, str):
        return SELECTORS[places][0]
    named = (
        ".".join(filter(None, (place.get("table"), place.get("column") or rule.column)))
        for place in places
    )
    return ", ".join(place_link(style, name) for name in dict.fromkeys(named) if name)


def about(rule: DbRule) -> Iterator[tuple[str, str]]:
    """The tables that the rule looks at, at any revision and in any carrier; what is expected."""
    known = catalog()
    for revision in known.revisions:
        for carrier in rule.search.carriers or CARRIERS:
            for instance in instances(rule, known.at(revision.id, carrier), known):
                expected = fill(rule.expected, instance.place)
                places = (instance.table or "", *instance.uses, *instance.place.values())
                for name in (place.partition(".")[0] for place in places):
                    if name in known.tables:
                        yield f"{'enum' if name in known.enums else 'table'}/{name}", expected


def facts(rule: DbRule, style: Style) -> Iterator[tuple[str, str]]:
    """The databases that the rule is for, and what it reads in them."""
    yield "Databases", " and ".join(rule.search.carriers)
    uses = (code(name) if "{" in name else place_link(style, name) for name in rule.search.uses)
    yield "Reads", ", ".join(uses)


def search(rule: DbRule) -> str:
    """How bad rows are found."""
    if rule.row:
        return f"A row is bad where this holds:\n\n{fenced('sql', rule.row)}"
    if rule.select:
        return f"Each row of this query is a bad one:\n\n{fenced('sql', rule.select)}"
    return f"By the check {code(rule.search.code or '')} of the checker itself."


def mutation(rule: DbRule) -> Iterator[str]:
    """How the self-test breaks a clean profile, and the nearest legal cases."""
    if rule.breaks:
        yield "## How the self-test breaks it"
        yield "On a clean profile these statements wake this rule and no other:"
        yield _statements(rule.breaks)
    if rule.keeps:
        yield "## The nearest legal cases"
    for words, statements in rule.keeps.items():
        yield f"{words[0].upper()}{words[1:]}:"
        yield _statements(statements)


def _statements(statements: tuple[str, ...]) -> str:
    return fenced("sql", ";\n".join(one.strip().rstrip(";") for one in statements) + ";")
