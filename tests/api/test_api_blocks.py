"""Which blocks the viewer finds in a file, whole or damaged."""

from __future__ import annotations

import struct

import pytest
from api_files import PLACE, content, json_block, source_block, trace_block

from ascend_ref.bin import Block, to_bytes
from ascend_ref.tools.serve import Answers
from ascend_ref.tools.serve import blocks as blocks_module
from ascend_ref.tools.serve.blocks import Blocks

BASE = json_block(0x05, {"name": "n"})
INSTRUCTIONS = json_block(0x04, {"Cores": ["c"]})


def header(size: int, code: int, padding: int = 0, mark: bytes = b"\x5a\x5a") -> bytes:
    return struct.pack("<QBB", size, code, padding) + mark


def blocks(data: bytes) -> Blocks:
    return Blocks(memoryview(data))


def test_a_whole_file_is_followed_to_its_end() -> None:
    found = Blocks(content(BASE, INSTRUCTIONS))
    assert found.accepted
    assert found.complete
    assert found.details(0x05) == {"name": "n"}
    assert found.hot_spots(0x04) == {"Cores": ["c"]}
    assert 0x06 not in found
    assert found.is_empty(0x06)


def test_of_several_blocks_of_a_type_the_first_counts() -> None:
    found = Blocks(content(BASE, json_block(0x05, {"name": "m"})))
    assert found.details(0x05) == {"name": "n"}


@pytest.mark.parametrize(
    ("first", "is_accepted"),
    [
        (header(4, 0x05) + b"{}  ", True),
        (header(0, 0x05), False),  # no content
        (header(4, 0x05, mark=b"\0\x5a") + b"{}  ", False),  # a version byte in the first block
        (header(4, 0x05, mark=b"\x5a\0") + b"{}  ", False),
    ],
)
def test_the_first_header_alone_makes_a_bin_file(first: bytes, is_accepted: bool) -> None:
    assert blocks(first + to_bytes([BASE])).accepted is is_accepted


def test_an_unknown_type_is_passed_over() -> None:
    found = blocks(header(8, 0x77) + bytes(8) + to_bytes([BASE]))
    assert found.complete
    assert found.details(0x05) == {"name": "n"}


@pytest.mark.parametrize(
    "bad",
    [
        header(1 << 40, 0x06),  # more than the file
        header(1 << 63, 0x01),
        header(0, 0x06),  # empty
        header(4, 0x06, 4) + bytes(4),  # nothing but padding
        header(4, 0x06, 255) + bytes(4),
        b"\xff" * 8,  # part of a header that claims too much
        b"\xff" * 11,
        header(0, 0x06)[:10],  # all of a header that is looked at
        header(0, 0x06)[:11],
        header(4, 0x04)[:10],  # of this type the version is looked at, too
    ],
)
def test_after_an_impossible_header_details_remain_and_hot_spots_do_not(bad: bytes) -> None:
    found = blocks(to_bytes([BASE, source_block("/a", "x"), INSTRUCTIONS]) + bad)
    assert not found.complete
    assert found.details(0x05) == {"name": "n"}
    assert found.hot_spots(0x04) is None
    assert found.sources == {}
    assert found.raw_instructions() == ""
    assert found.timelines() == []


@pytest.mark.parametrize("tail", [b"\0", b"\0" * 7, b"\0" * 9, b"\xff" * 7])
def test_less_than_a_header_at_the_end_is_passed_over(tail: bytes) -> None:
    found = blocks(to_bytes([BASE, INSTRUCTIONS]) + tail)
    assert found.complete
    assert found.hot_spots(0x04) == {"Cores": ["c"]}


@pytest.mark.parametrize("tail", [header(4, 0x0E)[:10], header(4, 0x0E)[:11]])
def test_a_header_counts_without_what_is_not_looked_at(tail: bytes) -> None:
    found = blocks(to_bytes([BASE]) + tail)
    assert found.complete
    assert 0x0E in found
    assert found.is_empty(0x0E)


def test_a_last_block_that_is_cut_off_reads_as_empty() -> None:
    data = to_bytes([INSTRUCTIONS, BASE, json_block(0x06, {"advice": ["x" * 40]})])
    found = blocks(data[:-8])
    assert found.complete  # nobody looks at where it ends
    assert 0x06 in found
    assert found.is_empty(0x06)
    assert found.details(0x06) is None


def test_an_empty_source_text_is_a_block_all_the_same() -> None:
    section = b"/a.cpp".ljust(4096, b"\0")
    found = blocks(to_bytes([BASE]) + header(0, 0x01) + section + to_bytes([INSTRUCTIONS]))
    assert found.complete
    assert list(found.sources) == ["/a.cpp"]
    assert found.source_text("/a.cpp") == ""


def test_a_path_without_an_end_is_as_long_as_its_section() -> None:
    found = blocks(to_bytes([BASE]) + header(4, 0x01) + b"x" * 4096 + b"text")
    assert list(found.sources) == ["x" * 4096]
    assert found.source_text("x" * 4096) == "text"


def test_a_file_that_ends_within_a_path_has_no_further_sources() -> None:
    data = to_bytes([BASE, source_block("/a", "x")]) + header(4, 0x01) + b"/b" + bytes(100)
    assert list(blocks(data).sources) == ["/a"]


def test_a_payload_beyond_the_limit_reads_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "TEXT_LIMIT", 8)
    found = Blocks(content(BASE, INSTRUCTIONS))
    assert found.is_empty(0x05)
    assert found.hot_spots(0x04) is None
    assert found.raw_instructions() == '{"Cores":["c"]}'  # which has a limit of its own


def test_what_is_kept_of_payloads_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "KEPT_BYTES", 40)
    found = Blocks(content(*(json_block(code, {"x": "y" * 20}) for code in range(5, 10))))
    for code in range(5, 10):
        assert found.details(code) == {"x": "y" * 20}
        assert len(found._kept) == 1
    assert found.details(9) is found.details(9)


def test_many_tiny_blocks_are_found_quickly() -> None:
    data = to_bytes([BASE]) + (header(4, 0x77) + bytes(4)) * 100_000 + to_bytes([INSTRUCTIONS])
    assert blocks(data).hot_spots(0x04) == {"Cores": ["c"]}


def test_every_byte_changed_and_every_cut_still_answers() -> None:
    data = to_bytes(
        [
            BASE,
            source_block("/a.cpp", "x"),
            json_block(0x03, {"Files": []}),
            INSTRUCTIONS,
            trace_block([{"ph": "X", "pid": "p", "tid": "t", "ts": 1, "dur": 1, "name": "n"}]),
            Block(0x0C, b'{"op_detail":[]}'),
        ]
    )
    variants = [data[:end] for end in range(12, len(data), 7)]
    variants += [
        data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        for at in [*range(400), *range(len(data) - 400, len(data))]
    ]
    for variant in variants:
        asked = Answers(memoryview(variant), PLACE)
        asked.import_body()
        asked.unit("card")
        for command in ("source/details/baseInfo", "source/api/instructions/dynamic"):
            asked.answer(command, {})
        asked.answer("source/code/file", {"sourceName": "/a.cpp"})
        asked.answer("unit/threadTraces", {"processId": "p", "threadId": "t", "endTime": 9})
