"""What surrounds the rows of a finding, in a database and a timeline of one run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ascend_conformance.reduction.guesses import Guesses
from ascend_conformance.reduction.items import Items
from ascend_conformance.reduction.reducible import Integers
from ascend_conformance.reduction.surroundings import Surroundings


def part(items: Items, name: str) -> int:
    """The item that is a table of the database."""
    return items.bounds[0].parts + list(items.files[0].parts).index(name)


def values(items: Items, rows: Integers) -> Sequence[tuple[int, int]]:
    """The part and the time of each row."""
    return [(int(items.holder[row]), int(items.times[row])) for row in rows.tolist()]


def test_rows_that_belong_together_stand_by_time_then_by_place(items: Items) -> None:
    every = items.components(np.ones(items.count, np.bool_))
    order = [(items.times[one].min(), one[0]) for one in every]
    assert order == sorted(order)


def test_what_is_tied_to_a_row_shows_a_value_of_it(items: Items) -> None:
    task = items.parts[part(items, "TASK")][0]
    found = items.tied_to(np.array([task]))
    assert task in found
    of_time = np.flatnonzero(items.is_row & (items.times == items.times[task]))
    assert set(of_time.tolist()) <= set(found.tolist())
    kernel = items.parts[part(items, "COMPUTE_TASK_INFO")][0]
    assert part(items, "TASK") in items.holder[items.tied_to(np.array([kernel]))]


def test_what_is_before_a_row_is_of_its_part_and_next_in_time(items: Items) -> None:
    surroundings = Surroundings(items)
    rows = items.parts[part(items, "CANN_API")]
    by_time = sorted(rows.tolist(), key=lambda row: items.times[row])
    for place, row in enumerate(by_time):
        found = surroundings.before(np.array([row]))
        assert values(items, np.sort(found)) == values(
            items, np.sort(np.array(by_time[max(place - 1, 0) : place + 1]))
        )
    assert surroundings.bounds(part(items, "CANN_API")).tolist() == [by_time[0], by_time[-1]]


def test_partners_of_rows_are_what_is_tied_to_them_in_the_same_parts(items: Items) -> None:
    """A kernel and the task of another one: its own task is a partner, what is elsewhere none."""
    tasks, kernels = part(items, "TASK"), part(items, "COMPUTE_TASK_INFO")
    kernel = items.parts[kernels][0]
    (own,) = np.intersect1d(items.tied_to(np.array([kernel])), items.parts[tasks]).tolist()
    other = next(one for one in items.parts[tasks].tolist() if one != own)
    found = Surroundings(items).partners(np.array([kernel, other]))
    assert {kernel, own, other} <= {*found.tolist()}
    assert {*items.holder[found].tolist()} == {tasks, kernels}
    assert own not in Surroundings(items).partners(np.array([kernel]))


def test_a_row_of_a_part_is_one_that_is_tied_to_what_is_there(items: Items) -> None:
    surroundings = Surroundings(items)
    tasks = items.parts[part(items, "COMPUTE_TASK_INFO")]
    for row in tasks.tolist():
        kept = np.zeros(items.count, np.bool_)
        kept[row] = True
        (found,) = surroundings.of_part(part(items, "TASK"), kept).tolist()
        assert found in items.tied_to(np.array([row]))
    nothing = np.zeros(items.count, np.bool_)
    (found,) = surroundings.of_part(part(items, "TASK"), nothing).tolist()
    assert items.holder[found] == part(items, "TASK")


def test_a_guess_has_what_describes_the_files_that_rows_around_the_finding_are_in(
    items: Items,
) -> None:
    """The finding is in the timeline, and its task is in the database as well."""
    surroundings = Surroundings(items)
    task = items.parts[part(items, "TASK")][0]
    around = surroundings.around(np.array([task]))
    of_trace = around[around >= items.bounds[1].rows][:1]
    guesses = [*Guesses(items, surroundings, of_trace, np.array([1])).small()]
    assert len(guesses) == 8
    guess = guesses[3]
    assert guess[task]
    assert guess[part(items, "ENUM_API_TYPE")]
    assert guess[items.parts[part(items, "HOST_INFO")]].all()
