"""The changes of the formats that explain what texts and blocks of another state show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from ascend_ref.states import AxisName, State
from ascend_spec import bin_catalog, current, per_spec, text_catalog, timeline_catalog

from ..finding import Finding
from .change import Change, changes_between
from .explaining import first_of, words

OF_LAYERS = ("layer", "trace-event", "argument")
"""Kinds of addresses that begin with the name of a layer."""

SORT_INDEX = "sort_index"
"""The key that states the order of layers."""

COMES_OR_GOES = frozenset(("added", "removed", "renamed"))
"""What a layer or kind of events does that a file has or lacks."""


def explaining_texts(own: str, judged: str, finding: Finding) -> tuple[str, ...]:
    """In words the changes at the place of a finding between the writer of a file and the one that
    it is judged by; none between writers of two engines, of which neither came from the other.
    """
    writers = text_catalog().writers
    engine = writers[own].output, writers[own].engine
    if judged not in writers or engine != (writers[judged].output, writers[judged].engine):
        return ()
    days = {name: one.date for name, one in writers.items() if (one.output, one.engine) == engine}
    return _explaining("writer", days, own, judged, finding)


def explaining_blocks(own: str, judged: str, finding: Finding) -> tuple[str, ...]:
    """In words the changes at the place of a finding between the epoch of a file and the one that
    it is judged by.
    """
    days = {one.id: one.date for one in bin_catalog().epochs}
    return _explaining("epoch", days, own, judged, finding)


def _explaining(
    axis: AxisName, days: Mapping[str, str], own: str, judged: str, finding: Finding
) -> tuple[str, ...]:
    """In the order of time; each with the first state between both that has it, and its day."""
    first, last = sorted((own, judged), key=days.__getitem__)
    between = (one for one in days if days[first] <= days[one] <= days[last])
    states = sorted(between, key=days.__getitem__)
    lasting = {_place(one) for one in _changes(axis, first, last)}
    named = [
        words(change, f"with {new} of {days[new]}")
        for family, is_at in IS_AT.items()
        for old, new in pairwise(one for one in states if _is_known(family, one))
        for change in _changes(axis, old, new)
        if change.family == family and _place(change) in lasting and is_at(change, finding)
    ]
    return first_of(named)


def _place(change: Change) -> tuple[str, str, str]:
    return change.family, change.address, change.place


def _is_known(family: str, state: str) -> bool:
    """Whether the spec knows timelines of a writer; other families are known at all states."""
    return family != "timeline" or state in timeline_catalog().forms


@per_spec
def _changes(axis: AxisName, old: str, new: str) -> tuple[Change, ...]:
    states = (State(current(), one, axis, one) for one in (old, new))
    return tuple(changes_between(*states))


def _is_in_sheet(change: Change, finding: Finding) -> bool:
    """Of a finding on a header as a whole those headers that it names."""
    kind, _, name = change.address.partition("/")
    owner, _, header = name.partition("/")
    if kind not in ("csv", "header") or f"{owner}.csv" != finding.table:
        return False
    if finding.column is not None:
        return kind == "header" and finding.column in _names(change, header)
    return kind == "csv" or not _shown(finding).isdisjoint(_names(change, header))


def _is_in_timeline(change: Change, finding: Finding) -> bool:
    """At a layer, its events, an argument of them (``Communication: size(Byte)``), or a key."""
    kind, _, name = change.address.partition("/")
    if finding.column is None or kind not in (*OF_LAYERS, "trace-key"):
        return False
    layer, _, key = finding.column.rpartition(": ")
    shown = _shown(finding)
    if kind == "trace-key":
        return name == key
    owner, *parts = name.split("/")
    places = {layer, key} if kind == "trace-event" else {layer, key, *shown}
    is_there = not _names(change, owner).isdisjoint(places)
    if kind == "argument":
        return is_there and not _names(change, parts[-1]).isdisjoint({key, *shown})
    return is_there and (key == SORT_INDEX or not COMES_OR_GOES.isdisjoint(change.named.event))


def _is_in_document(change: Change, finding: Finding) -> bool:
    kind, _, name = change.address.partition("/")
    if kind != "document" or finding.table != f"{name}.json":
        return False
    return _is_at_path(change.place, finding.column or "", _shown(finding))


def _is_in_block(change: Change, finding: Finding) -> bool:
    """At a key of a block's payload, at one of its values, or at the block as a whole."""
    kind, _, name = change.address.partition("/")
    block = (finding.table or "").partition(" ")[0]
    owner, _, path = name.partition("/")
    if kind == "block":
        return owner == block
    if kind == "key":
        path = f"/{path}"
        return owner == block and _is_at_path(path, finding.column or "", _shown(finding))
    return kind == "values" and change.place in _shown(finding)


def _is_at_path(path: str, column: str, shown: frozenset[str]) -> bool:
    """Whether a key is the place of a finding, holds it, or is named below it."""
    above, _, key = path.rpartition("/")
    return path == column or column.startswith(f"{path}/") or (above == column and key in shown)


def _names(change: Change, name: str) -> frozenset[str]:
    """What a thing is called, and was."""
    is_renamed = change.named.event == ("renamed",)
    return frozenset({name, change.before, change.after} if is_renamed else {name})


def _shown(finding: Finding) -> frozenset[str]:
    """The names and values of the examples, those of lists one by one."""
    return frozenset(_values(finding))


def _values(finding: Finding) -> Iterator[str]:
    for example in finding.examples:
        for pair in example.items():
            texts: Sequence[str] = [str(one).strip('"') for one in pair]
            for text in texts:
                yield text
                yield from text.split(", ")


IS_AT: Mapping[str, Callable[[Change, Finding], bool]] = {
    "text": _is_in_sheet,
    "timeline": _is_in_timeline,
    "documents": _is_in_document,
    "bin": _is_in_block,
}
"""By family, whether a change is at the place of a finding."""
