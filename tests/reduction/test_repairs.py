"""Repairs: which changes lead to a copy that shows nothing forbidden, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

import numpy as np
import pytest

from ascend_conformance.reduction.items import Items
from ascend_conformance.reduction.reducible import Flags, Integers
from ascend_conformance.reduction.repairs import (
    MOST_CHANGES,
    MOST_ROWS,
    MOST_WITH_LITTLE,
    Attempt,
    Repairs,
)
from ascend_conformance.reduction.surroundings import Surroundings

Shown = tuple[Mapping[str, str], Sequence[int]]
"""Findings by their names, with their words, and the rows that they point at."""

NOTHING: Shown = {}, []

DIRECTED = 25
"""Copies after which what findings point at and name was tried."""


class Profile:
    """Items of a profile whose copies show what a function says."""

    def __init__(self, items: Items, shows: Callable[[Flags], Shown | None]) -> None:
        self.items, self.shows = items, shows
        self.by_all: Callable[[Flags], Shown | None] = shows
        self.broken: Set[str] = frozenset()
        self.asked: list[Flags] = []
        self.repairs = Repairs(
            items,
            Surroundings(items),
            self._judge,
            self._judge_by_all,
            lambda rules: rules & self.broken,
        )

    def _judge(self, kept: Flags) -> Attempt | None:
        kept = self.items.whole(kept)
        self.asked.append(kept)
        return self._attempt(kept, self.shows(kept))

    def _judge_by_all(self, kept: Flags) -> Attempt:
        found = self._attempt(kept, self.by_all(kept))
        assert found is not None
        return found

    def _attempt(self, kept: Flags, shown: Shown | None) -> Attempt | None:
        if shown is None:
            return None
        return Attempt(kept, shown[0], np.array(sorted(shown[1]), np.int64))

    def attempt(self, kept: Flags) -> Attempt:
        """What a copy to begin with shows."""
        found = self._attempt(kept, self.shows(kept))
        assert found is not None
        return found

    def cleanest(self, *starts: Flags) -> Attempt:
        found = self.repairs.cleanest([self.attempt(one) for one in starts])
        assert found is not None
        return found


def part(items: Items, name: str) -> int:
    return items.bounds[0].parts + list(items.files[0].parts).index(name)


def with_only(items: Items, rows: Integers | Sequence[int]) -> Flags:
    """Some rows of the database, with what they refer to."""
    return items.with_rows(np.zeros(items.count, np.bool_), np.array(rows, np.int64))


def kernel_task(items: Items) -> int:
    """A task in the middle, which a kernel describes."""
    kernels = items.parts[part(items, "COMPUTE_TASK_INFO")]
    tied = items.tied_to(kernels[len(kernels) // 2][None])
    return int(np.intersect1d(tied, items.parts[part(items, "TASK")])[0])


ADDED: Mapping[str, Callable[[Items, Surroundings, Integers], Integers]] = {
    "tied": lambda items, _, rows: items.tied_to(rows),
    "before": lambda _, surroundings, rows: surroundings.before(rows),
    "near": lambda _, surroundings, rows: surroundings.near(rows),
    "around": lambda _, surroundings, rows: surroundings.around(rows),
    "bounds": lambda items, surroundings, rows: surroundings.bounds(int(items.holder[rows[0]])),
}


@pytest.mark.parametrize("needed", ADDED)
def test_what_surrounds_the_rows_that_findings_point_at_is_added(needed: str, items: Items) -> None:
    task = np.array([kernel_task(items)])
    rows = ADDED[needed](items, Surroundings(items), task)
    assert len(rows) > len(task)

    def shows(kept: Flags) -> Shown | None:
        return NOTHING if kept[rows].all() else ({"R1@task 0": ""}, task.tolist())

    profile = Profile(items, shows)
    assert profile.cleanest(with_only(items, task)).unwanted == {}
    assert len(profile.asked) <= DIRECTED


@pytest.mark.parametrize("needed", ["tied", "before"])
def test_what_surrounds_one_of_several_rows_is_added_alone(needed: str, items: Items) -> None:
    """What the other row is tied to would be one too many."""
    task = kernel_task(items)
    calls = items.parts[part(items, "CANN_API")]
    other = int(calls[np.argsort(items.times[calls])[2]])
    surroundings = Surroundings(items)
    rows, others = (ADDED[needed](items, surroundings, np.array([one])) for one in (task, other))
    too_many = np.setdiff1d(others, np.append(rows, other))
    assert len(too_many)
    start = with_only(items, [task, other])
    too_many = too_many[~start[too_many]]

    def shows(kept: Flags) -> Shown | None:
        is_clean = kept[rows].all() and not kept[too_many].any()
        return NOTHING if is_clean else ({"R1@task 0": ""}, [task, other])

    profile = Profile(items, shows)
    assert profile.cleanest(start).unwanted == {}
    assert len(profile.asked) <= DIRECTED


def test_rows_that_findings_point_at_are_left_out_together_and_alone(items: Items) -> None:
    tasks = items.parts[part(items, "TASK")]
    for gone in (tasks[1:3], tasks[1:2], tasks[2:3]):

        def shows(kept: Flags, gone: Integers = gone) -> Shown | None:
            if not kept[tasks[0]] or not kept[np.setdiff1d(tasks[1:3], gone)].all():
                return None
            found = tasks[1:3][kept[tasks[1:3]]].tolist()
            return ({"R1@task 0": ""}, found) if kept[gone].any() else NOTHING

        profile = Profile(items, shows)
        found = profile.cleanest(with_only(items, tasks[:3]))
        assert found.unwanted == {}
        assert not found.items[gone].any()
        assert len(profile.asked) <= DIRECTED


def test_a_row_of_the_same_part_as_what_findings_point_at_is_left_out(items: Items) -> None:
    tasks = items.parts[part(items, "TASK")][:3]

    def shows(kept: Flags) -> Shown | None:
        if not kept[tasks[[0, 2]]].all():
            return None
        return ({"R1@task 0": ""}, [int(tasks[0])]) if kept[tasks[1]] else NOTHING

    profile = Profile(items, shows)
    assert profile.cleanest(with_only(items, tasks)).unwanted == {}
    assert len(profile.asked) <= DIRECTED


def test_tables_that_findings_name_are_added_together(items: Items) -> None:
    """As long as one of them is missing, another copy shows no less."""
    names = ["NPU_INFO", "HOST_INFO", "STEP_TIME"]
    parts = [part(items, name) for name in names]

    def shows(kept: Flags) -> Shown | None:
        missing = [name for name, one in zip(names, parts, strict=True) if not kept[one]]
        return ({"R1@tables 0": f"expected {', '.join(names)}"}, []) if missing else NOTHING

    profile = Profile(items, shows)
    assert profile.cleanest(with_only(items, [kernel_task(items)])).unwanted == {}
    assert len(profile.asked) <= 3


def test_a_table_that_findings_name_is_added_alone_or_with_what_belongs_to_its_rows(
    items: Items,
) -> None:
    """Another one that they name would be one too many."""
    wanted, other = part(items, "OVERLAP_ANALYSIS"), part(items, "STEP_TIME")
    fewest = Surroundings(items).fewest_with[wanted]
    for rows in (np.empty(0, np.int64), fewest):

        def shows(kept: Flags, rows: Integers = rows) -> Shown | None:
            if kept[wanted] and not kept[other] and kept[rows].all():
                return NOTHING
            return {"R1@table 0": "OVERLAP_ANALYSIS, STEP_TIME"}, []

        profile = Profile(items, shows)
        assert profile.cleanest(with_only(items, [kernel_task(items)])).unwanted == {}
        assert len(profile.asked) <= DIRECTED


def test_a_table_that_findings_name_is_left_out(items: Items) -> None:
    task, named = kernel_task(items), part(items, "HOST_INFO")

    def shows(kept: Flags) -> Shown | None:
        if not kept[task]:
            return None
        return ({"R1@table 0": "a row of HOST_INFO"}, []) if kept[named] else NOTHING

    profile = Profile(items, shows)
    start = with_only(items, [task, *items.parts[named].tolist()])
    assert profile.cleanest(start).unwanted == {}
    assert len(profile.asked) <= 5


@pytest.mark.parametrize(("words", "is_named"), [("STEP_TIME.id", True), ("STEP_TIMES", False)])
def test_only_whole_words_name_a_table(words: str, is_named: bool, items: Items) -> None:
    named = part(items, "STEP_TIME")
    profile = Profile(items, lambda _: ({"R1@table 0": words}, []))
    profile.cleanest(with_only(items, [kernel_task(items)]))
    assert any(one[named] for one in profile.asked[:3]) == is_named


def test_what_rows_refer_to_and_what_is_tied_to_any_of_them_is_added(items: Items) -> None:
    """Where findings point at nothing."""
    task = np.array([kernel_task(items)])
    alone = np.zeros(items.count, np.bool_)
    alone[[0, items.holder[task[0]], task[0]]] = True
    whole = with_only(items, task)
    assert whole.sum() > alone.sum()
    tied = items.with_rows(alone, items.tied_to(task))
    for needed in (whole, tied):

        def shows(kept: Flags, needed: Flags = needed) -> Shown | None:
            return NOTHING if kept[needed].all() else ({"R1@task 0": ""}, [])

        profile = Profile(items, shows)
        assert profile.cleanest(alone).unwanted == {}
        assert len(profile.asked) <= 5


def test_partners_are_added_without_what_is_in_other_tables(items: Items) -> None:
    kernels = items.parts[part(items, "COMPUTE_TASK_INFO")]
    other = np.setdiff1d(items.parts[part(items, "TASK")], items.tied_to(kernels[:1]))[:1]
    rows = np.append(kernels[:1], other)
    needed = Surroundings(items).partners(rows)
    start = with_only(items, rows)
    tied = items.tied_to(np.flatnonzero(start & items.is_row))
    too_many = tied[~items.with_rows(start, needed)[tied]]
    assert len(too_many)

    def shows(kept: Flags) -> Shown | None:
        is_clean = kept[needed].all() and not kept[too_many].any()
        return NOTHING if is_clean else ({"R1@task 0": ""}, [])

    profile = Profile(items, shows)
    assert profile.cleanest(start).unwanted == {}
    assert len(profile.asked) <= 5


FURTHER: Mapping[str, Callable[[Items, Flags, Flags], bool]] = {
    "without a table": lambda items, kept, start: not kept[part(items, "HOST_INFO")],
    "without a row": lambda items, kept, start: bool(
        start[items.parts[part(items, "CANN_API")]].sum()
        > kept[items.parts[part(items, "CANN_API")]].sum()
        > 0
    ),
    "with a table": lambda items, kept, start: bool(kept[part(items, "STEP_TIME")]),
    "with both ends of a table": lambda items, kept, start: bool(
        kept[Surroundings(items).bounds(part(items, "CANN_API"))].all()
    ),
}


@pytest.mark.parametrize("change", FURTHER)
def test_what_no_finding_points_at_is_tried_as_well(change: str, items: Items) -> None:
    calls = items.parts[part(items, "CANN_API")]
    by_time = calls[np.argsort(items.times[calls], kind="stable")]
    start = with_only(items, [*by_time[1:3], items.parts[part(items, "HOST_INFO")][0]])

    def shows(kept: Flags) -> Shown | None:
        if not kept[part(items, "CANN_API")]:
            return None
        is_clean = FURTHER[change](items, kept, start)
        return NOTHING if is_clean else ({"R1@somewhere 0": ""}, [])

    assert Profile(items, shows).cleanest(start).unwanted == {}


# --- the order, and the end -----------------------------------------------------------------------


def first_changed(items: Items, starts: Mapping[int, Mapping[str, str]], broken: Set[str]) -> int:
    """The first of the calls, by how many of them copies begin with, that is changed."""
    calls = items.parts[part(items, "CANN_API")]

    def shows(kept: Flags) -> Shown | None:
        return starts.get(int(kept[calls].sum()), {"R9@a 0": ""}), []

    profile = Profile(items, shows)
    profile.broken = broken
    profile.cleanest(*(with_only(items, calls[:count]) for count in starts))
    return int(profile.asked[0][calls].sum())


@pytest.mark.parametrize(
    ("starts", "first"),
    [
        ({1: {"R1@a 0": ""}, 2: {"R2@a 0": ""}}, 1),
        ({1: {"R1@a 0": "", "R2@a 0": ""}, 4: {"R3@a 0": ""}}, 4),
        ({1: {"R1@a 0": "", "R1@b 0": "", "R1@c 0": ""}, 3: {"R2@a 0": ""}}, 3),
        ({1: {"broken@a 0": ""}, 4: {"R2@a 0": ""}}, 4),
    ],
    ids=["fewer rows", "fewer rules", "fewer findings", "rules that the profile keeps"],
)
def test_copies_that_show_less_are_changed_first(
    starts: Mapping[int, Mapping[str, str]], first: int, items: Items
) -> None:
    assert first_changed(items, starts, {"broken"}) == first


def test_what_findings_name_in_all_copies_is_tried_before_what_they_do_not(items: Items) -> None:
    """Two copies that need a table each, which only the findings of the second one name."""
    calls = items.parts[part(items, "CANN_API")]
    named = part(items, "STEP_TIME")

    def shows(kept: Flags) -> Shown | None:
        if kept[named]:
            return NOTHING
        many = kept[calls].sum() > 1
        return ({"R1@a 0": "STEP_TIME", "R2@a 0": ""} if many else {"R3@a 0": ""}), []

    profile = Profile(items, shows)
    found = profile.cleanest(with_only(items, calls[:1]), with_only(items, calls[:2]))
    assert found.unwanted == {}
    assert len(profile.asked) <= DIRECTED


def test_a_way_ends_after_so_many_copies(items: Items) -> None:
    task = with_only(items, [kernel_task(items)])
    for broken, most in ((frozenset[str](), MOST_CHANGES), ({"R1"}, MOST_WITH_LITTLE)):
        profile = Profile(items, lambda _: ({"R1@task 0": ""}, []))
        profile.broken = broken
        assert profile.cleanest(task).unwanted
        assert most // 2 < len(profile.asked) <= most


def test_each_copy_is_judged_once_and_none_with_many_rows(items: Items) -> None:
    profile = Profile(items, lambda _: ({"R1@task 0": ""}, []))
    profile.cleanest(with_only(items, [kernel_task(items)]))
    asked = [np.packbits(one).tobytes() for one in profile.asked]
    assert len({*asked}) == len(asked)
    few = profile.attempt(with_only(items, [kernel_task(items)]))
    profile.asked.clear()
    profile.repairs.cleanest([few], 7)
    assert profile.asked
    assert max(int(one[items.is_row].sum()) for one in profile.asked) < 7 < MOST_ROWS


def test_what_seems_clean_is_judged_by_all_rules_and_repaired(items: Items) -> None:
    """One row breaks a rule that no copy was judged by."""
    tasks = items.parts[part(items, "TASK")]

    def by_all(kept: Flags) -> Shown | None:
        return ({"R2@task 0": ""}, [int(tasks[1])]) if kept[tasks[1]] else NOTHING

    profile = Profile(items, lambda kept: NOTHING if kept[tasks[0]] else None)
    profile.by_all = profile.shows = by_all
    start = with_only(items, tasks[:2])
    seems_clean = Attempt(start, {}, np.empty(0, np.int64))
    found = profile.repairs.cleanest([seems_clean])
    assert found is not None
    assert found.unwanted == {}
    assert not found.items[tasks[1]]


def test_of_copies_that_show_only_what_the_profile_does_the_fewest_rules_are_best(
    items: Items,
) -> None:
    calls = items.parts[part(items, "CANN_API")]
    every = {"R1@a 0": "", "R2@a 0": ""}

    def shows(kept: Flags) -> Shown | None:
        count = int(kept[calls].sum())
        return ({1: every, 2: {"R1@a 0": "", "R1@b 0": ""}}.get(count, {"R9@a 0": ""}), [])

    profile = Profile(items, shows)
    profile.broken = {"R1", "R2"}
    found = profile.cleanest(*(with_only(items, calls[:count]) for count in (1, 2)))
    assert {*found.unwanted} == {"R1@a 0", "R1@b 0"}


def test_an_attempt_is_filled_with_all_rows_of_one_part_after_another(items: Items) -> None:
    task = with_only(items, [kernel_task(items)])
    profile = Profile(items, lambda kept: ({}, []) if kept[part(items, "TASK")] else None)
    found = [*profile.repairs.filled(profile.attempt(task))]
    assert len(found) == len(profile.asked)
    lacking = [
        rows for one, rows in items.parts.items() if items.holder[one] == 0 and not task[rows].all()
    ]
    by_size = sorted(lacking, key=len)
    assert len(by_size[0]) < len(by_size[-1])
    for attempt, rows in zip(found, by_size, strict=True):
        assert attempt.items[rows].all()
