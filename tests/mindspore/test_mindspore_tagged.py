"""Records of ``FRAMEWORK`` as today's MindSpore writes them, shown by ``ascend-ref decode``.

Bytes are put together by ``struct`` as the sources pack them (mindspore-profiler 2.8,
mindspore-present 4), and by the writer of the project.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.cli import main
from ascend_ref.raw.tagged import TextColumn, read_tagged, write_tagged
from ascend_spec.core.packed import dtype_of
from ascend_spec.mindspore import TAGGED_RECORDS


def tlv(tag: int, content: bytes) -> bytes:
    return struct.pack("<HI", tag, len(content)) + content


def decoded(path: Path, content: bytes, capsys: pytest.CaptureFixture[str], code: int = 0) -> Any:
    path.write_bytes(content)
    assert main(["decode", str(path), "--all"]) == code
    return json.loads(capsys.readouterr().out)


def event(name: bytes = b"Add", info: bytes = b"") -> bytes:
    fixed = struct.pack("<5Qi3Hb3?", 11, 2**64 - 1, 3, 400, 500, 77, 4, 4, 5, 2, False, False, True)
    texts = tlv(13, name) + tlv(14, b"Default/Add-op1") + (tlv(17, info) if info else b"")
    return tlv(0, fixed + texts + tlv(15, b"") + tlv(16, b""))


def test_events_have_their_names_and_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = decoded(tmp_path / "mindspore.op_range", event() + event(b"Mul", b"a:1;b:2"), capsys)
    first, second = shown["records"]
    assert (shown["kind"], shown["number"]) == ("mindspore/op_range", 2)
    assert [first[key] for key in ("thread_id", "step", "start_time_ns", "end_time_ns")] == [
        *(11, 3, 400, 500)
    ]
    assert (first["level"], first["is_stack"], first["process_id"]) == (2, 1, 77)
    assert (first["module_index_text"], first["event_index_text"]) == ("Kernel", "KernelLaunch")
    assert first["stage_index_text"] == "RunOp"
    assert (first["NAME"], first["FULL_NAME"], second["NAME"]) == ("Add", "Default/Add-op1", "Mul")
    assert [one.get("CUSTOM_INFO") for one in (first, second)] == [None, "a:1;b:2"]


@pytest.mark.parametrize(("form", "level"), [("<3q6Q?", ()), ("<3q6Qb?", (5,))])
def test_operators_of_both_days_are_told_apart(
    form: str, level: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixed = struct.pack(form, 100, 200, 7, 1, 2, 3, 4, 5, 6, *level, True)
    assert len(fixed) == 73 + len(level)
    content = tlv(1, fixed + tlv(3, b"Add") + tlv(6, b"a|b"))
    (one,) = decoded(tmp_path / "op_range_0", content * 1, capsys)["records"]
    numbers = ("start_ns", "end_ns", "sequence_number", "flow_id", "step_id", "is_async")
    assert [one[key] for key in numbers] == [100, 200, 7, 5, 6, 1]
    assert one.get("level") == (5 if level else None)
    assert (one["NAME"], one["STACK"]) == ("Add", "a|b")


def test_blocks_of_memory_have_the_tag_of_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixed = struct.pack("<i11QI4B", 0, *range(1, 12), 12, 0, 1, 1, 12)
    content = tlv(13, fixed + tlv(13, b"Default/Add-op1"))
    assert len(fixed) == 100
    (one,) = decoded(tmp_path / "mindspore.memory_usage", content, capsys)["records"]
    assert [one[key] for key in ("create_at", "size", "used_size", "alloc_size")] == [3, 5, 6, 8]
    assert (one["OWNER"], one["alloc_type_text"]) == ("Default/Add-op1", "workspace")


def test_shapes_are_texts_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = tlv(3, tlv(0, b"Add") + tlv(1, b"2,3;2,3") + tlv(2, b"Float32"))
    shown = decoded(tmp_path / "mindspore.record_shapes", one * 3, capsys)
    assert (
        shown["records"]
        == [{"NAME": "Add", "INPUT_SHAPES": "2,3;2,3", "INPUT_TYPE": "Float32"}] * 3
    )


def test_what_is_cut_is_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = event() + event()[:-3]
    assert decoded(tmp_path / "mindspore.op_range", content, capsys, 1)["number"] == 1


def test_lines_of_the_host_have_their_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    operators = b"Default/Add-op1;HostCpuOps;100,0.5,7 200,0.25,7 \n"
    shown = decoded(tmp_path / "cpu_op_execute_timestamp_0.txt", operators, capsys)
    assert shown["lines"][0]["operator"] == "Default/Add-op1"
    assert shown["lines"][0]["runs"] == "100,0.5,7 200,0.25,7 "
    titles = "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n"
    levels = f"{titles}100,1,2,3\n200,2,4,6\n".encode()
    shown = decoded(tmp_path / "cpu_ms_memory_record_0.txt", levels, capsys)
    assert [one["line"] for one in shown["lines"]] == ["titles", "level", "level"]
    assert shown["lines"][2]["active"] == "6"


@settings(deadline=None)
@given(st.sampled_from(sorted(TAGGED_RECORDS)), st.lists(st.binary(max_size=9), max_size=5))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, name: str, texts: list[bytes]
) -> None:
    record = TAGGED_RECORDS[name]
    path = tmp_path_factory.mktemp("tagged") / "file"
    fixed = np.zeros(len(texts), dtype_of(record.fixed))
    for field in fixed.dtype.names or ():
        fixed[field] = np.arange(len(texts))
    place = np.arange(len(texts))
    columns = {tag: TextColumn(texts, place) for tag in record.texts}
    write_tagged(path, record, fixed, columns)
    damage: list[Any] = []
    found = read_tagged(path, record, damage)
    assert (damage, len(found)) == ([], len(texts))
    assert found.fixed.tolist() == fixed.tolist()
    for tag, column in found.texts.items():
        assert [column.distinct[at] for at in column.place] == texts, tag
