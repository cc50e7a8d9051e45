"""communication.json and communication_matrix.json of the real rank, and small reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from real_text import document, layer, nanoseconds, places

from ascend_ref.derive import matrix, transit
from ascend_ref.derive.communication_report import (
    CLASSES,
    FLOW,
    LINK,
    SHOWN_LINKS,
    TIMES,
    TOTAL,
    communication_report,
    matrix_report,
    quotients,
)

STEP = "step50"
FIXTURE_PLANE = 1
"""The exporter of these files took transit and waiting from plane 1 (text-outputs.md 7.8)."""
NONE = 4_294_967_295


def floats(value: Any) -> Any:
    """The document with all its numbers as floats."""
    if isinstance(value, dict):
        return {key: floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [floats(inner) for inner in value]
    return value if isinstance(value, str) else float(value)


def real_operators() -> dict[str, Any]:
    found: dict[str, Any] = floats(document("communication"))[STEP]["collective"]
    return {name: values for name, values in found.items() if name != TOTAL}


def tables() -> tuple[pa.Table, pa.Table]:
    """The real document as CommAnalyzerTime and CommAnalyzerBandwidth hold it."""
    times, links = [], []
    for operator, values in real_operators().items():
        name, _, group = operator.partition("@")
        own = {"hccl_op_name": name, "group_name": group, "step": STEP, "type": "collective"}
        spent = values["Communication Time Info"]
        times.append(own | {column: spent[key] for key, column in TIMES.items()})
        for link, moved in values["Communication Bandwidth Info"].items():
            row = own | {"transport_type": link}
            row |= {column: moved[key] for key, column in LINK.items()}
            packets = moved["Size Distribution"] or ({"0": [0, 0.0]} if row["transit_size"] else {})
            for size, (count, duration) in packets.items():
                amount = {"package_size": float(size), "count": int(count)}
                links.append(row | amount | {"total_duration": duration})
    return pa.Table.from_pylist(times), pa.Table.from_pylist(links)


def test_the_real_document_follows_from_the_tables() -> None:
    ((step, report),) = communication_report(*tables())
    assert step == STEP
    expected = floats(document("communication"))[STEP]
    assert expected["collective"].keys() == report["collective"].keys()
    assert floats(report) == expected


def test_the_real_matrix_follows_from_the_table() -> None:
    rows = []
    for kind, flows in floats(document("communication_matrix"))[STEP]["collective"].items():
        name, _, group = kind.partition("@")
        for ranks, flow in flows.items():
            source, _, target = ranks.partition("-")
            row = {"hccl_op_name": name, "group_name": group, "step": STEP, "type": "collective"}
            row |= {"src_rank": source, "dst_rank": target, "op_name": flow.get("Op Name", "")}
            row |= {"transport_type": flow["Transport Type"]}
            rows.append(row | {column: flow[key] for key, column in FLOW.items()})
    ((step, report),) = matrix_report(pa.Table.from_pylist(rows))
    assert {step: report} == floats(document("communication_matrix"))
    shares = [(row["transit_size"], row["transit_time"], row["bandwidth"]) for row in rows]
    size, time, bandwidth = map(np.array, zip(*shares, strict=True))
    assert quotients(size, time).tolist() == bandwidth.tolist()


def operators() -> list[dict[str, Any]]:
    return [event for event in layer("HCCL") if event["tid"] == 0]


def small_tasks() -> transit.SmallTasks:
    """The tasks of the operators in the real timeline; their links are ON_CHIP and HCCS."""
    owner, found = [], []
    bounds = [(float(one["ts"]), float(one["ts"]) + float(one["dur"])) for one in operators()]
    for event in layer("HCCL"):
        if event["tid"]:
            start = float(event["ts"])
            inside = [place for place, (low, high) in enumerate(bounds) if low <= start <= high]
            owner.append(inside[0])
            found.append(event)
    arguments = [event["args"] for event in found]
    source, target, size = (
        np.array([one[key] for one in arguments], np.int64)
        for key in ("src rank", "dst rank", "size(Byte)")
    )
    links = np.array([one["link type"] for one in arguments])
    kinds = np.array([one["task type"] for one in arguments])
    direct = np.array([one["transport type"] == "SDMA" for one in arguments])
    start = nanoseconds(event["ts"] for event in found)
    tasks = transit.SmallTasks(
        owner=np.array(owner),
        start=start,
        end=start + nanoseconds(event["dur"] for event in found),
        link=np.where(links == "ON_CHIP", transit.LOCAL, transit.HCCS),
        source=source,
        target=np.where(target == NONE, source, target),
        size=size,
        on_master=np.array([event["tid"] == FIXTURE_PLANE + 1 for event in found]),
        moves=np.isin(kinds, transit.TRANSIT_KINDS) & direct,
        waits=kinds == transit.WAIT_KIND,
    )
    return tasks.chosen(np.ones(len(found), np.bool_))


def test_the_times_of_the_real_operators_follow_from_their_tasks() -> None:
    start = nanoseconds(event["ts"] for event in operators())
    end = start + nanoseconds(event["dur"] for event in operators())
    found = transit.division(small_tasks(), start, end)
    told = {
        "Elapse Time(ms)": found.elapsed,
        "Transit Time(ms)": found.transit,
        "Wait Time(ms)": found.wait,
        "Synchronization Time(ms)": found.synchronization,
        "Idle Time(ms)": found.idle,
    }
    written = [values["Communication Time Info"] for values in real_operators().values()]
    assert len(written) == 4
    for key, times in told.items():
        # Tasks last fractions of ns, of which whole ones are summed here.
        assert (times / 1e6).tolist() == pytest.approx([one[key] for one in written], abs=2e-5)
    starts = np.array([one["Start Timestamp(us)"] for one in written])
    assert np.abs(start / 1e3 - starts).max() <= 0.5


def test_the_packets_of_the_real_operators_are_those_of_their_tasks() -> None:
    found = transit.packets(small_tasks())
    for place, values in enumerate(real_operators().values()):
        link = values["Communication Bandwidth Info"]["HCCS"]
        rows = np.flatnonzero(found.owner == place)
        first = rows[0]
        assert found.transit_size[first] / 1e6 == pytest.approx(link["Transit Size(MB)"], abs=1e-9)
        assert found.transit_time[first] / 1e6 == pytest.approx(link["Transit Time(ms)"], abs=1e-4)
        sizes = {
            repr(size / 1e6): [count, duration / 1e6]
            for size, count, duration in zip(
                found.size[rows].tolist(),
                found.count[rows].tolist(),
                found.duration[rows].tolist(),
                strict=True,
            )
        }
        assert list(sizes) == list(link["Size Distribution"])
        for size, packets in sizes.items():
            assert packets == pytest.approx(link["Size Distribution"][size], abs=1e-4)


def test_the_flows_of_the_real_matrix_are_chosen_from_the_tasks() -> None:
    flows = transit.flows(small_tasks())
    _, heap = places(zip(flows.source.tolist(), flows.target.tolist(), strict=True))
    rows = matrix.choices(flows, heap)
    found = {}
    for row, (flow, choice) in enumerate(zip(rows.flow, rows.choice, strict=True)):
        operator = operators()[flows.owner[flow]]["name"]
        key = f"{matrix.matrix_kind(operator)}-{matrix.CHOICES[choice]}"
        ranks = f"{flows.source[flow]}-{flows.target[flow]}"
        name = None if key.endswith("total") else operator
        found[key, ranks] = (name, transit.LINKS[flows.link[flow]], rows.size[row] / 1e6)
    written = {
        (kind.partition("@")[0], ranks): (
            flow.get("Op Name"),
            flow["Transport Type"],
            pytest.approx(flow["Transit Size(MB)"], abs=1e-9),
        )
        for kind, flows in floats(document("communication_matrix"))[STEP]["collective"].items()
        for ranks, flow in flows.items()
    }
    assert found == written


def row(step: str, kind: str, name: str, **values: object) -> dict[str, object]:
    return {"step": step, "type": kind, "hccl_op_name": name, "group_name": "7", **values}


def test_a_step_has_both_classes_and_a_total_where_it_has_operators() -> None:
    times = pa.Table.from_pylist(
        [
            row("step2", "p2p", "hcom_send_1", **dict.fromkeys(TIMES.values(), 1.0)),
            row("step2", "", "Total Op Info", **dict.fromkeys(TIMES.values(), 9.0)),
            row("step1", "collective", "hcom_x", **dict.fromkeys(TIMES.values())),
        ]
    )
    columns = (*LINK.values(), "package_size", "count", "total_duration", "transport_type")
    links = pa.Table.from_pylist(
        [
            row("step2", "p2p", "hcom_send_1", **dict(zip(columns, values, strict=True)))
            for values in (
                (3.0, 2.0, 1.5, 0.5, 1.0, 1, 0.5, "RDMA"),
                (3.0, 2.0, 1.5, 0.5, 2.0, 1, 1.5, "RDMA"),
                (3.0, 2.0, 1.5, 0.5, 2.0, 1, 1.5, "UNKNOWN"),
            )
        ]
    )
    found = dict(communication_report(times, links, ["step0", "step1", "step2"]))
    assert list(found) == ["step0", "step1", "step2"]
    assert found["step0"] == {name: {} for name in CLASSES}
    assert list(found["step2"]["p2p"]) == ["hcom_send_1@7", TOTAL]
    assert found["step2"]["collective"] == {}
    moved = found["step2"]["p2p"]["hcom_send_1@7"]["Communication Bandwidth Info"]
    assert list(moved) == list(SHOWN_LINKS)
    assert moved["RDMA"]["Size Distribution"] == {"1.0": [1, 0.5], "2.0": [1, 1.5]}
    assert repr(moved["HCCS"]) == (
        "{'Transit Size(MB)': 0, 'Transit Time(ms)': 0, 'Bandwidth(GB/s)': 0, "
        "'Large Packet Ratio': 0, 'Size Distribution': {}}"
    )
    total = found["step2"]["p2p"][TOTAL]["Communication Time Info"]
    assert (total["Elapse Time(ms)"], total["Wait Time Ratio"]) == (1.0, 0.5)
    assert "Start Timestamp(us)" not in total
    unknown = found["step1"]["collective"]["hcom_x@7"]["Communication Time Info"]
    assert (unknown["Wait Time(ms)"], unknown["Wait Time Ratio"]) == (0.0, 0.0)


def test_quotients_of_nothing_are_nothing() -> None:
    assert quotients(np.array([1.0, 2.0, 1.0]), np.array([0.0, 3.0, 1e-16])).tolist() == [
        0.0,
        0.6667,
        0.0,
    ]
