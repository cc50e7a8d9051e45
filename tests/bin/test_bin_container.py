"""The framing, against the documented offsets of a real file and against files spelled out."""

from __future__ import annotations

import os
import struct
import tracemalloc
from pathlib import Path

import construct
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_blocks import REAL, SMALL, raw_block, real

import ascend_ref.bin.container
from ascend_ref.bin import Block, Unreadable, open_file, read_blocks, to_bytes
from ascend_ref.sniff import is_block_file
from ascend_spec.bin import FILE, HEADER, PATH_SECTION

BLOCKS_OF_MIX = [
    (0, 0x05, 472, 2),
    (484, 0x06, 1300, 1),
    (1796, 0x07, 6132, 3),
    (7940, 0x08, 4688, 3),
    (12640, 0x09, 12016, 3),
    (24668, 0x0C, 920, 1),
]
"""Offset, type, contentSize and padding: bin-blocks.md 8.3."""


def test_the_blocks_of_a_real_file() -> None:
    with open_file(real("mix.bin")) as file:
        found = [(one.offset, one.type, one.content_size, one.padding) for one in file.entries]
        assert found == BLOCKS_OF_MIX
        assert file.damage == ()
        assert file.entries[-1].end == file.size == 25600


@pytest.mark.parametrize("name", REAL)
def test_real_files_are_written_as_they_are(name: str) -> None:
    path = real(name)
    with open_file(path) as file:
        blocks = [Block(one.type, bytes(file.payload(one))) for one in file.entries]
    assert to_bytes(blocks) == path.read_bytes()


@pytest.mark.parametrize("name", REAL)
def test_real_files_are_read_as_construct_reads_them(name: str) -> None:
    require_read_as_declared(real(name).read_bytes())


def require_read_as_declared(content: bytes) -> None:
    """The reader and the declaration of the spec find the same blocks, which fill the file."""
    file = read_blocks(content, "x.bin")
    assert [
        (
            (one.content_size, one.type, one.padding, one.version, one.filler),
            file.path(one) if one.type == 0x01 else None,
            bytes(file.payload(one)),
            file.pad(one),
        )
        for one in file.entries
    ] == [
        (tuple(one.header[part.name] for part in HEADER.subcons), one.path, one.payload, one.zeros)
        for one in FILE.parse(content)
    ]
    assert FILE.build(FILE.parse(content)) == content


paths = st.binary(max_size=60).map(lambda path: path.replace(b"\0", b"/"))
blocks = st.one_of(
    st.builds(Block, st.integers(2, 255), st.binary(max_size=40)),
    st.builds(Block, st.just(0x01), st.binary(max_size=40), path=paths),
    st.builds(Block, st.just(0x04), st.binary(max_size=40), version=st.just(0)),
)


@given(st.lists(blocks, min_size=1, max_size=6))
def test_any_blocks_come_back(written: list[Block]) -> None:
    file = read_blocks(to_bytes(written), "x.bin")
    assert file.damage == ()
    again = [
        Block(
            one.type,
            bytes(file.payload(one)),
            file.path(one) if one.type == 0x01 else None,
            one.version,
        )
        for one in file.entries
    ]
    assert again == written
    require_read_as_declared(to_bytes(written))


def test_a_path_section_of_the_spec_holds_4095_bytes_and_a_nul() -> None:
    assert PATH_SECTION.build(b"p" * 4095) == b"p" * 4095 + b"\0"
    with pytest.raises(construct.ConstructError):
        PATH_SECTION.build(b"p" * 4096)
    assert PATH_SECTION.parse(b"p" * 4096) == b"p" * 4096


def test_the_padding_is_not_payload() -> None:
    file = read_blocks(raw_block(0x05, b"{} {}"), "x.bin")
    assert [bytes(file.payload(one)) for one in file.entries] == [b"{} {}"]


def test_a_path_ends_at_its_first_nul() -> None:
    content = raw_block(0x01, b"int main() {}\n", path=b"/home/add.cpp\0left over")
    file = read_blocks(content, "x.bin")
    assert file.path(file.entries[0]) == b"/home/add.cpp"
    assert bytes(file.payload(file.entries[0])) == b"int main() {}\n"


def test_a_path_without_nul_is_all_of_its_section() -> None:
    file = read_blocks(raw_block(0x01, b"x", path=b"p" * 4096), "x.bin")
    assert file.path(file.entries[0]) == b"p" * 4096


