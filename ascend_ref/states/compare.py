"""What differs between two elements and all that is in them: renames, moves, facts."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .element import Degree, Element, Fact, Limits, text_of

How = Literal["", "last", "inside", "gained", "lost", "widened", "narrowed", "replaced"]
"""Of what came: whether others follow it (``inside``). Of a fact: whether it was stated before and
after, and of limits, degrees and sets, whether more is allowed than before.
"""

FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "storage": ("declared",),
    "range": ("declared", "unit"),
    "declared": ("references",),
    "summary": ("*",),
}
"""Facts that are not reported where one of these differs as well, of which they are a consequence;
``*`` is any other.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: what happened to which element.

    ``event``: ``added``, ``removed``, ``renamed``, ``moved``; ``returned``, of a name that meant
    something else before; of what has a number and a label ``relabelled``, ``reassigned`` (the
    label has another number now) and ``renumbered`` (it had another one); else the fact that
    differs. ``element`` is as it is afterwards, of what was removed as it was.
    """

    element: Element
    event: str
    how: How
    before: str
    after: str


def differences(old: Element, new: Element) -> Iterator[Difference]:
    """What differs between an element and what it became, in the order of the new one.

    What is within something that came or went is not reported by itself.
    """
    differing = [
        name
        for name in dict.fromkeys((*old.facts, *new.facts))
        if old.facts.get(name) != new.facts.get(name)
    ]
    for name in differing:
        reasons = FOLLOWS.get(name, ())
        if any(one != name and (one in reasons or "*" in reasons) for one in differing):
            continue
        before, after = old.facts.get(name), new.facts.get(name)
        yield Difference(new, name, _how(before, after), text_of(before), text_of(after))
    sorts: dict[str, tuple[list[Element], list[Element]]] = {}
    for one in new.children:
        sorts.setdefault(one.sort, ([], []))[1].append(one)
    for one in old.children:
        sorts.setdefault(one.sort, ([], []))[0].append(one)
    for olds, news in sorts.values():
        yield from _of_children(_numbered(olds), _numbered(news))


def _numbered(children: Iterable[Element]) -> list[Element]:
    """Children whose keys differ: of several with one key the second is ``key (2)``."""
    seen: Counter[str] = Counter()
    found = []
    for one in children:
        seen[one.key] += 1
        number = seen[one.key]
        found.append(replace(one, key=f"{one.key} ({number})") if number > 1 else one)
    return found


def _of_children(olds: Sequence[Element], news: Sequence[Element]) -> Iterator[Difference]:
    before, after = {one.key: one for one in olds}, {one.key: one for one in news}
    pairs = _pairs(before, after)
    became = {was: key for key, was in pairs.items()}
    moved = _moved([became[one.key] for one in olds if one.key in became and one.ordered], news)
    last = max((place for place, one in enumerate(news) if one.key in pairs), default=-1)
    for place, one in enumerate(news):
        was = before[pairs[one.key]] if one.key in pairs else None
        if was is None:
            yield _came(one, olds, news, "inside" if one.ordered and place < last else "last")
            continue
        if was.key != one.key:
            yield Difference(one, "renamed", "", was.key, one.key)
        if was.label != one.label:
            yield _relabelled(was, one, news)
        if one.key in moved:
            yield Difference(one, "moved", "", _behind(was, olds), _behind(one, news))
        within = differences(was, one)
        if was.key != one.key:
            within = (found for found in within if found.event != "summary")
        yield from within
    for one in olds:
        if one.key not in became and not _went_elsewhere(one, olds, news):
            yield Difference(one, "removed", "", one.label or one.shown or one.key, "")


def _pairs(before: Mapping[str, Element], after: Mapping[str, Element]) -> dict[str, str]:
    """By new key the old one: first what was renamed, then what has the same key."""
    pairs: dict[str, str] = {}
    for key, one in after.items():
        was = next((name for name in one.former if name in before), None)
        if was is not None and key not in before and _is_free(was, after):
            pairs[key] = was
    for key, one in before.items():
        name = next((name for name in one.former if name in after), None)
        if name is not None and key not in after and _is_free(name, before):
            pairs.setdefault(name, key)
    taken = set(pairs.values())
    for key in after:
        if key in before and key not in pairs and key not in taken:
            pairs[key] = key
    taken = set(pairs.values())
    twins = {one.twin: key for key, one in before.items() if one.twin and key not in taken}
    for key, one in after.items():
        if key not in pairs and one.twin in twins:
            pairs[key] = twins.pop(one.twin)
    return pairs


def _is_free(key: str, among: Mapping[str, Element]) -> bool:
    """Whether nothing has a key, or something else than what had it first."""
    return key not in among or among[key].returned


def _came(one: Element, olds: Sequence[Element], news: Sequence[Element], how: How) -> Difference:
    if one.label is not None:
        was = next((old.key for old in olds if old.label == one.label), None)
        if was is not None and not any(new.key == was and new.label == one.label for new in news):
            return Difference(one, "renumbered", "", was, one.key)
    event = "returned" if one.returned else "added"
    return Difference(one, event, how, "", one.label or one.shown or one.key)


def _relabelled(was: Element, one: Element, news: Iterable[Element]) -> Difference:
    is_elsewhere = any(new.label == was.label for new in news)
    event = "reassigned" if is_elsewhere else "relabelled"
    return Difference(one, event, "", was.label or "", one.label or "")


def _went_elsewhere(one: Element, olds: Iterable[Element], news: Iterable[Element]) -> bool:
    """Whether the label has another number now, which is reported there."""
    if one.label is None:
        return False
    numbers = {old.key for old in olds}
    return any(new.label == one.label and new.key not in numbers for new in news)


def _moved(kept: Sequence[str], news: Iterable[Element]) -> set[str]:
    """The fewest children that have another place among those that both have.

    Those that stay are a longest ascending run of places (patience sorting).
    """
    places = {one.key: place for place, one in enumerate(news)}
    tops: list[int] = []
    heads: list[str] = []
    behind: dict[str, str | None] = {}
    for key in kept:
        pile = bisect_left(tops, places[key])
        behind[key] = heads[pile - 1] if pile else None
        tops[pile : pile + 1] = [places[key]]
        heads[pile : pile + 1] = [key]
    stay: set[str] = set()
    here = heads[-1] if heads else None
    while here is not None:
        stay.add(here)
        here = behind[here]
    return set(kept) - stay


def _behind(one: Element, among: Sequence[Element]) -> str:
    place = among.index(one)
    return f"behind {among[place - 1].key}" if place else "first"


def _how(before: Fact, after: Fact) -> How:
    if isinstance(before, Limits) and isinstance(after, Limits):
        return _by_content(after.hold(before), before.hold(after))
    if isinstance(before, Degree) and isinstance(after, Degree):
        return "widened" if after.rank > before.rank else "narrowed"
    if isinstance(before, bool) and isinstance(after, bool):
        return "gained" if after else "lost"
    if isinstance(before, frozenset | None) and isinstance(after, frozenset | None):
        wider = after is None or (before is not None and before < after)
        narrower = before is None or (after is not None and after < before)
        return _by_content(wider, narrower)
    if before is None or after is None:
        return "gained" if before is None else "lost"
    return "replaced"


def _by_content(is_wider: bool, is_narrower: bool) -> How:
    if is_wider == is_narrower:
        return "replaced"
    return "widened" if is_wider else "narrowed"
