"""What the encoder writes has nothing for the referee to find.

But for advice: lengths, sizes and notifications of the captures are random.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from encode_captures import EVERYTHING, capture
from encode_profiles import REVISIONS, encoded, write
from hypothesis import given, settings
from hypothesis import strategies as st
from slices import some

from ascend_conformance.check import check
from ascend_conformance.finding import Report
from ascend_ref.capture import Switches
from ascend_ref.profile import write_msprof_profile, write_pytorch_profile
from ascend_spec import catalog


def violations(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings if finding.verdict == "violation"}


@pytest.mark.parametrize(("revision", "level"), some(product(REVISIONS, (0, 1, 2)), every=14))
def test_nothing_is_found_in_a_complete_capture(tmp_path: Path, revision: str, level: int) -> None:
    shown = capture(level, switches=replace(EVERYTHING, level=level))
    write_pytorch_profile(tmp_path, shown, revision)
    write_msprof_profile(tmp_path, [shown], revision)
    report = check([tmp_path])
    assert len(report.files) == 3
    assert [file.unreadable for file in report.files] == [None, None, None]
    assert violations(report) == set()


@st.composite
def switches(draw: st.DrawFn) -> Switches:
    rates = st.sampled_from([0, 50])
    cpu = draw(st.booleans())
    sampler = st.sampled_from(["cpu", "mem", "disk", "network", "osrt"])
    return Switches(
        level=draw(st.sampled_from([0, 1, 2])),
        cpu=cpu,
        npu=not cpu or draw(st.booleans()),
        aic_metrics=draw(st.sampled_from([None, "PipeUtilization"])),
        aic_mode=draw(st.sampled_from(["task-based", "sample-based"])),
        memory=draw(st.booleans()),
        stack=draw(st.booleans()),
        record_shapes=draw(st.booleans()),
        mstx=draw(st.booleans()),
        gc=draw(st.booleans()),
        sys_hardware_mem=draw(rates),
        sys_io=draw(rates),
        sys_interconnection=draw(rates),
        host_sys=tuple(sorted(draw(st.sets(sampler)))),
    )


@pytest.mark.exhaustive
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    chosen=switches(),
    revision=st.sampled_from(REVISIONS),
    ranks=st.integers(1, 4),
    steps=st.integers(1, 3),
)
def test_nothing_is_found_whatever_the_switches(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    chosen: Switches,
    revision: str,
    ranks: int,
    steps: int,
) -> None:
    folder = tmp_path_factory.mktemp("profile")
    shown = capture(seed, switches=chosen, ranks=ranks, steps=steps)
    write_pytorch_profile(folder, shown, revision)
    assert violations(check([folder])) == set()


@pytest.mark.parametrize("revision", [REVISIONS[0], REVISIONS[-1]])
def test_only_the_missing_end_is_found_after_an_abnormal_one(tmp_path: Path, revision: str) -> None:
    write_pytorch_profile(tmp_path, capture(abnormal=True), revision)
    assert violations(check([tmp_path])) <= {"DB410"}
    assert "DB410" in {finding.rule for finding in check([tmp_path]).findings}


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("carrier", ["msprof", "pytorch", "analysis"])
def test_every_table_that_a_capture_can_fill_has_rows(revision: str, carrier: str) -> None:
    sampled = replace(EVERYTHING, aic_mode="sample-based")
    tables = encoded(capture(), revision, carrier) | encoded(
        capture(switches=sampled), revision, carrier
    )
    schema = catalog().at(revision, carrier)
    own = {"CCU", "DPU_TASK"} | ({"RANK_DEVICE_MAP"} if carrier == "msprof" else set())
    assert schema.tables.keys() - tables.keys() - schema.enums.keys() <= own


@pytest.mark.parametrize("carrier", ["msprof", "pytorch", "analysis"])
def test_a_capture_always_gives_the_same_bytes(tmp_path: Path, carrier: str) -> None:
    for name in ("one.db", "other.db"):
        write(tmp_path / name, capture(5), REVISIONS[-1], carrier)
    assert (tmp_path / "one.db").read_bytes() == (tmp_path / "other.db").read_bytes()


def test_encoding_leaves_the_capture_as_it_was() -> None:
    shown = capture(1)
    before = shown.texts.all
    first = encoded(shown)
    encoded(shown, REVISIONS[0], "msprof")
    assert shown.texts.all == before
    assert encoded(shown) == first
