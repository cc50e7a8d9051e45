"""Captures of the devices of one process become one."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from encode_captures import EVERYTHING, capture
from encode_profiles import REVISIONS, encoded, texts
from slices import some

from ascend_conformance.check import check
from ascend_ref.capture import Batch, Capture
from ascend_ref.capture.merge import merged
from ascend_ref.profile import write_msprof_profile

SEEDS = (4, 5, 6)
CROSSING_CALLS = "REL304"
"""The host calls of all parts stand on one thread, although each part was drawn on its own."""
ODD_AMOUNTS = "DB837"
"""Amounts are drawn at random, in as many columns as the revision has."""


def parts() -> list[Capture]:
    return [capture(seed, device=place, rank=place, ranks=3) for place, seed in enumerate(SEEDS)]


def found_in(folder: Path, captures: list[Capture], revision: str) -> Counter[str]:
    """By rule, the rows that the referee finds in the profile of some captures."""
    write_msprof_profile(folder, captures, revision)
    return sum((Counter({one.rule: one.count}) for one in check([folder]).findings), Counter())


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """What is found in the parts one by one.

    Their transfers are drawn without partners, and all amounts at random.
    """
    found = [found_in(tmp_path_factory.mktemp("part"), [one], REVISIONS[-1]) for one in parts()]
    return sum(found, Counter())


@pytest.mark.parametrize("revision", some(REVISIONS, every=3))
def test_several_devices_are_as_sound_as_each_of_them(
    tmp_path: Path, revision: str, apart: Counter[str]
) -> None:
    found = found_in(tmp_path, parts(), revision)
    del found[CROSSING_CALLS], found[ODD_AMOUNTS], apart[ODD_AMOUNTS]
    assert found == apart
    assert apart.keys() <= {"REL503", "REL517", "REL519", "REL523", "REL615"}


def test_one_capture_stays_what_it_is() -> None:
    (only, *_) = parts()
    assert merged([only]) is only


def test_no_row_is_lost() -> None:
    whole = merged(parts())
    for item in fields(Capture):
        value = getattr(whole, item.name)
        if isinstance(value, Batch) and item.name != "steps":
            assert len(value) == sum(len(getattr(part, item.name)) for part in parts())
    assert whole.origin.devices == (0, 1, 2)
    assert len(whole.counters.task) == sum(len(part.counters.task) for part in parts())


def test_each_device_keeps_its_kernels_copies_and_operators() -> None:
    whole = encoded(merged(parts()), carrier="msprof")
    device = dict(zip(whole["TASK"]["globalTaskId"], whole["TASK"]["deviceId"], strict=True))
    assert sorted(device) == list(range(len(device)))
    for table, column in (
        ("COMPUTE_TASK_INFO", "name"),
        ("COMPUTE_TASK_INFO", "inputShapes"),
        ("COMMUNICATION_TASK_INFO", "name"),
        ("TASK_PMU_INFO", "value"),
        ("MEMCPY_INFO", "size"),
    ):
        found = Counter(
            (device[task], value)
            for task, value in zip(
                whole[table]["globalTaskId"], texts(whole, table, column), strict=True
            )
        )
        expected: Counter[tuple[int, object]] = Counter()
        for place, part in enumerate(parts()):
            alone = encoded(part, carrier="msprof")
            expected.update((place, value) for value in texts(alone, table, column))
        assert found == expected, table


def test_launches_are_numbered_in_order_of_time() -> None:
    whole = merged(parts())
    calls = whole.calls
    first = int(min(part.calls.connection[0] for part in parts()))
    assert calls.connection.tolist() == list(range(first, first + len(calls)))
    assert (np.diff(calls.start) >= 0).all()


def launch_lengths(shown: Capture) -> Counter[tuple[int, int]]:
    """What each task knows of its launch: device, and how long it waited for its start."""
    start = dict(zip(shown.calls.connection.tolist(), shown.calls.start.tolist(), strict=True))
    return Counter(
        (device, begin - start[connection])
        for device, begin, connection in zip(
            shown.tasks.device.tolist(),
            shown.tasks.start.tolist(),
            shown.tasks.connection.tolist(),
            strict=True,
        )
        if connection in start
    )


def test_tasks_stay_with_their_launches() -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for part in parts():
        expected.update(launch_lengths(part))
    assert launch_lengths(merged(parts())) == expected


def test_marks_stay_with_their_tasks() -> None:
    whole = encoded(merged(parts()), carrier="msprof")
    linked = [link for link in whole["MSTX_EVENTS"]["connectionId"] if link > 4_000_000_000]
    tasks = [link for link in whole["TASK"]["connectionId"] if link > 4_000_000_000]
    assert sorted(linked) == sorted(tasks) == [4_000_000_001 + link for link in range(6)]


def test_samples_of_the_host_stand_once() -> None:
    whole = merged(parts())
    assert whole.samples["CPU_USAGE"].keys() == parts()[0].samples["CPU_USAGE"].keys()
    assert len(whole.samples["CPU_USAGE"]["usage"]) == 3
    assert sorted(set(whole.samples["HBM"]["deviceId"].tolist())) == [0, 1, 2]


def test_what_does_not_belong_together_is_refused() -> None:
    one, other, _ = parts()
    with pytest.raises(ValueError, match="at least one"):
        merged([])
    with pytest.raises(ValueError, match="expected each once"):
        merged([one, one])
    with pytest.raises(ValueError, match="different switches"):
        merged([one, replace(other, switches=replace(EVERYTHING, level=1))])
    metrics = replace(other.counters, metrics=("a", "b", "c", "d"))
    with pytest.raises(ValueError, match="different metrics"):
        merged([one, replace(other, counters=metrics)])
