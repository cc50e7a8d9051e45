"""What records of the task scheduler of the device have in common.

Names are those of the exporter's readers; numbers that no reader takes apart have none.
"""

from __future__ import annotations

from functools import partial

from construct import BitsInteger, Construct, Int8ul, Int16ul, Int32ul, Int64ul, Padding

from ascend_spec.core.packed import Field, field

from .forms import CONSTANT, DERIVED, UNRECORDED, Shows, bits

DEVICE_MAGIC = 0x6BD3
"""What stands at offset 2 of every record of the scheduler."""

MELTED: Shows = {"nothing": "melted"}

PMU_COUNTERS = 8
"""Counters of a record; the list of events of ``sample.json`` states what each of them counts."""

PMU_COUNTERS_V6 = 10
"""Counters of a record of the chips 15 and 16."""

observed = partial(field, grade="observed")


def device_magic(source: tuple[str, ...]) -> Field:
    """The second number of every record of the scheduler."""
    return observed("magic", Int16ul, "0x6BD3.", source=source, shows=CONSTANT)


def func_type(kinds: str) -> Field:
    """By which the kinds of records in one file differ."""
    return observed(
        "funcType",
        BitsInteger(6),
        "Kind of the record, by file.",
        source=("raw-prof 4.7",),
        shows=CONSTANT,
        values=kinds,
    )


def counted() -> Field:
    """A number that shows gaps."""
    return observed(
        "cnt",
        BitsInteger(4),
        "Number of the record in its file, modulo 16; a gap means lost records.",
        source=("raw-prof 4.7",),
        shows=DERIVED,
    )


def log_head(
    source: tuple[str, ...], sqe_types: str, *, kind: Shows = UNRECORDED
) -> tuple[Field, ...]:
    """The first four bytes where six bits hold the type of the SQE."""
    sqe = observed(
        "taskType",
        BitsInteger(6),
        "Type of the SQE, by the scheduler of the chip.",
        source=source,
        shows=kind,
        values=sqe_types,
    )
    return _head(sqe, source, "stars_kinds")


def acc_head(source: tuple[str, ...]) -> tuple[Field, ...]:
    """The first four bytes where six bits hold what is measured."""
    acc = observed(
        "accType",
        BitsInteger(6),
        "What is measured, where a kind of records has several.",
        source=source,
        shows=CONSTANT,
    )
    return _head(acc, source, "soc_kinds")


def die_head(
    source: tuple[str, ...], *, die: Shows = UNRECORDED, values: str | None = None
) -> tuple[Field, ...]:
    """The first four bytes where six bits hold the die."""
    part = observed(
        "dieId", BitsInteger(6), "Die of the chip.", source=source, shows=die, values=values
    )
    return _head(part, source, "soc_kinds")


def plain_head(source: tuple[str, ...], kinds: str) -> tuple[Field, ...]:
    """The first four bytes where six bits hold nothing that a reader takes."""
    return _head(Padding(6), source, kinds)


def counter(
    source: tuple[str, ...], summary: str, *, name: str = "timestamp", shows: Shows = DERIVED
) -> Field:
    """A number of the device's counter."""
    return observed(
        name,
        Int64ul,
        summary,
        source=source,
        shows=shows,
        unit="tick",
        clock="device-counter",
    )


def task_ids(source: tuple[str, ...]) -> tuple[Field, ...]:
    """Stream and task as the scheduler writes them, whose high bits may exchange parts."""
    return (
        observed(
            "streamId",
            Int16ul,
            "Stream; bits 12, 13 and, with expanded streams, 15 state how stream and task are "
            "packed.",
            source=source,
            shows="task.stream",
        ),
        observed("taskId", Int16ul, "Task in its stream.", source=source, shows="task.number"),
    )


def unique_task(source: tuple[str, ...]) -> Field:
    """The number that chips 15 and 16 give a task in place of stream and number."""
    return observed(
        "taskId",
        Int32ul,
        "Task, alone in its kind over all streams; the host's track of the task has the stream.",
        source=source,
        shows="task.number",
    )


def ffts_mode(source: tuple[str, ...], summary: str) -> Field:
    """The word whose highest three bits are a way of threading."""
    way = observed(
        "fftsType", BitsInteger(3), summary, source=source, shows=DERIVED, values="ffts_types"
    )
    text = "Way of threading; the word has no name of its own."
    return observed("mode", bits(way, Padding(13)), text, source=source)


def core(source: tuple[str, ...]) -> tuple[Field, ...]:
    """Kind and number of a core, a byte each."""
    return (
        observed(
            "coreType", Int8ul, "Bit 0: 0 cube, 1 vector.", source=source, shows="core_load.core"
        ),
        observed("coreId", Int8ul, "Number of the core.", source=source, shows="core_load.core"),
    )


def _head(part: Construct, source: tuple[str, ...], kinds: str) -> tuple[Field, ...]:
    word = observed(
        "head",
        bits(part, counted(), func_type(kinds)),
        "Kind and number of the record; the word has no name of its own.",
        source=source,
    )
    return word, device_magic(source)
