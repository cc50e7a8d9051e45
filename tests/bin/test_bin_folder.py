"""Taking a file apart and putting it together again, whatever it holds."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_blocks import REAL, SMALL, raw_block, real

from ascend_ref.bin import Unreadable, forms, open_file
from ascend_ref.bin.folder import decode_folder, encode_folder
from ascend_ref.bin.records import CACHE_DTYPE, TRACE_DTYPE, cache_payload, memory_trace_payload

TRACE = memory_trace_payload(np.arange(8 * 3, dtype="<u4").view(TRACE_DTYPE), b"[]")

EVERY_KIND = (
    SMALL
    + raw_block(0x01, "// grüße\r\n".encode(), path=b"/home/add.cpp")
    + raw_block(0x04, b'{"Cores":["ALL"]}', version=0)
    + raw_block(0x0A, TRACE)
    + raw_block(0x0B, cache_payload(np.zeros(2, CACHE_DTYPE)))
    + raw_block(0x77, b"of another tool")
)

ODD = [
    raw_block(0x05, b'{ "b": 1.50, "a": 1 }'),
    raw_block(0x05, b'{"a":1,"a":2}'),
    raw_block(0x05, b"not json"),
    raw_block(0x05, b"{}", padding=1),
    raw_block(0x05, b"{}", version=7, filler=0x5A),
    raw_block(0x05, b"{}\n"),
    raw_block(0x01, b"\xff\xfe", path=b"\xff/../../etc/passwd"),
    raw_block(0x01, b"text", path=b"/a\0rest"),
    raw_block(0x01, b"text", path=b"p" * 4096),
    raw_block(0x01, b"text", path=rb"C:\xff"),
    raw_block(0x0A, b"12345678"),
    raw_block(0x0A, bytes(16)),
    raw_block(0x0A, memory_trace_payload(np.zeros(1, TRACE_DTYPE), b'[ "spaced" ]')),
    raw_block(0x0A, memory_trace_payload(np.zeros(1, TRACE_DTYPE), b"no json", "records")),
    raw_block(0x0B, bytes(33)),
    raw_block(0x05, b"{}")[:-1],
    raw_block(0x05, b"{}", size=2**63),
    raw_block(0x05, b"{}") + b"\x01\x02\x03",
    raw_block(0x05, b"{}") + b"no header here, but text" + raw_block(0x06, b"{}"),
]


def round_trip(content: bytes, folder: Path) -> bytes:
    source = folder / "in.bin"
    source.write_bytes(content)
    decode_folder(source, folder / "apart")
    encode_folder(folder / "apart", folder / "out.bin")
    return (folder / "out.bin").read_bytes()


@pytest.mark.parametrize("name", REAL)
def test_real_files_come_back_byte_for_byte(name: str, tmp_path: Path) -> None:
    content = real(name).read_bytes()
    assert round_trip(content, tmp_path) == content
    shown = {path.suffix for path in (tmp_path / "apart").iterdir()}
    assert shown == {".json"}, "readable throughout, no copy of original bytes"


@pytest.mark.parametrize("content", [SMALL, EVERY_KIND, *ODD])
def test_any_file_comes_back_byte_for_byte(content: bytes, tmp_path: Path) -> None:
    assert round_trip(content, tmp_path) == content


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_file_comes_back_as_it_was(data: st.DataObject) -> None:
    content = bytearray(EVERY_KIND)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(12, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    stop = data.draw(st.integers(12, len(content)))
    with TemporaryDirectory() as name:
        assert round_trip(bytes(content[:stop]), Path(name)) == content[:stop]


def test_the_readable_form(tmp_path: Path) -> None:
    round_trip(EVERY_KIND, tmp_path)
    apart = tmp_path / "apart"
    names = sorted(path.name for path in apart.iterdir())
    assert names == [
        "00000-05-basic-info.json",
        "00001-07-compute-load-table.json",
        "00002-01-source-file.txt",
        "00003-04-instructions.json",
        "00004-0a-memory-access-timeline-call-stacks.json",
        "00004-0a-memory-access-timeline.json",
        "00005-0b-cache-records.json",
        "00006-77-unknown.raw",
        "manifest.json",
    ]
    assert json.loads((apart / names[0]).read_text()) == {"name": "add"}
    assert (apart / names[2]).read_bytes() == "// grüße\r\n".encode()
    first = json.loads((apart / "00004-0a-memory-access-timeline.json").read_text())[0]
    assert first == {
        "type": "MALLOC",
        "coreId": 0,
        "space": "PRIVATE",
        "blockType": "AIV",
        "recordId": 1,
        "addr": "0x300000002",
        "memSize": (5 << 32) + 4,
        "pc": "0x700000006",
    }
    manifest = json.loads((apart / "manifest.json").read_text())
    assert manifest["segments"][2]["path"] == "/home/add.cpp"
    assert manifest["segments"][3]["version"] == 0


def test_an_edited_block_gets_a_fitting_header(tmp_path: Path) -> None:
    content = raw_block(0x05, b'{ "name": "add" }', version=9) + SMALL
    round_trip(content, tmp_path)
    apart = tmp_path / "apart"
    (apart / "00000-05-basic-info.json").write_text('{"name": "renamed", "advice": []}')
    encode_folder(apart, tmp_path / "new.bin")
    expected = raw_block(0x05, b'{"advice":[],"name":"renamed"}', version=9) + SMALL
    assert (tmp_path / "new.bin").read_bytes() == expected


def test_edited_records(tmp_path: Path) -> None:
    round_trip(EVERY_KIND, tmp_path)
    path = tmp_path / "apart" / "00004-0a-memory-access-timeline.json"
    rows = json.loads(path.read_text())
    rows[0].update(type="LOAD", addr=16, pc="0x20", coreId=-1)
    path.write_text(json.dumps(rows[:1], indent=4))
    encode_folder(tmp_path / "apart", tmp_path / "new.bin")
    with open_file(tmp_path / "new.bin") as file:
        payload = bytes(file.payload(file.entries[4]))
    assert payload[:12] == (32).to_bytes(8, "little") + b"\x03\xff\x00\x00"
    assert payload[16:24] == (16).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "byte 0: expected a JSON array"),
        ("[{}]", "byte 1: expected an object with type"),
        ("[7]", "byte 1: expected an object with type"),
        ('[{"type": 3}]', "byte 1: expected an object with coreId"),
        ("[1,]", "a comma before the end"),
        ("[1 2]", "expected a comma"),
    ],
)
def test_records_that_are_none(text: str, reason: str, tmp_path: Path) -> None:
    round_trip(EVERY_KIND, tmp_path)
    (tmp_path / "apart" / "00004-0a-memory-access-timeline.json").write_text(text)
    with pytest.raises(Unreadable, match=reason):
        encode_folder(tmp_path / "apart", tmp_path / "new.bin")


@pytest.mark.parametrize(
    ("field", "value"),
    [("type", 300), ("type", "LOADS"), ("addr", -1), ("addr", "0x1g"), ("pc", True), ("pc", 1.5)],
)
def test_values_that_no_record_holds(field: str, value: object, tmp_path: Path) -> None:
    round_trip(EVERY_KIND, tmp_path)
    path = tmp_path / "apart" / "00004-0a-memory-access-timeline.json"
    rows = json.loads(path.read_text())
    rows[1][field] = value
    path.write_text(json.dumps(rows))
    with pytest.raises(Unreadable, match=rf"byte [1-9]\d+: {field} is .*; expected"):
        encode_folder(tmp_path / "apart", tmp_path / "new.bin")


def test_no_path_of_the_file_becomes_one_of_ours(tmp_path: Path) -> None:
    names = [b"../../escaped", b"/etc/escaped", b"a\0b", b"n" * 4096, b"..", b"CON", b""]
    folder = tmp_path / "here"
    folder.mkdir()
    round_trip(b"".join(raw_block(0x01, b"x", path=name) for name in names), folder)
    written = {path.name for path in (folder / "apart").rglob("*")}
    assert written == {*(f"{n:05}-01-source-file.txt" for n in range(len(names))), "manifest.json"}
    assert {path.name for path in tmp_path.iterdir()} == {"here"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m["segments"][0].update(files=["../secret"]), "no file of this folder"),
        (lambda m: m["segments"][0].update(files=["/etc/passwd"]), "no file of this folder"),
        (lambda m: m["segments"][0].update(files=[]), "segment 0"),
        (lambda m: m["segments"][0].update(files=[7]), "segment 0"),
        (lambda m: m["segments"][0].update(type="0x999"), "segment 0"),
        (lambda m: m["segments"][0].update(type=5), "segment 0"),
        (lambda m: m["segments"].insert(0, 7), "segment 0"),
        (lambda m: m["segments"][1].update(original={}), "segment 1"),
        (lambda m: m.update(segments={}), "expected all of them"),
        (lambda m: m.update(complete=False), "expected all of them"),
        (lambda m: m.update(version=2), "expected 1"),
        (lambda m: m.update(format="x"), "expected the manifest"),
    ],
)
def test_a_manifest_that_was_tampered_with(
    change: Callable[[dict[str, Any]], object], reason: str, tmp_path: Path
) -> None:
    round_trip(SMALL, tmp_path)
    (tmp_path / "secret").write_text("{}")
    path = tmp_path / "apart" / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises(Unreadable, match=reason):
        encode_folder(tmp_path / "apart", tmp_path / "new.bin")
    assert not (tmp_path / "new.bin").exists()


def test_a_readable_form_that_could_not_be_read_again_is_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MAX_BYTES", 1_000)
    content = raw_block(0x05, b"[" * 40 + b"]" * 40) + SMALL  # one value, and its indents
    assert round_trip(content, tmp_path) == content
    assert (tmp_path / "apart" / "00000-05-basic-info.verbatim.json").exists()
    assert (tmp_path / "apart" / "00001-05-basic-info.json").exists()


def test_a_large_copy_is_not_read_into_memory(tmp_path: Path) -> None:
    size = 64 << 20
    content = raw_block(0x77, bytes(size)) + raw_block(0x01, bytes(size), path=b"/a.cpp") + b"tail"
    (tmp_path / "in.bin").write_bytes(content)
    decode_folder(tmp_path / "in.bin", tmp_path / "apart")
    tracemalloc.start()
    encode_folder(tmp_path / "apart", tmp_path / "out.bin")
    assert tracemalloc.get_traced_memory()[1] < size // 4
    tracemalloc.stop()
    assert (tmp_path / "out.bin").read_bytes() == content


@pytest.mark.parametrize("text", ['{"a": }', '{"a": NaN}', '"half \\ud800"', "[" * 3000])
def test_a_readable_form_that_is_no_json(text: str, tmp_path: Path) -> None:
    round_trip(SMALL, tmp_path)
    (tmp_path / "apart" / "00000-05-basic-info.json").write_text(text)
    with pytest.raises(Unreadable, match=r"00000-05-basic-info.json: byte \d+"):
        encode_folder(tmp_path / "apart", tmp_path / "new.bin")


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    round_trip(SMALL, tmp_path)
    path = tmp_path / "apart" / "00000-05-basic-info.json"
    shutil.move(path, tmp_path / "secret")
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(Unreadable, match="no file of this folder"):
        encode_folder(tmp_path / "apart", tmp_path / "new.bin")


def test_only_some_blocks(tmp_path: Path) -> None:
    source = tmp_path / "in.bin"
    source.write_bytes(EVERY_KIND)
    decode_folder(source, tmp_path / "apart", frozenset({0x05}))
    names = sorted(path.name for path in (tmp_path / "apart").iterdir())
    assert names == ["00000-05-basic-info.json", "manifest.json"]
    with pytest.raises(Unreadable, match="only some blocks"):
        encode_folder(tmp_path / "apart", tmp_path / "new.bin")


def test_a_folder_that_exists_is_not_touched(tmp_path: Path) -> None:
    source = tmp_path / "in.bin"
    source.write_bytes(SMALL)
    (tmp_path / "apart").mkdir()
    with pytest.raises(FileExistsError):
        decode_folder(source, tmp_path / "apart")
    assert not list((tmp_path / "apart").iterdir())
