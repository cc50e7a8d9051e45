"""Real folders changed as msprof writes what goes to ranks of other hosts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from text_folders import copied, judged

from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

RULES = ("XLR406", "XLR407", "XLR408", "XLR409")
FAR = "hcom_allReduce__586_0_1@"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return copied(tmp_path, "trace_view.json", "communication.json", "communication_matrix.json")


def found(output: Path, *rules: str) -> set[str]:
    (report,) = judged(output, Options(selection=Selection(select=rules or RULES), workers=1))
    return {one.rule for one in report.findings}


def edited(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))


def send(events: list[Any]) -> None:
    """The first copy to rank 1, as it goes to another host."""
    task = next(
        one["args"]
        for one in events
        if one["name"] == "Memcpy" and one.get("args", {}).get("dst rank") == 1
    )
    task |= {"task type": "RDMASend", "transport type": "RDMA", "link type": "ROCE"}


def measure(document: Any) -> None:
    """Time of data sent lasts until they are confirmed, and these waits are not counted."""
    (name,) = (one for one in document["step50"]["collective"] if one.startswith(FAR))
    operator = document["step50"]["collective"][name]
    operator["Communication Time Info"]["Wait Time(ms)"] -= 0.0125
    links = operator["Communication Bandwidth Info"]
    links["RDMA"] |= {
        "Transit Size(MB)": 2.064384,
        "Transit Time(ms)": 0.25,
        "Bandwidth(GB/s)": 8.2575,
        "Large Packet Ratio": 1.0,
        "Size Distribution": {"2.064384": [1, 0.25]},
    }
    for link in ("HCCS", "SDMA"):
        links[link]["Transit Size(MB)"] -= 2.064384
    links["HCCS"]["Size Distribution"]["2.064384"][0] -= 1


def links_of(document: Any) -> None:
    for name, links in document["step50"]["collective"].items():
        if name.startswith("allreduce-bottom"):
            links["0-1"] |= {"Transport Type": "RDMA", "Transit Time(ms)": 0.25}


@pytest.mark.exhaustive
def test_what_goes_to_other_hosts_is_not_recomputed(output: Path) -> None:
    """``communication_parser.py`` adds up payloads until the task that confirms them."""
    assert found(output) == set()
    edited(output / "trace_view.json", send)
    edited(output / "communication.json", measure)
    edited(output / "communication_matrix.json", links_of)
    assert found(output) == set()


@pytest.mark.exhaustive
def test_other_operators_are_recomputed_still(output: Path) -> None:
    def another(document: Any) -> None:
        measure(document)
        (name,) = (one for one in document["step50"]["collective"] if "_1_1@" in one)
        operator = document["step50"]["collective"][name]
        operator["Communication Time Info"]["Wait Time(ms)"] += 1
        link = operator["Communication Bandwidth Info"]["HCCS"]
        link["Transit Size(MB)"] += 1
        next(iter(link["Size Distribution"].values()))[0] += 1

    edited(output / "trace_view.json", send)
    edited(output / "communication.json", another)
    assert found(output) == {"XLR406", "XLR407", "XLR408"}
    edited(output / "communication_matrix.json", links_of)
    assert found(output) == {"XLR406", "XLR407", "XLR408"}


def test_all_that_is_confirmed_at_once_has_one_rate(output: Path) -> None:
    """``hccl_calculator.cpp`` gives it to each of the payloads."""

    def rated(events: list[Any]) -> None:
        send(events)
        for one in events:
            if one.get("args", {}).get("transport type") == "RDMA":
                one["args"]["bandwidth(GB/s)"] *= 0.25

    edited(output / "trace_view.json", rated)
    assert found(output, "REL525") == set()

    def another(events: list[Any]) -> None:
        task = next(one for one in events if one["name"] == "Memcpy" and "args" in one)
        task["args"]["bandwidth(GB/s)"] *= 0.25

    edited(output / "trace_view.json", another)
    assert found(output, "REL525") == {"REL525"}


@pytest.mark.exhaustive
def test_links_without_a_name_have_no_transport(output: Path) -> None:
    """``communication_matrix_analyzer.py`` writes null for RESERVED and INVALID_TYPE."""

    def reserved(events: list[Any]) -> None:
        for one in events:
            if one["name"] in ("Memcpy", "Reduce_Inline") and one["args"]["dst rank"] == 1:
                one["args"]["link type"] = "RESERVED"

    def unnamed(document: Any) -> None:
        for links in document["step50"]["collective"].values():
            links["0-1"]["Transport Type"] = None

    edited(output / "trace_view.json", reserved)
    assert found(output, "XLR409") == {"XLR409"}
    edited(output / "communication_matrix.json", unnamed)
    assert found(output, "XLR409", "DOC") == set()
