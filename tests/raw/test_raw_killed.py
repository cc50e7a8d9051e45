"""An export that is killed leaves nothing that passes as whole."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostile_trees import PROFILE, tree

from ascend_ref.cli import main

FIRST, LATER = 1, 3
"""Files that there are when the export is killed: while databases or texts are written."""


def hidden(folder: Path) -> list[Path]:
    return [one for one in folder.iterdir() if one.name.startswith(".")]


def written(folder: Path) -> int:
    return sum(1 for one in hidden(folder) for path in one.rglob("*") if path.is_file())


@pytest.mark.exhaustive
@pytest.mark.parametrize("files", [FIRST, pytest.param(LATER, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", [PROFILE, pytest.param("document", marks=pytest.mark.exhaustive)])
def test_a_killed_export_leaves_nothing_that_passes_as_whole(
    tmp_path: Path, name: str, files: int, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "exports"
    place.mkdir()
    command = ["export", str(tree(name)), "-o", str(place / "out")]
    run = "import sys; from ascend_ref.cli import main; sys.exit(main(sys.argv[1:]))"
    with subprocess.Popen([sys.executable, "-c", run, *command]) as started:
        while started.poll() is None and written(place) < files:
            time.sleep(0.001)
        assert started.poll() is None
        started.kill()
    assert not (place / "out").exists()
    (draft,) = hidden(place)
    assert main(["check", str(place)]) == 2
    assert main(["check", str(draft)]) != 0
    capsys.readouterr()
    assert main([*command, "--as", "db"]) == 0
    assert hidden(place) == [draft]
