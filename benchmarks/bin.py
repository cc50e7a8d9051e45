"""Speed of the block file codec, as ratios against named alternatives in one run.

    python benchmarks/bin.py [--records 10000000] [--folder DIR]

Needs about 1 GB of memory, and 1 GB of disk where the folder's file system knows no holes.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import construct
import numpy as np
from lines import Line, best, show

from ascend_conformance.media.bin.records import CACHE_BLOCK, TRACE_BLOCK, judge_records
from ascend_ref.bin import Block, open_file, write_file
from ascend_ref.bin.records import (
    Records,
    cache_payload,
    memory_trace_payload,
    read_cache_records,
    read_memory_trace,
)
from ascend_spec.bin import CACHE_RECORD, TRACE_RECORD
from ascend_spec.core.packed import dtype_of

SAMPLE = 100_000
MILLION = 1_000_000
GIBIBYTE = 1 << 30
BLOCKS = 1_000

DECLARATIONS = {TRACE_BLOCK: TRACE_RECORD, CACHE_BLOCK: CACHE_RECORD}
READ = {
    TRACE_BLOCK: lambda payload: read_memory_trace(payload).records,
    CACHE_BLOCK: read_cache_records,
}
WRITE = {
    TRACE_BLOCK: lambda records: memory_trace_payload(records, b"[]"),
    CACHE_BLOCK: cache_payload,
}


def made(block: int, count: int) -> Records:
    """Records that obey every rule, but for one in 1,009."""
    index = np.arange(count, dtype=np.uint64)
    records = np.zeros(count, dtype_of(DECLARATIONS[block]))
    if block == TRACE_BLOCK:
        records["type"] = 3 + index % 2
        records["space"] = 1 + index % 6
        records["blockType"] = index % 2
        records["recordId"] = index
        records["addr"] = 0x1000 + 64 * index
        records["memSize"] = 64
        records["pc"] = 0x10CFA000 + 4 * (index % 512)
        records["space"][500::1009] = 9
    else:
        records["cacheLineId"] = index
        records["loadCount"] = 3 + index % 5
        records["storeCount"] = index % 3
        records["miss"] = records["allocate"] = index % 2
        records["hit"] = records["loadCount"] + records["storeCount"] - records["miss"]
        records["hit"][500::1009] += 1
    return records


def parsed(block: int, payload: bytes, count: int) -> list[construct.Container]:
    """The first records of a payload as construct reads them."""
    start = 8 if block == TRACE_BLOCK else 0  # behind the length of the section
    return list(construct.Array(count, DECLARATIONS[block]).parse(payload[start:]))


def measure_records(folder: Path, block: int, name: str, count: int) -> Iterator[Line]:
    """Decode with all checks, and encode, of one block of records in a file."""
    records = made(block, count)
    path = folder / f"{name}.bin"
    write_file(path, [Block(block, WRITE[block](records))])
    with open_file(path) as file:
        payload = file.payload(file.entries[0])
        assert judge_records(READ[block](payload), block), "the bad records are found"
        decode = best(lambda: judge_records(READ[block](payload), block))
        assert np.array_equal(READ[block](payload), records)
        start = bytes(payload[: 8 + 32 * SAMPLE])
    encode = best(lambda: WRITE[block](records))
    construct_seconds = best(lambda: parsed(block, start, SAMPLE), 1)
    sample = [tuple(int(value) for value in row.values()) for row in plain(block, start)]
    assert sample == records[:SAMPLE].tolist(), "the same values"
    rate = count / decode / MILLION
    yield Line(f"{name}: decode and check, M records/s", rate, 20, "M/s", False, "time")
    yield Line(f"{name}: encode, M records/s", count / encode / MILLION, 50, "M/s", False, "time")
    ratio = (construct_seconds / SAMPLE) / (decode / count)
    yield Line(f"{name}: decode and check", ratio, 300, "x", False, "construct Array(Struct).parse")


def plain(block: int, payload: bytes) -> list[construct.Container]:
    """The sample's records without construct's own notes in them."""
    rows = parsed(block, payload, SAMPLE)
    for row in rows:
        row.pop("_io", None)
    return rows


def sparse_file(folder: Path, payload: int) -> Path:
    """A file of as many blocks as the benchmark scans, each of this many bytes of nothing."""
    path = folder / f"blocks_{payload}.bin"
    with path.open("wb") as target:
        for place in range(BLOCKS):
            target.seek(place * (payload + 12))
            target.write(struct.pack("<QBBBB", payload, 0x0B, 0, 0x5A, 0x5A))
        target.truncate(BLOCKS * (payload + 12))
    return path


def scan(path: Path) -> int:
    """The headers of a file."""
    with open_file(path) as file:
        return len(file.entries)


def read(path: Path) -> int:
    """All bytes of a file."""
    total = 0
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            total += len(part)
    return total


def measure_scan(folder: Path) -> Iterator[Line]:
    """The walk through the headers, each on a page of its own, with large and smaller payloads."""
    large = sparse_file(folder, GIBIBYTE // BLOCKS // 4 * 4)
    small = sparse_file(folder, 1 << 16)
    assert scan(large) == scan(small) == BLOCKS
    seconds = best(lambda: scan(large), 7)
    against = best(lambda: scan(small), 7)
    what = f"scan of {BLOCKS:,} blocks in 1 GiB"
    yield Line(what, seconds / against, 1.5, "x", True, f"{BLOCKS:,} blocks in 64 MiB")
    yield Line(what, best(lambda: read(large), 1) / seconds, 20, "x", False, "reading the file")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10 * MILLION)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        lines += measure_records(folder, TRACE_BLOCK, "TraceRecord", options.records)
        lines += measure_records(folder, CACHE_BLOCK, "CacheRecord", options.records)
        lines += measure_scan(folder)
    show(lines)


if __name__ == "__main__":
    main()
