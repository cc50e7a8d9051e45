"""What only the page of a database rule says: its places, its SQL, and how a profile is broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ascend_ref.markdown import Style, code, fenced, table
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
    uses = dict.fromkeys(fill(name, place) for name in rule.search.uses for place in _listed(rule))
    yield "Skipped where", ", or ".join(rule.search.unless)
    yield "Reads", ", ".join(code(one) if "{" in one else place_link(style, one) for one in uses)


def _listed(rule: DbRule) -> Sequence[Mapping[str, str]]:
    """The places of a rule that lists them; one without placeholders where it does not."""
    places = rule.search.places
    return places if not isinstance(places, str) and places else ({},)


def search(rule: DbRule) -> str:
    """How bad rows are found."""
    return "\n\n".join(filter(None, (_search(rule), _placeholders(rule))))


def _search(rule: DbRule) -> str:
    if rule.row:
        return f"A row is bad where this holds:\n\n{fenced('sql', rule.row)}"
    if rule.select:
        return f"Each row of this query is a bad one:\n\n{fenced('sql', rule.select)}"
    return f"By the check {code(rule.search.code or '')} of the checker itself."


def _placeholders(rule: DbRule) -> str:
    """What stands for the placeholders of the page at each place that the rule lists."""
    texts = (rule.expected, rule.row or "", rule.select or "", *rule.breaks)
    names = [
        name
        for name in dict.fromkeys(name for place in _listed(rule) for name in place)
        if any(f"{{{name}}}" in text for text in texts)
    ]
    if not names:
        return ""
    headers = [code(f"{{{name}}}") for name in names]
    rows = (
        [code(place[name]) if place.get(name) else "" for name in names] for place in _listed(rule)
    )
    return f"The rule is asked for each of these:\n\n{table(headers, rows)}"


def mutation(rule: DbRule, style: Style) -> Iterator[str]:
    """How the self-test breaks a clean profile, and the nearest legal cases."""
    if rule.breaks:
        yield style.part("How the self-test breaks it")
        yield "On a clean profile these statements wake this rule and no other:"
        yield _statements(rule.breaks)
    if rule.keeps:
        yield style.part("The nearest legal cases")
    for words, statements in rule.keeps.items():
        yield f"{words[0].upper()}{words[1:]}:"
        yield _statements(statements)


def _statements(statements: tuple[str, ...]) -> str:
    return fenced("sql", ";\n".join(one.strip().rstrip(";") for one in statements) + ";")
