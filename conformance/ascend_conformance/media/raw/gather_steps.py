"""The step trace of devices as facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ascend_ref.raw.iterations import POINT_RECORDS
from ascend_ref.raw.vocabulary import numbered, numbered_pairs

from ...engine.sqlite_facts import STAGED, SqlValue
from .gather_calls import offsets_of
from .reading import Folder

FILE = "ts_track"

_STEP = ("file", "offset", "model", "stream", "tag", "index", "time")
_ORDER = "model, time, file, offset"


def gather_steps(folder: Folder) -> None:
    """Records of the step trace of each device, by model and time."""
    for context in folder.contexts:
        device = context.folder.device
        if device is None or FILE not in context.folder.files:
            continue
        folder.facts.stage(_STEP)
        for layout, block, number in folder.blocks(context, FILE):
            offsets = np.array(offsets_of(block, layout))
            for place, mask in enumerate(layout.split(block.rows)):
                if layout.members[place].record not in POINT_RECORDS:
                    continue
                rows = layout.view(place, block.rows[mask])
                columns = (rows["modelId"], rows["streamId"], rows["tagId"], rows["indexId"])
                found = zip(
                    [number] * len(rows),
                    offsets[mask].tolist(),
                    *(one.astype(np.int64).tolist() for one in (*columns, rows["timestamp"])),
                    strict=True,
                )
                folder.facts.add(STAGED, found)
        steps = folder.facts.connection.execute(f"SELECT * FROM {STAGED} ORDER BY {_ORDER}")
        folder.facts.add("step", _rows(device, steps))
        folder.facts.unstage()


def _rows(device: int, steps: Iterable[Any]) -> Iterator[tuple[SqlValue, ...]]:
    tags = numbered("step_tags")
    plain = {
        tags["model start"]: "start",
        tags["model end"]: "end",
        tags["FP"]: "fp",
        tags["BP"]: "bp",
        tags["iteration end"]: "iteration",
        tags["iteration start"]: "sequence",
        tags["mark"]: "mark",
        tags["step start"]: "framework",
        tags["step end"]: "framework",
    }
    pairs = {"reduction": tags["all-reduce"], "fetch": tags["get-next"]}
    count, inside = 0, False
    model_before: int | None = None
    for number, offset, model, stream, tag, index, time in steps:
        if model != model_before:
            model_before, count, inside = model, 0, False
        meaning, pair, side = plain.get(tag), None, None
        for name, first in pairs.items():
            if 0 <= (tag - first) // 2 < numbered_pairs():
                meaning, pair, side = name, (tag - first) // 2, (tag - first) % 2
        if meaning == "start":
            count, inside = count + 1, True
        own = count if inside else None
        if meaning == "iteration":
            count += 1
        if meaning == "end":
            inside = False
        yield (
            *(number, None, offset, device, model, stream, tag, meaning, pair, side),
            *(index, time, own),
        )
