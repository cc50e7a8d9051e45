"""Real databases with an operator of communication of which msprof has no details.

``cann_trace_db_dumper.cpp`` writes an operator whose record of details is missing with unknown
group, algorithm and type of data, and -1 as count, relay and retry. Its tasks name their group.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from profiles import real

from ascend_conformance.check import check
from ascend_conformance.options import Options


def found(folder: Path) -> dict[tuple[str, str], str]:
    findings = check([folder], Options(workers=1)).findings
    return {(one.rule, one.place): one.message for one in findings}


@pytest.mark.parametrize("name", ["db/level1_rank0", "generations/db_910a_2024_level1_rank0"])
def test_an_operator_without_details_is_no_fault(name: str, tmp_path: Path) -> None:
    copy = shutil.copytree(real(f"../{name}"), tmp_path / "real", copy_function=shutil.copyfile)
    before = found(copy)
    with closing(sqlite3.connect(copy / "ascend_pytorch_profiler_0.db")) as rows:
        ((unknown,),) = rows.execute("SELECT id FROM STRING_IDS WHERE value = 'N/A'")
        rows.execute(
            "UPDATE COMMUNICATION_OP SET groupName = ?, algType = ?, dataType = 65534,"
            " count = -1, relay = -1, retry = -1 WHERE rowid = 1",
            (unknown, unknown),
        )
        rows.commit()
    assert {key: text for key, text in found(copy).items() if key not in before} == {}
