"""The time line that msprof exports, with a layer for scopes, and sums of its operators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..scopes import Event, scope_events, scoped
from .documents import Malformed, read_document
from .exported import exported_operators, files_of_export
from .run import Run
from .tables import write_document

KIND = "msprof_timeline"
DISPLAY, SUMMARY = "ascend_timeline_display", "ascend_timeline_summary"

PROCESS = 4
"""Of the layer of scopes."""


def write_exported_timeline(run: Run) -> None:
    """Write ``ascend_timeline_display``, where msprof exported one, and the sums of operators."""
    _write_summary(run)
    events = exported_events(run)
    if events is not None:
        write_document(run, DISPLAY, [*events, *scope_events(scoped(events), PROCESS, PROCESS)])


@lru_cache(maxsize=1)
def exported_events(run: Run) -> Sequence[Event] | None:
    """The events of the time line; ``None`` where there is none that can be read."""
    files = files_of_export(run, KIND)
    return read_document(files[0].path, _events, run.damage) if files else None


def _events(document: Any) -> Sequence[Event]:
    if not isinstance(document, list) or not all(isinstance(one, dict) for one in document):
        raise Malformed("expected a list of objects")
    return document


def _write_summary(run: Run) -> None:
    operators = exported_operators(run)
    if operators is None or not len(operators):
        return
    streams = operators.export.numbers["stream"]
    values = (
        float(np.sum(operators.duration)),
        len(np.unique(streams)),
        len(operators.names),
        len(operators),
        max(len(one.split("/")) for one in operators.names),
    )
    names = (one.name for one in run.columns(SUMMARY))
    write_document(run, SUMMARY, dict(zip(names, values, strict=True)))
