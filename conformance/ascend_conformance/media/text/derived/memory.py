"""Blocks of memory of the graph engine, computed again from its events."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.derive.memory_blocks import memory_blocks

from .reading import NONE, Asked, integers

KIBIBYTE = 1024.0


def blocks(asked: Asked) -> pa.Table:
    """Each block with the events that took it and gave it back; sizes in KB, times in ns."""
    events = asked.rows()
    device, address = integers(events, "deviceId"), integers(events, "addr")
    time = integers(events, "timestampNs")
    takes = pc.equal(events["type"].cast(pa.string()), "allocate").fill_null(False)
    found = memory_blocks(device, address, time, np.asarray(takes.to_numpy(), np.bool_))
    taken, given = found.taken != NONE, found.given != NONE
    row = np.where(taken, found.taken, found.given)

    def of(name: str, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Array:
        amounts = np.append(integers(events, name, 0), 0)[rows] / KIBIBYTE
        return pa.array(amounts, mask=rows == NONE)

    sizes = integers(events, "size", 0)[row] / KIBIBYTE
    names = events["operatorName"].cast(pa.string()).combine_chunks()
    length = np.append(time, 0)[found.given] - np.append(time, 0)[found.taken]
    return pa.table(
        {
            "device": pc.binary_join_element_wise("NPU:", pa.array(device[row]).cast("string"), ""),
            "name": names.take(pa.array(found.taken, mask=~taken)),
            "time": pa.array(np.append(time, 0)[found.taken], mask=~taken),
            "size": pa.array(np.where(taken, sizes, -sizes)),
            "duration": pa.array(length, mask=~(taken & given)),
            "taken_allocated": of("totalAllocate", found.taken),
            "taken_reserved": of("totalReserve", found.taken),
            "given_allocated": of("totalAllocate", found.given),
            "given_reserved": of("totalReserve", found.given),
        }
    )
