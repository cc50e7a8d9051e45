"""msprof-analyze accepts simulated runs of 8 ranks, and finds the faults where they were put."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from consumer_faults import (
    Faults,
    bottleneck_ranks,
    slow_operators,
    slowest_links,
)
from consumer_ranks import ranks_of, rows
from consumer_row_11 import ROW_11_MODES, check_row_11
from consumer_rows import (
    ROW_2,
    ROW_9_MODES,
    check_row_1,
    check_row_2,
    check_row_7,
    check_row_8,
    check_row_9,
)
from consumer_scenarios import (
    DATA_PARALLEL,
    FAULTS,
    HEALTHY,
    LINK,
    SLOW,
    THROTTLED,
    truth_of,
)
from slices import some

from ascend_simulator.run import write_run


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(HEALTHY, 0, tmp_path_factory.mktemp("healthy") / "run").folder


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("faulty")
    return {
        name: write_run(replace(DATA_PARALLEL, faults=(fault,)), 0, folder / name).folder
        for name, fault in FAULTS.items()
    }


@pytest.mark.exhaustive
def test_row_1_is_steps_and_communication(healthy: Path, tmp_path: Path) -> None:
    verdict = check_row_1(healthy, tmp_path)
    assert verdict.differences == []
    found = verdict.runs["all"].database
    for totals in truth_of(healthy)["totals"]:
        steps = rows(
            found,
            "SELECT computing, communication, communication_not_overlapped, free "
            "FROM ClusterStepTraceTime WHERE type = 'rank' AND \"index\" = ? ORDER BY step",
            (str(totals["rank"]),),
        )
        names = ("computing", "communication", "communication_not_overlapped", "free")
        expected = [tuple(step[f"{name}_ns"] / 1000 for name in names) for step in totals["steps"]]
        assert [tuple(step) for step in steps] == [pytest.approx(step) for step in expected]


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", some(ROW_2, every=3))
def test_row_2_is_sums_per_operator(healthy: Path, tmp_path: Path, mode: str) -> None:
    verdict = check_row_2(healthy, tmp_path, mode)
    assert verdict.differences == []
    found = verdict.runs[mode].database
    for totals in truth_of(healthy)["totals"]:
        if mode == "compute_op_sum":
            sql = (
                'SELECT sum("Count"), sum(SumNs) FROM ComputeOpPerRankStatsByOpName WHERE Rank = ?'
            )
            operators = totals["operators"]
            count = sum(operator["count"] for operator in operators)
            time = sum(operator["time_ns"] for operator in operators)
            assert rows(found, sql, (totals["rank"],)) == [(count, time)]
        elif mode == "hccl_sum":
            count = sum(group["operators"] for group in totals["groups"])
            sql = 'SELECT sum("Count") FROM HcclPerRankStats WHERE Rank = ?'
            assert rows(found, sql, (totals["rank"],)) == [(count,)]
        else:
            sql = "SELECT sum(totalCount) FROM CannApiSumRank WHERE rank = ?"
            assert rows(found, sql, (totals["rank"],)) == [(totals["host_calls"],)]


@pytest.mark.exhaustive
def test_row_7_is_compare(healthy: Path, tmp_path: Path) -> None:
    assert check_row_7(healthy, tmp_path).differences == []


@pytest.mark.exhaustive
def test_row_8_is_advisor(healthy: Path, tmp_path: Path) -> None:
    assert check_row_8(healthy, tmp_path).differences == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", some(ROW_9_MODES, every=6))
def test_row_9_is_recipes(healthy: Path, tmp_path: Path, mode: str) -> None:
    assert check_row_9(healthy, tmp_path, mode).differences == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", some(ROW_11_MODES, every=len(ROW_11_MODES)))
def test_row_11_is_recipes_without_a_real_file(healthy: Path, tmp_path: Path, mode: str) -> None:
    assert check_row_11(healthy, tmp_path, mode).differences == []


@pytest.mark.exhaustive
def test_slow_rank_names_the_slow_rank(faulty: dict[str, Path], tmp_path: Path) -> None:
    run = faulty["slow-rank"]
    verdict = check_row_9(run, tmp_path, "slow_rank", Faults(slow={SLOW}))
    assert verdict.differences == []
    (fault,) = truth_of(run)["faults"]
    operators = slow_operators(verdict.runs["slow_rank"])
    (interval,) = fault["intervals"]
    assert all(interval["start_ns"] <= start <= interval["end_ns"] for start, _, _ in operators)


@pytest.mark.exhaustive
def test_the_slow_rank_communicates_shortest_and_is_the_bottleneck(
    faulty: dict[str, Path], tmp_path: Path
) -> None:
    run = faulty["slow-rank"]
    verdict = check_row_1(run, tmp_path)
    assert verdict.differences == []
    sql = (
        "SELECT rank_id FROM ClusterCommunicationTime WHERE hccl_op_name <> 'Total Op Info' "
        "GROUP BY rank_id ORDER BY sum(elapsed_time) LIMIT 1"
    )
    assert rows(verdict.runs["all"].database, sql) == [(SLOW,)]
    bottleneck = check_row_9(run, tmp_path, "communication_bottleneck")
    assert bottleneck.differences == []
    found = bottleneck_ranks(bottleneck.runs["communication_bottleneck"])
    assert found.most_common(1)[0][0] == SLOW


@pytest.mark.campaign
def test_the_slow_link_has_the_least_bandwidth(faulty: dict[str, Path], tmp_path: Path) -> None:
    verdict = check_row_1(faulty["slow-link"], tmp_path)
    assert verdict.differences == []
    slowest = slowest_links(verdict.runs["all"])[:2]
    assert {tuple(sorted(link[:2])) for link in slowest} == {LINK}


@pytest.mark.campaign
def test_freq_analysis_names_the_throttled_rank(faulty: dict[str, Path], tmp_path: Path) -> None:
    """The tool gives no interval: AICORE_FREQ itself has it, and it is that of the truth."""
    run = faulty["throttling"]
    verdict = check_row_9(run, tmp_path, "freq_analysis", Faults(throttled={THROTTLED}))
    assert verdict.differences == []
    (fault,) = truth_of(run)["faults"]
    (rank,) = (rank for rank in ranks_of(run) if rank.number == THROTTLED)
    changes = rows(rank.profiler, "SELECT timestampNs, freq FROM AICORE_FREQ ORDER BY timestampNs")
    slow = [moment for moment, frequency in changes if frequency == 1200]
    back = [moment for moment, frequency in changes if frequency == 1800 and moment > slow[0]]
    (interval,) = fault["intervals"]
    assert slow[0] == interval["start_ns"]
    assert slow[-1] <= interval["end_ns"] <= back[0]
