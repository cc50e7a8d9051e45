"""Raw files of a whole run, cut to what happened between two ticks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ascend_ref.mindspore.folder import RawCapture, RawFiles, find_captures
from ascend_ref.mindspore.generation import find_generation
from ascend_ref.mindspore.raw.records import layout_of
from ascend_spec import mindspore_catalog

TIMES: Mapping[str, str] = {
    "hwts": "syscnt",
    "training_trace": "sys_count",
    "ts_track": "timestamp",
    "aicpu": "run_start_counter",
}
"""By kind of file the field of its records that says when they were made."""

TEXT_TIME = re.compile(rb"\A\[([0-9]{1,19})\]|tickBeforeRun=([0-9]{1,19})")
"""When a text of an AI CPU was made."""

TEXTS = "aicpu"


def cut_capture(folder: Path, start: int, stop: int) -> dict[str, bytes]:
    """The raw files of a job from the tick ``start`` on until ``stop``, by their paths in it.

    Records of the device stay where their time does; several slices become one. What the framework
    says of operators is written when graphs are made, and stays whole. Raises ``Unreadable`` where
    there are no raw files, ``OSError``.
    """
    found: dict[str, bytes] = {}
    for capture in find_captures(folder):
        day = find_generation(capture).day
        for kind, files in capture.files.items():
            if mindspore_catalog().files[kind].is_exported:
                continue  # of a recording that has ended
            if kind in TIMES:
                found |= _cut(capture, kind, files, day, range(start, stop))
            else:
                found |= {_name(capture, one.path): one.path.read_bytes() for one in files.slices}
    return found


def _cut(
    capture: RawCapture, kind: str, files: RawFiles, day: str, during: range
) -> dict[str, bytes]:
    paths = [one.path for one in files.slices]
    content = b"".join(path.read_bytes() for path in paths)
    is_text = kind == TEXTS and not _are_records(content, day)
    kept = b"".join(_texts(content, during)) if is_text else _records(content, kind, day, during)
    return {_name(capture, paths[0]): kept} if kept else {}


def _are_records(content: bytes, day: str) -> bool:
    if not mindspore_catalog().files[TEXTS].members_on(day):
        return False
    place, magic = layout_of(TEXTS, day).magic or (0, b"")
    return content[place : place + len(magic)] == magic


def _records(content: bytes, kind: str, day: str, during: range) -> bytes:
    layout = layout_of(kind, day)
    whole = len(content) // layout.size * layout.size
    rows = np.frombuffer(content[:whole], np.uint8).reshape(-1, layout.size)
    kinds = layout.kinds(rows)
    times = layout.view(0, rows)[TIMES[kind]].copy()
    for number, member in enumerate(layout.members):
        own = np.isin(kinds, member.values)
        times[own] = layout.view(number, rows[own])[TIMES[kind]]
    kept: bytes = rows[(times >= during.start) & (times < during.stop)].tobytes()
    return kept


def _texts(content: bytes, during: range) -> Iterator[bytes]:
    """The texts, each up to its NUL, that are of the time; those without one as the one before."""
    is_kept = False
    for text in re.findall(rb"[^\0]*\0|[^\0]+", content):
        time = TEXT_TIME.search(text)
        if time:
            is_kept = int(time[1] or time[2]) in during
        if is_kept:
            yield text


def _name(capture: RawCapture, path: Path) -> str:
    return path.relative_to(capture.path).as_posix()
