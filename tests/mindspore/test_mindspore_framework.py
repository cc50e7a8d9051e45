"""What the framework writes about tasks and operators: M24 to M28, M45, M46, M50 to M53."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindspore_captures import Operator, drawn_operators, record, write_framework_records
from mindspore_real import parsed, real

from ascend_ref.derive.text_hash import name_id
from ascend_ref.mindspore.folder import find_captures
from ascend_ref.mindspore.parse.framework import framework_of
from ascend_ref.mindspore.parse.operator import Framework
from ascend_ref.mindspore.parse.run import Run
from ascend_ref.mindspore.raw.records import decode_records, encode_records, layout_of
from ascend_ref.raw.lines import decode_lines, encode_lines
from ascend_spec import mindspore_catalog
from ascend_spec.raw.records import MAGIC

TEXT = "Framework.host.vm.{}.0.slice_{}"
G1, G3 = "2020-07-01", "2023-07-02"

TASK_1 = "Default/net/Cast-op6 32 1 0\n"
TASK_2 = "Gradients/net/Mul-op7 1 30000 3\n"
GRAPH_1 = (
    "op_name:Default/net/Cast-op6 op_type:Cast input_id:0 input_format:NCHW input_data_type:40 "
    'input_shape:"32,3" output_id:0 output_format:NCHW output_data_type:99 output_shape:""\n'
)


def framework(folder: Path, day: str) -> tuple[Framework, list[str]]:
    """What is read of the only capture of a folder, and what is stated of its damage."""
    (capture,) = find_captures(folder)
    run = Run(capture, day, folder)
    found = framework_of(run)
    assert found is not None
    return found, [str(one).removeprefix(f"{folder}/") for one in run.damage]


def job(folder: Path, files: dict[str, str | bytes]) -> Path:
    """A job with these slices of text."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        kind, _, number = name.partition("/")
        (folder / TEXT.format(kind, number or 0)).write_bytes(data)
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_m24_m25_m26_m27_m45_m46_the_real_operators_are_written_as_upstream_does(
    tmp_path: Path,
) -> None:
    source = real("mindinsight/JOB1")
    golden = real("mindinsight/profiler/framework_raw_0.csv")
    assert parsed(source, tmp_path / "out") == 0
    assert (tmp_path / "out/framework_raw_0.csv").read_bytes() == golden.read_bytes()


def test_m25_m28_the_real_tasks_and_points_of_a_folder_data() -> None:
    found, stated = framework(real("mindinsight/JOB4"), G1)
    assert list(found.names) == ["0_1", "0_2", "0_3", "0_4"]
    assert found.names["0_1"] == "Default/Cast-op6"
    assert found.points == {1: "Default/Cast-op6", 2: "Default/TransData-op7"}
    assert stated == []


@pytest.mark.parametrize(
    "path",
    [
        "mindinsight/JOB1/Framework.host.vm.graph_desc_info.0.slice_0",
        "mindinsight/JOB3/Framework.host.vm.task_desc_info.1.slice_0",
        "mindinsight/JOB4/data/Framework.host.vm.point.0.slice_0",
    ],
)
def test_m24_m28_real_text_is_taken_apart_and_put_together(path: str) -> None:
    content = real(path).read_bytes()
    found = mindspore_catalog().file_of(Path(path).name)
    assert found is not None
    grammar = mindspore_catalog().grammars[found[0].grammar or ""]
    entries = decode_lines(content, grammar)
    assert all(one.line is not None for one in entries)
    assert encode_lines(entries, grammar) == content


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(alphabet=' a1:\n\r"_op,é', max_size=80).map(str.encode))
def test_m24_m28_any_text_is_taken_apart_and_put_together(content: bytes) -> None:
    for kind in ("task_desc_info", "graph_desc_info", "point", "hash_dic"):
        grammar = mindspore_catalog().grammars[kind]
        assert encode_lines(decode_lines(content, grammar), grammar) == content


