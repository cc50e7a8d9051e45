"""What each rule, relation and rule of changes is held to: its break, its legal cases, how many
rows it must find and where, and in which media it is judged.

It says what the self-test asks, as far as documents and spec alone say it; ``ascend-ref rules
--self-test`` does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ascend_ref.markdown import PLAIN, Style, page, table
from ascend_spec import per_spec

from .engine.trials import Trying
from .media import media
from .ruleset import Rule
from .schema import change_rules

RELATION = "relation"
CHANGE = "change"
COUNTED = ("rules", "places", "broken", "legal", "counted", "placed")
"""What is counted of each group."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger. ``judged``: the media in which it is judged; ``kind`` is the only
    one of them, ``relation`` or ``change``.
    """

    id: str
    name: str
    kind: str
    judged: tuple[str, ...]
    trying: Trying

    def document(self) -> dict[str, Any]:
        """In the types of JSON."""
        own = {"id": self.id, "name": self.name, "kind": self.kind, "judged": list(self.judged)}
        return {**own, **asdict(self.trying)}


@per_spec
def ledger() -> tuple[Entry, ...]:
    """Every rule of every medium, every relation and every rule of changes, by id."""
    return tuple(sorted((*_rules(), *_changes()), key=lambda one: one.id))


def _rules() -> Iterator[Entry]:
    for medium in media().values():
        tried = medium.trying()
        for rule in medium.rules().values():
            judged = _judged(rule) if medium.name == RELATION else (medium.name,)
            yield Entry(rule.id, rule.name, medium.name, judged, tried[rule.id])


def _judged(relation: Rule[Any]) -> tuple[str, ...]:
    from .engine.relations.media import judged_in

    return tuple(judged_in(relation))


def _changes() -> Iterator[Entry]:
    """Of a change, the edit of the spec that makes it, alone and at its place, and one that does
    not.
    """
    for rule in change_rules().values():
        broken = bool(rule.edit)
        tried = Trying(len(rule.of), broken, int(bool(rule.keep)), broken, broken)
        yield Entry(rule.id, rule.name, CHANGE, ("spec",), tried)


def counts(entries: Iterable[Entry]) -> dict[str, dict[str, int]]:
    """By medium, how much its rules are held to; relations also by each medium that shows them."""
    groups: dict[str, list[Entry]] = {}
    for one in entries:
        groups.setdefault(one.kind, []).append(one)
        for medium in one.judged if one.kind == RELATION else ():
            alone = replace(one, trying=replace(one.trying, places=1))
            groups.setdefault(f"{RELATION} in {medium}", []).append(alone)
    return {name: _sums(found) for name, found in sorted(groups.items())}


def _sums(entries: Iterable[Entry]) -> dict[str, int]:
    found = dict.fromkeys(COUNTED, 0)
    for one in entries:
        found["rules"] += 1
        for name, value in asdict(one.trying).items():
            found[name] += value
    return found


def counts_document(entries: Iterable[Entry]) -> str:
    """The counts as YAML, one line for each group; what must not shrink."""
    lines = [
        f"{name}: {{{', '.join(f'{key}: {number}' for key, number in sums.items())}}}"
        for name, sums in counts(entries).items()
    ]
    return "\n".join(lines) + "\n"


HEADERS = ("rule", "name", "judged in", "places", "broken", "legal cases", "count", "place")


def rows(entries: Iterable[Entry]) -> list[tuple[str, ...]]:
    """A row of texts for each entry, as :data:`HEADERS` says."""
    return [
        (
            one.id,
            one.name,
            ", ".join(one.judged),
            str(one.trying.places or ""),
            *(_yes(one.trying.broken), str(one.trying.legal or "")),
            *(_yes(one.trying.counted), _yes(one.trying.placed)),
        )
        for one in entries
    ]


def _yes(value: bool) -> str:
    return "yes" if value else ""


def ledger_page(entries: Iterable[Entry], style: Style = PLAIN) -> str:
    """The page of the site: what is held to what, in sum and one by one."""
    listed = list(entries)
    sums: Mapping[str, Mapping[str, int]] = counts(listed)
    linked = [
        (style.link("change-rule" if one.kind == CHANGE else "rule", one.id), *cells)
        for one, (_, *cells) in zip(listed, rows(listed), strict=True)
    ]
    return page(
        "# Ledger",
        "What the self-test holds every rule, relation and rule of changes to. A rule is tried at "
        "each of its places: its break must wake it and no other, and in no legal case may any "
        "fire. Where there is a count, it must find as many rows as are bad, where there is a "
        "place, the first of them. The numbers may only grow: the suite fails where one is less.",
        table(
            ("of", *COUNTED),
            ((name, *(f"{one:,}" for one in sum_.values())) for name, sum_ in sums.items()),
        ),
        "## Each of them",
        table(HEADERS, linked),
    )
