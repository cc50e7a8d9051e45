"""Checks that do without pandas, which costs time, memory and, from inside pyarrow, a Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ascend_ref.recorded import from_captures
from ascend_ref.timeline import write_timeline
from ascend_simulator.cli.presets import named
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override


def without_pandas(code: str) -> int:
    """What a process ends with that runs some code and ends with 9 where pandas is looked for."""
    finder = (
        "import os, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pandas': os._exit(9)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    command = [sys.executable, "-c", finder + code]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


def test_pandas_is_looked_for_by_arrow() -> None:
    """Without this, none of the following could fail."""
    assert without_pandas("import pyarrow as pa; pa.array(['a'])") == 9


def test_columns_do_without_pandas() -> None:
    """Imported from inside pyarrow, pandas swallows an interrupt."""
    code = (
        "import pyarrow as pa\n"
        "from ascend_ref.arrays import integers\n"
        "buffers = [None, pa.py_buffer(bytes(16))]\n"
        "integers(pa.Array.from_buffers(pa.int64(), 2, buffers))\n"
    )
    assert without_pandas(code) == 0


def test_a_check_of_a_timeline_does_without_pandas(tmp_path: Path) -> None:
    run = simulate(override(named("dense-8"), ranks=None, steps=1, level=None))
    (path,) = write_timeline(from_captures([run.capture(0)], "pytorch"), tmp_path)
    code = f"from ascend_conformance.check import check; check([{str(path)!r}])"
    assert without_pandas(code) == 0
