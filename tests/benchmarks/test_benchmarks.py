"""The benchmarks run: a tiny size of those whose inputs are made here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

TINY = """
import db, report_page, workload
from db_load import compare_load
from pathlib import Path
from python_rules import compare_with_python_loop

path = db.database(Path(), 2_500)
db.check_in_process(path)
compare_with_python_loop(path)
compare_load(Path(), workload.schema(), workload.tables(500))
assert len([*report_page.measure(2_000)]) == 2
"""


@pytest.mark.campaign
def test_the_database_of_the_benchmark_is_clean(tmp_path: Path) -> None:
    """Its rules run and find nothing, advice included; the ways that it compares agree."""
    code = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r})\n{TINY}"
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
