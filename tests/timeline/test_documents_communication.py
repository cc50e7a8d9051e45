"""communication.json and communication_matrix.json hold what the tables of analysis.db tell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
from timeline_recordings import DATA, real_database, simulated

from ascend_ref.derive.communication_report import starts_of_operators
from ascend_ref.documents import write_documents
from ascend_ref.recorded import Recorded
from ascend_spec import document_catalog

NAMES = ["communication.json", "communication_matrix.json"]
LINKS = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")
REAL = DATA / "text" / "pytorch_level1_rank0" / "ASCEND_PROFILER_OUTPUT"


def written(recorded: Recorded, folder: Path) -> dict[str, Any]:
    paths = write_documents(recorded, folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def four_places(dividend: float, divisor: float) -> float:
    return round(dividend / divisor, 4) if abs(divisor) > 1e-15 else 0


def plain_communication(recorded: Recorded) -> dict[str, Any]:
    """The document row by row, without its totals (text-outputs.md 7.8)."""
    unused = {
        "Transit Size(MB)": 0,
        "Transit Time(ms)": 0,
        "Bandwidth(GB/s)": 0,
        "Large Packet Ratio": 0,
    }
    found: dict[str, Any] = {}
    operators = recorded.table("COMMUNICATION_OP").to_pylist()
    start_of = {row["opName"]: row["startNs"] / 1000 for row in operators}
    for row in recorded.table("CommAnalyzerTime").to_pylist():
        start = start_of[row["hccl_op_name"]]
        # The clock of a real analysis.db is apart by 4 to 304 us (db-schema 6).
        is_apart = 1 < abs(start - row["start_timestamp"]) < 1000
        classes = found.setdefault(row["step"], {"p2p": {}, "collective": {}})
        transit, wait, early = (
            row[name] for name in ("transit_time", "wait_time", "synchronization_time")
        )
        classes[row["type"]][f"{row['hccl_op_name']}@{row['group_name']}"] = {
            "Communication Time Info": {
                "Start Timestamp(us)": start if is_apart else row["start_timestamp"],
                "Elapse Time(ms)": row["elapse_time"],
                "Transit Time(ms)": transit,
                "Wait Time(ms)": wait,
                "Synchronization Time(ms)": early,
                "Idle Time(ms)": row["idle_time"],
                "Wait Time Ratio": four_places(wait, wait + transit),
                "Synchronization Time Ratio": four_places(early, early + transit),
            },
            "Communication Bandwidth Info": {
                link: {**unused, "Size Distribution": {}} for link in LINKS
            },
        }
    for row in recorded.table("CommAnalyzerBandwidth").to_pylist():
        operator = found[row["step"]][row["type"]][f"{row['hccl_op_name']}@{row['group_name']}"]
        link = operator["Communication Bandwidth Info"][row["transport_type"]]
        link["Transit Size(MB)"] = row["transit_size"]
        link["Transit Time(ms)"] = row["transit_time"]
        link["Bandwidth(GB/s)"] = row["bandwidth"]
        link["Large Packet Ratio"] = row["large_packet_ratio"]
        if row["count"]:
            size = json.dumps(row["package_size"])
            link["Size Distribution"][size] = [row["count"], row["total_duration"]]
    return found


def plain_matrix(recorded: Recorded) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in recorded.table("CommAnalyzerMatrix").to_pylist():
        classes = found.setdefault(row["step"], {"p2p": {}, "collective": {}})
        kind = classes[row["type"]].setdefault(f"{row['hccl_op_name']}@{row['group_name']}", {})
        flow = {
            "Transport Type": row["transport_type"],
            "Transit Size(MB)": row["transit_size"],
            "Transit Time(ms)": row["transit_time"],
            "Bandwidth(GB/s)": row["bandwidth"],
        }
        if row["op_name"]:
            flow["Op Name"] = row["op_name"]
        kind[f"{row['src_rank']}-{row['dst_rank']}"] = flow
    return found


def recordings() -> list[Any]:
    return [
        pytest.param("observed-everything", id="observed-everything"),
        pytest.param("dense-pipeline", id="dense-pipeline"),
        pytest.param("level1_rank1", id="real"),
    ]


def recording(name: str) -> Recorded:
    return real_database(name) if name.startswith("level") else simulated(name, "pytorch")


@pytest.mark.parametrize("name", recordings())
def test_documents_are_what_plain_python_makes_of_the_tables(name: str, tmp_path: Path) -> None:
    recorded = recording(name)
    files = written(recorded, tmp_path)
    assert list(files) == NAMES
    communication = files["communication.json"]
    for classes in communication.values():
        for operators in classes.values():
            assert ("Total Op Info" in operators) == bool(operators)
            operators.pop("Total Op Info", None)
    assert json.dumps(communication) == json.dumps(plain_communication(recorded))
    assert json.dumps(files["communication_matrix.json"]) == json.dumps(plain_matrix(recorded))


@pytest.mark.parametrize("name", recordings())
def test_totals_are_the_sums_of_their_class(name: str, tmp_path: Path) -> None:
    for classes in written(recording(name), tmp_path)["communication.json"].values():
        for operators in classes.values():
            total = operators.pop("Total Op Info", None)
            if total is None:
                continue
            times = [one["Communication Time Info"] for one in operators.values()]
            for key, value in total["Communication Time Info"].items():
                if not key.endswith("Ratio"):
                    assert value == pytest.approx(sum(one[key] for one in times))
            for link, values in total["Communication Bandwidth Info"].items():
                own = [one["Communication Bandwidth Info"][link] for one in operators.values()]
                assert list(values) == ["Transit Time(ms)", "Transit Size(MB)", "Size Distribution"]
                size = sum(one["Transit Size(MB)"] for one in own)
                assert values["Transit Size(MB)"] == pytest.approx(size)
                packets = sum(n for one in own for n, _ in one["Size Distribution"].values())
                assert sum(n for n, _ in values["Size Distribution"].values()) == packets


@pytest.mark.parametrize("name", recordings())
def test_documents_keep_their_schemas(name: str, tmp_path: Path) -> None:
    for file, document in written(recording(name), tmp_path).items():
        schema = document_catalog().schema_of(file.removesuffix(".json"), "adapter")
        jsonschema.validate(document, schema)


def test_documents_have_the_form_of_the_real_ones(tmp_path: Path) -> None:
    """Keys, their order, separators and the forms of names and numbers."""
    if not REAL.is_dir():
        pytest.skip(f"needs the real files of {DATA}")

    def form(value: Any) -> Any:
        if isinstance(value, dict):
            return [
                (key.partition("@")[0].partition("__")[0], form(one)) for key, one in value.items()
            ]
        return (
            "text"
            if isinstance(value, str)
            else "number"
            if not isinstance(value, list)
            else "list"
        )

    def without_sizes(value: Any) -> Any:
        if isinstance(value, dict):
            sized = {key: without_sizes(one) for key, one in value.items()}
            return {**sized, "Size Distribution": {}} if "Size Distribution" in sized else sized
        return value

    paths = write_documents(real_database("level1_rank0"), tmp_path)
    for path in paths:
        text, real = path.read_text(encoding="utf-8"), (REAL / path.name).read_text()
        assert text == json.dumps(json.loads(text), ensure_ascii=False)
        assert real == json.dumps(json.loads(real), ensure_ascii=False)
        if path.name == "communication.json":
            ours, theirs = (form(without_sizes(json.loads(one))) for one in (text, real))
            assert ours == theirs
        else:
            steps = [next(iter(json.loads(one).values()))["collective"] for one in (text, real)]
            kinds = [[name.partition("@")[0] for name in step] for step in steps]
            assert kinds[0] == kinds[1]
            links = [
                [next(iter(flows.values())).keys() for flows in step.values()] for step in steps
            ]
            assert links[0] == links[1]


REAL_STARTS = {
    # start_timestamp of analysis.db, us, and startNs of COMMUNICATION_OP.
    "level1_rank0": [
        (1736410576431645.2, 1736410576431631806),
        (1736410576520400, 1736410576520386579),
    ],
    "level1_rank1": [
        (1736410576435143, 1736410576435164432),
        (1736410576520380.5, 1736410576520401935),
    ],
}


@pytest.mark.parametrize("name", REAL_STARTS)
def test_operators_start_when_the_timeline_says(name: str, tmp_path: Path) -> None:
    """The clock of analysis.db is calibrated apart; a text export has one clock."""
    recorded = real_database(name)
    stated = recorded.table("CommAnalyzerTime")["start_timestamp"].to_pylist()
    assert stated[:2] == [start for start, _ in REAL_STARTS[name]]
    operators = written(recorded, tmp_path)["communication.json"]["step50"]["collective"].values()
    starts = [one["Communication Time Info"].get("Start Timestamp(us)") for one in operators]
    assert starts[:2] == [start / 1000 for _, start in REAL_STARTS[name]]


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ([1013.4, 2013.4, 5013.4], [1000.0, 2000.0, 5000.0]),  # another clock; the last is unknown
        ([1000.1, 2000.1, 5000.0], [1000.1, 2000.1, 5000.0]),  # the same, as near as floats can be
        ([1006.5, 2027.5, 5000.0], [1006.5, 2027.5, 5000.0]),  # starts of other tasks, no clock
        ([9e9, 9e9 + 1000, 5000.0], [9e9, 9e9 + 1000, 5000.0]),  # no clock differs by an hour
    ],
)
def test_another_clock_is_a_constant_shift(stated: list[float], shown: list[float]) -> None:
    times = pa.table({"hccl_op_name": ["a", "b", "c"], "start_timestamp": stated})
    operators = pa.table({"opName": ["a", "b"], "startNs": [1_000_000, 2_000_000]})
    assert starts_of_operators(times, operators).to_pylist() == pytest.approx(shown)


def test_level_0_and_the_profiler_of_cann_have_none(tmp_path: Path) -> None:
    assert write_documents(simulated("observed-everything", "pytorch", 0), tmp_path) == []
    assert write_documents(simulated("observed-everything", "msprof"), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_steps_without_operators_are_told_and_odd_numbers_are_no_json(tmp_path: Path) -> None:
    recorded = simulated("observed-everything", "pytorch")
    times = recorded.table("CommAnalyzerTime")
    place = times.column_names.index("elapse_time")
    odd = times.set_column(place, "elapse_time", pa.array([float("inf")] * times.num_rows))
    later = recorded.table("StepTraceTime")
    steps = pa.array(["7"] * later.num_rows).dictionary_encode()
    changed = later.set_column(later.column_names.index("step"), "step", steps)
    tables = {**recorded.tables, "CommAnalyzerTime": odd, "StepTraceTime": changed}
    document = written(replace(recorded, tables=tables), tmp_path)["communication.json"]
    assert list(document) == ["step7", "step1"]
    assert document["step7"] == {"p2p": {}, "collective": {}}
    some = next(iter(document["step1"]["collective"].values()))
    assert some["Communication Time Info"]["Elapse Time(ms)"] is None
