"""The picture of a step: a header, lanes over one axis of time, a legend and two small tables."""

from __future__ import annotations

from itertools import accumulate
from typing import BinaryIO

import numpy as np

from .axis import Axis
from .blocks import Window
from .canvas import Canvas, Format, drawing
from .captions import Header, Legend, Tables
from .kinds import Kind
from .lanes import Lanes
from .layout import rows_of
from .measures import COLUMNS, WIDTH
from .step import Step


def paint(header: Header, file: BinaryIO, form: Format) -> None:
    """Draw the step of a header and write the picture to ``file``."""
    recording, step = header.recording, header.step
    window = _window(step)
    headed = rows_of(recording, step, window)
    axis = Axis(step, window)
    lanes = [Lanes(rows, recording.names, window) for rows in headed]
    # The lanes of the first heading carry their names themselves.
    kinds = {
        shown.kind
        for rows in headed[1:]
        for row in rows.rows
        for shown in row.shown
        if len(shown.intervals.start)
    }
    marked = axis.marked()
    legend = Legend(sorted(kinds), recording.divided)
    tables = Tables(step, frozenset(number for number, _ in marked), recording.communication)
    parts: list[Header | Lanes | Axis | Legend | Tables] = [header, *lanes, axis, legend, tables]
    tops = list(accumulate((part.height for part in parts), initial=0.0))
    with drawing(form):
        canvas = Canvas(WIDTH, tops[-1])
        first, last = tops[1], tops[1 + len(lanes)]
        axis.draw_gaps(canvas, first, last)
        axis.draw_behind(canvas, first, last)
        for part, top in zip(parts, tops[:-1], strict=True):
            part.draw(canvas, top)
        axis.draw_badges(canvas, lanes[0].middle_of_last(first))
        canvas.save(file, form, header.in_words())


def _window(step: Step) -> Window:
    """The step and the copies around it."""
    copies = step.bars.take(step.bars.kind == Kind.COPY)
    start = min([step.start, *copies.start[:1].tolist()])
    end = max([step.end, *np.sort(copies.end)[-1:].tolist()])
    return Window(start, max(end, start + 1), COLUMNS)
