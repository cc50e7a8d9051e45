"""From what a user types to the one thing that it means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ascend_ref.cli.suggest import close_to
from ascend_spec import Catalog, per_spec

from .layout_pages import address_of_file
from .subject import KINDS, Subject

PROVIDERS = "ascend_ref.subjects"
"""Entry points: functions from a catalog to the subjects that a package adds."""


class NotFound(Exception):
    """The text means nothing, or several things; the message says what could be meant."""


@per_spec
def subjects(catalog: Catalog) -> Mapping[str, Subject]:
    """Every subject of every installed package by its address, in the order of the kinds."""
    given = [one for name in _providers() for one in _given(catalog, name)]
    order = {kind: place for place, kind in enumerate(KINDS)}
    return {one.address: one for one in sorted(given, key=lambda one: order[one.kind])}


@cache
def _providers() -> Mapping[str, EntryPoint]:
    """By name, which is a kind where a provider gives only that."""
    found = {one.name: one for one in entry_points(group=PROVIDERS)}
    return dict(sorted(found.items()))


@per_spec
def _given(catalog: Catalog, provider: str) -> tuple[Subject, ...]:
    give: Callable[[Catalog], Iterable[Subject]] = _providers()[provider].load()
    return tuple(give(catalog))


def _possible(catalog: Catalog, text: str) -> list[Subject]:
    """The subjects that a text may mean; kinds whose names look otherwise are not even loaded."""
    own = text.partition("/")[0].casefold()
    slow = {kind: facts for kind, facts in KINDS.items() if kind in _providers()}
    asked = {kind for kind, facts in slow.items() if kind == own or facts.has_name(text)}
    names = (name for name in _providers() if name not in slow or name in asked)
    return [one for name in names for one in _given(catalog, name)]


def of_kind(catalog: Catalog, kind: str) -> tuple[Subject, ...]:
    """The subjects of one kind."""
    return tuple(one for one in subjects(catalog).values() if one.kind == kind)


def find(catalog: Catalog, text: str) -> Subject:
    """The subject of an address, or of a name that only one thing has; capitals do not matter.

    A name is that in the address (``TASK``, ``op_summary/Block Num``) or a further one
    (``op_summary.csv``, ``ACL_AICORE_L2_CACHE``); the name of a file of a profile is that of what
    it holds. Raises :class:`NotFound`.
    """
    possible = _possible(catalog, text)
    kind, _, name = text.casefold().partition("/")
    within = [one for one in possible if one.kind == kind]
    short = [one for one in possible if KINDS[one.kind].short]
    found = _named(within, name) or _named(short, text.casefold())
    if len({one.kind for one in found}) == 1:  # aic_GM_to_L1_datas and aic_gm_to_l1_datas
        found = [one for one in found if one.name in (text, text.partition("/")[2])] or found
    if len(found) == 1:
        return found[0]
    if found:
        found.sort(key=lambda one: list(KINDS).index(one.kind))
        listed = ", ".join(one.address for one in found)
        raise NotFound(f"{text!r} is the name of several things: {listed}; give the address")
    known = subjects(catalog)
    held = known.get(address_of_file(text) or "")
    if held is not None:
        return held
    raise NotFound(_unknown(text, known.values()))


def _named(known: Iterable[Subject], wanted: str) -> list[Subject]:
    """The subjects of this name; within a kind a further name counts only where no name fits."""
    alike = [
        one
        for one in known
        if one.name.casefold() == wanted or any(name.casefold() == wanted for name in one.also)
    ]
    by_name = {one.kind for one in alike if one.name.casefold() == wanted}
    return [one for one in alike if one.kind not in by_name or one.name.casefold() == wanted]


def _unknown(text: str, known: Iterable[Subject]) -> str:
    """What to say about a text that is no name; of names that are alike, the addresses."""
    addresses: dict[str, list[str]] = defaultdict(list)
    for one in known:
        for name in (one.name, *one.also, one.address):
            addresses[name.casefold()].append(one.address)
    meant = [one for name in close_to(text, addresses) for one in addresses[name.casefold()]]
    if not meant:
        return f"unknown name {text!r}; see: ascend-ref spec list"
    return f"unknown name {text!r}; did you mean {' or '.join(dict.fromkeys(meant))}?"
