"""The data pipeline: its operators, what waited for it, and its queues."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mindspore_real import parsed, real
from other_captures import fetches, pipeline

from ascend_ref.mindspore.parse.parse import Parsed, parse
from ascend_ref.mindspore.parse.pipeline import pipeline_of, rows_of

RAW = "pipeline_profiling_0.json"
OUTPUT = "minddata_pipeline_raw_0.csv"


def parse_file(folder: Path, name: str, content: bytes, day: str = "2021-12-16") -> Parsed:
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / name).write_bytes(content)
    (done,) = parse(folder / "raw", folder / "out", day)
    return done


def test_m49_the_real_pipeline_gives_the_real_rows(tmp_path: Path) -> None:
    golden = real("mindinsight/profiler") / OUTPUT
    raw = tmp_path / "raw"
    raw.mkdir()
    shutil.copy(real("mindinsight/JOB2") / RAW, raw)
    assert parsed(raw, tmp_path / "out") == 0
    assert (tmp_path / "out" / OUTPUT).read_bytes() == golden.read_bytes()


def has_queue(operator: dict[str, Any]) -> bool:
    return bool((operator["metrics"] or {}).get("output_queue"))


@given(st.integers(0, 10**6))
def test_m49_operators_without_queue_are_replaced_by_those_below(seed: int) -> None:
    document = json.loads(pipeline(seed))
    every = {one["op_id"]: one for one in document["op_info"]}
    above = {child: one["op_id"] for one in every.values() for child in one["children"] or ()}

    def next_with_queue(number: int) -> int:
        parent = above[number]
        return parent if parent == 0 or has_queue(every[parent]) else next_with_queue(parent)

    wrong: list[str] = []
    rows = list(rows_of(pipeline_of(document), "empty", wrong))
    expected = {n: next_with_queue(n) for n, one in every.items() if n and has_queue(one)}
    assert {row["op_id"]: row["parent_id"] for row in rows} == {0: None, **expected}
    assert wrong == []
    for row in rows:
        children = {n for n, parent in expected.items() if parent == row["op_id"]}
        assert set(row["children_id"] or ()) == children  # type: ignore[call-overload]
        if has_queue(every[row["op_id"]]):  # type: ignore[index]
            queue = every[row["op_id"]]["metrics"]["output_queue"]  # type: ignore[index]
            mean = sum(queue["size"]) / len(queue["size"])
            assert row["output_queue_average_size"] == mean
            assert row["output_queue_usage_rate"] == mean / queue["length"]


@given(st.integers(0, 10**6))
def test_m49_rows_are_in_the_order_of_their_depth(seed: int) -> None:
    depths: dict[object, int] = {None: -1}
    found = []
    for row in rows_of(pipeline_of(json.loads(pipeline(seed))), "empty", []):
        depths[row["op_id"]] = depths[row["parent_id"]] + 1
        found.append(depths[row["op_id"]])
    assert found == sorted(found)


def operator(number: int, **more: object) -> dict[str, object]:
    queue = {"output_queue": {"size": [1, 2], "length": 4}}
    return {"op_id": number, "op_type": "Map", "num_workers": 1, "metrics": queue, **more}


@pytest.mark.parametrize(
    ("operators", "stated", "rows"),
    [
        ([operator(0, children=[1]), operator(1, children=[0])], "operator 0 comes twice", 2),
        ([operator(0, children=[7])], "operator 7, a child of 0, is not there", 1),
        ([operator(0, metrics={"output_queue": {"size": [], "length": 4}})], "no sample", 1),
        ([operator(0, metrics={"output_queue": {"size": [1], "length": 0}})], "can hold 0", 1),
        ([operator(0, children=[1]), operator(1, metrics=None, children=[1])], "below itself", 1),
        ([operator(1)], "there is no operator 0", None),
        ([operator(0, metrics={"output_queue": {"size": ["x"]}})], "op_info[0].metrics", None),
        ([operator(0, children=3)], "op_info[0].children is no list", None),
        ([3], "op_info[0] is no object", None),
        ([operator(1 << 63, op_id="x")], "op_info[0].op_id is no whole number", None),
        ([operator(0, metrics={"output_queue": {"size": [1 << 63]}})], "no list of numbers", None),
        ([], "op_info is no list of operators", None),
    ],
)
def test_m52_what_is_no_pipeline_is_stated(
    tmp_path: Path, operators: list[object], stated: str, rows: int | None
) -> None:
    document = {"sampling_interval": 10, "op_info": operators}
    done = parse_file(tmp_path, RAW, json.dumps(document).encode(), "2021-06-01")
    assert any(stated in one for one in done.damage)
    path = tmp_path / "out" / OUTPUT
    assert path.exists() == (rows is not None)
    if rows is not None:
        assert len(list(csv.reader(path.read_text().splitlines()))) == 1 + rows


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        (b'{"sampling_interval": 10, "op_info": [', "byte 38: no document of JSON"),
        (b'{"sampling_interval": NaN, "op_info": []}', "NaN is no number of JSON"),
        (b'{"op_info": [{"op_id": 0}]}', "sampling_interval is None"),
        (b"[" * 100_000, "a document that is otherwise"),
        (b"\xff", "a document that is otherwise"),
        (b"", "byte 0: no document of JSON"),
    ],
)
def test_m52_what_is_no_document_is_stated(tmp_path: Path, content: bytes, stated: str) -> None:
    done = parse_file(tmp_path, RAW, content)
    assert [stated in one for one in done.damage] == [True]


def test_m51_a_queue_without_a_sample_is_none_from_2021_11_30_on(tmp_path: Path) -> None:
    metrics = {"output_queue": {"size": [], "length": 4}}
    document = {"sampling_interval": 10, "op_info": [operator(0, metrics=metrics)]}
    content = json.dumps(document).encode()
    for day, count in (("2021-11-29", 1), ("2021-11-30", 0)):
        assert len(parse_file(tmp_path / day, RAW, content, day).damage) == count
        row = (tmp_path / day / "out" / OUTPUT).read_text().splitlines()[1]
        assert row == "0,Map,1,[],,4,,10,,"


def test_m49_fetches_in_both_orders(tmp_path: Path) -> None:
    content = (
        b"Node:GetNext, Run start:1, Run end:2, queue size:3\0"
        b"Node:GetNext, queue size:6, Run start:4, Run end:5\0"
    )
    name = "DATA_PREPROCESS.dev.AICPUMI.0.slice_0"
    parse_file(tmp_path, name, content)
    found = (tmp_path / "out" / "minddata_aicpu_0.txt").read_text()
    assert found == "GetNext 1 2 3\nGetNext 4 5 6\n"
    parse_file(tmp_path / "old", name, content, "2020-06-20")
    drawn = (tmp_path / "old" / "out" / "minddata_aicpu_0.txt").read_text().splitlines()
    assert drawn[0].split() == ["node_name", "start_time", "end_time", "queue_size"]
    assert [line.split() for line in drawn[2:]] == [line.split() for line in found.splitlines()]


def test_m52_a_fetch_that_is_none_is_stated_by_its_byte(tmp_path: Path) -> None:
    content = b"rubbish\0" + b"Node:a, Run start:1, Run end:2, queue size:9223372036854775808\0"
    done = parse_file(tmp_path, "DATA_PREPROCESS.dev.AICPUMI.0.slice_0", content + fetches(2))
    assert ["byte 0: " in done.damage[0], "byte 8: " in done.damage[1]] == [True, True]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("device_queue_profiling_0.txt", "0 1 1 4 1632000000000"),
        ("dataset_iterator_profiling_0.txt", "1 64 1 0"),
        ("minddata_getnext_profiling_0.txt", "GetNext 1600000000000000000 1600000000000000001 3"),
    ],
)
def test_m67_queues_that_analysers_read_are_there(tmp_path: Path, name: str, line: str) -> None:
    done = parse_file(tmp_path, name, f"{line}\n{line} x y\n{line}\n".encode())
    assert (tmp_path / "out" / name).read_text() == f"{line}\n{line}\n"
    assert ["line 2: no line of" in one for one in done.damage] == [True]


def test_m67_how_busy_cpus_were_is_copied_where_it_is_a_document(tmp_path: Path) -> None:
    name = "minddata_cpu_utilization_0.json"
    content = b'{"sampling_interval": 10,\n "device_info": {}}\n'
    done = parse_file(tmp_path, name, content)
    assert done.damage == ()
    assert (tmp_path / "out" / name).read_bytes() == content
    for number, (wrong, stated) in enumerate([(b"[1]", "no object"), (b"{", "no document")]):
        done = parse_file(tmp_path / str(number), name, wrong)
        assert [stated in one for one in done.damage] == [True]
        assert not (tmp_path / str(number) / "out" / name).exists()
    early = parse_file(tmp_path / "early", name, content, "2021-11-08")
    assert ["parsers of 2021-11-08 read no such file" in one for one in early.damage] == [True]
