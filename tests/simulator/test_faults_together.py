"""Faults at once: what each costs together with the others, and what none of them may change."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from faults_by_hand import (
    NONE,
    Pair,
    Rank,
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
from jsonschema import Draft202012Validator
from slices import some

from ascend_simulator.choices import LOSSES, FaultChoice, FaultKind, Schedule
from ascend_simulator.truth import schema

OVERLAPPING = (
    FaultChoice("slow-rank", steps=(6, 8), factor=2000),
    FaultChoice("slow-rank", ranks=(1,), steps=(7, 9), factor=1500),
    FaultChoice("frequency-throttling", ranks=(1,), steps=(7, 8), frequency=900),
    FaultChoice("frequency-throttling", ranks=(1,), steps=(8, 9), frequency=1200),
    FaultChoice("ai-cpu-straggler", ranks=(1,), factor=3000),
    FaultChoice("slow-link", link=(0, 1), factor=3000),
    FaultChoice("slow-link", link=(1, 0), steps=(7, 8), factor=2000),
    FaultChoice("communication-retry", steps=(7, 7), milliseconds=3),
    FaultChoice("communication-retry", ranks=(1,), steps=(7, 8), milliseconds=2),
    FaultChoice("data-loading-stall", ranks=(1,), steps=(7, 7), milliseconds=3),
    FaultChoice("data-loading-stall", ranks=(1,), steps=(6, 7), milliseconds=2),
    FaultChoice("gc-pause", ranks=(1,), steps=(7, 7), milliseconds=3),
    FaultChoice("gc-pause", steps=(7, 8), milliseconds=2),
    FaultChoice("host-bound-launch", ranks=(0,), factor=1500),
    FaultChoice("clock-skew", ranks=(1,), milliseconds=5),
)
OF_WHAT = {
    "slow-rank": "kernels",
    "frequency-throttling": "kernels",
    "ai-cpu-straggler": "kernels",
    "slow-link": "motions",
    "communication-retry": "motions",
}


@pytest.mark.exhaustive
def test_faults_add_up(tmp_path: Path) -> None:
    """Each costs what the run without it does not; two of a kind do not hide each other."""
    pair = Pair(scenario_of(2, 1), tmp_path)
    together = pair.run(*OVERLAPPING)
    for place, fault in enumerate(OVERLAPPING):
        told = together.faults[place]
        if fault.kind in OF_WHAT:
            without = pair.run(*OVERLAPPING[:place], *OVERLAPPING[place + 1 :])
            what = OF_WHAT[fault.kind]
            assert_only(without, together, what)
            found = longer(without, together, what)
            assert added(found) == told["effect"]["extra_ns"] > 0, fault
            assert set(places_hit(found)) <= named(told)
    for number, rank in enumerate(together.ranks):
        pauses = Counter(
            {
                step_of(rank, start): end - start
                for start, end in rank.rows("SELECT startNs, endNs FROM GC_RECORD")
            }
        )
        expected: Counter[int] = Counter()
        for told in together.faults:
            if told["kind"] == "gc-pause" and number in told["ranks"]:
                for step in range(told["steps"][0], told["steps"][1] + 1):
                    expected[step] += told["effect"]["length_ns"]
        assert pauses == expected
    alone = [end - start for start, end in pair.healthy.ranks[1].loadings()]
    stalls = [
        end - start - usual
        for (start, end), usual in zip(together.ranks[1].loadings(), alone, strict=True)
    ]
    assert stalls == [2_000_000, 5_000_000, 0, 0]


def test_the_schema_knows_the_size_of_each_kind(tmp_path: Path) -> None:
    """No member of an effect may be missing, and none of another kind be there."""
    truth = (
        Pair(scenario_of(2, 1), tmp_path)
        .run(
            *OVERLAPPING,
            FaultChoice("memory-leak"),
            FaultChoice("fragmentation"),
            FaultChoice("lost-samples"),
            FaultChoice("abnormal-end"),
        )
        .truth
    )
    assert len({told["kind"] for told in truth["faults"]}) == len(
        {*get_args(FaultKind)} - {*LOSSES}
    )
    truth["totals"] = []
    form = Draft202012Validator(schema())
    assert form.is_valid(truth)
    for told in truth["faults"]:
        size = told["effect"]
        wrong = [{**size, "size": 1}, *({**size, name: "much"} for name in size if name != "table")]
        wrong += [{other: size[other] for other in size if other != name} for name in size]
        for effect in wrong:
            told["effect"] = effect
            assert not form.is_valid(truth)
        told["effect"] = size


def test_no_effect_is_told_as_none(tmp_path: Path) -> None:
    """A straggler without AI CPU operators, a link that nobody uses."""
    pair = Pair(small_transformer(4, pipeline=2), tmp_path)
    faulty = pair.run(
        FaultChoice("ai-cpu-straggler", factor=3000), FaultChoice("slow-link", link=(0, 3))
    )
    assert [told["effect"]["extra_ns"] for told in faulty.faults] == [0, 0]
    assert [rank.content() for rank in faulty.ranks] == [
        rank.content() for rank in pair.healthy.ranks
    ]


WAITS = """
    SELECT value, notifyId, o.groupName, srcRank, dstRank, startNs - :ahead, endNs - :ahead
    FROM COMMUNICATION_TASK_INFO o JOIN TASK USING (globalTaskId)
    JOIN STRING_IDS ON STRING_IDS.id = o.taskType
    WHERE value IN ('Notify_Record', 'Notify_Wait') ORDER BY startNs, globalTaskId
