"""Raw files of MindSpore's profiler as readable JSON: one file with its records or lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from ascend_ref.raw.damage import Damage, Unreadable
from ascend_ref.raw.json_text import load_json
from ascend_ref.raw.readable import Reading, readable
from ascend_ref.raw.series import Gathered, Slice, Slices
from ascend_ref.raw.show import AT_ONCE, tagged_records
from ascend_ref.raw.tagged import tagged_blocks
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import TAGGED_RECORDS, CaptureFile
from ascend_spec.mindspore.messages import MEMORY
from ascend_spec.raw.records import FrameworkRecord

from .folder import RawCapture, RawFiles
from .generation import find_generation
from .parse.aicpu import is_records
from .parse.operator import names_of
from .raw.lines import read_slices
from .raw.messages import NoMessage, decode_message
from .raw.records import layout_of, read_records
from .raw.strings import read_strings

Element = dict[str, Any]


def kind_of(path: Path) -> CaptureFile | None:
    """The kind of a file by its name; ``None`` for any other."""
    found = mindspore_catalog().file_of(path.name)
    return None if found is None else found[0]


def show_capture_file(path: Path, limit: int | None, target: TextIO) -> list[str]:
    """Write a raw file with its first records or lines, ``None`` for all.

    The file is read to its end all the same. Returns what could not be read. Raises
    :class:`Unreadable`.
    """
    try:
        damage: list[Damage] = []
        kind, day, key, elements = _opened(path, damage)
        head = {"file": path.name, "kind": f"mindspore/{kind.file}", "summary": kind.summary}
        target.write(json.dumps(head, ensure_ascii=False)[:-1])
        target.write(f', "day": "{day}", "{key}": [')
        separator, number = "\n", 0
        for element in elements:
            number += 1
            if limit is None or number <= limit:
                target.write(separator + json.dumps(element, ensure_ascii=False))
                separator = ",\n"
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from None
    target.write(f'\n], "number": {number}}}\n')
    return [str(one) for one in damage]


def elements_of(path: Path, damage: list[Damage]) -> tuple[str, Iterator[Element]]:
    """What a raw file holds (``content``, ``lines`` or ``records``), and each of it, readable.

    ``damage``: gets what cannot be read. Raises :class:`Unreadable`, ``OSError``.
    """
    _, _, key, elements = _opened(path, damage)
    return key, elements


def _opened(path: Path, damage: list[Damage]) -> tuple[CaptureFile, str, str, Iterator[Element]]:
    """The kind of a file, the day of its generation, and what it holds."""
    found = mindspore_catalog().file_of(path.name)
    if found is None or not path.is_file():
        raise Unreadable(f"{path}: no raw file of MindSpore's profiler by its name")
    kind, dated, _ = found
    gathered = Gathered()
    gathered.add(str(path.parent), path.name, "", ())
    slices = gathered.ordered()
    capture = RawCapture("", "", path.parent, {kind.file: RawFiles(kind.file, dated, slices)})
    day = find_generation(capture).day
    return kind, day, *_elements(path, kind, slices, day, damage)


def _elements(
    path: Path, kind: CaptureFile, slices: Slices, day: str, damage: list[Damage]
) -> tuple[str, Iterator[Element]]:
    if kind.form == "json":
        try:
            content = load_json(path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"{path}: no JSON: {error}") from None
        return "content", iter([content])
    if kind.form == "messages":
        try:
            return "content", iter([decode_message(path.read_bytes(), MEMORY)])
        except NoMessage as error:
            raise Unreadable(f"{path}: byte {error.offset:,}: {error}") from None
    if any(one.record in TAGGED_RECORDS for one in kind.members):
        record = TAGGED_RECORDS[tagged_record(path, kind)]
        return "records", _with_texts(path, record, damage)
    if kind.members and (kind.grammar is None or is_records(slices)):
        return "records", _records(slices, kind, day, damage)
    if kind.grammar is None:
        raise Unreadable(f"{path}: what a file of {kind.file} holds is not described")
    return "lines", _lines(slices, kind, damage)


def tagged_record(path: Path, kind: CaptureFile) -> str:
    """The record of which a file with texts is: the newest of which its first ones all are.

    Files of two days differ in the length of the fixed part alone, where texts begin.
    """
    names = [one.record for one in reversed(kind.members)]
    for name in names:
        damage: list[Damage] = []
        record = TAGGED_RECORDS[name]
        block = next(tagged_blocks(path, record, damage), None)
        if block is not None and not damage and {*block.tag.tolist()} <= record.texts.keys():
            return name
    return names[0]


def tagged_damage(path: Path, kind: CaptureFile) -> list[Damage]:
    """What of a file of records with texts cannot be read; nothing of a file of another form.

    Raises ``OSError``.
    """
    damage: list[Damage] = []
    if any(one.record in TAGGED_RECORDS for one in kind.members):
        for _ in tagged_blocks(path, TAGGED_RECORDS[tagged_record(path, kind)], damage):
            pass
    return damage


def _with_texts(path: Path, record: FrameworkRecord, damage: list[Damage]) -> Iterator[Element]:
    reading = Reading(sets=names_of)
    for block in tagged_blocks(path, record, damage):
        for start in range(0, len(block.offset), AT_ONCE):
            part = slice(start, min(start + AT_ONCE, len(block.offset)))
            yield from tagged_records(record, block, part, reading)


def _records(
    slices: Sequence[Slice], kind: CaptureFile, day: str, damage: list[Damage]
) -> Iterator[Element]:
    layout = layout_of(kind.file, day)
    several = len(layout.members) > 1
    reading = Reading(sets=names_of)
    for block in read_records(slices, kind.file, day, damage):
        shown: list[Element] = [{}] * len(block.rows)
        for place, (member, mask) in enumerate(
            zip(layout.members, layout.split(block.rows), strict=True)
        ):
            rows = mask.nonzero()[0]
            records = layout.view(place, block.rows[rows])
            values = readable(layout.declaration(member), records, reading)
            for row, value in zip(rows.tolist(), values, strict=True):
                shown[row] = {"record": member.record, **value} if several else value
        yield from shown


def _lines(slices: Sequence[Slice], kind: CaptureFile, damage: list[Damage]) -> Iterator[Element]:
    grammar = mindspore_catalog().grammars[kind.grammar or ""]
    read = read_strings if grammar.ends == "nul" else read_slices
    for one in read(slices, kind.file, damage):
        if one.line is not None:
            yield {"line": one.line, **one.parts}
