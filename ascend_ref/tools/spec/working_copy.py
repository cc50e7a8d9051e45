"""A whole spec in a folder of its own: what ``--spec`` takes as a working copy."""

from __future__ import annotations

from pathlib import Path

from ascend_ref.atomic import staged
from ascend_spec import Spec


def write_working_copy(spec: Spec, folder: Path) -> None:
    """Writes every document of a spec into a new folder, which appears complete or not at all.

    Documents that a draft changes are written anew, the others as they stand. Raises
    ``FileExistsError`` for a folder that exists.
    """
    documents = spec.folder
    families = sorted(one.name for one in documents.root.iterdir() if one.is_dir())
    with staged(folder) as draft:
        for name in [name for family in families for name in documents.names(family)]:
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(documents.text(name), encoding="utf-8", newline="\n")
