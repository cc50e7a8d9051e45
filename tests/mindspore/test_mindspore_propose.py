"""Proposers: each rule on a made case in which it holds, and on its neighbour."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from analyser_plain import write_csv

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.propose.base import Proposed, Proposer
from ascend_ref.mindspore.propose.compose import compose
from ascend_ref.mindspore.propose.proposers import (
    OF_DEVICE,
    PROPOSERS,
    NoProposer,
    find_proposer,
)
from ascend_spec import mindspore_catalog

STEPS = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
PIPELINE = (
    "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,"
    "output_queue_usage_rate,sample_interval,parent_id,children_id"
)


def write(
    folder: Path,
    *,
    interval: int = 10_000,
    rates: tuple[float, float] = (0.9, 0.9),
    kind: str = "MapOp",
    lengths: tuple[int, ...] = (2, 2, 2, 2),
    fetched: tuple[int, ...] = (1, 1),
    idle: int = 50,
) -> None:
    """A folder in which no rule holds, unless one of these says so.

    interval in 10 ns; rates: of operator 1, which is of ``kind``, and of 2, which it takes data of.
    """
    steps = ([step, 1, 2, 3, 4, 5, interval, 7, 8] for step in (1, "-"))
    write_csv(folder / "step_trace_raw_0_detail_time.csv", STEPS, steps)
    inner, leaf = rates
    rows = [
        [0, "BatchOp", 1, "", "", "", "", 10, "", "[1]"],
        [1, kind, 1, "[1]", 1.0, 64, inner, 10, 0, "[2]"],
        [2, "TFReaderOp", 1, "[1]", 1.0, 64, leaf, 10, 1, ""],
    ]
    write_csv(folder / "minddata_pipeline_raw_0.csv", PIPELINE, rows)
    queue = "".join(f"1 4 {step} {one} {step}\n" for step, one in enumerate(lengths, 1))
    (folder / "device_queue_profiling_0.txt").write_text(queue, encoding="utf-8")
    text = "".join(f"GetNext 1 2 {one}\n" for one in fetched)
    (folder / "minddata_aicpu_0.txt").write_text(text, encoding="utf-8")
    document = {"time_stamp": [0, 1], "device_info": {"idle_utilization": [idle]}}
    path = folder / "minddata_cpu_utilization_0.json"
    path.write_text(json.dumps(document), encoding="utf-8")


def holding(folder: Path) -> dict[str, Proposed]:
    """What holds by rule, shown or not."""
    answers = []
    for name in OF_DEVICE:
        answers += find_proposer(name).analyze(_asking(folder))
    return {one.rule.proposal: one for one in answers if one.rule.kind == "advice"}


def _asking(folder: Path) -> Any:
    from ascend_ref.mindspore.analyse.factory import load_analyser

    def ask(name: str, filters: Any) -> Any:
        return load_analyser(name, Folder(folder, "0")).query({"filter_condition": filters or {}})

    return ask


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "long_interval": ({"interval": 50_010}, {"interval": 50_000}, {"iteration_interval": 0.5001}),
    "empty_queue": (
        {"lengths": (0, 0, 1, 1), "fetched": (1, 1)},
        {"lengths": (0, 1, 1, 1), "fetched": (1, 1)},
        {"empty": 2, "total": 4, "empty_rate": 50, "fetched_empty": 0},
    ),
    "busy_cpus": ({"idle": 19}, {"idle": 20}, {"busy": 81}),
    "slow_operators": (
        {"rates": (0.3, 0.9)},
        {"rates": (0.81, 0.9)},
        {"operators": "MapOp_1"},
    ),
    "slow_sources": ({"rates": (0.7, 0.59)}, {"rates": (0.7, 0.6)}, {"operators": "TFReaderOp_2"}),
    "slow_maps": (
        {"rates": (0.4, 0.61), "kind": "MapOp"},
        {"rates": (0.55, 0.61), "kind": "MapOp"},
        {"operators": "MapOp_1"},
    ),
    "slow_generators": (
        {"rates": (0.3, 0.9), "kind": "GeneratorOp"},
        {"rates": (0.3, 0.9), "kind": "MapOp"},
        {"operators": "GeneratorOp_1"},
    ),
    "slow_batches": (
        {"rates": (0.3, 0.9), "kind": "BatchOp"},
        {"rates": (0.3, 0.9), "kind": "GeneratorOp"},
        {"operators": "BatchOp_1"},
    ),
}
"""By rule: a case in which it holds, its neighbour, and the numbers of the case."""


@pytest.mark.parametrize("rule", CASES)
def test_m80_m81_m83_a_rule_holds_in_its_case_and_not_next_to_it(rule: str, tmp_path: Path) -> None:
    case, neighbour, numbers = CASES[rule]
    write(tmp_path, **case)
    found = holding(tmp_path)
    assert rule in found
    proposed = found[rule]
    assert proposed.numbers == {**numbers, **proposed.rule.thresholds}
    for number in proposed.rule.arguments:
        assert str(proposed.numbers[number]) in proposed.text
    write(tmp_path, **neighbour)
    assert rule not in holding(tmp_path)


def test_m81_m83_every_rule_has_a_case() -> None:
    rules = [one for one in mindspore_catalog().proposals.values() if not one.own]
    others = ("parallel", "msadvisor")
    of_queues = [one for one in rules if one.kind == "advice" and one.proposer not in others]
    assert CASES.keys() == {one.proposal for one in of_queues}
    for one in rules:
        assert one.proposer in PROPOSERS
        assert set(one.needs) <= mindspore_catalog().analysers.keys()
        assert set(one.arguments) <= one.inputs.keys() | one.thresholds.keys()


def test_m74_m76_proposers_are_found_by_name() -> None:
    for name, kind in PROPOSERS.items():
        assert isinstance(find_proposer(name), kind)
        assert issubclass(kind, Proposer)
    with pytest.raises(NoProposer, match="unknown proposer 'mindata'; did you mean minddata"):
        find_proposer("mindata")
    with pytest.raises(TypeError):
        # What is wrong for mypy is what the test is about: the class has no rules of its own.
        Proposer("common")  # type: ignore[abstract]


def test_m84_where_nothing_is_wrong_nothing_is_advised(tmp_path: Path) -> None:
    write(tmp_path)
    found = compose(Folder(tmp_path, "0"))
    assert found.advice == []
    assert found.skipped.keys() == {"recommendation"}
    assert found.as_viewed() == {
        "common-proposer_type_label": None,
        "common-profiler_tutorial": None,
    }


def test_m85_rules_without_their_files_are_skipped_with_the_reason(tmp_path: Path) -> None:
    found = compose(Folder(tmp_path, "0"))
    rules = mindspore_catalog().proposals.values()
    of_device = {one.proposal for one in rules if one.needs and one.proposer in OF_DEVICE}
    assert found.skipped.keys() == of_device
    assert found.skipped["long_interval"] == "no step_trace_raw of device 0"
    assert found.advice == []


# --- together -------------------------------------------------------------------------------------

SLOW: dict[str, Any] = {"interval": 90_000, "rates": (0.3, 0.9)}


def test_m77_the_viewer_has_arguments_by_key(tmp_path: Path) -> None:
    write(tmp_path, **SLOW, lengths=(0, 0, 4, 1), idle=5)
    assert list(compose(Folder(tmp_path, "0")).as_viewed().items()) == [
        ("common-proposer_type_label", None),
        ("common-profiler_tutorial", None),
        ("step_trace-proposer_type_label", None),
        ("step_trace-iter_interval", ["0.5"]),
        ("minddata-proposer_type_label", None),
        ("minddata_get_next_queue", [0, 2]),
        ("minddata_device_queue", [2, 4, 1, 4]),
        ("minddata_device_queue_rate", {"empty_rate": 50, "empty_warning_threshold": 30}),
        ("minddata_cpu_utilization", [95]),
        ("minddata_pipeline-proposer_type_label", None),
        ("minddata_pipeline-general", ["MapOp_1"]),
        ("minddata_pipeline-map_op", ["MapOp_1"]),
    ]


@pytest.mark.parametrize(
    ("case", "advised"),
    [
        (SLOW, {"long_interval", "slow_operators", "slow_maps"}),
        ({**SLOW, "interval": 1}, set()),
        ({**SLOW, "rates": (0.9, 0.9)}, set()),
        ({**SLOW, "lengths": (0, 1, 1, 1), "fetched": (0, 1)}, {"long_interval", "empty_queue"}),
        (
            {**SLOW, "lengths": (0, 0, 0, 1, 1, 1, 1, 1, 1, 1), "fetched": (0, 1)},
            {"long_interval", "empty_queue"},
        ),
        (
            {**SLOW, "lengths": (1, 1, 1, 1), "fetched": (0, 1)},
            {"long_interval", "empty_queue", "slow_operators", "slow_maps"},
        ),
    ],
)
def test_m77_what_is_shown_hangs_together(
    case: dict[str, Any], advised: set[str], tmp_path: Path
) -> None:
    write(tmp_path, **case)
    found = compose(Folder(tmp_path, "0"))
    assert {one.rule.proposal for one in found.advice} == advised
    assert not found.hidden.keys() & advised
    held = set(holding(tmp_path))
    assert held - advised <= found.hidden.keys()


def test_m82_the_verb_advises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, **SLOW)
    (tmp_path / "minddata_cpu_utilization_0.json").unlink()
    assert main(["mindspore", "propose", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "long_interval: Steps wait more than 0.5 ms for their data: 0.9 ms on average." in (
        shown.out.splitlines()
    )
    assert "busy_cpus: skipped: no minddata_cpu_utilization of device 0" in shown.err
    assert main(["mindspore", "propose", str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    numbers = {one["rule"]: one["numbers"] for one in answer["proposals"]}
    assert numbers["long_interval"] == {"iteration_interval": 0.9, "longest": 0.5}
    assert answer["viewer"]["step_trace-iter_interval"] == ["0.5"]
    assert main(["mindspore", "propose", str(tmp_path / "nothing")]) == 2
    assert "no such folder" in capsys.readouterr().err
