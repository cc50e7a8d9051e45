"""What a bar of the picture is: label, colour, the kinds of tasks that are it, and name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple


class Kind(IntEnum):
    """In order of precedence: where bars of one lane overlap, the first of them is seen."""

    CUBE = 0
    VECTOR = 1
    MIX = 2
    AI_CPU = 3
    ENGINE = 4
    TRANSIT = 5
    COPY = 6
    NOTIFY_WAIT = 7
    WAIT = 8
    SCHEDULE = 9
    MARK = 10
    OTHER = 11
    OPERATION = 12
    COMPUTING = 13
    COMMUNICATION = 14
    EXPOSED = 15
    FREE = 16


COMPUTING_KINDS: Final = (Kind.CUBE, Kind.VECTOR, Kind.MIX, Kind.AI_CPU, Kind.ENGINE)
"""Kinds of the operators that make up Computing."""


class Look(NamedTuple):
    """label: in plain words. colour: of the bar. ink: of a text in it."""

    label: str
    colour: str
    ink: str


DARK: Final = "#1f2933"
LIGHT: Final = "#ffffff"

# People who see no red or no green can distinguish them: blues compute, oranges communicate, greys
# idle.
# The colours are those of Okabe and Ito, "Color Universal Design" (2008), and shades of them.
LOOKS: Final[Mapping[Kind, Look]] = {
    Kind.CUBE: Look("cube (AI_CORE)", "#0072b2", LIGHT),
    Kind.VECTOR: Look("vector (AI_VECTOR_CORE)", "#56b4e9", DARK),
    Kind.MIX: Look("mix of both (MIX_AIC, MIX_AIV)", "#009e73", LIGHT),
    Kind.AI_CPU: Look("AI CPU", "#cc79a7", DARK),
    Kind.ENGINE: Look("other engine (DSA, DVPP)", "#7b5ea7", LIGHT),
    Kind.TRANSIT: Look("data in transit", "#d55e00", LIGHT),
    Kind.COPY: Look("copy", "#c9b400", DARK),
    Kind.NOTIFY_WAIT: Look("waiting for a peer", "#f7cfae", DARK),
    Kind.WAIT: Look("waiting for an event", "#e3e6ea", DARK),
    Kind.SCHEDULE: Look("kernel of communication", "#a34700", LIGHT),
    Kind.MARK: Look("record, notification", "#5f6b7a", LIGHT),
    Kind.OTHER: Look("other task", "#aab4c0", DARK),
    Kind.OPERATION: Look("communication operator", "#e58a4a", DARK),
    Kind.COMPUTING: Look("Computing", "#2b7fb8", LIGHT),
    Kind.COMMUNICATION: Look("Communication", "#f0b58a", DARK),
    Kind.EXPOSED: Look("Communication(Not Overlapped)", "#d55e00", LIGHT),
    Kind.FREE: Look("Free", "#8f99a6", LIGHT),
}

UNDIVIDED: Final = Look("AI core", LOOKS[Kind.CUBE].colour, LIGHT)
"""AI_CORE where nothing else separates cube from vector: older products, and timelines alone, which
call the tasks of both AI_CORE (text-outputs.md 6)."""

# Names of the runtime, of SQE and FFTS+ types, of GE and of the small tasks of communication
# (db-schema.md 7.10, raw-prof.md 4).
_TYPES: Final[Mapping[Kind, str]] = {
    Kind.CUBE: "AI_CORE AIC KERNEL_AICORE",
    Kind.VECTOR: "AI_VECTOR_CORE AIV AIV_SQE KERNEL_AIVEC",
    Kind.MIX: "MIX_AIC MIX_AIV KERNEL_MIX_AIC KERNEL_MIX_AIV",
    Kind.AI_CPU: "AI_CPU KERNEL_AICPU AICPU_H AICPU_D",
    Kind.ENGINE: "DSA DSA_SQE DVPP VPC_SQE JPEGE_SQE JPEGD_SQE FUSION",
    Kind.TRANSIT: "SDMA MEMCPY REDUCE_INLINE REDUCE_ASYNC_V2 RDMASEND RDMA_SEND RDMA_DB_SEND",
    Kind.COPY: "MEMCPY_ASYNC SDMA_SQE PCIE_DMA_SQE MEMSET_ASYNC",
    Kind.NOTIFY_WAIT: "NOTIFY_WAIT NOTIFY_WAIT_SQE",
    Kind.WAIT: "EVENT_WAIT EVENT_WAIT_SQE REMOTE_EVENT_WAIT MEM_WAIT_VALUE CAPTURE_WAIT "
    "DAVID_EVENT_WAIT IPC_EVENT_WAIT",
    Kind.MARK: "NOTIFY_RECORD NOTIFY_RECORD_SQE EVENT_RECORD EVENT_RECORD_SQE EVENT_RESET "
    "WRITE_VALUE WRITE_VALUE_SQE WRITEVALUETASK MEM_WRITE_VALUE CAPTURE_RECORD "
    "DAVID_EVENT_RECORD DAVID_EVENT_RESET IPC_EVENT_RECORD",
}
_KINDS: Final = {name: kind for kind, names in _TYPES.items() for name in names.split()}

PROFILER_TASKS: Final = ("PROFILING_ENABLE", "PROFILING_DISABLE")
"""Tasks of the profiler itself, which are no part of the program."""


def kind_of(task_type: str) -> Kind:
    """The kind of a task of this type, as any of the deliverables spells it."""
    return _KINDS.get(task_type.upper().replace(" ", "_"), Kind.OTHER)


_COLLECTIVE: Final = re.compile(r"hcom_([A-Za-z]+)_")
_NODE: Final = re.compile(r"(?:.*/)?([^/]+?)-op\d+(?:_\d+)?")
_ACLNN: Final = re.compile(r"aclnn.*_([A-Za-z]\w*?)", re.DOTALL)


def operator_type(name: str) -> str:
    """The type in the name of an operator, else the name itself.

    ``hcom_allReduce__586_3_1`` and ``hcom_allReduce_`` are of the type ``allReduce`` (db-schema.md
    7.5), ``Default/network/MatMul-op12`` of ``MatMul``, ``aclnnAdd_AddAiCore_Add`` of ``Add``.
    """
    for pattern in (_COLLECTIVE, _NODE, _ACLNN):
        found = pattern.match(name) if pattern is _COLLECTIVE else pattern.fullmatch(name)
        if found:
            return found[1]
    return name
