"""The rows that were asked for last, so that the pages of a large file are not each a reading."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ascend_ref.mindspore.analyse.factory import Loaded, load_analyser
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.raw.damage import Damage


class LastLoaded:
    """Queries analysers, one after the other. What has changed on disk is read again."""

    def __init__(self) -> None:
        self._key: object = None
        self._loaded: Loaded | None = None
        self._damage: tuple[Damage, ...] = ()

    def query(
        self, name: str, folder: Folder, day: str, condition: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The answer of an analyser; what of its files is damaged is added to the folder's."""
        own = Folder(folder.path, folder.device, folder.root)
        loaded = self._loaded
        if loaded is None or (name, own.path, own.device, _states(loaded)) != self._key:
            self._loaded = None  # its memory is free for the next
            loaded = load_analyser(name, own, day)
            self._key = name, own.path, own.device, _states(loaded)
            self._damage = tuple(own.damage)
            self._loaded = loaded
        before = len(loaded.folder.damage)
        try:
            return loaded.query(condition)
        finally:
            folder.damage += [*self._damage, *loaded.folder.damage[before:]]
            del loaded.folder.damage[before:]


def _states(loaded: Loaded) -> tuple[tuple[Path, int, int] | None, ...]:
    """Names, times and sizes of the files that an analyser reads."""
    folder, tables = loaded.folder, loaded.analyser.reads
    paths = (
        [path for table in tables for path, _ in folder.named(table)]
        if loaded.analyser.of_all_ranks
        else map(folder.find, tables)
    )
    stats = ((path, path.stat()) if path else None for path in paths)
    return tuple(one and (one[0], one[1].st_mtime_ns, one[1].st_size) for one in stats)
