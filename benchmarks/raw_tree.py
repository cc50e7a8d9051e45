"""A tree of raw files made as long as one likes, in bounded memory: what it holds over and over."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.raw.context import Context, contexts
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.layout import Layout, layout_of
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import read_blocks
from ascend_ref.raw.task_kinds import FLIP
from ascend_ref.raw.vocabulary import numbered
from ascend_spec import raw_catalog
from ascend_spec.core.packed import Field, dtype_of

MILLISECOND = 1_000_000
BEGIN, END = "collectionTimeBegin", "collectionTimeEnd"


def repeat(prof: Path, times: int, kinds: Collection[str] | None = None) -> None:
    """Let a collection happen ``times`` times, one after the other, as one.

    Numbers of tasks begin again with each of them, on host and device. kinds: of the files that
    grow; None: all.
    """
    found = contexts(prof)
    documents = found[0].side.documents
    begin, end = (
        1000 * int(documents[name][key]) for name, key in (("start_info", BEGIN), ("end_info", END))
    )
    period = ((end - begin) // MILLISECOND + 1) * MILLISECOND
    for context in found:
        for kind, slices in context.folder.files.items():
            if raw_catalog().files[kind].members and (kinds is None or kind in kinds):
                _repeat_file(context, kind, slices, begin, period, times)
    for context in found:
        for path in context.folder.path.glob("end_info*"):
            document = json.loads(path.read_text())
            document[END] = str(int(document[END]) + (times - 1) * period // 1000)
            path.write_text(json.dumps(document))


def _repeat_file(
    context: Context, kind: str, slices: Sequence[Slice], begin: int, period: int, times: int
) -> None:
    side = context.side
    layout = layout_of(raw_catalog().files[kind], side.chip, side.settings)
    damage: list[Damage] = []
    content = np.concatenate(
        [one.rows for one in read_blocks(slices, layout, context.folder.side, damage)]
    )
    assert not damage, damage
    clock = side.host if context.folder.side == "host" else side.device
    ticks = period / clock.step
    assert ticks.denominator == 1, ticks
    flips = content[_flips(kind, layout, content)]
    for column, own in _times(layout, flips):
        column[own] = clock.ticks(np.array([begin]))
    content = np.concatenate([flips, content])
    columns = _times(layout, content)
    last = slices[-1].path
    stem = last.name.rpartition("_")[0]
    for number in range(1, times if columns else 1):
        for column, own in columns:
            column[own] += int(ticks)
        last.with_name(f"{stem}_{slices[-1].number + number}").write_bytes(content.tobytes())


def _flips(kind: str, layout: Layout, content: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """For each stream a record that its numbers begin again."""
    if kind == "task_track":
        rows, value = layout.view(0, content), numbered("runtime_task_types")[FLIP]
        of = np.flatnonzero(rows["taskType"] == value)
    elif kind == "ts_track":
        place = [one.record for one in layout.members].index("TS_FLIP")
        rows = layout.view(place, content)
        of = np.flatnonzero(layout.split(content)[place])
    else:
        return np.zeros(0, np.int64)
    _, first = np.unique(rows["streamId"][of], return_index=True)
    return of[first]


def _times(
    layout: Layout, content: npt.NDArray[np.uint8]
) -> list[tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]]:
    """The fields that hold times, and whose records they are."""
    found = []
    for member, own in zip(layout.members, layout.split(content), strict=True):
        declaration = layout.declaration(member)
        rows = content.view(dtype_of(declaration))[:, 0]
        names = [
            field.name
            for field in declaration.subcons
            if isinstance(field, Field) and (field.facts.clock or field.facts.unit == "tick")
        ]
        found += [(rows[name], own) for name in names if own.any()]
    return found
