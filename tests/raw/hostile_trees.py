"""Trees of raw files that tests damage."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from document_tree import write_document_tree

from ascend_ref.profile import write_pytorch_profile
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN
from ascend_spec import catalog

NEWEST = catalog().revisions[-1].id

PROFILE = "profile"
"""A profile of the framework, of which FRAMEWORK and the files next to it are changed."""
TREES = ("document", "observed-everything", "text-museum", "cnn-910a", PROFILE)

_PLACE = TemporaryDirectory(prefix="hostile-trees-")
"""It is gone with the process; several modules share the trees."""


@cache
def tree(name: str) -> Path:
    """A raw folder that tests copy."""
    folder = Path(_PLACE.name) / name / "PROF_1"
    folder.parent.mkdir()
    if name == "document":
        write_document_tree(folder)
    elif name == PROFILE:
        capture = simulate(RUN.preset("observed-everything")).capture(0)
        write_pytorch_profile(folder.parent, capture, NEWEST, ("raw",)).rename(folder)
    else:
        write_raw(folder, raw_view(simulate(RUN.preset(name)).capture(0)).capture)
    return folder


def copy(name: str, target: Path) -> Path:
    """A tree in place of what is there."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(tree(name), target))


def files(folder: Path) -> list[Path]:
    """The files below a folder, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
