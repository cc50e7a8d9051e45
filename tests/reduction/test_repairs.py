"""Repairs: which changes lead to a copy that shows nothing forbidden, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

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
    """The task that a kernel describes."""
    tied = items.tied_to(items.parts[part(items, "COMPUTE_TASK_INFO")][:1])
    return int(np.intersect1d(tied, items.parts[part(items, "TASK")])[0])


class Start(NamedTuple):
    """A copy without a text that it needs.

    Two rows of two tables are pointed at; three tables are named, of which one is ``there``.
    """

    items: Items
    kept: Flags
    pointed: Integers
    absent: Integers
    there: int

    @classmethod
    def of(cls, items: Items) -> Start:
        calls, operators = (items.parts[part(items, one)] for one in ("CANN_API", "PYTORCH_API"))
        pointed = np.array([calls[1], operators[0]])
        about = items.parts[part(items, "META_DATA")][:2]
        kept = with_only(items, [*pointed, calls[2], operators[2], *about])
        texts = items.parts[part(items, "STRING_IDS")]
        kept[texts[kept[texts]][0]] = False
        absent = np.array([part(items, one) for one in ("OVERLAP_ANALYSIS", "STEP_TIME")])
        return cls(items, kept, pointed, absent, part(items, "META_DATA"))

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(self.items)

    @property
    def rows(self) -> Integers:
        return np.flatnonzero(self.kept & self.items.is_row)

    def having(self, rows: Integers) -> Flags:
        """The copy with further rows."""
        return self.items.with_rows(self.kept, rows)

    def having_parts(self, *parts: int) -> Flags:
        """The copy with a row of each of some further tables."""
        found = self.kept
        for one in parts:
            row = self.surroundings.of_part(one, found)
            found = self.items.with_part(found, one, row)
        return found

    def lacking(self, some: Integers) -> Flags:
        """The copy without some rows or tables."""
        found = self.kept.copy()
        found[some] = False
        return self.items.whole(found)

    def shows(self, kept: Flags) -> Shown:
        return {"R1@x 0": "OVERLAP_ANALYSIS and STEP_TIME, META_DATA"}, self.pointed.tolist()


CHANGES: Mapping[str, Callable[[Start], Flags]] = {
    "what rows refer to": lambda one: one.having(one.rows),
    "tables that are named": lambda one: one.having_parts(*one.absent),
    "a table that is named": lambda one: one.having_parts(one.absent[1]),
    "what belongs to a table that is named": lambda one: one.having(
        one.surroundings.fewest_with[one.absent[1]]
    ),
    "without a table that is named": lambda one: one.lacking(np.array([one.there])),
    "without what is pointed at": lambda one: one.lacking(one.pointed),
    "without one row that is pointed at": lambda one: one.lacking(one.pointed[1:]),
    "without another row of the same table": lambda one: one.lacking(
        one.items.parts[part(one.items, "CANN_API")][2:3]
    ),
    "what is tied to what is pointed at": lambda one: one.having(one.items.tied_to(one.pointed)),
    "what is tied to one row": lambda one: one.having(one.items.tied_to(one.pointed[1:])),
    "what is before": lambda one: one.having(one.surroundings.before(one.pointed)),
    "what is before one row": lambda one: one.having(one.surroundings.before(one.pointed[1:])),
    "what is near": lambda one: one.having(one.surroundings.near(one.pointed)),
    "all that is tied, by any steps": lambda one: one.having(one.surroundings.around(one.pointed)),
    "the bounds of a table": lambda one: one.having(
        one.surroundings.bounds(part(one.items, "PYTORCH_API"))
    ),
    "partners": lambda one: one.having(one.surroundings.partners(one.rows)),
    "what is tied to any row": lambda one: one.having(one.items.tied_to(one.rows)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_copies_are_changed_by_what_findings_point_at_and_name(change: str, items: Items) -> None:
    start = Start.of(items)
    copies = {name: made(start).tobytes() for name, made in CHANGES.items()}
    assert list(copies.values()).count(copies[change]) == 1
    profile = Profile(items, start.shows)
    profile.cleanest(start.kept)
    assert copies[change] in [one.tobytes() for one in profile.asked]


@pytest.mark.parametrize(
    ("words", "is_named"),
    [("STEP_TIME.id", True), ("STEP_TIMES", False), ("step time", False)],
)
def test_only_whole_words_name_a_table(words: str, is_named: bool, items: Items) -> None:
    named = part(items, "STEP_TIME")
    profile = Profile(items, lambda _: ({"R1@table 0": words}, []))
    profile.cleanest(with_only(items, [kernel_task(items)]))
    assert any(one[named] for one in profile.asked[:3]) == is_named


@pytest.mark.parametrize("words", ["absent: overlap-analysis", "trace: Overlap Analysis: dur"])
def test_a_layer_is_named_as_viewers_and_as_rules_do(words: str, items: Items) -> None:
    bounds = items.bounds[1]
    layers = [label[0] for label in items.files[1].labels]
    lanes = np.array([one == "Overlap Analysis" for one in layers])
    others = np.flatnonzero(~lanes) + bounds.parts
    profile = Profile(items, lambda _: ({"R1@lane 0": words}, []))
    profile.cleanest(with_only(items, items.parts[int(others[0])]))
    assert profile.asked[1][bounds.parts : bounds.rows][lanes].all()
    profile.asked.clear()
    profile.cleanest(with_only(items, items.parts[part(items, "STRING_IDS")][:1]))
    assert not any(one[bounds.parts : bounds.behind].any() for one in profile.asked)


@pytest.mark.parametrize(("words", "place"), [("Overlap Analysis", 3), ("no file", 20)])
def test_a_file_is_added_without_its_rows(words: str, place: int, items: Items) -> None:
    kept = with_only(items, items.parts[part(items, "STRING_IDS")][:1])
    assert not kept[1]
    profile = Profile(items, lambda kept: NOTHING if kept[1] else ({"R1@file 0": words}, []))
    found = profile.cleanest(kept)
    assert len(profile.asked) <= place
    assert not found.unwanted
    assert np.flatnonzero(found.items & ~kept).tolist() == [1]


def test_what_no_finding_points_at_is_tried_as_well(items: Items) -> None:
    """Without each row, with each table, without each, with both ends of each."""
    start = Start.of(items)
    step, about = part(items, "STEP_TIME"), part(items, "META_DATA")
    expected = [
        *(start.lacking(np.array([row])) for row in start.rows.tolist()),
        start.having_parts(step),
        start.lacking(np.array([about])),
        start.having(start.surroundings.bounds(part(items, "PYTORCH_API"))),
    ]
    profile = Profile(
        items, lambda kept: ({"R1@x 0": ""}, []) if (kept == start.kept).all() else None
    )
    profile.cleanest(start.kept)
    asked = [one.tobytes() for one in profile.asked]
    assert [one.tobytes() in asked for one in expected] == [True] * len(expected)


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
        ({1: {"R1@a 0": "", "R2@a 0": ""}, 4: {"R3@a 0": "", "R3@b 0": ""}}, 4),
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


@pytest.mark.parametrize(
    ("starts", "best"),
    [
        ({4: ["R1@a 0"], 1: ["R2@a 0"]}, 1),
        ({1: ["R1@a 0", "R2@a 0"], 4: ["R3@a 0", "R3@b 0", "R3@c 0"]}, 4),
        ({1: ["R1@a 0", "R1@b 0"], 4: ["R2@a 0"]}, 4),
    ],
    ids=["rows", "rules", "findings"],
)
def test_what_shows_least_is_kept_when_all_changes_were_tried(
    starts: Mapping[int, Sequence[str]], best: int, items: Items
) -> None:
    calls = items.parts[part(items, "CANN_API")]
    begun: list[Flags] = [with_only(items, calls[:count]) for count in starts]

    def shows(kept: Flags) -> Shown | None:
        is_begun = any((kept == one).all() for one in begun)
        return (dict.fromkeys(starts[int(kept[calls].sum())], ""), []) if is_begun else None

    assert int(Profile(items, shows).cleanest(*begun).items[calls].sum()) == best


def test_findings_elsewhere_are_of_another_copy(items: Items) -> None:
    """Two copies break one rule, of which only the larger can be repaired."""
    tasks, calls = (items.parts[part(items, one)] for one in ("TASK", "CANN_API"))

    def shows(kept: Flags) -> Shown | None:
        if kept[tasks[0]]:
            return {"R1@a 0": ""}, [int(tasks[0])]
        return ({"R1@a 0": ""}, [int(calls[1])]) if kept[calls[:2]].all() else NOTHING

    def of_calls(kept: Flags) -> Shown | None:
        return shows(kept) if kept[tasks[0]] != kept[calls[0]] else None

    profile = Profile(items, of_calls)
    found = profile.cleanest(with_only(items, tasks[:1]), with_only(items, calls[:3]))
    assert found.unwanted == {}


def test_copies_that_show_much_more_wait_until_all_of_another_was_tried(items: Items) -> None:
    calls, named = items.parts[part(items, "CANN_API")], part(items, "STEP_TIME")
    much = {f"R1@a {number}": "" for number in range(40)}

    def shows(kept: Flags) -> Shown | None:
        if kept[calls[1]]:
            return much, []
        return NOTHING if kept[named] else ({"R2@a 0": ""}, [])

    profile = Profile(items, shows)
    found = profile.cleanest(with_only(items, calls[:1]), with_only(items, calls[1:2]))
    assert found.unwanted == {}
    assert not any(one[calls[1]] and not one[calls[0]] for one in profile.asked)


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