def test_m46_columns_of_text(tmp_path: Path) -> None:
    graph = GRAPH_1 + "op_name:Other/Late-op1 op_type:Late\n"
    source = job(tmp_path / "JOB", {"task_desc_info": TASK_2 + TASK_1, "graph_desc_info": graph})
    assert parsed(source, tmp_path / "out", G1) == 0
    first, second, third = rows(tmp_path / "out/framework_raw_0.csv")
    assert first["op_info"] == json.dumps(
        {
            "input_0": {"format": "NCHW", "data_type": "NUMBER_TYPE_FLOAT32", "shape": "32,3"},
            "output_0": {"format": "NCHW", "data_type": "UNKNOWN", "shape": ""},
        }
    )
    assert [first[one] for one in ("task_id", "stream_id", "block_dim")] == ["1", "0", "32"]
    assert [first[one] for one in ("op_name", "subgraph")] == ["Cast-op6", "Default"]
    assert [second[one] for one in ("task_id", "full_op_name", "op_name", "subgraph")] == [
        "",
        "Other/Late-op1",
        "Other/Late-op1",
        "",
    ]
    assert list(third.values()) == ["30000", "3", "1", "Gradients/net/Mul-op7", "", "", "", ""]


@pytest.mark.parametrize(("day", "name"), [("2021-06-17", "FLOAT32"), ("2021-06-18", "UINT32")])
def test_m51_the_day_names_the_types_of_text(tmp_path: Path, day: str, name: str) -> None:
    source = job(tmp_path / "JOB", {"task_desc_info": TASK_1, "graph_desc_info": GRAPH_1})
    found, _ = framework(source, day)
    info = json.loads(str(found.rows[0]["op_info"]))
    assert info["input_0"]["data_type"] == f"NUMBER_TYPE_{name}"


def test_m46_the_graph_engine_numbers_formats_and_joins_names(tmp_path: Path) -> None:
    name = "Default/net/Cast-op6Default/net/Mul-op7"
    (tmp_path / "JOB").mkdir()
    for kind, text in {
        "task_desc_info": f"{name} 1 5 2\n",
        "graph_desc_info": f"op_name:{name} op_type:Cast input_id:0 input_format:3 "
        'input_data_type:1 input_shape:"1"\n',
    }.items():
        (tmp_path / f"JOB/Framework.host.{kind}.0.slice_0").write_text(text)
    found, stated = framework(tmp_path / "JOB", G1)
    assert stated == []
    assert found.rows[0]["op_name"] == "Cast-op6+Mul-op7"
    assert json.loads(str(found.rows[0]["op_info"]))["input_0"] == {
        "format": "FORMAT_NC1HWC0",
        "data_type": "DT_FLOAT16",
        "shape": "1",
    }


@pytest.mark.parametrize("cut", range(len(TASK_1) + len(TASK_2)))
def test_m53_a_line_goes_on_in_the_next_slice(tmp_path: Path, cut: int) -> None:
    whole = TASK_1 + TASK_2
    source = job(
        tmp_path / "JOB",
        {"task_desc_info/0": whole[:cut], "task_desc_info/1": whole[cut:]},
    )
    found, stated = framework(source, G1)
    assert found.names == {"0_1": "Default/net/Cast-op6", "30000": "Gradients/net/Mul-op7"}
    assert stated == []


def test_m53_slices_of_text_are_in_order_of_their_numbers(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"task_desc_info/{number}": f"Default/A-op{number} 1 {number} 0\n" for number in range(12)
    }
    found, _ = framework(job(tmp_path / "JOB", files), G1)
    assert list(found.names) == [f"0_{number}" for number in range(12)]


