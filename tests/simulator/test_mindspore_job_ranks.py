"""Old jobs of several ranks: analysers show what the captures hold, proposers what was injected."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rank_truth import links_of, memory_of, operations_of, steps_of
from slices import some

from ascend_ref.capture import Capture
from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import open_folder
from ascend_ref.mindspore.parse.parse import parse
from ascend_ref.mindspore.parse.shares import Shared
from ascend_ref.mindspore.propose.compose import compose
from ascend_simulator.choices import (
    FaultChoice,
    HardwareChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
    Switches,
)
from ascend_simulator.mindspore import jobs
from ascend_simulator.run import write_run
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import ParallelMode

DAYS = ["2021-07-20", "2021-12-16", "2022-03-01", "2023-07-02"]
EVEN = Scenario(
    name="even",
    hardware=HardwareChoice(product="910A"),
    model=ModelChoice(kind="cnn", image=224, channels=64, batch=384),
    parallelism=Parallelism(ranks=4),
    schedule=Schedule(active=3),
)
SMALL = replace(
    EVEN,
    model=replace(EVEN.model, image=64, channels=8, batch=8),
    parallelism=Parallelism(ranks=3),
)
STAGES = Scenario(
    name="stages",
    hardware=HardwareChoice(product="910A"),
    model=ModelChoice(
        kind="dense-transformer",
        layers=4,
        hidden=512,
        heads=8,
        sequence=256,
        vocabulary=1000,
        microbatches=2,
    ),
    parallelism=Parallelism(ranks=4, pipeline=4),
    schedule=Schedule(active=2),
)


def parsed(
    folder: Path,
    scenario: Scenario,
    day: str,
    mode: ParallelMode = "data-parallel",
    stages: int = 1,
) -> Path:
    """The folder with the intermediate files of all ranks."""
    write_run(scenario, 5, folder / "raw", ("mindspore-raw",), generation=day)
    found = parse(folder / "raw", folder / "parsed", day, shared=Shared(mode, stages))
    assert [one.damage for one in found if one.damage] == []
    return folder / "parsed"


def parsed_with_captures(
    folder: Path, scenario: Scenario, day: str
) -> tuple[Path, tuple[Capture, ...]]:
    """The folder with the intermediate files of all ranks, and of what they were written."""
    found: list[Capture] = []
    write = jobs.write_ascend_job

    def note(folder: Path, capture: Capture, *more: Any, **others: Any) -> Path:
        found.append(capture)
        return write(folder, capture, *more, **others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "write_ascend_job", note)
        return parsed(folder, scenario, day), tuple(found)


SmallJob = Callable[[str], tuple[Path, tuple[Capture, ...]]]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallJob:
    """The small job as of a day."""

    @cache
    def of(day: str) -> tuple[Path, tuple[Capture, ...]]:
        return parsed_with_captures(tmp_path_factory.mktemp("small"), SMALL, day)

    return of


def ask(folder: Path, analyser: str, day: str, **switches: Any) -> Any:
    asked = open_folder(folder, of_all_ranks=True)
    answer = load_analyser(analyser, asked, day).query({"filter_condition": switches})
    assert asked.damage == []
    return answer


@pytest.mark.parametrize("day", some(DAYS, every=2))
def test_m62_ranks_spend_steps_on_what_their_captures_show(day: str, small: SmallJob) -> None:
    folder, captures = small(day)
    assert sorted(one.origin.rank for one in captures) == [0, 1, 2]
    for capture in captures:
        rank = capture.origin.rank
        (path,) = folder.glob(f"ascend_cluster_analyse_data-parallel_1_3_{rank}.csv")
        header, *lines = path.read_text().split()
        rows = [list(map(float, line.split(","))) for line in lines]
        wanted = steps_of(capture)
        assert header == "computation_time,communication_alone_time"
        for row, step in zip(rows[:-1], wanted, strict=True):
            assert row == pytest.approx(step, abs=0.002)
        averaged = wanted if day < "2021-11-03" else wanted[1:]
        mean = [sum(column) / len(averaged) for column in zip(*averaged, strict=True)]
        assert rows[-1] == pytest.approx(mean, abs=0.002)


@pytest.mark.parametrize("day", DAYS)
def test_m66_ranks_compute_as_many_operations_as_their_counters_show(
    day: str, small: SmallJob
) -> None:
    folder, captures = small(day)
    answer = ask(folder, "cluster_flops", day)
    names = answer["col_name"]
    shown = {row[names.index("rank_id")]: row[names.index("FLOPs")] for row in answer["object"]}
    for capture in captures:
        assert shown[capture.origin.rank] == pytest.approx(operations_of(capture), rel=1e-3)
        sums = json.loads((folder / f"flops_summary_{capture.origin.rank}.json").read_text())
        lines = (folder / f"flops_{capture.origin.rank}.txt").read_text().splitlines()[1:]
        millions = [float(line.split(", ")[1]) for line in lines]
        assert sums["FLOPs"] == pytest.approx(sum(millions), abs=0.001)
        assert 0 < sums["FLOPS_Utilization"] < 100


@pytest.mark.parametrize("day", DAYS)
def test_m64_links_carry_what_captures_moved_over_them(day: str, small: SmallJob) -> None:
    folder, captures = small(day)
    answer = ask(folder, "cluster_link", day)
    shown: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for link, kind, time, size, _ in answer["object"]:
        source, target = map(int, link.split("-"))
        if kind == "SDMA" and source != target:
            shown[source, target][0] += time
            shown[source, target][1] += size
    wanted: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for capture in captures:
        steps = len(capture.records["step_trace"]["start"])
        for pair, one in links_of(capture).items():
            wanted[pair][0] += one.time / steps
            wanted[pair][1] += one.size / steps
    assert shown.keys() == wanted.keys()
    for pair, values in wanted.items():
        assert shown[pair] == pytest.approx(values, rel=1e-2)


@pytest.mark.parametrize("day", some(["2021-06-20", "2022-02-01", "2022-04-01"], every=3))
def test_m65_graphs_hold_the_memory_of_their_captures(day: str, tmp_path: Path) -> None:
    scenario = replace(SMALL, capture=Switches(memory=True))
    folder, captures = parsed_with_captures(tmp_path, scenario, day)
    shown = ask(folder, "memory_usage", day, show="ranks")
    for capture in captures:
        own = shown[f"device{capture.origin.rank}"]
        lines = memory_of(capture)
        (graph,) = own["details"].values()
        assert [round(one * 2**30) for one in graph["lines"]] == lines
        assert round(own["summary"]["peak_mem"] * 2**30) == max(lines)
        assert len(graph["nodes"]) == len(lines)


def advice(folder: Path) -> dict[str, Any]:
    found = compose(open_folder(folder, of_all_ranks=True), ["parallel"])
    assert dict(found.skipped) == {}
    return {one.rule.proposal: dict(one.numbers) for one in found.advice}


WAITING = "much_communication_of_data"
"""What follows where ranks wait for a slow one: they communicate longer."""

OF_MODELS = "much_communication_of_models"

FAULTS: dict[str, tuple[FaultChoice | None, set[str], dict[str, Any]]] = {
    "nothing": (None, set(), {}),
    "slow link": (
        FaultChoice("slow-link", link=(1, 2), factor=1500),
        {"slow_link"},
        {"src_rank": 1, "des_rank": 2, "link_type": "SDMA"},
    ),
    "slow rank": (
        FaultChoice("slow-rank", ranks=(2,), factor=1500),
        {"slow_rank", WAITING},
        {"rank_id": 2},
    ),
    "slow start": (
        FaultChoice("data-loading-stall", ranks=(1,), milliseconds=8),
        {"slow_start", WAITING},
        {"rank_id": 1},
    ),
}


@pytest.mark.parametrize("name", some(FAULTS, every=2))
def test_m83_the_rank_or_link_with_a_fault_is_named_and_no_other(name: str, tmp_path: Path) -> None:
    fault, rules, where = FAULTS[name]
    scenario = EVEN if fault is None else replace(EVEN, faults=(fault,))
    found = advice(parsed(tmp_path, scenario, "2023-07-02"))
    assert found.keys() == rules
    for rule in rules - {WAITING}:
        numbers = found[rule]
        if rule == "slow_link":
            ends = {numbers["src_rank"], numbers["des_rank"]}
            assert (ends, numbers["link_type"]) == ({1, 2}, where["link_type"])
        else:
            assert numbers["rank_id"] == where["rank_id"]


@pytest.mark.parametrize(("vocabulary", "is_large"), [(1000, False), (16_000, True)])
def test_m83_a_stage_that_computes_more_than_others_is_named(
    vocabulary: int, is_large: bool, tmp_path: Path
) -> None:
    scenario = replace(STAGES, model=replace(STAGES.model, vocabulary=vocabulary))
    found = advice(parsed(tmp_path, scenario, "2023-07-02", "pipeline-parallel", 4))
    assert ("large_stage" in found) == is_large
    assert not is_large or found["large_stage"]["stage"] == 4
    assert {"much_between_stages", "much_within_stage"} <= found.keys()


def test_m83_ranks_that_communicate_much_are_named_by_the_way_they_work(tmp_path: Path) -> None:
    scenario = replace(EVEN, model=replace(EVEN.model, batch=32))
    run = write_run(scenario, 5, tmp_path / "raw", ("mindspore-raw",), generation="G3").folder
    modes: dict[ParallelMode, str] = {"data-parallel": WAITING, "model-parallel": OF_MODELS}
    for mode, rule in modes.items():
        parse(run, tmp_path / mode, "G3", shared=Shared(mode))
        assert advice(tmp_path / mode).keys() == {rule}


def test_m83_every_rule_of_ranks_has_its_runs() -> None:
    named = {rule for _, rules, _ in FAULTS.values() for rule in rules}
    named |= {OF_MODELS, "large_stage", "much_between_stages", "much_within_stage"}
    rules = mindspore_catalog().proposals.values()
    assert named == {one.proposal for one in rules if one.proposer == "parallel"}


def test_m62_stages_show_what_they_receive(tmp_path: Path) -> None:
    folder = parsed(tmp_path, STAGES, "2022-03-01", "pipeline-parallel", 4)
    for rank in range(4):
        (path,) = folder.glob(f"ascend_cluster_analyse_pipeline-parallel_4_4_{rank}.csv")
        header, *lines = path.read_text().split()
        names = header.split(",")
        for line in lines:
            row = dict(zip(names, map(float, line.split(",")), strict=True))
            step = row["computation_time"] + row["communication_alone_time"]
            whole = row["stage_time"] + row["receive_alone_time"]
            assert step == pytest.approx(whole, abs=0.0003)
            parts = row["receive_alone_time"], row["collective_communication_alone_time"]
            assert max(parts) <= row["communication_alone_time"] + 0.0002 <= sum(parts) + 0.002


@pytest.mark.parametrize("mode", ["data-parallel", "pipeline-parallel"])
def test_m62_two_jobs_of_one_rank_are_refused(mode: ParallelMode, tmp_path: Path) -> None:
    run = write_run(SMALL, 5, tmp_path / "raw", ("mindspore-raw",), generation="G3").folder
    first = sorted(run.glob("PROF_*"))[0]
    first.rename(run / "rank_1")
    found: Sequence[str] = []
    with pytest.raises(Exception, match="expected") as raised:
        parse(run, tmp_path / "parsed", shared=Shared(mode, 1))
    found = [str(raised.value)]
    assert "rank 1" in found[0]
    assert not (tmp_path / "parsed").exists()
