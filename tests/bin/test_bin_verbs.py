"""``ascend-ref decode`` and ``ascend-ref encode`` as users call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from raw_blocks import REAL, SMALL, raw_block, real

from ascend_ref.bin import show
from ascend_ref.cli import main


@pytest.mark.parametrize("name", REAL)
def test_there_and_back(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = real(name)
    assert main(["decode", str(source), "-o", str(tmp_path / "apart")]) == 0
    assert main(["encode", str(tmp_path / "apart"), "-o", str(tmp_path / "again.bin")]) == 0
    assert (tmp_path / "again.bin").read_bytes() == source.read_bytes()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"wrote {tmp_path / 'apart'}: {len(list((tmp_path / 'apart').iterdir())) - 1} "
        + ("block" if name == "base_info.bin" else "blocks"),
        f"wrote {tmp_path / 'again.bin'}: {source.stat().st_size:,} bytes",
    ]


@pytest.mark.parametrize("words", [["--block", "0x08"], ["--block", "8"]])
def test_one_block_on_the_terminal(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decode", str(real("mix.bin")), *words]) == 0
    (block,) = json.loads(capsys.readouterr().out)
    assert (block["type"], block["offset"], block["bytes"]) == ("0x08", 7940, 4685)
    assert [core["core_no"] for core in block["payload"]["core_memory_map"]] == ["0", "1"]


def test_blocks_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--block", "basic-info", "--block", "inter-core-load"]
    assert main(["decode", str(real("mix.bin")), *words]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [block["name"] for block in shown] == ["basic info", "inter-core load"]
    assert shown[0]["payload"]["duration"] == 300.0660095214844


def test_every_kind_on_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(
        raw_block(0x01, b"int x;\n", path=b"/a.cpp")
        + raw_block(
            0x0A, (32).to_bytes(8, "little") + bytes(32) + (2).to_bytes(8, "little") + b"[]"
        )
        + raw_block(0x0B, bytes(64))
        + raw_block(0x99, b"other")
    )
    assert main(["decode", str(path)]) == 0
    source, trace, cache, other = json.loads(capsys.readouterr().out)
    assert (source["path"], source["payload"]) == ("/a.cpp", "int x;\n")
    assert trace["records"][0]["type"] == "MALLOC"
    assert trace["call_stacks"] == []
    assert len(cache["records"]) == 2
    assert "payload" not in other


def test_damage_is_told_and_the_rest_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(SMALL + raw_block(0x06, b"{]") + b"tail")
    for words in ([], ["-o", str(tmp_path / "apart")]):
        assert main(["decode", str(path), *words]) == 1
        _, err = capsys.readouterr()
        assert f"{path}: byte 80: 4 bytes follow the last block, less than a header" in err
        assert f"{path}: block 2 (compute load figure) at byte 64: byte 1: Expecting" in err
    assert len(list((tmp_path / "apart").iterdir())) == 5


def test_a_text_that_is_too_long_to_show_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "VERBATIM_BYTES", 10)
    path = tmp_path / "x.bin"
    path.write_bytes(raw_block(0x01, b"int long_one;", path=b"/a.cpp") + raw_block(0x05, b"{}"))
    assert main(["decode", str(path)]) == 1
    out, err = capsys.readouterr()
    source, basic = json.loads(out)
    assert "payload" not in source
    assert basic["payload"] == {}
    assert "13 bytes are too many to show; use -o DIR" in err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["decode", "absent.bin"], "absent.bin: No such file or directory"),
        (["decode", "text.bin"], "text.bin: byte 11 is not 0x5A; expected a visualize_data.bin"),
        (["decode", "small.bin", "--block", "0x100"], "0x100 is no block type"),
        (["decode", "small.bin", "--block", "basicinfo"], "basic-info"),
        (["decode", "small.bin", "-o", "."], ". exists already; --force replaces it"),
        (["encode", "absent", "-o", "new.bin"], "expected the manifest of a decoded file"),
        (["encode", "."], "--output"),
    ],
)
def test_what_is_refused(
    words: list[str],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.bin").write_text("just a text of some length")
    Path("small.bin").write_bytes(SMALL)
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ascend-ref: error: ")
    assert err.count("\n") == 1
    assert reason in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.bin", "text.bin"]
