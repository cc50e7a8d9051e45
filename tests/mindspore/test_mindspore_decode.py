"""``ascend-ref decode`` shows raw files of MindSpore's profiler as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mindspore_real import real

from ascend_ref.cli import main


def decoded(path: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    assert main(["decode", str(path), *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_m29_points_have_the_names_of_their_tags(capsys: pytest.CaptureFixture[str]) -> None:
    path = real("mindinsight/JOB1/training_trace.46.dev.profiler_default_tag.0.slice_0")
    shown = decoded(path, "--rows", "2", capsys=capsys)
    assert (shown["kind"], shown["number"]) == ("mindspore/training_trace", 4800 // 20)
    assert [one["tag_id"] for one in shown["records"]] == [0, 1]
    assert shown["records"][0]["sys_count"] == int.from_bytes(path.read_bytes()[12:20], "little")


def test_m22_kernels_of_ai_cpus_are_text_or_records(capsys: pytest.CaptureFixture[str]) -> None:
    text = real("mindinsight/JOB_AICPU/data/DATA_PREPROCESS.dev.AICPU.0.slice_0")
    shown = decoded(text, capsys=capsys)
    kinds = {b"Thread": "thread", b"compute start": "other_kernel", b"Node": "kernel"}
    expected = [
        next(kind for word, kind in kinds.items() if word in one)
        for one in text.read_bytes().split(b"\0")
        if one.strip()
    ]
    assert [one["line"] for one in shown["lines"]] == expected
    records = real("mindspore/JOB_AICPU/data/DATA_PREPROCESS.AICPU.0.slice_0")
    shown = decoded(records, "--all", capsys=capsys)
    assert {one["taskId"] for one in shown["records"]} == {2, 4}
    assert len(shown["records"]) == shown["number"] == 40


def test_m24_lines_of_the_framework_have_their_parts(capsys: pytest.CaptureFixture[str]) -> None:
    path = real("mindinsight/JOB4/data/Framework.host.vm.task_desc_info.0.slice_0")
    first = decoded(path, capsys=capsys)["lines"][0]
    words = path.read_text().split("\n")[0].split(" ")
    assert list(first.values())[1:] == words


def test_m52_a_line_of_no_kind_is_reported_and_the_rest_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Framework.host.vm.point.0.slice_0"
    path.write_text("1 Default/Cast-op6\nnonsense\n2 Default/Add-op7\n")
    assert main(["decode", str(path)]) == 1
    out, err = capsys.readouterr()
    assert [one["tag"] for one in json.loads(out)["lines"]] == ["1", "2"]
    assert "line 2" in err