"""
EARLY = """
    SELECT count(*) FROM TASK JOIN (
        SELECT connectionId, min(startNs) AS called FROM CANN_API GROUP BY 1
    ) USING (connectionId) WHERE startNs < called
"""


@pytest.mark.parametrize("split", some([{}, {"pipeline": 2}, {"tensor": 2}], every=3), ids=str)
def test_causes_come_first(split: dict[str, int], tmp_path: Path) -> None:
    """No wait ends before its record once the skew of the truth is undone, nor a task before its
    call, under all faults at once."""
    scenario = replace(small_transformer(4, **split), schedule=Schedule(first=5, active=4))
    run = Run(replace(scenario, faults=OVERLAPPING), tmp_path / "run")
    told: dict[object, list[int]] = defaultdict(list)
    heard: dict[object, list[int]] = defaultdict(list)
    for number, rank in enumerate(run.ranks):
        assert rank.rows(EARLY) == [(0,)]
        ahead = sum(
            fault["effect"]["ahead_ns"]
            for fault in run.faults
            if fault["kind"] == "clock-skew" and number in fault["ranks"]
        )
        groups = dict(rank.rows("SELECT id, value FROM STRING_IDS"))
        for kind, notify, group, source, target, _, end in rank.rows(WAITS, {"ahead": ahead}):
            ends = (source, target) if kind == "Notify_Record" else (target, source)
            (told if kind == "Notify_Record" else heard)[groups[group], notify, ends].append(end)
    assert told.keys() == heard.keys()
    assert len(told) > 8
    for key, records in told.items():
        assert len(records) == len(heard[key])
        assert all(
            record <= wait for record, wait in zip(sorted(records), sorted(heard[key]), strict=True)
        )


def bytes_per_peer(rank: Rank) -> Counter[tuple[str, int, int]]:
    """Byte by group and both ends."""
    query = f"""
        SELECT value, srcRank, dstRank, sum(size) FROM COMMUNICATION_TASK_INFO
        JOIN STRING_IDS ON STRING_IDS.id = groupName
        WHERE dstRank NOT IN (srcRank, {NONE}) GROUP BY 1, 2, 3
    """
    return Counter({(group, one, other): size for group, one, other, size in rank.rows(query)})


def test_faults_move_no_byte(tmp_path: Path) -> None:
    pair = Pair(scenario_of(2, 1), tmp_path)
    faulty = pair.run(*OVERLAPPING)
    for one, other in zip(pair.healthy.ranks, faulty.ranks, strict=True):
        assert bytes_per_peer(one) == bytes_per_peer(other)
