"""Fixtures: copies of a real rank folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from defects import ANALYSIS, FOLDER, PROFILER, RANK_1
from profiles import copy_real, real


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    real(RANK_1)
    return copy_real(FOLDER, tmp_path_factory.mktemp("pristine"))


@pytest.fixture
def folder(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the real rank folder to damage."""
    target = tmp_path / FOLDER
    shutil.copytree(pristine, target)
    return target


@pytest.fixture
def profiler(folder: Path) -> Path:
    return folder / PROFILER


@pytest.fixture
def analysis(folder: Path) -> Path:
    return folder / ANALYSIS
