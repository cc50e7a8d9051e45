"""Trees of any size are handled batch by batch; small ones at once: both find the same."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from document_tree import write_document_tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_capture import Plain, plain
from slices import some
from tiny_batches import tiny_batches

from ascend_ref.profile.raw import export_raw
from ascend_ref.raw.damage import Unreadable
from ascend_ref.raw.decode.nodes import MOST_RECORDS, TensorLists
from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_ref.spill import Spill
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN
from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of

PRESETS = ("edge-310b", "single-op")


@cache
def tree(name: str) -> Path:
    folder = Path(mkdtemp()) / "PROF_1"
    if name == "document":
        write_document_tree(folder)
    else:
        write_raw(folder, raw_view(simulate(RUN.preset(name)).capture(0)).capture, slice_size=7000)
    return folder


def found_in(folder: Path) -> list[tuple[Plain, list[str]]] | str:
    try:
        found = read_raw(folder)
    except Unreadable as problem:
        return str(problem)
    return [(plain(one.capture), [str(problem) for problem in one.damage]) for one in found]


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}


@pytest.mark.campaign
@pytest.mark.parametrize("name", some(PRESETS, every=2))
def test_a_tree_in_batches_is_exported_to_the_same_bytes(tmp_path: Path, name: str) -> None:
    export_raw(tree(name), tmp_path / "at_once")
    with tiny_batches():
        export_raw(tree(name), tmp_path / "in_batches")
    at_once, in_batches = (files(tmp_path / one) for one in ("at_once", "in_batches"))
    timelines = [one for one in at_once if one.endswith(".json")]
    assert timelines
    for timeline in timelines:
        # Events of one batch stand together, by their kinds.
        assert events(in_batches.pop(timeline)) == events(at_once.pop(timeline))
    assert in_batches == at_once


def events(timeline: bytes) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in json.loads(timeline))


def damaged(name: str, target: Path, seed: int) -> Path:
    """A tree some of whose files are cut, begin late, or have other bytes."""
    draw = random.Random(seed)
    for path, content in files(tree(name)).items():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        changed = bytearray(content)
        if changed and draw.random() < 0.3:
            at, end = sorted(draw.randrange(len(changed) + 1) for _ in range(2))
            fault = draw.randrange(3)
            if fault == 0:
                del changed[at:]
            elif fault == 1:
                del changed[: min(at, 200)]
            else:
                changed[at:end] = draw.randbytes(end - at)
        place.write_bytes(bytes(changed))
    return target


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 1 << 32))
def test_a_damaged_tree_is_read_the_same_in_batches(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = damaged("document", tmp_path_factory.mktemp("damaged") / "PROF_1", seed)
    at_once = found_in(folder)
    with tiny_batches():
        assert found_in(folder) == at_once


@pytest.mark.campaign
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 1 << 32), name=st.sampled_from(PRESETS))
def test_many_damaged_trees_are_read_the_same_in_batches(
    tmp_path_factory: pytest.TempPathFactory, seed: int, name: str
) -> None:
    folder = damaged(name, tmp_path_factory.mktemp("damaged") / "PROF_1", seed)
    at_once = found_in(folder)
    with tiny_batches():
        assert found_in(folder) == at_once


def test_long_columns_lie_in_files_of_the_capture() -> None:
    with tiny_batches():
        (found,) = read_raw(tree("edge-310b"))
        assert not found.capture.tasks.start.flags.owndata
        assert isinstance(found.spill, Spill)


def test_an_operator_may_have_as_many_records_of_tensors_as_are_kept() -> None:
    """The last of them was lost once, and nothing stated it."""
    rows = np.zeros(MOST_RECORDS + 1, dtype_of(raw_catalog().record("TENSOR_INFO")))
    rows["tensorNum"] = 1
    rows["tensorData"]["shape"][:, 0, 0] = 1 + np.arange(len(rows))
    lists = TensorLists()
    order, first = np.arange(len(rows)), np.zeros(2, np.int64)
    exact, cut = lists.of(rows, order, first, np.array([MOST_RECORDS, MOST_RECORDS + 1]))
    assert [one.shape for one in lists.made[exact]] == [(n,) for n in range(1, MOST_RECORDS + 1)]
    assert lists.made[cut] == lists.made[exact]
