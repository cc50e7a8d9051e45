"""What real ``visualize_data.bin`` files hold is what the documents name for their epoch, no more.

Documents and files are read as they stand, without the loaders of the spec.
"""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pin_facts import documents
from seed_tables import SHARED

EPOCHS = ["E0", "E1", "E2", "E3"]
FILES = {
    "mix.bin": (SHARED / "data" / "bin" / "mix.bin", "E2", "mix"),
    "roofline_data.bin": (SHARED / "data" / "bin" / "roofline_data.bin", "E2", "mix"),
    "memory_data.bin": (SHARED / "data" / "generations" / "memory_data.bin", "E1", "vector"),
}
CORES = {"cube0": "cube", "vector0": "vector", "vector1": "vector", "vector": "vector"}
CHIP = "910B"


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest) -> tuple[dict[int, Any], str, str]:
    """The payloads of a real file by type of block, its epoch and kind of operator."""
    path, epoch, op_type = FILES[request.param]
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared/data")
    return _payloads(path), epoch, op_type


def _payloads(path: Path) -> dict[int, Any]:
    data, at, found = path.read_bytes(), 0, {}
    while at < len(data):
        size, code, padding, _, _ = struct.unpack_from("<QBBBB", data, at)
        found[code] = json.loads(data[at + 12 : at + 12 + size - padding])
        at += 12 + size
    return found


def in_force(entries: list[dict[str, Any]], epoch: str) -> Iterator[dict[str, Any]]:
    """The entries for the chip of the files that an epoch has; ``until`` is the first without."""
    at = EPOCHS.index(epoch)
    for entry in entries:
        since = EPOCHS.index(entry.get("since", "E0"))
        until = EPOCHS.index(entry["until"]) if "until" in entry else len(EPOCHS)
        if since <= at < until and CHIP in (*entry.get("chips", []), entry.get("chip")):
            yield entry


def test_tables_have_the_headers_and_rows_of_their_epoch(
    file: tuple[dict[int, Any], str, str],
) -> None:
    blocks, epoch, op_type = file
    document = documents()["bin/memory_tables"]
    named = {
        table: (document["headers"][entry["headers"]], entry["rows"])
        for entry in in_force(document["tables"], epoch)
        if op_type in entry["op_types"]
        for table in entry["tables"]
    }
    for block in blocks[0x09]["table_per_block"]:
        found = {
            table["table_name"]: (table["header_name"], [row["name"] for row in table["row"]])
            for table in block["table_detail"]
        }
        assert found == named


def test_paths_are_those_of_their_epoch(file: tuple[dict[int, Any], str, str]) -> None:
    blocks, epoch, op_type = file
    (named,) = [
        entry["paths"]
        for entry in in_force(documents()["bin/memory_paths"]["sets"], epoch)
        if entry["op_type"] == op_type
    ]
    for core in blocks[0x08]["core_memory_map"]:
        assert [unit["memory_path"] for unit in core["memory_unit"]] in (
            named,
            [str(path) for path in named],
        )


@pytest.mark.parametrize("code", [0x06, 0x07])
def test_loads_are_those_of_their_epoch(file: tuple[dict[int, Any], str, str], code: int) -> None:
    blocks, epoch, op_type = file
    named: dict[tuple[str, int], list[str]] = defaultdict(list)
    for entry in in_force(documents()["bin/compute_load"]["entries"], epoch):
        if entry["block"] == code and (op_type == "mix" or entry["core"] == op_type):
            named[entry["core"], entry["unit"]] += entry["names"]
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for one in blocks[code]["subblock_detail"]:
        name = one["name"]
        if one["block_type"] != "vector" and code == 0x06 and name[-1] in "01":
            name = name[:-1]
        names = found[CORES[one["block_type"]], int(one["unit"])]
        if name not in names:
            names.append(name)
    assert dict(found) == dict(named)


def test_charts_are_those_of_their_epoch() -> None:
    path, epoch, _ = FILES["roofline_data.bin"]
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared/data")
    named = {
        chart["title"]: chart["bandwidths"]
        for chart in in_force(documents()["bin/rooflines"]["charts"], epoch)
    }
    found = {
        chart["title"]: [line["bw_name"] for line in chart["rooflines"]]
        for chart in _payloads(path)[0x0D]["multiple_rooflines"]
    }
    assert found.keys() == named.keys()
    # Lines whose memory moved nothing are left out; here that is one.
    left_out = {
        title: [line for line in lines if line not in found[title]]
        for title, lines in named.items()
        if found[title] != lines
    }
    assert left_out == {"Memory Pipe Cube": ["L0C to L1"]}
    assert all(
        found[title] == [line for line in lines if line in found[title]]
        for title, lines in named.items()
    )
