"""The raw files of real runs, with what parsers of their time made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascend_ref.cli import main

REAL = Path(__file__).parents[2] / "../shared/data/mindspore"


def real(path: str) -> Path:
    """A real file or folder; the test is skipped without it."""
    found = REAL / path
    if not found.exists():
        pytest.skip(f"needs the real {path} in ../shared/data/mindspore")
    return found


def parsed(source: Path, output: Path, day: str | None = None) -> int:
    """The exit code of ``ascend-ref mindspore parse``."""
    generation = [] if day is None else ["--generation", day]
    return main(["mindspore", "parse", str(source), "-o", str(output), *generation])
