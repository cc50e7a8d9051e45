"""The probe finds nothing wrong with the reference, whatever the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from probe_files import CORES, handmade, real, trace
from probe_servers import judged, served, told

from ascend_ref.bin import Block, canonical, to_bytes
from ascend_spec import api_catalog

HAND_MADE: dict[str, Callable[[], list[Block]]] = {
    "timeline alone": lambda: [Block(0x02, canonical(trace()))],
    "two timelines": lambda: [Block(0x02, canonical(trace()))] * 2,
    "timeline that cannot be read": lambda: [Block(0x02, b'{"traceEvents":[{"ph":"X"')],
    "timeline without events": lambda: [Block(0x02, b'{"traceEvents":[]}')],
    "counters alone": lambda: [Block(0x02, canonical({"traceEvents": [COUNT]}))],
    "source alone": lambda: [Block(0x01, b"int x;", path=b"/a b.cpp")],
    "strange source path": lambda: [Block(0x01, b"x", path="/ä;\n'.cpp".encode())],
    "declared version of instructions first": lambda: [
        Block(0x04, canonical({"Cores": CORES, "Instructions": []}), version=0)
    ],
    "lines of an old file": lambda: [
        Block(0x03, canonical(OLD_LINES)),
        Block(0x04, canonical({"Cores": CORES, "Instructions": OLD_INSTRUCTIONS})),
    ],
    "records that lack what they should have": lambda: [
        Block(0x0E, canonical({"Cacheline Records": [{"Cacheline Id": "first", "Hit": {}}, None]}))
    ],
    "blocks without content": lambda: [Block(code, b"[]") for code in range(0x03, 0x10)],
}
COUNT = {"ph": "C", "name": "rate", "pid": "p", "tid": 0, "ts": 5, "args": {"v": 1}}
OLD_LINES = {
    "Files": [
        {
            "Source": "/a.cpp",
            "Lines": [
                {
                    "Line": 3,
                    "Address Range": [["0x0", "0x8"]],
                    "Cycles": [7, 0],
                    "Instructions Executed": [2, 0],
                }
            ],
        }
    ]
}
OLD_INSTRUCTIONS = [{"Address": "0x0", "Source": "NOP", "Pipe": "SCALAR", "Cycles": [7, 0]}]


@pytest.mark.parametrize("name", ["mix.bin", "roofline_data.bin", "base_info.bin"])
def test_nothing_is_found_on_the_reference_with_a_real_file(name: str) -> None:
    file = real(name)
    with served(file) as address:
        found = judged(address, file)
    assert told(found) == {}
    assert found.skipped == ()


@pytest.mark.parametrize("name", HAND_MADE)
def test_nothing_is_found_on_the_reference_with_a_file_made_by_hand(
    tmp_path: Path, name: str
) -> None:
    """Also with one that is broken: what it makes a server send is not the server's fault."""
    path = tmp_path / "visualize_data.bin"
    path.write_bytes(to_bytes(HAND_MADE[name]()))
    with served(path) as address:
        assert told(judged(address, path)) == {}


def test_an_event_may_be_much_longer_than_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ascend_conformance.media.api.talk.SPARE_BYTES", 0)
    lanes = [{**COUNT, "ph": "X", "tid": f"lane{number}", "dur": 1} for number in range(100)]
    path = tmp_path / "visualize_data.bin"
    path.write_bytes(to_bytes([Block(0x02, canonical({"traceEvents": lanes}))]))
    with served(path) as address:
        assert told(judged(address, path, commands=("unit/counter",))) == {}


def test_every_command_is_answered_from_the_file_of_every_block(tmp_path: Path) -> None:
    file = handmade(tmp_path)
    with served(file) as address:
        found = judged(address, file)
    assert told(found) == {}
    assert found.skipped == ()
    assert found.seen is not None
    assert found.seen.revision == "upstream"
    assert found.seen.rows.keys() == api_catalog().commands.keys()


def test_a_report_is_the_same_every_time(tmp_path: Path) -> None:
    file = handmade(tmp_path)
    reports = []
    for _ in range(2):
        with served(file) as address:
            found = judged(address, file)
        reports.append((found.findings, found.seen, found.skipped, found.places_checked))
    assert reports[0] == reports[1]
