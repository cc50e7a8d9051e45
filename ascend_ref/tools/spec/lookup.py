"""From what a user types to the one thing that it means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points

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
    found: dict[str, list[Subject]] = {kind: [] for kind in KINDS}
    for provider in sorted(entry_points(group=PROVIDERS), key=lambda entry: entry.name):
        give: Callable[[Catalog], Iterable[Subject]] = provider.load()
        for subject in give(catalog):
            found[subject.kind].append(subject)
    return {one.address: one for listed in found.values() for one in listed}


def of_kind(catalog: Catalog, kind: str) -> tuple[Subject, ...]:
    """The subjects of one kind."""
    return tuple(one for one in subjects(catalog).values() if one.kind == kind)


def find(catalog: Catalog, text: str) -> Subject:
    """The subject of an address, or of a name that only one thing has; capitals do not matter.

    A name is that in the address (``TASK``, ``op_summary/Block Num``) or a further one
    (``op_summary.csv``, ``ACL_AICORE_L2_CACHE``); the name of a file of a profile is that of what
    it holds. Raises :class:`NotFound`.
    """
    known = subjects(catalog)
    kind, _, name = text.casefold().partition("/")
    within = [one for one in known.values() if one.kind == kind]
    short = [one for one in known.values() if KINDS[one.kind].short]
    found = _named(within, name) or _named(short, text.casefold())
    if len({one.kind for one in found}) == 1:  # aic_GM_to_L1_datas and aic_gm_to_l1_datas
        found = [one for one in found if one.name in (text, text.partition("/")[2])] or found
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(one.address for one in found)
        raise NotFound(f"{text!r} is the name of several things: {listed}; give the address")
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
