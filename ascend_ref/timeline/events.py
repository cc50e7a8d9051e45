"""Events as columns, before they become text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_spec.core.shows import Show
from ascend_spec.timeline import EventKind, FlowKind, Layer

from .rows import Fragment

HOST = -1
"""In place of a device, of layers of the host."""

Values = Mapping[str, Fragment]
"""Values by name, as text without quotes; NULL where an event does not have the member."""


@dataclass(frozen=True, slots=True)
class Events:
    """Events of one kind.

    device, thread: of each, or of all. unit: number of the process, where a layer has several on a
    device. start, length: ns; ``length`` is ``None`` for phases without one. parts: the changing
    parts of names. args: those of the kind that the events have; one with a changing name stands
    under its template, or under each of its names; required ones that are not among them are filled
    from what they show. rows: of each event the row in tables of the recording, -1 without one.
    shows: of an arg whose kind does not say what it shows of these rows.
    """

    layer: Layer
    kind: EventKind
    start: Integers
    device: Integers | int = HOST
    thread: Integers | int = 0
    unit: int = 0
    length: Integers | None = None
    parts: Values = field(default_factory=dict)
    args: Values = field(default_factory=dict)
    rows: Mapping[str, Integers] = field(default_factory=dict)
    shows: Mapping[str, Show] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Points:
    """Starts or ends of flows of one kind. ids: the quantities that flow ids are made of."""

    flow: FlowKind
    layer: Layer
    ends: bool
    ids: Mapping[str, Integers]
    start: Integers
    device: Integers | int = HOST
    thread: Integers | int = 0


def rows_of(part: slice) -> Integers:
    """The places of consecutive rows."""
    return np.arange(part.start, part.stop)


@dataclass(frozen=True, slots=True)
class Metadata:
    """One event of phase M; ``thread`` is 0 where it describes the process."""

    layer: Layer
    name: str
    arg: str
    value: str | int
    device: int = HOST
    thread: int = 0
    unit: int = 0


Item: TypeAlias = Events | Points | Metadata
"""What a layer consists of."""
