"""The packed records of blocks 0x0A and 0x0B as arrays (bin-blocks.md 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ascend_spec.bin import CACHE_RECORD, SECTION_LENGTH, TRACE_RECORD
from ascend_spec.core.packed import dtype_of

from .canonical import MalformedPayload

Records: TypeAlias = npt.NDArray[np.void]
Bytes: TypeAlias = npt.NDArray[np.uint8]

LengthUnit: TypeAlias = Literal["bytes", "records"]

TRACE_DTYPE = dtype_of(TRACE_RECORD)
CACHE_DTYPE = dtype_of(CACHE_RECORD)

_LENGTH_SIZE: int = SECTION_LENGTH.sizeof()


@dataclass(frozen=True, slots=True)
class MemoryTrace:
    """A payload of type 0x0A: the records, and the JSON text of their call stacks.

    ``records`` is a view of the payload with the fields of ``TRACE_RECORD``; ``length_unit`` what
    the first length counts, which no document states.
    """

    records: Records
    call_stacks: memoryview
    length_unit: LengthUnit = "bytes"


def read_memory_trace(payload: bytes | memoryview) -> MemoryTrace:
    """Take a payload of type 0x0A apart: length, TraceRecords, length, call stacks.

    Nothing is copied. Raises :class:`MalformedPayload` where the lengths do not lead to the end.
    """
    view = memoryview(payload)
    length = _length_at(view, 0)
    units: tuple[tuple[LengthUnit, int], ...] = (
        ("bytes", length),
        ("records", length * TRACE_DTYPE.itemsize),
    )
    for unit, size in units:
        second = _LENGTH_SIZE + size
        if size % TRACE_DTYPE.itemsize or second + _LENGTH_SIZE > len(view):
            continue
        stacks = second + _LENGTH_SIZE
        if _length_at(view, second) == len(view) - stacks:
            records = np.frombuffer(view[_LENGTH_SIZE:second], TRACE_DTYPE)
            return MemoryTrace(records, view[stacks:], unit)
    raise MalformedPayload(
        0, f"the section lengths (the first is {length:,}) do not lead to the end of the payload"
    )


def memory_trace_payload(
    records: Records, call_stacks: bytes | memoryview, length_unit: LengthUnit = "bytes"
) -> memoryview:
    """A payload of type 0x0A."""
    content = _bytes_of(records.astype(TRACE_DTYPE, copy=False))
    length = len(records) if length_unit == "records" else len(content)
    stacks = np.frombuffer(call_stacks, np.uint8)
    return _joined(_length(length), content, _length(len(call_stacks)), stacks)


def read_cache_records(payload: bytes | memoryview) -> Records:
    """The CacheRecords of a payload of type 0x0B, as a view.

    Raises :class:`MalformedPayload` where the size is no multiple of a record's.
    """
    view = memoryview(payload)
    rest = len(view) % CACHE_DTYPE.itemsize
    if rest:
        raise MalformedPayload(
            len(view) - rest, f"{rest} bytes follow the last record of {CACHE_DTYPE.itemsize} bytes"
        )
    return np.frombuffer(view, CACHE_DTYPE)


def cache_payload(records: Records) -> memoryview:
    """A payload of type 0x0B."""
    return _joined(_bytes_of(records.astype(CACHE_DTYPE, copy=False)))


def _bytes_of(records: Records) -> Bytes:
    return np.ascontiguousarray(records).view(np.uint8)


def _length(length: int) -> Bytes:
    return np.frombuffer(SECTION_LENGTH.build(length), np.uint8)


def _joined(*parts: Bytes) -> memoryview:
    """A copy of the parts; NumPy's memory takes it twice as fast as a bytes object's."""
    return np.concatenate(parts).data


def _length_at(view: memoryview, offset: int) -> int:
    if offset + _LENGTH_SIZE > len(view):
        raise MalformedPayload(offset, "the payload ends within a section length")
    length: int = SECTION_LENGTH.parse(view[offset : offset + _LENGTH_SIZE])
    return length
