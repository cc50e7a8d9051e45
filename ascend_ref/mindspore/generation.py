"""Which generation of the profiler wrote raw files, found from the files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from ascend_ref.raw.lines import decode_lines
from ascend_spec import mindspore_catalog
from ascend_spec.core import Bounds
from ascend_spec.mindspore import CaptureFile, Generation
from ascend_spec.mindspore.records import INLINE, NUMBER

from .folder import RawCapture, is_of_vm
from .raw.records import layout_of

_WITH_TEXTS = "task_desc_records"

_WITH_TYPES = "graph_desc_info"
_TYPE = re.compile(rb"_data_type:([0-9]{1,9})(?![0-9])")

TYPES_OF_VM = "vm_data_types"
"""The method by which text of the VM back end has types."""

_SHOWN = 1 << 16
"""Bytes of a file that are looked at."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A file that was not written on every day, and why."""

    path: Path
    reason: str
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Written:
    """When raw files were written: ``day`` (ISO) decides which facts hold.

    ``generation``: that of the day. ``evidence``: what shows it; empty where nothing does, so that
    the oldest generation is assumed. ``contradicts``: files that cannot be of that day.
    """

    generation: Generation
    day: str
    evidence: tuple[Evidence, ...] = ()
    contradicts: tuple[Evidence, ...] = ()


def find_generation(capture: RawCapture) -> Written:
    """The oldest generation that can have written the files.

    Several days have the same raw files; of these the oldest is taken, since what came later shows.
    Raises ``OSError``.
    """
    evidence = tuple(_evidence(capture))
    first = max((one.bounds.since for one in evidence if one.bounds.since), default="")
    past = [one.bounds.until for one in evidence if one.bounds.until]
    end = min((one for one in past if one > first), default=None)
    generation = generation_of(first, exports=capture.exports(first))
    day = max(generation.day, first)
    if end is not None and day >= end:
        day = (date.fromisoformat(end) - timedelta(days=1)).isoformat()
    contradicts = tuple(one for one in evidence if (one.bounds.until or "9") <= day)
    return Written(generation, day, evidence, contradicts)


def generation_of(day: str, *, exports: bool = False) -> Generation:
    """The last of those that make intermediate files which had begun on a day; the first before it.

    exports: whether there is what msprof exports; else those that parse raw files alone.
    """
    reads = ("raw", "msprof") if exports else ("raw",)
    every = mindspore_catalog().generations.values()
    known = [one for one in every if one.leaves == "intermediate" and one.reads in reads]
    return [known[0], *(one for one in known if one.since <= day)][-1]


def _evidence(capture: RawCapture) -> Iterator[Evidence]:
    catalog = mindspore_catalog()
    for one in capture.files.values():
        kind = catalog.files[one.kind]
        path = one.slices[0].path
        for bounds, what in ((kind, "such a file"), (one.bounds, "this name")):
            if bounds.since or bounds.until:
                yield Evidence(path, f"{what} is written{_days(bounds)}", bounds)
        yield from _content_evidence(path, kind)


def _content_evidence(path: Path, kind: CaptureFile) -> Iterator[Evidence]:
    """What the first bytes of a file show that has other content on other days."""
    if kind.file == _WITH_TEXTS:
        yield from _text_evidence(path, kind)
    if kind.file == _WITH_TYPES:
        yield from _type_evidence(path)
    if kind.columns:
        yield from _column_evidence(path, kind)
    grammar = mindspore_catalog().grammars.get(kind.grammar or "")
    dated = [] if grammar is None else [one for one in grammar.lines.values() if _days(one)]
    if grammar is None or not dated:
        return
    with path.open("rb") as file:
        content = file.read(_SHOWN)
    for member in kind.members:
        layout = layout_of(kind.file, member.since or "")
        place, magic = layout.magic or (0, b"")
        if magic and content[place : place + len(magic)] == magic:
            yield Evidence(path, f"such records are written{_days(member)}", member)
            return
    for entry in decode_lines(content, grammar):
        line = None if entry.line is None else grammar.lines[entry.line]
        if line is not None and line in dated:
            yield Evidence(path, f"such text is written{_days(line)}", line)
            return


def _column_evidence(path: Path, kind: CaptureFile) -> Iterator[Evidence]:
    """By the first line, which names the columns."""
    with path.open("rb") as file:
        header = file.readline(_SHOWN).decode("utf-8", "replace").rstrip("\r\n").split(",")
    for one in kind.columns:
        if (one.since or one.until) and not one.optional and one.name in header:
            text = f"the column {one.name!r} is read{_days(one)}"
            yield Evidence(path, text, one)
            return


def _text_evidence(path: Path, kind: CaptureFile) -> Iterator[Evidence]:
    """By which kind the names that stand in the records themselves say so: they are longer than the
    numbers of others.
    """
    layout = layout_of(kind.file, "")
    with path.open("rb") as file:
        content = file.read(_SHOWN // layout.size * layout.size)
    whole = len(content) // layout.size * layout.size
    rows = np.frombuffer(content[:whole], np.uint8).reshape(-1, layout.size)
    names = layout.view(0, rows)["opName"]
    inline = {
        number
        for number, text in zip(names["kind"].tolist(), names["content"].tolist(), strict=True)
        if text[NUMBER:].strip(b"\0")
    }
    wanted = {0: "zero", INLINE: "one"}
    if len(inline) == 1 and inline <= wanted.keys():
        way = wanted[inline.pop()]
        for one in mindspore_catalog().methods["inline_text"].ways:
            if one.way == way:
                yield Evidence(path, f"names in records are marked so{_days(one)}", one)


def _type_evidence(path: Path) -> Iterator[Evidence]:
    """Which numbers of types, of the VM back end, only some of the days know."""
    if not is_of_vm(path):
        return
    with path.open("rb") as file:
        content = file.read(_SHOWN)
    shown = {int(number) for number in _TYPE.findall(content)}
    catalog = mindspore_catalog()
    ways = catalog.methods[TYPES_OF_VM].ways
    known = {
        one.way: {each.value for each in catalog.vocabularies[one.way].members} for one in ways
    }
    for one in ways:
        others = set().union(*(known[way] for way in known if way != one.way))
        alone = shown & known[one.way] - others
        if alone:
            yield Evidence(path, f"type {min(alone)} is known{_days(one)}", one)


def _days(bounds: Bounds) -> str:
    since = f" from {bounds.since} on" if bounds.since else ""
    return since + (f" until {bounds.until}" if bounds.until else "")
