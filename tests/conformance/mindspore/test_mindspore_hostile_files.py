"""Damaged and hostile files of MindSpore: findings, no failure, and flat memory."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from slices import some

from ascend_conformance.check import check
from ascend_conformance.media.mindspore.specimens import Side, write_specimen

PIECES = [b"\n", b"\r", b" ", b",", b'"', b"9" * 20, b"-1", b"1e999", b"null", b"\xff", b"\0" * 9]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[Side, Path]]:
    """The clean jobs."""
    base = tmp_path_factory.mktemp("jobs")
    return {name: write_specimen(name, base / name) for name in ("G1", "G3", "GPU")}


def broken(content: bytes, draw: random.Random) -> bytes:
    """Content some of which is lost, doubled or other."""
    place, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    middle = draw.choice([b"", content[place:end] * 2, draw.randbytes(9), *PIECES])
    return content[:place] + middle + content[end if draw.random() < 0.7 else place :]


@pytest.mark.parametrize("seed", some(range(40), every=4))
def test_broken_folders_give_findings(
    seed: int, jobs: Mapping[str, Mapping[Side, Path]], tmp_path: Path
) -> None:
    draw = random.Random(seed)
    sides = jobs[draw.choice(sorted(jobs))]
    folder = shutil.copytree(sides[draw.choice(sorted(sides))], tmp_path / "JOB")
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        if draw.random() < 0.5:
            path.write_bytes(broken(path.read_bytes(), draw))
    for report in check([folder]).files:
        assert [one.message for one in report.findings if one.rule.startswith("REF")] == []


def test_empty_files_are_no_failure(
    jobs: Mapping[str, Mapping[Side, Path]], tmp_path: Path
) -> None:
    for name, sides in jobs.items():
        folder = shutil.copytree(sides["both"], tmp_path / name)
        for path in folder.rglob("*"):
            if path.is_file():
                path.write_bytes(b"")
        (report,) = check([folder]).files
        assert [one.message for one in report.findings if one.rule.startswith("REF")] == []


@pytest.mark.exhaustive
def test_a_large_log_is_judged_in_flat_memory(tmp_path: Path) -> None:
    """More records than would fit: 64 MiB of them, with the columns of each."""
    job = tmp_path / "JOB"
    job.mkdir()
    number = 1 << 20
    rows = np.zeros(number, np.dtype("u1,u1,<u2,<u2,<u2,<u8,<u4,V44"))
    at = np.arange(number)
    rows["f0"], rows["f2"] = (at % 16) << 4 | at % 2, 0x6BD3
    rows["f4"], rows["f5"], rows["f6"] = (at // 2) % 1000, at * 7, 3
    (job / "hwts.log.data.45.dev.profiler_default_tag.0.slice_0").write_bytes(rows.tobytes())
    text = (
        "import resource, sys; from pathlib import Path\n"
        "from ascend_conformance.media.mindspore.judge import judge_files\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "report = judge_files(Path(sys.argv[1]))\n"
        "assert not report.findings, report.findings\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text, str(job)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 200_000
