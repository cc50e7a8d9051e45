"""Every fault is in the databases, where truth.json says and nowhere else, as large as it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from faults_by_hand import (
    Pair,
    Run,
    added,
    assert_only,
    longer,
    named,
    places_hit,
    scenario_of,
    small_transformer,
    step_of,
)

from ascend_simulator.choices import (
    FaultChoice,
    HardwareChoice,
)

TICK = 20
SIZES = {"1 rank": (1, 2), "2 ranks": (2, 0), "8 ranks": (8, 1)}
"""Ranks and level."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(size, marks=() if name == "2 ranks" else pytest.mark.exhaustive, id=name)
        for name, size in SIZES.items()
    ],
)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(scenario_of(*request.param), tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(small_transformer(4, pipeline=2), tmp_path_factory.mktemp("pipeline"))


def of_named(run: Run, what: str) -> Counter[tuple[int, int]]:
    """How many there are at each (rank, step) that the only fault names."""
    found: Counter[tuple[int, int]] = Counter()
    for rank, step in named(run.faults[0]):
        _, start, end = next(row for row in run.ranks[rank].steps() if row[0] == step)
        rows = getattr(run.ranks[rank], what)()
        found[rank, step] = sum(start <= row[0] < end for row in rows.values())
    return found


def assert_factor(before: int, after: int, factor: float) -> None:
    assert abs(after - factor * before) <= TICK * (factor + 1) + 2


@pytest.mark.parametrize("kind", ["slow-rank", "ai-cpu-straggler"])
def test_slow_kernels(pair: Pair, kind: str) -> None:
    fault = FaultChoice(kind, ranks=(pair.last,), steps=(7, 8), factor=2500)  # type: ignore[arg-type]
    faulty = pair.run(fault)
    (told,) = faulty.faults
    assert_only(pair.healthy, faulty, "kernels")
    found = longer(pair.healthy, faulty, "kernels")
    if kind == "slow-rank":
        assert places_hit(found) == of_named(faulty, "kernels")
    else:
        cpu = Counter(
            (pair.last, step_of(rank, start))
            for rank in [faulty.ranks[pair.last]]
            for (on_cpu, *_), (start, _) in rank.kernels().items()
            if on_cpu
        )
        assert places_hit(found) == {at: cpu[at] for at in named(told)}
        assert all(key[0] for _, _, key in found)
    assert told["effect"]["factor"] == 2.5
    for before, after in found.values():
        assert_factor(before, after, 2.5)
    assert added(found) == told["effect"]["extra_ns"] > 0


def test_throttled_kernels(pair: Pair) -> None:
    faulty = pair.run(
        FaultChoice("frequency-throttling", ranks=(pair.last,), steps=(7, 8), frequency=900)
    )
    (told,) = faulty.faults
    assert_only(pair.healthy, faulty, "kernels")
    found = longer(pair.healthy, faulty, "kernels")
    assert set(places_hit(found)) == named(told)
    assert not any(key[0] for _, _, key in found)
    most = told["effect"]["nominal_mhz"] / told["effect"]["frequency_mhz"]
    assert all(before < after <= most * before + 3 * TICK for before, after in found.values())
    assert added(found) == told["effect"]["extra_ns"] > 0
    for number, rank in enumerate(faulty.ranks):
        clocks = rank.rows("SELECT timestampNs, freq FROM AICORE_FREQ ORDER BY 1")
        changes = [(time, clock) for (_, old), (time, clock) in pairwise(clocks) if old != clock]
        spans = [one for one in told["intervals"] if one["rank"] == number]
        assert clocks[0][1] == told["effect"]["nominal_mhz"]
        for span in spans:
            assert changes[0] == (span["start_ns"], 900)
            _, following, _ = next(row for row in rank.steps() if row[1] >= span["end_ns"])
            assert changes[1:] == [(following, told["effect"]["nominal_mhz"])]
        assert spans or not changes


def test_slow_launches(pair: Pair) -> None:
    faulty = pair.run(
        FaultChoice("host-bound-launch", ranks=(pair.last,), steps=(7, 8), factor=3000)
    )
    (told,) = faulty.faults
    assert_only(pair.healthy, faulty, "launches")
    found = longer(pair.healthy, faulty, "launches")
    assert places_hit(found) == of_named(faulty, "launches")
    assert all(abs(after - 3 * before) <= 12 for before, after in found.values())
    assert told["effect"] == {"factor": 3.0}


def test_stalled_loading(pair: Pair) -> None:
    faulty = pair.run(
        FaultChoice("data-loading-stall", ranks=(pair.last,), steps=(7, 8), milliseconds=7)
    )
    (told,) = faulty.faults
    assert_only(pair.healthy, faulty)
    extra = 0
    for number, (one, other) in enumerate(zip(pair.healthy.ranks, faulty.ranks, strict=True)):
        assert len(one.loadings()) == len(other.loadings()) > 0
        for before, after in zip(one.loadings(), other.loadings(), strict=True):
            hit = (number, step_of(other, after[0])) in named(told)
            lost = after[1] - after[0] - before[1] + before[0]
            assert lost == (told["effect"]["length_ns"] if hit else 0)
            extra += lost
    assert extra == told["effect"]["extra_ns"] == 2 * 7_000_000


def test_collected_garbage(pair: Pair) -> None:
    faulty = pair.run(FaultChoice("gc-pause", ranks=(pair.last,), steps=(7, 8), milliseconds=7))
    (told,) = faulty.faults
    assert_only(pair.healthy, faulty)
    found = {
        (number, step_of(rank, start)): end - start
        for number, rank in enumerate(faulty.ranks)
        for start, end in rank.of("GC_RECORD", "SELECT startNs, endNs FROM GC_RECORD")
    }
    assert found == dict.fromkeys(named(told), told["effect"]["length_ns"])
    assert sum(found.values()) == told["effect"]["extra_ns"]
    assert not any("GC_RECORD" in rank.tables for rank in pair.healthy.ranks)


def test_retried_communication(pair: Pair) -> None:
    if not pair.last:
        pytest.skip("nobody to communicate with")
    faulty = pair.run(
        FaultChoice("communication-retry", ranks=(pair.last,), steps=(7, 8), milliseconds=2)
    )
    assert_retries(pair.healthy, faulty)


def assert_retries(healthy: Run, faulty: Run) -> None:
    (told,) = faulty.faults
    assert_only(healthy, faulty, "motions")
    found = longer(healthy, faulty, "motions")
    assert set(places_hit(found)) == named(told)
    assert {after - before for before, after in found.values()} == {told["effect"]["length_ns"]}
    assert added(found) == told["effect"]["extra_ns"]
    for number, rank in enumerate(faulty.ranks):
        marked = [
            step_of(rank, start)
            for (start,) in rank.rows("SELECT startNs FROM COMMUNICATION_OP WHERE retry = 1")
        ]
        assert marked == sorted(step for rank, step in named(told) if rank == number)


def test_a_retry_hits_a_rank_that_first_receives(pipeline: Pair) -> None:
    """Rank 3 of the last stage receives before it sends; the retry hits what it then sends."""
    assert_retries(
        pipeline.healthy,
        pipeline.run(FaultChoice("communication-retry", ranks=(3,), steps=(7, 7), milliseconds=2)),
    )


def test_a_slow_link(pair: Pair) -> None:
    if not pair.last:
        pytest.skip("no links")
    assert_slow_link(pair)


def assert_slow_link(pair: Pair) -> None:
    faulty = pair.run(FaultChoice("slow-link", link=(pair.last, 0), steps=(7, 8), factor=4000))
    (told,) = faulty.faults
    assert told["ranks"] == [0, pair.last]
    assert_only(pair.healthy, faulty, "motions")
    found = longer(pair.healthy, faulty, "motions")
    assert set(places_hit(found)) == named(told)
    for before, after in found.values():
        assert_factor(before, after, 4)
    assert added(found) == told["effect"]["extra_ns"] > 0
    if pair.scenario.capture.level:
        ends = {0: f"0>{pair.last}:", pair.last: f"{pair.last}>0:"}
        assert all(key[0].startswith(ends[rank]) for rank, _, key in found)
        for number, rank in enumerate(faulty.ranks):
            moving = [
                key
                for key, (start, _) in rank.motions().items()
                if key[0].startswith(ends.get(number, "none")) and not key[0].endswith(":0")
                if (number, step_of(rank, start)) in named(told)
            ]
            assert {key for at, _, key in found if at == number} == set(moving)


def test_a_slow_link_between_hosts(tmp_path: Path) -> None:
    scenario = replace(small_transformer(2), hardware=HardwareChoice(devices_per_host=1))
    assert_slow_link(Pair(scenario, tmp_path))


def test_leaked_memory(pair: Pair) -> None:
    faulty = pair.run(FaultChoice("memory-leak", ranks=(pair.last,), steps=(7, 8), megabytes=13))
    (told,) = faulty.faults
    assert_only(pair.healthy, faulty)
    size = told["effect"]["bytes_per_step"]
    assert size == 13 << 20
    query = "SELECT allocationTime, size FROM OP_MEMORY WHERE releaseTime IS NULL"
    for number, (one, other) in enumerate(zip(pair.healthy.ranks, faulty.ranks, strict=True)):
        hit = [step for rank, step in sorted(named(told)) if rank == number]
        held = one.rows(query)  # gradients and the last loss, until the next step
        assert set(held) <= set(other.rows(query))
        kept = sorted(set(other.rows(query)) - set(held))
        assert [(step_of(other, time), length) for time, length in kept] == [
            (step, size) for step in hit
        ]
        for (step, _, end), (_, _, before) in zip(other.steps(), one.steps(), strict=True):
            lost = size * sum(leak <= step for leak in hit)
            assert other.held(end)[0] == one.held(before)[0] + lost


def test_fragmented_memory(pair: Pair) -> None:
    """Whole segments of 2 MiB are useless, so 3 MiB are 4."""
    faulty = pair.run(
        FaultChoice("fragmentation", ranks=(pair.last,), steps=(7, 8), megabytes=3),
        FaultChoice("fragmentation", ranks=(pair.last,), steps=(8, 8), megabytes=5),
    )
    assert_only(pair.healthy, faulty)
    sizes = [told["effect"]["bytes_per_step"] for told in faulty.faults]
    assert sizes == [4 << 20, 6 << 20]
    for number, (one, other) in enumerate(zip(pair.healthy.ranks, faulty.ranks, strict=True)):
        for (step, _, end), (_, _, before) in zip(other.steps(), one.steps(), strict=True):
            lost = sum(
                size
                for told, size in zip(faulty.faults, sizes, strict=True)
                for rank, hit in named(told)
                if rank == number and hit <= step
            )
            allocated, reserved = one.held(before)
            assert other.held(end) == (allocated, reserved + lost)


def test_lost_samples(pair: Pair) -> None:
    stall = FaultChoice("data-loading-stall", milliseconds=30)
    plain = pair.run(stall)
    lost = FaultChoice("lost-samples", ranks=(pair.last,), steps=(7, 8), sampler="HBM")
    faulty = pair.run(stall, lost)
    told = faulty.faults[1]
    assert told["effect"] == {"table": "HBM"}
    for number, (one, other) in enumerate(zip(plain.ranks, faulty.ranks, strict=True)):
        spans = [span for span in told["intervals"] if span["rank"] == number]
        assert one.content(without=["HBM"]) == other.content(without=["HBM"])
        query = "SELECT timestampNs, hbmId, type FROM HBM ORDER BY 1, 2, 3"
        before, after = one.rows(query), other.rows(query)
        kept = [
            row
            for row in before
            if not any(span["start_ns"] <= row[0] < span["end_ns"] for span in spans)
        ]
        assert after == kept
        assert len(before) - len(kept) >= 8 * len(spans)


def test_a_session_without_end(pair: Pair) -> None:
    faulty = pair.run(FaultChoice("abnormal-end", ranks=(pair.last,)))
    (told,) = faulty.faults
    assert (told["ranks"], told["effect"]) == ([pair.last], {})
    ends = [totals["session_end_ns"] for totals in faulty.truth["totals"]]
    plain = [totals["session_end_ns"] for totals in pair.healthy.truth["totals"]]
    assert ends == [*plain[:-1], -1]
    for one, other in zip(pair.healthy.ranks[:-1], faulty.ranks[:-1], strict=True):
        assert one.content() == other.content()
    changed = ["SESSION_TIME_INFO", "AICORE_FREQ"]
    last = [run.ranks[-1].content(without=changed) for run in (pair.healthy, faulty)]
    assert last[0] == last[1]
    rows = [
        run.ranks[-1].rows("SELECT * FROM AICORE_FREQ ORDER BY timestampNs")
        for run in (pair.healthy, faulty)
    ]
    assert rows[1] == rows[0][:-1]


def test_a_skewed_clock(pair: Pair) -> None:
    """Every time in every table is later by so much, and nothing else is different."""
    faulty = pair.run(
        FaultChoice("clock-skew", ranks=(pair.last,), milliseconds=900),
        FaultChoice("clock-skew", milliseconds=50),
    )
    ahead = [0] * (pair.last + 1)
    for told in faulty.faults:
        for rank in told["ranks"]:
            ahead[rank] += told["effect"]["ahead_ns"]
    assert ahead == [50_000_000] * pair.last + [950_000_000]
    totals = zip(pair.healthy.truth["totals"], faulty.truth["totals"], strict=True)
    for number, (one, other) in enumerate(totals):
        assert other["session_start_ns"] - one["session_start_ns"] == ahead[number]
        for name in ("operators", "groups", "tasks", "host_calls"):
            assert one[name] == other[name]
    for number, (healthy, rank) in enumerate(zip(pair.healthy.ranks, faulty.ranks, strict=True)):
        assert rank.content(ahead[number]) == healthy.content()
