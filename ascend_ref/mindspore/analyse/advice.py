"""What msadvisor recommends for a device, from the newest of its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .files import DEVICE, Folder

TABLE = "msadvisor_recommendation"
MODEL, ADVICE = "model", "msadvisor-proposer"


def answer_advice(folder: Folder) -> dict[str, Any]:
    """The document with its ``model`` under the name that the viewer gives it.

    It is empty where there is no file. Files of the same age are taken by name, the last first.
    """
    found = newest(folder)
    document = None if found is None else folder.object_in(found, TABLE)
    if not document:
        return {}
    return {
        **{key: one for key, one in document.items() if key != MODEL},
        ADVICE: document.get(MODEL),
    }


def newest(folder: Folder) -> Path | None:
    """The file that was changed last; ``None`` where there is none."""
    files = [path for path, parts in folder.named(TABLE) if parts[DEVICE] == folder.device]
    return max(files, key=lambda one: (one.stat().st_mtime_ns, one.name), default=None)
