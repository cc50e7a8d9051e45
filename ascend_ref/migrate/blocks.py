"""``visualize_data.bin`` of one epoch as that of another."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from ascend_ref.bin import (
    BinFile,
    Block,
    Entry,
    MalformedPayload,
    Unreadable,
    canonical,
    open_file,
    parse,
)
from ascend_ref.bin.epochs import epoch_of
from ascend_ref.bin.write import pieces
from ascend_spec import bin_catalog, per_spec
from ascend_spec.bin import PATH_TYPE

from .account import Migrated, Notes, entries_of, unlike_its
from .kernels import Kernel, kernel_of, step
from .refusal import Refusal

ANOTHER = unlike_its("epoch")
SPELLING = "the form of numbers, blanks, or the order of keys"
ORDER = "the order of what is in it"
LABELS = (
    *("table_name", "title", "bw_name", "memory_path", "core_id", "core_no", "subcore_type"),
    *("subcore_id", "block_id", "block_type", "name"),
)
"""Keys that name what is in a list."""


def migrate_blocks(source: Path, epoch: str, target: Path) -> Migrated:
    """Write a file of blocks as exporters of another epoch would have written the same figures.

    Blocks stay in their order. Raises :class:`.Refusal` for a damaged file, and where the spec does
    not know files of both epochs that are alike; ``OSError``.
    """
    try:
        with open_file(source) as file:
            return _migrated(file, source, epoch, target)
    except Unreadable as problem:
        raise Refusal(str(problem).partition(": ")[2] or str(problem)) from None
    except MalformedPayload as problem:
        raise Refusal(str(problem)) from None


def _migrated(file: BinFile, source: Path, epoch: str, target: Path) -> Migrated:
    for damage in file.damage:
        raise Refusal(f"byte {damage.offset:,}: {damage.message}")
    values = {one.ordinal: _value(file, one) for one in file.entries if one.type in _changing()}
    types = {one.ordinal: one.type for one in file.entries}
    before = epoch_of((types[number], value) for number, value in values.items())
    if before == epoch:
        shutil.copyfile(source, target)
        return Migrated(source.name, "migrated", before, epoch)
    kernel = kernel_of({types[number]: value for number, value in reversed(values.items())})
    way = _way(before, epoch)
    for one, other in pairwise(way):
        kernel.require(one, other, set(types.values()))
    notes: Notes = Counter()
    blocks = list(_blocks(file, values, kernel, way, notes))
    with target.open("xb") as output:
        for block in blocks:
            output.writelines(pieces(block))
    return Migrated(source.name, "migrated", before, epoch, entries=tuple(entries_of(notes)))


def _value(file: BinFile, entry: Entry) -> Any:
    try:
        return parse(file.payload(entry))
    except MalformedPayload as problem:
        place = f"block {entry.ordinal} (0x{entry.type:02X}), byte {problem.offset:,}"
        raise Refusal(f"{place}: {problem.reason}") from None


@per_spec
def _changing() -> frozenset[int]:
    """Types of blocks whose payload is not the same at all epochs, or that show the kernel."""
    known = bin_catalog()
    first = known.epochs[0].id
    return frozenset(
        code
        for code, block in known.blocks.items()
        if block.payload == "json"
        and (
            any(_schema(code, one.id) != _schema(code, first) for one in known.epochs)
            or any(code in one.signs for one in known.epochs)
        )
    )


def _schema(code: int, epoch: str) -> Mapping[str, Any]:
    schema = bin_catalog().payload_schema(code, epoch)
    return {key: value for key, value in schema.items() if key != "$id"}


def _way(before: str, after: str) -> list[str]:
    """The epochs from one to another."""
    names = [one.id for one in bin_catalog().epochs]
    begin, end = names.index(before), names.index(after)
    return names[begin : end + 1] if begin <= end else names[end : begin + 1][::-1]


def _is_there(code: int, epoch: str) -> bool:
    block = bin_catalog().blocks.get(code)
    return block is None or bin_catalog().axis.in_force(block, epoch)


def _blocks(
    file: BinFile, values: Mapping[int, Any], kernel: Kernel, way: list[str], notes: Notes
) -> Iterator[Block]:
    for entry in file.entries:
        label = f"0x{entry.type:02X}"
        payload: bytes | memoryview = file.payload(entry)
        if not all(_is_there(entry.type, one) for one in way):
            notes["lost", label, f"no block of {way[-1]}"] += 1
            continue
        if entry.ordinal in values:
            value = values[entry.ordinal]
            made = value
            for one, other in pairwise(way):
                made = step(entry.type, made, kernel, one, other, notes)
            if made != value:
                again = made
                for one, other in pairwise(way[::-1]):
                    again = step(entry.type, again, kernel, one, other, Counter())
                own, payload = bytes(payload), canonical(made)
                _note_lost(label, value, again, own, notes)
        path = file.path(entry) if entry.type == PATH_TYPE else None
        yield Block(entry.type, payload, path, entry.version)


def _note_lost(label: str, value: Any, again: Any, own: bytes, notes: Notes) -> None:
    """Count the values of a payload that would not be there again after the way back, without those
    of elements of lists that go, which are counted as such.
    """
    before, after = dict(_leaves(value, (), ())), dict(_leaves(again, (), ()))
    there = {_element(key) for key in after}
    lost = Counter(
        place
        for key, (place, one) in before.items()
        if _element(key) in there and after.get(key) != (place, one)
    )
    for place, count in lost.items():
        notes["lost", f"{label}: {'/'.join(place)}", ANOTHER] += count
    if not lost and before.keys() == after.keys() and canonical(again) != own:
        spelled = canonical(value) == own
        notes["lost", label, ORDER if spelled else SPELLING] += 1


Key = tuple[str | tuple[str, int], ...]
Leaf = tuple[tuple[str, ...], Any]


def _leaves(value: Any, key: Key, place: tuple[str, ...]) -> Iterator[tuple[Key, Leaf]]:
    """The values without values in them, each by what leads to it: keys, what names an element of
    a list, or else its number; ``place``: keys alone.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*key, name), (*place, name))
    elif isinstance(value, list):
        seen: Counter[str] = Counter()
        for inner in value:
            named = _label(inner)
            yield from _leaves(inner, (*key, (named, seen[named])), place)
            seen[named] += 1
    else:
        yield key, (place, value)


def _element(key: Key) -> Key:
    """What leads to the innermost element of a list that is an object."""
    places = (place for place, one in enumerate(key) if isinstance(one, tuple) and one[0])
    return key[: max(places, default=-1) + 1]


def _label(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return " ".join(str(value[one]) for one in LABELS if isinstance(value.get(one), (str, int)))