@pytest.mark.parametrize(
    ("content", "code", "offset"),
    [
        (SMALL + b"\0" * 5, "trailing-bytes", 64),
        (SMALL[:-1], "content-exceeds-file", 28),
        (SMALL[:40], "content-exceeds-file", 28),
        (raw_block(0x05, b"{}", padding=200), "padding-exceeds-content", 0),
        (raw_block(0x01, b"text", path=b"/a")[:100], "path-section-truncated", 0),
        (SMALL[:28] + b"no header " * 4 + SMALL[28:], "lost-header", 28),
    ],
)
def test_damage_is_told_with_its_place(content: bytes, code: str, offset: int) -> None:
    file = read_blocks(content, "x.bin")
    assert [(one.code, one.offset) for one in file.damage] == [(code, offset)]


def test_a_lost_header_costs_one_block() -> None:
    whole = SMALL + raw_block(0x08, b"{}") + raw_block(0x09, b"{}")
    damaged = bytearray(whole)
    damaged[28] ^= 4  # the size of the second block: its end now lies within itself
    file = read_blocks(bytes(damaged), "x.bin")
    assert [one.type for one in file.entries] == [0x05, 0x07, 0x08, 0x09]
    assert [one.code for one in file.damage] == ["lost-header"]


def test_a_size_beyond_the_file_hides_no_other_block() -> None:
    damaged = bytearray(SMALL + raw_block(0x08, b"{}"))
    damaged[28 + 7] = 0x7F
    file = read_blocks(bytes(damaged), "x.bin")
    assert [one.type for one in file.entries] == [0x05, 0x07, 0x08]
    assert bytes(file.payload(file.entries[1])).startswith(b'{"advice":[],"x":1.5}')


@pytest.mark.parametrize("size", [2**63, 2**64 - 1, 2**40])
def test_a_lying_size_allocates_nothing(size: int) -> None:
    content = raw_block(0x0A, b"1234", size=size)
    tracemalloc.start()
    file = read_blocks(content, "x.bin")
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
    assert bytes(file.payload(file.entries[0])) == b"1234"


def test_only_headers_are_touched(tmp_path: Path) -> None:
    """A sparse file of 8 GB: reading its payloads would take minutes and much memory."""
    path = tmp_path / "sparse.bin"
    size = 4 << 30
    with path.open("wb") as target:
        for place in range(2):
            target.seek(place * (size + 12))
            target.write(struct.pack("<QBBBB", size, 0x0A, 0, 0x5A, 0x5A))
        target.truncate(2 * (size + 12))
    with open_file(path) as file:
        assert [one.content_size for one in file.entries] == [size, size]
        assert file.damage == ()


def test_a_flood_of_blocks_is_cut() -> None:
    file = read_blocks(raw_block(0x05, b"") * 200_001, "x.bin")
    assert len(file.entries) == 200_000
    assert [one.code for one in file.damage] == ["too-many-blocks"]


def test_places_of_a_next_header_are_tried_a_limited_number_of_times_in_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    doubtful = b"\0\0\x5a\x5a" * 8  # ends of headers that hold nothing sound
    content = SMALL + (b"no header he" + doubtful + raw_block(0x08, b"{}")) * 3
    file = read_blocks(content, "x.bin")
    assert [one.type for one in file.entries] == [0x05, 0x07, 0x08, 0x08, 0x08]
    monkeypatch.setattr(ascend_ref.bin.container, "MAX_GUESSES", 20)
    file = read_blocks(content, "x.bin")
    assert [one.type for one in file.entries] == [0x05, 0x07, 0x08, 0x08]
    assert file.damage[-1].context["next"] == len(content)


def test_a_part_of_a_text_is_searched_from_its_own_start() -> None:
    content = SMALL + b"no header he" + raw_block(0x08, b"{}")
    file = read_blocks(memoryview(bytes(8) + content)[8:], "x.bin")
    assert [one.offset for one in file.entries] == [
        one.offset for one in read_blocks(content, "x.bin").entries
    ]


@pytest.mark.parametrize("content", [b"", b"short", b"SQLite format 3\0" + bytes(100), b"{}" * 50])
def test_what_is_no_block_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=r"x\.bin: .*expected|x\.bin: shorter"), open_file(path):
        pass


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.bin"
    os.mkfifo(pipe)
    for path in (tmp_path, tmp_path / "absent.bin", pipe, Path("a\0b")):
        with pytest.raises(Unreadable), open_file(path):
            pass


def test_the_consumer_sniffs_the_first_header(tmp_path: Path) -> None:
    for name, content, expected in (
        ("a.dat", SMALL, True),
        ("b.dat", b"SQLite format 3\0" + bytes(100), False),
        ("b.bin", b"SQLite format 3\0" + bytes(100), False),
        ("c.dat", bytes(100), False),
        ("c.bin", bytes(100), True),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        assert is_block_file(path) is expected, name
    assert not is_block_file(tmp_path / "absent.bin")
