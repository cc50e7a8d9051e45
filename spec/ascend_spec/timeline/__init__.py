"""Chrome-trace timelines: what msprof and the PyTorch adapter write into their JSON files."""

from .catalog import TimelineCatalog
from .model import (
    Arg,
    EventKey,
    EventKind,
    FlowEnd,
    FlowId,
    FlowIdPart,
    FlowKind,
    Layer,
    MetadataEvent,
    PartForm,
    Phase,
    PidRule,
    Thread,
    TimelineFile,
    WriterForm,
)
from .names import Field, NameForm
from .schema import document_schema, event_schema

__all__ = [
    "Arg",
    "EventKey",
    "EventKind",
    "Field",
    "FlowEnd",
    "FlowId",
    "FlowIdPart",
    "FlowKind",
    "Layer",
    "MetadataEvent",
    "NameForm",
    "PartForm",
    "Phase",
    "PidRule",
    "Thread",
    "TimelineCatalog",
    "TimelineFile",
    "WriterForm",
    "document_schema",
    "event_schema",
]