def test_m52_lines_that_cannot_be_read_are_stated_by_their_number(tmp_path: Path) -> None:
    tasks = TASK_1.encode() + b"only three words\n" + b"Default/\xff-op1 1 2 0\n" + TASK_2.encode()
    graph = GRAPH_1 + 'op_name:Default/B-op1 op_type:B input_id:0 input_shape:"1"\n'
    huge = f"Default/C-op1 1 {2**63} 0\n".encode()
    source = job(
        tmp_path / "JOB", {"task_desc_info": tasks + huge, "graph_desc_info": graph, "point": "x y"}
    )
    found, stated = framework(source, G1)
    assert list(found.names.values())[2:] == ["Gradients/net/Mul-op7", "Default/C-op1"]
    assert [one.partition(".slice_0: ")[2] for one in stated] == [
        "line 2: no line of task_desc_info: 'only three words'",
        "line 3: no UTF-8 at its byte 8",
        f"line 5: task_id is too great: {2**63}",
        "line 2: no tensor: ' input_id:0 input_shape:\"1\"'",
        "line 1: no line of point: 'x y'",
    ]


def test_m52_files_of_another_day_are_stated(tmp_path: Path) -> None:
    source = job(tmp_path / "JOB", {"task_desc_info": TASK_1})
    assert parsed(source, tmp_path / "out", G3) == 1
    stated = (tmp_path / "out/incomplete.txt").read_text()
    assert stated.endswith(f"parsers of {G3} read no such file\n")
    assert not (tmp_path / "out/framework_raw_0.csv").exists()


def operator(**changes: object) -> Operator:
    values: dict[str, object] = {
        "name": "Default/net/Cast-op6",
        "type": "Cast",
        "stream": 2,
        "task": 30_000,
        "blocks": 8,
        "tensors": [(0, 4, 44, (32, 3)), (1, 204, 244, ())],
    }
    return Operator(**{**values, **changes})  # type: ignore[arg-type]


def with_records(folder: Path, operators: list[Operator], day: str) -> Path:
    (folder / "data").mkdir(parents=True)
    write_framework_records(folder / "data", operators, day)
    return folder


@pytest.mark.parametrize(
    ("day", "key", "type_", "form"),
    [
        ("2021-12-27", "30000", "FLOAT32", "UNKNOWN"),
        ("2021-12-28", "30000", "FLOAT64", "UNKNOWN"),
        ("2022-05-07", "30000", "FLOAT64", "NCHW"),
        ("2022-06-28", "2_30000", "FLOAT64", "NCHW"),
    ],
)
def test_m51_the_day_names_keys_types_and_formats_of_records(
    tmp_path: Path, day: str, key: str, type_: str, form: str
) -> None:
    found, stated = framework(with_records(tmp_path / "JOB", [operator()], day), day)
    assert stated == []
    assert found.names == {key: "Default/net/Cast-op6"}
    info = json.loads(str(found.rows[0]["op_info"]))
    assert info["input_0"] == {"format": "NCHW", "data_type": type_, "shape": [32, 3]}
    assert info["output_0"]["format"] == form


@pytest.mark.parametrize(("day", "empty"), [("2021-12-27", "[]"), ("2021-12-28", "{}")])
def test_m51_of_no_tensors(tmp_path: Path, day: str, empty: str) -> None:
    found, _ = framework(with_records(tmp_path / "JOB", [operator(tensors=[])], day), day)
    assert found.rows[0]["op_info"] == empty


@pytest.mark.parametrize(
    ("day", "columns"), [("2022-09-23", 8), ("2022-09-24", 9), ("2023-04-26", 10)]
)
def test_m50_m51_columns_come_by_day(tmp_path: Path, day: str, columns: int) -> None:
    source = with_records(tmp_path / "JOB", [operator()], day)
    assert parsed(source, tmp_path / "out", day) == 0
    (row,) = rows(tmp_path / "out/framework_raw_0.csv")
    assert len(row) == columns
    assert row.get("graph_id", "2") == "2"
    assert row.get("kernel_type", "AI_CPU") == "AI_CPU"


