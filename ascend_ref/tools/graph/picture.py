"""The tasks of a graph as a picture: a lane for each stream, inserted tasks in colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple

from ascend_ref.ge.trace import Insertion, Node, Task
from ascend_ref.ge.trace.names import name_of

from ..plot.canvas import Canvas, Format, drawing

MOST: Final = 80
"""Tasks and gaps that are drawn; the others are counted."""
STREAMS: Final = 12
MARGIN: Final = 18
HEADING: Final = 46
LABEL: Final = 62
LANE: Final = 46
BOX: Final = 20
OWN: Final = 74
POINT: Final = 40
BETWEEN: Final = 34
APART: Final = 3
SIZE: Final = 6.5
COLOURS: Final = {
    "kProfilingFpStartLogid": "#2a7f4f",
    "kProfilingBpEndLogid": "#2f6db3",
    "kProfilingIterEndLogid": "#b3402f",
    "kProfilingArStartLogid": "#8a5fb0",
    "kProfilingArEndLogid": "#8a5fb0",
    "kProfilingGetNextStartLogid": "#b8860b",
    "kProfilingGetNextEndLogid": "#b8860b",
}
NO_POINT: Final = "#666666"
PLAIN: Final = "#d8dce2"
INK: Final = "#222222"
GROUND: Final = "#f4f5f7"


class Slot(NamedTuple):
    """What stands at a place of the list: a task, a node, or how many nodes are left out."""

    item: Task | Node | int
    width: float
    stream: int | None


def paint(insertion: Insertion, file: BinaryIO, form: Format) -> None:
    """Draw an insertion; the same one is always the same bytes."""
    slots = list(_slots(insertion))
    more = len(slots) - MOST
    slots = slots[:MOST]
    streams = sorted({one.stream for one in slots if one.stream is not None})
    left_out = len(streams) - STREAMS
    streams = streams[:STREAMS]
    width = MARGIN * 2 + LABEL + max(sum(one.width + APART for one in slots), 300)
    height = HEADING + MARGIN + LANE * max(len(streams), 1)
    with drawing(form):
        canvas = Canvas(width, height)
        title = f"Training trace of {insertion.graph.name or 'a graph'}"
        canvas.text(MARGIN, MARGIN, title, size=11, colour=INK, bold=True)
        caption = _caption(insertion, more, left_out)
        canvas.text(MARGIN, MARGIN + 15, caption, size=SIZE + 1, colour=NO_POINT)
        for lane, stream in enumerate(streams):
            top = HEADING + lane * LANE
            canvas.box(MARGIN, top, width - 2 * MARGIN, LANE - 4, GROUND)
            canvas.text(MARGIN + 4, top + LANE / 2, f"stream {stream}", size=SIZE, colour=INK)
        at = float(MARGIN + LABEL)
        for one in slots:
            _draw(canvas, one, at, streams)
            at += one.width + APART
        canvas.save(file, form, title)


def _caption(insertion: Insertion, more: int, left_out: int) -> str:
    parts = [f"reading {insertion.asked.reading}, executor {insertion.executor.executor}"]
    if more > 0:
        parts.append(f"{more:,} further places are not drawn")
    if left_out > 0:
        parts.append(f"{left_out:,} further streams are not drawn")
    return "; ".join(parts)


def _draw(canvas: Canvas, slot: Slot, at: float, streams: Sequence[int]) -> None:
    if slot.stream is None:
        for lane in range(len(streams)):
            middle = HEADING + lane * LANE + LANE / 2
            canvas.text(at + 4, middle, f"… {slot.item:,} …", size=SIZE, colour=NO_POINT)
        return
    if slot.stream not in streams:
        return
    top = HEADING + streams.index(slot.stream) * LANE + (LANE - 4 - BOX) / 2
    if isinstance(slot.item, Node):
        canvas.box(at, top, slot.width, BOX, PLAIN)
        words = canvas.fitted(slot.item.name, slot.width - 6, SIZE)
        canvas.text(at + 3, top + BOX / 2, words, size=SIZE, colour=INK)
    elif isinstance(slot.item, Task):
        name = (name_of(slot.item.number) or "").partition(" ")[0]
        canvas.box(at, top - 4, slot.width, BOX + 8, COLOURS.get(name, NO_POINT))
        words = str(slot.item.number) if slot.item.noted else f"({slot.item.number})"
        canvas.text(at + 3, top + BOX / 2, words, size=SIZE, colour="#ffffff", bold=True)


def _slots(insertion: Insertion) -> Iterator[Slot]:
    """Inserted tasks and their nodes; nodes without any are counted."""
    skipped = 0
    for one in insertion.tasks():
        if isinstance(one, Node) and one.id not in insertion.around and len(insertion.nodes) > MOST:
            skipped += 1
            continue
        if skipped:
            yield Slot(skipped, BETWEEN, None)
            skipped = 0
        stream = one.stream if isinstance(one, Node) else one.node.stream
        yield Slot(one, OWN if isinstance(one, Node) else POINT, stream)
    if skipped:
        yield Slot(skipped, BETWEEN, None)
