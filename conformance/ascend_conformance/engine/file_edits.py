"""Changing clean files of a folder as a rule's ``break`` says: a closed set of edits.

Each edit is one mapping. ``file`` is a kind of file; its first slice is meant, or that of
``slice``. ``{names}`` are filled
from the victim.

- ``at: <byte>, set: {<field>: <number>}``: fields of the record that begins there; with ``record:
  <declaration>`` where the file has several. Without ``at`` the first record
- ``at: <byte>, bytes: <hex>``: these bytes there
- ``at: <byte>, drop: true`` or ``repeat: true``: a record, or a text up to its NUL
- ``line: <number>, replace: <text>, with: <text>``: the text, once; ``at: <byte>`` for texts that
  end with NUL; ``is: <text>`` instead of the whole line. A text with itself: the edits that follow
  are done only where it stands
- ``line: <number>, drop: true`` or ``repeat: true``; ``swap: <number>`` with another line
- ``cut: <bytes>`` off the end; ``behind: <hex>`` after it; ``from: <hex>`` in front of all
- ``ends: lf``: lines end so
- ``gone: true``, ``named: <name>``: the file; ``add: <name>, text: <text>``: another one next to it
- ``copy: <name>``: the same file once more under another name
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import construct
import numpy as np

from ascend_ref.raw.fields import opaque, put
from ascend_ref.raw.layout import Layout

from ..ruleset import fill
from .file_folder import FolderOfFacts
from .trials import NotBreakable

Edit: TypeAlias = Mapping[str, Any]
Victim: TypeAlias = Mapping[str, Any]

LayoutOf: TypeAlias = Callable[[Edit], tuple[Layout, construct.Struct]]
"""The layout of the file of an edit, and the declaration that the edit is about. Raises
``KeyError`` for a file of texts.
"""


def apply_edits(
    folder: FolderOfFacts, edits: Iterable[Edit], victim: Victim, layout_of: LayoutOf
) -> list[tuple[Path, Edit]]:
    """Carry edits out in the files of a folder; each with the file that it changed.

    The folder is that of the facts, whose files are changed in place. Raises
    :class:`NotBreakable` where an edit finds no place, ``OSError``.
    """
    texts = {name: str(value) for name, value in victim.items()}
    done: list[tuple[Path, Edit]] = []
    for edit in edits:
        filled = {key: fill(value, texts) for key, value in edit.items()}
        path = _file(folder, filled)
        _apply(path, filled, layout_of)
        done.append((path, filled))
    return done


def _file(folder: FolderOfFacts, edit: Edit) -> Path:
    row = folder.facts.rows(
        "SELECT file FROM file WHERE kind = ? AND slice >= ? ORDER BY slice, file LIMIT 1",
        (edit["file"], int(edit.get("slice", 0))),
    )
    if not row:
        raise NotBreakable(f"no file of {edit['file']}")
    return folder.files[row[0][0]]


def _apply(path: Path, edit: Edit, layout_of: LayoutOf) -> None:
    if edit.get("gone"):
        path.unlink()
    elif "named" in edit:
        path.rename(path.with_name(edit["named"]))
    elif "add" in edit:
        path.with_name(edit["add"]).write_text(edit.get("text", ""), encoding="utf-8")
    elif "copy" in edit:
        path.with_name(edit["copy"]).write_bytes(path.read_bytes())
    else:
        path.write_bytes(_changed(path.read_bytes(), edit, layout_of))


def _changed(content: bytes, edit: Edit, layout_of: LayoutOf) -> bytes:
    if "cut" in edit:
        return content[: len(content) - int(edit["cut"])]
    if "behind" in edit:
        return content + bytes.fromhex(edit["behind"])
    if "from" in edit:
        return bytes.fromhex(edit["from"]) + content
    if "ends" in edit:
        return content.replace(b"\r\n", b"\n")
    if "line" in edit:
        return _in_lines(content, edit)
    return _at_place(content, edit, layout_of)


def _at_place(content: bytes, edit: Edit, layout_of: LayoutOf) -> bytes:
    """Content with another record or text at a byte."""
    if "set" in edit:
        return _in_record(content, edit, layout_of)
    start = int(edit["at"])
    if "bytes" in edit:
        put_in = bytes.fromhex(edit["bytes"])
        return content[:start] + put_in + content[start + len(put_in) :]
    end = start + _length(content, start, edit, layout_of)
    piece = content[start:end]
    if edit.get("drop"):
        piece = b""
    elif edit.get("repeat"):
        piece *= 2
    else:
        piece = _replaced(piece, edit)
    return content[:start] + piece + content[end:]


def _length(content: bytes, start: int, edit: Edit, layout_of: LayoutOf) -> int:
    """Bytes of a record, or of a text with its end."""
    try:
        return layout_of(edit)[0].size
    except KeyError:
        end = content.find(b"\0", start)
        if end < 0:
            raise NotBreakable("no text there") from None
        return end + 1 - start


def _in_record(content: bytes, edit: Edit, layout_of: LayoutOf) -> bytes:
    try:
        layout, declaration = layout_of(edit)
    except KeyError as reason:
        raise NotBreakable(str(reason.args[0])) from reason
    start = int(edit.get("at", 0))
    if start + layout.size > len(content):
        raise NotBreakable("no record there")
    row = np.frombuffer(content[start : start + layout.size], np.uint8).copy().reshape(1, -1)
    view = row.view(layout.view(0, row).dtype)[:, 0]
    for name, value in edit["set"].items():
        put(declaration, view, name, np.array([int(value)], np.uint64).view(np.int64))
    return content[:start] + opaque(view).tobytes() + content[start + layout.size :]


def _in_lines(content: bytes, edit: Edit) -> bytes:
    lines = content.splitlines(keepends=True)
    place = int(edit["line"]) - 1
    if not 0 <= place < len(lines):
        raise NotBreakable(f"no line {place + 1}")
    if edit.get("drop"):
        del lines[place]
    elif edit.get("repeat"):
        lines.insert(place, lines[place])
    elif "swap" in edit:
        other = int(edit["swap"]) - 1
        lines[place], lines[other] = lines[other], lines[place]
    elif "is" in edit:
        end = lines[place][len(lines[place].rstrip(b"\r\n")) :]
        lines[place] = edit["is"].encode() + end
    else:
        lines[place] = _replaced(lines[place], edit)
    return b"".join(lines)


def _replaced(piece: bytes, edit: Edit) -> bytes:
    old, new = str(edit["replace"]).encode(), str(edit["with"]).encode()
    if old not in piece:
        raise NotBreakable(f"no {edit['replace']!r} there")
    return piece.replace(old, new, 1)