def test_m46_more_tensors_than_a_record_has_and_long_names(tmp_path: Path) -> None:
    long = "Default/" + "x" * 150 + "/Cast-op6"
    tensors = [(number % 2, 4, 43, (number + 1,)) for number in range(7)]
    found, stated = framework(
        with_records(tmp_path / "JOB", [operator(name=long, tensors=tensors)], G3), G3
    )
    assert stated == []
    assert found.rows[0]["full_op_name"] == long
    info = json.loads(str(found.rows[0]["op_info"]))
    assert list(info) == [f"{('input', 'output')[one % 2]}_{one // 2}" for one in range(7)]


def test_m25_m28_operators_of_drawn_records(tmp_path: Path) -> None:
    drawn = drawn_operators(5, 40)
    found, stated = framework(with_records(tmp_path / "JOB", drawn, G3), G3)
    assert stated == []
    assert found.names == {f"{one.stream}_{one.task}": one.name for one in drawn}
    assert found.points == {tag: one.name for tag, one in enumerate(drawn[:3], 2)}


def test_m52_records_that_cannot_be_read_are_stated_by_their_byte(tmp_path: Path) -> None:
    text = {"magicNumber": MAGIC, "opType": {"kind": 1, "content": b"Cast"}}
    names = [(1, b"Default/A-op1"), (1, b"\xff"), (0, (77).to_bytes(8, "little")), (9, b"")]
    tasks = [
        record("TASK_DESC_INFO", {**text, "taskId": at, "opName": {"kind": kind, "content": name}})
        for at, (kind, name) in enumerate(names)
    ]
    tensor = record("TENSOR_DATA_INFO", {"magicNumber": MAGIC, "tensorNum": 6})
    step = record("STEP_INFO", {"magicNumber": MAGIC, "taskId": 50, "tag": 2})
    folder = tmp_path / "JOB/data"
    folder.mkdir(parents=True)
    for kind, content in {
        "task_desc_info": b"".join(tasks) + b"ZZ torn",
        "tensor_data_info": tensor,
        "step_info": step,
        "hash_dic": b"12:a:b\nno number\n",
    }.items():
        (folder / f"Framework.{kind}.0.slice_0").write_bytes(content)
    found, stated = framework(tmp_path / "JOB", G3)
    assert list(found.names.values()) == ["Default/A-op1", "\\xff", "77", "0"]
    assert len(json.loads(str(found.rows[0]["op_info"]))) == 5
    assert found.points == {}
    assert {one.removeprefix("data/Framework.") for one in stated} == {
        "tensor_data_info.0.slice_0: byte 0: 6 tensors, of which a record has 5 at most",
        "hash_dic.0.slice_0: line 2: no line of hash_dic: 'no number'",
        "task_desc_info.0.slice_0: byte 256: a text is no UTF-8: b'\\xff'",
        "task_desc_info.0.slice_0: byte 512: the text with the number 77 is in no hash_dic",
        "task_desc_info.0.slice_0: byte 768: a text of the kind 9, which is not known; "
        "read as the number of one",
        "task_desc_info.0.slice_0: byte 1,024: the last 7 bytes are no whole record of 256",
        "step_info.0.slice_0: byte 0: a point of the task 0_50, which no task_desc_records has",
    }


def test_m24_records_are_taken_apart_and_put_together_with_their_gaps(tmp_path: Path) -> None:
    source = with_records(tmp_path / "JOB", drawn_operators(2), G3)
    for path in (source / "data").glob("Framework.*_info.*"):
        found = mindspore_catalog().file_of(path.name)
        assert found is not None
        content = path.read_bytes().replace(b"\0\0\0\0\0\0\0\0", b"\1\2\3\4\5\6\7\x08")
        layout = layout_of(found[0].file, G3)
        assert encode_records(decode_records(content, layout)) == content


def test_m25_the_number_of_a_real_text() -> None:
    """The id of the reference: two sums of the bytes with 29 and 131, of ASCII text alone."""
    text = "Default/network-TrainStep/" + "a" * 110
    high = low = 0
    for code in text.encode():
        high, low = (high * 29 + code) % 2**32, (low * 131 + code) % 2**32
    assert name_id(text) == high << 32 | low
