"""REL519 on rings: the real allReduce of 910A, and what may and may not be changed in it."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ascend_conformance.check import check
from ascend_conformance.media.db.plan import Selection
from ascend_conformance.options import Options

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
REAL = DATA / "generations" / "db_910a_2024_level1_rank0" / "ascend_pytorch_profiler_0.db"
ONLY = Options(selection=Selection(select=("REL519",)))
MOVED = """
    rowid IN (
        SELECT info.rowid FROM COMMUNICATION_TASK_INFO AS info
        JOIN STRING_IDS AS kind ON kind.id = info.taskType
        WHERE info.opId = 1 AND info.linkType = 1 AND kind.value = '{}' LIMIT 1
    )
"""


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """In operation 1, seven pieces of 512,128 Byte are reduced and copied, one of 512,032."""
    if not REAL.is_file():
        pytest.skip("the real databases of 910A are not next to the project in ../shared/data")
    return Path(shutil.copy(REAL, tmp_path / REAL.name))


def findings(path: Path, statement: str = "") -> int:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)
    file = check([path], ONLY).files[0]
    assert not file.skipped
    return len(file.findings)


def test_a_real_ring_copies_what_it_reduces(ring: Path) -> None:
    assert findings(ring) == 0


def test_the_owner_of_the_smaller_piece_reduces_more_than_it_copies(ring: Path) -> None:
    statement = f"UPDATE COMMUNICATION_TASK_INFO SET size = 512032 WHERE {MOVED.format('Memcpy')}"
    assert findings(ring, statement) == 0


@pytest.mark.parametrize("kind", ["Memcpy", "Reduce_Inline"])
def test_a_piece_that_is_lost_is_missed(ring: Path, kind: str) -> None:
    statement = f"DELETE FROM COMMUNICATION_TASK_INFO WHERE {MOVED.format(kind)}"
    assert findings(ring, statement) == 1


def test_a_piece_of_another_size_is_noticed(ring: Path) -> None:
    statement = (
        f"UPDATE COMMUNICATION_TASK_INFO SET size = size + 512 WHERE {MOVED.format('Memcpy')}"
    )
    assert findings(ring, statement) == 1
