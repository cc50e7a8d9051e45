"""msprof-analyze accepts the text files of a real rank, and the harness tells when it does not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from consumer_ranks import OUTPUT
from consumer_rows import SKIPPED
from consumer_text_cluster import t10_steps, t11_operators, t12_links
from consumer_text_rows import (
    TextCheck,
    check_row_6,
    check_text_row_7,
    check_text_row_8,
    side_of_texts,
)
from consumer_texts import text_ranks_of
from consumer_verdict import Verdict
from slices import some

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "text" / "pytorch_level1_rank0"
check_row_7 = partial(check_text_row_7, first=0, base=0)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """The rank in the folder that consumers look for."""
    if not REAL.is_dir():
        pytest.skip(f"needs the real profile of {REAL}")
    folder = tmp_path / "run"
    rank = folder / "ubuntu_1000_20250109081616387_ascend_pt"
    shutil.copytree(REAL, rank, copy_function=shutil.copyfile)
    for path in (rank, rank / OUTPUT):
        path.chmod(0o750)
    return folder


CHANGES: dict[TextCheck, tuple[str, str]] = {
    t10_steps: ("step_trace_time.csv", "\n50,"),
    t11_operators: ("communication.json", '"Elapse Time(ms)": '),
    t12_links: ("communication_matrix.json", '"Transit Size(MB)": '),
}
"""Of each check, a file and what stands before a number of it."""


@pytest.mark.exhaustive
def test_row_6_is_steps_and_communication(profile: Path, tmp_path: Path) -> None:
    verdict = check_row_6(profile, tmp_path)
    assert verdict.differences == []
    results = verdict.runs["all"].output / "cluster_analysis_output"
    ranks = text_ranks_of(profile)
    for check, (name, before) in CHANGES.items():
        path = ranks[0].output / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, f"{before}1", 1))
        assert check(ranks, results) != [], name
        path.write_text(text)
        assert check(ranks, results) == [], name


@pytest.mark.exhaustive
def test_row_7_is_compare(profile: Path, tmp_path: Path) -> None:
    """The counts that consumers.md gives for the rank."""
    (rank,) = text_ranks_of(profile)
    side = side_of_texts(rank)
    assert side.computing == [(185, pytest.approx(8.873756))]
    assert side.calls == {"hcom_allReduce_": 4}
    assert check_row_7(profile, tmp_path).differences == []


@pytest.mark.exhaustive
def test_row_8_wants_more_than_one_rank(profile: Path, tmp_path: Path) -> None:
    """``advisor`` fails on one rank, real or not (consumers.md 4), and the harness tells."""
    differences = check_text_row_8(profile, tmp_path).differences
    assert any(SKIPPED in line and "[ERROR]" in line for line in differences), differences


def cut_off(path: Path) -> None:
    text = path.read_bytes()
    path.write_bytes(text[: len(text) * 2 // 3])


def without_arrow_heads(path: Path) -> None:
    events = json.loads(path.read_text())
    path.write_text(json.dumps([event for event in events if event["ph"] != "f"]))


class Defect(NamedTuple):
    """A change of one file, and words that the differences must hold."""

    check: Callable[[Path, Path], Verdict]
    file: str
    change: Callable[[Path], None]
    told: tuple[str, ...]


DEFECTS = {
    "row 6, a cut-off document": Defect(
        check_row_6, "communication.json", cut_off, ("all: exit code 1", "Traceback", "all, files")
    ),
    "row 7, a cut-off timeline": Defect(
        check_row_7, "trace_view.json", cut_off, ("[ERROR]", "0 workbooks")
    ),
    "row 7, arrows without an end": Defect(
        check_row_7, "trace_view.json", without_arrow_heads, ("Can't find any",)
    ),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", some(DEFECTS, every=3))
def test_a_defect_is_told(profile: Path, tmp_path: Path, name: str) -> None:
    defect = DEFECTS[name]
    (rank,) = text_ranks_of(profile)
    defect.change(rank.output / defect.file)
    differences = defect.check(profile, tmp_path).differences
    untold = [words for words in defect.told if not any(words in line for line in differences)]
    assert untold == [], differences
