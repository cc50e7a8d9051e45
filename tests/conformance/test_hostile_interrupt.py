"""Files that take seconds: judged in a small report, and a check that ^C stops at once."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import apsw
import pytest
from profiles import COMMAND, clean_environment, condemned, specimen, state
from slices import marked


def large(path: Path, rows: int) -> Path:
    """Many more tasks whose type is no string; a million of them take seconds to judge."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
    columns = [str(row[1]) for row in connection.execute("PRAGMA table_info(TASK)")]
    values = {
        "startNs": "startNs + n.i",
        "endNs": "startNs + n.i",
        "taskType": "500000000 + n.i",
        "globalTaskId": "globalTaskId + n.i",
    }
    connection.execute(
        f"WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT {rows}) "
        f"INSERT INTO TASK SELECT {', '.join(values.get(name, name) for name in columns)} "
        "FROM n, (SELECT * FROM TASK ORDER BY rowid DESC LIMIT 1)"
    )
    connection.close()
    return path


@pytest.fixture(scope="module")
def million_orphans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large(specimen(tmp_path_factory.mktemp("orphans")), 1_000_000)


@pytest.mark.campaign
def test_a_million_orphans_are_one_finding(million_orphans: Path) -> None:
    started = time.monotonic()
    out = condemned(million_orphans).decode()
    assert time.monotonic() - started < 60
    assert "DB208 orphan-string-id" in out
    assert "1,000,000 of 1,000," in " ".join(out.split())


def wait_until_open(process: subprocess.Popen[bytes], path: Path) -> None:
    """Until the process holds the file open; where that cannot be seen, for a while."""
    descriptors = Path(f"/proc/{process.pid}/fd")
    if not descriptors.exists():
        time.sleep(1.5)
        return
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        try:
            if any(os.readlink(one) == str(path.resolve()) for one in descriptors.iterdir()):
                return
        except FileNotFoundError:
            continue  # closed since it was listed
        time.sleep(0.005)


@pytest.mark.parametrize("pause", [0.05, 0.9], ids=["pages", "rules"])
@pytest.mark.parametrize("workers", ["3", marked("1", pytest.mark.exhaustive)])
def test_an_interrupted_check_leaves_nothing_behind(
    million_orphans: Path, workers: str, pause: float
) -> None:
    folder = million_orphans.parent
    before = state(folder)
    report = folder / "report.json"
    words = ["--workers", workers, "--report", f"json={report}", str(million_orphans)]
    with subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        start_new_session=True,
    ) as process:
        wait_until_open(process, million_orphans)
        time.sleep(pause)
        assert process.poll() is None, "the check ended before it could be interrupted"
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out, errors) == (130, b"", b"ascend-ref: interrupted\n")
    assert time.monotonic() - sent < 3
    assert state(folder) == before


def test_an_interrupt_while_the_pages_are_checked_leaves_nothing_behind(tmp_path: Path) -> None:
    """From the first import on, whenever the signal comes."""
    path = specimen(tmp_path)
    for pause in (0.02, 0.1, 0.3):
        with subprocess.Popen(
            [*COMMAND, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            time.sleep(pause)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        # Before our first line runs the interpreter answers for itself, with code 1.
        before_us = process.returncode == 1 and b"ascend_conformance" not in errors
        assert before_us or process.returncode in {0, 130, -signal.SIGINT}
        assert errors.count(b"\n") <= 1 or b"KeyboardInterrupt" in errors
