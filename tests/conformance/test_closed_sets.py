"""Real files with values that their exporter has no name for.

``data_processor.cpp`` keeps the number of what HCCL reports where its own table lacks it, as the
steps of RDMA before and after 2025-12; of the level of a call that has no number it writes 65535,
and ``api_statistic_assembler.cpp`` an empty cell. The Python engine writes the name of the level.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from profiles import real

from ascend_conformance.check import check
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection


def found(folder: Path, *rules: str) -> list[tuple[str, str]]:
    options = Options(selection=Selection(select=rules), workers=1)
    return [(one.rule, one.place) for one in check([folder], options).findings]


def database(name: str, folder: Path) -> Path:
    copied = folder / "ascend_pytorch_profiler_0.db"
    return Path(shutil.copyfile(real(f"../{name}") / copied.name, copied))


@pytest.mark.parametrize("name", ["db/level1_rank0", "generations/db_910a_2024_level1_rank0"])
@pytest.mark.parametrize(
    ("place", "held", "unknown"),
    [
        ("COMMUNICATION_TASK_INFO.rdmaType", (3, 255), 77),
        ("COMMUNICATION_TASK_INFO.linkType", (8, 255), 77),
        ("COMMUNICATION_TASK_INFO.transportType", (4, 255), 77),
        ("COMMUNICATION_OP.dataType", (15, 255), 77),
        ("CANN_API.type", (65535,), 777),
    ],
)
def test_a_number_that_the_table_lacks(
    name: str, place: str, held: tuple[int, ...], unknown: int, tmp_path: Path
) -> None:
    path = database(name, tmp_path)
    table, _, column = place.partition(".")

    def having(value: int) -> list[tuple[str, str]]:
        with closing(sqlite3.connect(path)) as rows:
            first = f"rowid = (SELECT min(rowid) FROM {table})"
            rows.execute(f"UPDATE {table} SET {column} = ? WHERE {first}", (value,))
            rows.commit()
        return found(tmp_path, "DB209", "DB204")

    assert [having(value) for value in held] == [[] for _ in held]
    assert having(unknown) == [("DB209", place)]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated")
    arguments = ["simulate", "observed-everything", "--as", "msprof-db,csv,timeline"]
    command = [sys.executable, "-m", "ascend_ref", *arguments, "--output", str(folder / "run")]
    subprocess.run(command, check=True)
    return min((folder / "run").glob("PROF_*"))


def of_level(capture: Path, level: int, cell: str, call: str) -> None:
    """The calls of one name of the runtime are of another level."""
    (database,) = capture.glob("msprof_*.db")
    with closing(sqlite3.connect(database)) as rows:
        of_the_name = "name = (SELECT id FROM STRING_IDS WHERE value = 'EventDestroy')"
        rows.execute(f"UPDATE CANN_API SET type = ? WHERE {of_the_name}", (level,))
        rows.commit()
    for path, old, new in (
        ("api_statistic_*.csv", ",runtime,EventDestroy,", f",{cell},EventDestroy,"),
        ("msprof_2*.json", '"Runtime@EventDestroy"', f'"{call}@EventDestroy"'),
    ):
        (file,) = capture.glob(f"*/{path}")
        file.write_bytes(file.read_bytes().replace(old.encode(), new.encode()))
    if call != "Runtime":
        events = json.loads(file.read_bytes())
        for event in events:
            if event["name"] == f"{call}@EventDestroy":
                event["args"]["level"] = cell
        file.write_text(json.dumps(events, separators=(",", ":")))


@pytest.mark.campaign
def test_calls_of_a_level_without_a_number(capture: Path, tmp_path: Path) -> None:
    rules = ("CSV025", "CSV026", "DB209", "TRC013", "XLR207", "XLR208", "XLR209")
    copy = shutil.copytree(capture, tmp_path / "unnamed")
    of_level(copy, 65535, "", "Api")
    assert found(copy, *rules) == []
    copy = shutil.copytree(capture, tmp_path / "wrong")
    of_level(copy, 5000, "AscendCL", "Runtime")
    wrong = {rule for rule, _ in found(copy, *rules)}
    assert wrong == {"CSV026", "XLR207", "XLR208"}
