"""What is true of whole files of timelines: their names, the keys of events, metadata events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ascend_spec.core import Grade

from .model import JsonType, Phase
from .names import NameForm


@dataclass(frozen=True, slots=True)
class EventKey:
    """A key of an event. ``shown_as``: what viewers and documents call it."""

    key: str
    summary: str
    unit: str | None = None
    shown_as: tuple[str, ...] = ()
    required: tuple[Phase, ...] = ()
    optional: tuple[Phase, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataEvent:
    """An event of phase M: its name, the one member of its args, and what that tells."""

    name: str
    arg: str
    json: tuple[JsonType, ...]
    of: Literal["process", "thread"]
    summary: str


@dataclass(frozen=True, slots=True)
class TimelineFile:
    """A kind of file that holds a timeline, and the layers in it (empty: all)."""

    file: str
    summary: str
    output: Literal["msprof", "pytorch"]
    name: NameForm
    writers: tuple[str, ...]
    grade: Grade
    source: tuple[str, ...]
    sliced: NameForm | None = None
    errata: tuple[str, ...] = ()
