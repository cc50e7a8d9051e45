"""The step trace of msprof's Python, run by itself: ``python msprof_steps.py CHECKOUT V6``.

Reads a file of records of 40 bytes on the standard input, and prints the rows of its tables as
JSON. It runs in a process of its own, since msprof keeps what it computed in its classes.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

SIZE = 40
STEP_TRACE = 10
COLUMNS = "index_id int, model_id int, timestamp int, stream_id int, task_id int, tag_id int"


def main(checkout: str, v6: bool) -> dict[str, list[list[Any]]]:
    sys.path.insert(0, f"{checkout}/analysis")
    logging.disable(logging.CRITICAL)
    from common_func.platform.chip_manager import ChipManager
    from mscalculate.step_trace.create_step_table import StepTableBuilder
    from msparser.step_trace.ts_binary_data_reader.step_trace_reader import StepTraceReader
    from profiling_bean.prof_enum.chip_model import ChipModel

    ChipManager().chip_id = ChipModel.CHIP_V6_1_0 if v6 else ChipModel.CHIP_V4_1_0
    content, reader = sys.stdin.buffer.read(), StepTraceReader()
    for at in range(0, len(content), SIZE):
        if content[at + 1] == STEP_TRACE:
            reader.read_binary_data(content[at : at + SIZE])
    with tempfile.TemporaryDirectory() as folder:
        databases = Path(folder) / "sqlite"
        databases.mkdir()
        connection = sqlite3.connect(databases / "step_trace.db")
        with connection:
            connection.execute(f"create table StepTrace ({COLUMNS})")
            connection.executemany("insert into StepTrace values (?, ?, ?, ?, ?, ?)", reader.data)
        connection.close()
        StepTableBuilder.run({"result_dir": folder, "devices": "0"})
        return {
            table: rows(databases / f"{name}.db", table)
            for name, table in (
                ("step_trace", "step_trace_data"),
                ("step_trace", "StepTime"),
                ("trace", "training_trace"),
                ("trace", "all_reduce"),
                ("trace", "get_next"),
            )
        }


def rows(path: Path, table: str) -> list[list[Any]]:
    connection = sqlite3.connect(path)
    try:
        return [list(row) for row in connection.execute(f"select * from {table}")]
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2] == "v6")))
