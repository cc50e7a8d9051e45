"""The codec of FRAMEWORK's files against construct and against bytes written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import construct
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.cli import main
from ascend_ref.raw import tagged
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.tagged import TextColumn, read_tagged, write_tagged
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw.records import FRAMEWORK_RECORDS, TLV

OPERATOR = FRAMEWORK_RECORDS["OP_RANGE"]


def _tlv(tag: int, value: bytes) -> bytes:
    return tag.to_bytes(2, "little") + len(value).to_bytes(4, "little") + value


def _operator(start: int, *texts: bytes, tag: int = 1) -> bytes:
    fixed = b"".join(one.to_bytes(8, "little") for one in (start, start + 5, 3, 42, 43, 43, 0))
    return _tlv(tag, fixed + b"\x00\x01" + b"".join(texts))


def _read(content: bytes, name: str, folder: Path) -> tuple[tagged.Tagged, list[Damage]]:
    path = folder / "file"
    path.write_bytes(content)
    damage: list[Damage] = []
    return read_tagged(path, FRAMEWORK_RECORDS[name], damage), damage


def _texts(column: TextColumn) -> list[bytes | None]:
    return [column.distinct[place] if place >= 0 else None for place in column.place.tolist()]


def test_records_are_columns(tmp_path: Path) -> None:
    content = _operator(7, _tlv(2, b"aten::add"), _tlv(4, b"2,3;4")) + _operator(9, _tlv(2, b"a"))
    found, damage = _read(content, "OP_RANGE", tmp_path)
    assert damage == []
    assert found.offset.tolist() == [0, 6 + 58 + 15 + 11]
    assert found.fixed["start_ns"].tolist() == [7, 9]
    assert found.fixed["end_ns"].tolist() == [12, 14]
    assert found.fixed["is_async"].tolist() == [1, 1]
    assert _texts(found.texts[2]) == [b"aten::add", b"a"]
    assert _texts(found.texts[4]) == [b"2,3;4", None]
    assert _texts(found.texts[8]) == [None, None]


def test_what_was_read_is_written_again(tmp_path: Path) -> None:
    content = _operator(7, _tlv(2, b"x"), _tlv(8, b"")) + _operator(9) + _operator(1, _tlv(4, b"9"))
    found, _ = _read(content, "OP_RANGE", tmp_path)
    write_tagged(tmp_path / "again", OPERATOR, found.fixed, found.texts)
    assert (tmp_path / "again").read_bytes() == content


_GOOD = _operator(7, _tlv(2, b"x"))
_AT = len(_GOOD)


@pytest.mark.parametrize(
    ("bad", "rest", "message", "offset"),
    [
        (_operator(1, tag=2), 0, "tag 2; expected 1", _AT),
        (_GOOD[:5], 0, "the last 5 bytes are no whole record", _AT),
        (_GOOD[:-1], 0, f"the last {_AT - 1} bytes are no whole record", _AT),
        (b"\1\0\xff\xff\xff\x7f" + _GOOD, 0, "a record of 2,147,483,647 bytes", _AT),
        (_tlv(1, bytes(57)), 1, "a record of 57 bytes; expected at least 58", _AT),
        (
            _operator(1, b"\2\0\x09\0\0\0abc"),
            2,
            "a text of 9 bytes does not fit into its record",
            _AT + 64,
        ),
        (
            _operator(1, _tlv(2, b"n"), b"\3\0\0"),
            2,
            "the head of a text does not fit into its record",
            _AT + 71,
        ),
        (_operator(1, *[_tlv(2, b"")] * 65), 2, "a record of more than 64 texts", _AT + 64 + 384),
    ],
)
def test_damage_has_its_place_and_the_rest_is_read(
    bad: bytes, rest: int, message: str, offset: int, tmp_path: Path
) -> None:
    found, damage = _read(_GOOD + bad + (_GOOD if rest else b""), "OP_RANGE", tmp_path)
    assert [(one.message, one.offset) for one in damage] == [(message, offset)]
    assert len(found) == 1 + rest


def test_records_without_a_tag_follow_each_other(tmp_path: Path) -> None:
    content = b"".join(one.to_bytes(8, "little") for one in range(1, 7)) + b"abc"
    found, damage = _read(content, "GC_RECORD", tmp_path)
    assert found.fixed["start_ns"].tolist() == [2, 5]
    assert [str(one) for one in damage] == [
        f"{tmp_path / 'file'}: byte 48: the last 3 bytes are no whole record"
    ]


def test_a_file_that_is_not_there_is_damage(tmp_path: Path) -> None:
    damage: list[Damage] = []
    assert len(read_tagged(tmp_path / "none", OPERATOR, damage)) == 0
    assert [one.message for one in damage] == ["No such file or directory"]


_names = st.sampled_from(sorted(FRAMEWORK_RECORDS))


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, list[bytes], bytes]:
    """A kind, its records as construct builds them, and the whole file."""
    name = draw(_names)
    record = FRAMEWORK_RECORDS[name]
    size = record.fixed.sizeof()
    made = []
    for _ in range(draw(st.integers(0, 6))):
        value = draw(st.binary(min_size=size, max_size=size))
        if record.tag is None:
            made.append(value)
            continue
        tags = draw(st.lists(st.integers(0, 12), max_size=5))
        for tag in tags:
            value += TLV.build({"type": tag, "value": draw(st.binary(max_size=9))})
        made.append(TLV.build({"type": record.tag, "value": value}))
    return name, made, b"".join(made)


@given(file=_files(), at_once=st.integers(1, 200))
def test_columns_are_what_construct_reads(
    file: tuple[str, list[bytes], bytes], at_once: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    name, made, content = file
    record = FRAMEWORK_RECORDS[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tagged, "AT_ONCE", at_once)
        found, damage = _read(content, name, tmp_path_factory.mktemp("tagged"))
    assert damage == []
    assert len(found) == len(made)
    size = record.fixed.sizeof()
    for row, one in enumerate(made):
        value = one if record.tag is None else TLV.parse(one).value
        assert found.fixed[row].tobytes() == value[:size]
        texts = {
            inner.type: inner.value for inner in construct.GreedyRange(TLV).parse(value[size:])
        }
        for tag, column in found.texts.items():
            assert _texts(column)[row] == texts.get(tag)


@given(data=st.data(), at_once=st.integers(1, 4))
def test_what_is_written_construct_reads(
    data: st.DataObject, at_once: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = FRAMEWORK_RECORDS[data.draw(_names)]
    rows = data.draw(st.integers(0, 7))
    size = record.fixed.sizeof()
    fixed = np.frombuffer(data.draw(st.binary(min_size=rows * size, max_size=rows * size)), "u1")
    texts = {}
    for tag in record.texts:
        known = data.draw(st.lists(st.binary(max_size=9), unique=True, max_size=3))
        place = st.integers(-1, len(known) - 1)
        drawn = data.draw(st.lists(place, min_size=rows, max_size=rows))
        texts[tag] = TextColumn(known, np.array(drawn, np.int64))
    path = tmp_path_factory.mktemp("tagged") / "file"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tagged, "RECORDS_AT_ONCE", at_once)
        write_tagged(path, record, fixed.view(dtype_of(record.fixed)), texts)
    expected = b""
    for row in range(rows):
        value = fixed[row * size : (row + 1) * size].tobytes()
        for tag, column in texts.items():
            if column.place[row] >= 0:
                text = column.distinct[column.place[row]]
                value += TLV.build({"type": tag, "value": text})
        expected += value if record.tag is None else TLV.build({"type": record.tag, "value": value})
    assert path.read_bytes() == expected


@given(data=st.data())
def test_no_bytes_stop_the_reader(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _, _, content = data.draw(_files())
    hostile = bytearray(content or b"\0")
    for _ in range(data.draw(st.integers(0, 6))):
        hostile[data.draw(st.integers(0, len(hostile) - 1))] = data.draw(st.integers(0, 255))
    name = data.draw(_names)
    found, damage = _read(bytes(hostile), name, tmp_path_factory.mktemp("tagged"))
    assert len(found) <= len(hostile)
    assert all(one.offset is not None and 0 <= one.offset <= len(hostile) for one in damage)


def test_decode_shows_texts_and_tags_of_no_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "FRAMEWORK"
    folder.mkdir()
    content = _operator(7, _tlv(2, b"a"), _tlv(11, b"new")) + _operator(9, _tlv(2, b"b\xff"))
    (folder / "torch.op_range").write_bytes(content + b"\1")
    assert main(["decode", str(folder / "torch.op_range"), "--rows", "2"]) == 1
    captured = capsys.readouterr()
    shown = json.loads(captured.out)
    assert [one["NAME"] for one in shown["records"]] == ["a", "b\\xff"]
    assert [one.get("tag 11") for one in shown["records"]] == ["new", None]
    assert [one["start_ns"] for one in shown["records"]] == [7, 9]
    assert "byte 152: the last 1 bytes are no whole record" in captured.err
