"""Raw files as readable JSON: one file with its records, or a list of what a folder has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ascend_spec import raw_catalog
from ascend_spec.raw import Grammar, RawFile, Side
from ascend_spec.raw.records import FRAMEWORK_RECORDS, FrameworkRecord

from .context import Context, context_of, contexts
from .damage import Damage, Unreadable, few
from .json_text import load_json
from .layout import Ambiguous, Bytes, Layout, layout_of
from .lines import read_lines
from .readable import Reading, readable
from .series import Slice, Slices
from .slices import Block, read_blocks
from .tagged import TaggedBlock, tagged_blocks
from .tree import kind_of

Element = Callable[[], Any]
"""One record, line or document, which is made readable when it is shown."""

AT_ONCE = 1 << 12
"""Records that are made readable at a time."""

SAMPLE = 64
"""Records that decide the layout of a file whose side files do not."""


def show_raw(path: Path, limit: int | None, target: TextIO) -> list[str]:
    """Write a raw file with its first records, ``None`` for all, or what a folder has.

    The file is read to its end all the same. Returns what could not be read. Raises
    :class:`Unreadable`.
    """
    if path.is_dir():
        return _show_folders(path, target)
    kind = kind_of(path)
    if kind is None or not path.is_file():
        raise Unreadable(
            f"{path}: no raw file by its name" if path.exists() else f"{path}: no such file"
        )
    context = context_of(path)
    damage: list[Damage] = []
    key, values = _elements(path, kind, context, limit, damage)
    head = {"file": path.name, "kind": f"raw/{kind.file}", "summary": kind.summary}
    target.write(json.dumps(head, ensure_ascii=False)[:-1])
    target.write(f', "{key}": [')
    separator = "\n"
    number = 0
    for value in values:
        number += 1
        if limit is None or number <= limit:
            target.write(separator + json.dumps(value(), ensure_ascii=False))
            separator = ",\n"
    target.write(f'\n], "number": {number}}}\n')
    if context is not None:
        damage += context.damage
    return [str(one) for one in damage]


def elements_of(path: Path, damage: list[Damage]) -> tuple[str, Iterator[Any]]:
    """What a raw file holds (``content``, ``lines`` or ``records``), and each of it, readable.

    ``damage``: gets what cannot be read. Raises :class:`Unreadable`.
    """
    kind = kind_of(path)
    if kind is None:
        raise Unreadable(f"{path}: no raw file by its name")
    key, elements = _elements(path, kind, context_of(path), None, damage)
    return key, (element() for element in elements)


def _elements(
    path: Path, kind: RawFile, context: Context | None, limit: int | None, damage: list[Damage]
) -> tuple[str, Iterator[Element]]:
    """The key of what a file holds, and its elements."""
    if kind.form == "json":
        return "content", _document(path)
    if kind.grammar is not None:
        return "lines", _lines(path, raw_catalog().grammars[kind.grammar], damage)
    if kind.form != "records" or not kind.members:
        raise Unreadable(f"{path}: what a file of {kind.file} holds is not known")
    reading = context.reading if context is not None else Reading()
    framework = FRAMEWORK_RECORDS.get(kind.members[0].record)
    if framework is not None:
        return "records", _framework_records(path, framework, reading, limit, damage)
    layout = file_layout(path, kind, context)
    return "records", _records(path, layout, kind.side, reading, limit, damage)


def _document(path: Path) -> Iterator[Element]:
    try:
        content = load_json(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: no JSON: {error}") from error
    return iter([lambda: content])


def _lines(path: Path, grammar: Grammar, damage: list[Damage]) -> Iterator[Element]:
    with few(damage) as stated:
        for line, parts in read_lines(path, grammar, stated):
            yield partial(dict, {"line": line}, **parts)


def _framework_records(
    path: Path,
    record: FrameworkRecord,
    reading: Reading,
    limit: int | None,
    damage: list[Damage],
) -> Iterator[Element]:
    """The records; those behind the limit are read, but not made readable."""
    number = 0
    for block in tagged_blocks(path, record, damage):
        rows = len(block.offset)
        shown = rows if limit is None else max(min(rows, limit - number), 0)
        for start in range(0, shown, AT_ONCE):
            for value in tagged_records(
                record, block, slice(start, min(start + AT_ONCE, shown)), reading
            ):
                yield partial(dict, value)
        yield from repeat(dict, rows - shown)
        number += rows


def tagged_records(
    record: FrameworkRecord, block: TaggedBlock, part: slice, reading: Reading
) -> list[dict[str, Any]]:
    """Records of a block with their texts, made readable."""
    found = readable(record.fixed, block.fixed[part], reading)
    first, end = np.searchsorted(block.owner, [part.start, part.stop]).tolist()
    columns = (block.owner, block.tag, block.first, block.length)
    for owner, tag, at, length in zip(*(one[first:end].tolist() for one in columns), strict=True):
        known = record.texts.get(tag)
        name = known.field.name if known is not None else f"tag {tag}"
        text = block.content[at : at + length].tobytes()
        found[owner - part.start][name] = text.decode("utf-8", "backslashreplace")
    return found


def _records(
    path: Path,
    layout: Layout,
    side: Side,
    reading: Reading,
    limit: int | None,
    damage: list[Damage],
) -> Iterator[Element]:
    """The records; those behind the limit are read, but not made readable."""
    number = 0
    for block in read_blocks([Slice(path, 0, ())], layout, side, damage):
        known = np.logical_or.reduce(layout.split(block.rows))
        if not known.all():
            damage.append(_strange(block, layout, int(np.sum(~known))))
        rows = block.rows[known]
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            if limit is None or number < limit:
                for value in _mixed(layout, part, reading):
                    yield partial(dict, value)
            else:
                yield from repeat(dict, len(part))
            number += len(part)


def file_layout(path: Path, kind: RawFile, context: Context | None) -> Layout:
    """The layout of one file. Raises :class:`Unreadable` where it cannot be known."""
    side = context.side if context is not None else None
    try:
        return layout_of(
            kind,
            side.chip if side is not None else None,
            side.settings if side is not None else {},
            lambda size: _sample(path, size),
        )
    except Ambiguous as reason:
        raise Unreadable(f"{path}: {reason}") from None


def _sample(path: Path, size: int) -> Bytes:
    """The first records of a file for a size, without what a device cut away."""
    with path.open("rb") as file:
        file.seek(path.stat().st_size % size)
        content = file.read(size * SAMPLE)
    return np.frombuffer(content, np.uint8, len(content) // size * size).reshape(-1, size)


def _mixed(layout: Layout, rows: Bytes, reading: Reading) -> Sequence[dict[str, Any]]:
    """Records of several kinds in the order of the file."""
    shown: list[dict[str, Any]] = [{}] * len(rows)
    several = len(layout.members) > 1
    for place, (member, mask) in enumerate(zip(layout.members, layout.split(rows), strict=True)):
        found = np.flatnonzero(mask)
        records = layout.view(place, rows[found])
        values = readable(layout.declaration(member), records, reading)
        for at, value in zip(found.tolist(), values, strict=True):
            shown[at] = {"record": member.record, **value} if several else value
    return shown


def _strange(block: Block, layout: Layout, number: int) -> Damage:
    kinds = layout.kinds(block.rows)
    known = [value for one in layout.members for value in one.values]
    strange = sorted(set(kinds.tolist()) - set(known))
    listed = ", ".join(map(str, strange[:5])) + (", ..." if len(strange) > 5 else "")
    text = f"{number:,} records of an unknown kind ({layout.select} {listed})"
    return Damage(block.path, text, max(block.offset, 0))


# --- folders --------------------------------------------------------------------------------------


def _show_folders(path: Path, target: TextIO) -> list[str]:
    problems: list[str] = []
    found = contexts(path)
    target.write("[")
    separator = "\n"
    for context in found:
        folder = context.folder
        files = [_overview(context, kind, slices) for kind, slices in folder.files.items()]
        shown = {
            "folder": str(folder.path.relative_to(path)),
            "side": folder.side,
            "device": folder.device,
            "chip": context.side.chip,
            "unknown": folder.unknown,
        }
        listed = ",\n ".join(json.dumps(one, ensure_ascii=False) for one in files)
        head = json.dumps(shown, ensure_ascii=False)[:-1]
        target.write(f'{separator}{head}, "files": [\n {listed}\n]}}')
        separator = ",\n"
        problems += [str(one) for one in context.damage]
    target.write("\n]\n")
    return problems


def _overview(context: Context, name: str, slices: Slices) -> dict[str, Any]:
    kind = raw_catalog().files[name]
    size = sum(one.path.lstat().st_size for one in slices)
    shown = {"kind": f"raw/{name}", "slices": len(slices), "bytes": size}
    if kind.form == "records" and kind.members and kind.side != "framework":
        try:
            layout = file_layout(slices[0].path, kind, context)
        except Unreadable as problem:
            context.damage.append(Damage(slices[0].path, str(problem).partition(": ")[2]))
        else:
            shown["records"] = size // layout.size
    return shown
