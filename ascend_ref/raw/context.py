"""What stands next to a raw file and says what its numbers mean: dictionaries and clocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ascend_spec.core.packed import ClockName

from .clocks import CLOCKS, Clock
from .damage import Damage, Unreadable
from .dictionaries import Names, read_names
from .readable import Reading
from .side import SideFiles, Unknown, read_side_files
from .tree import HOST, RawFolder, find_folders, folder_of


@dataclass
class Context:
    """The folder of a file, with the host of the same capture.

    counts: how many records, lines or documents were read of the kinds that somebody asked for, and
    of one declaration by ``kind/DECLARATION``.
    """

    folder: RawFolder
    host: RawFolder | None
    damage: list[Damage] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @cached_property
    def side(self) -> SideFiles:
        """The side files of the folder."""
        return read_side_files(self.folder, self.damage, self.counts)

    @cached_property
    def names(self) -> Names:
        """The dictionaries of the host."""
        return read_names(self.host, self.damage, self.counts)

    @cached_property
    def reading(self) -> Reading:
        """What numbers of this folder mean. A clock that is not known is damage."""
        counter: ClockName | None = "host-counter" if self.folder.side == "host" else None
        return Reading(self.names, dict(self._clocks()), counter)

    def _clocks(self) -> Iterator[tuple[ClockName, Clock]]:
        missing: dict[str, None] = {}
        for name in CLOCKS:
            if name.startswith("device") and self.folder.side != "device":
                continue
            try:
                clock = self.side.by_name(name)
            except Unknown as reason:
                missing[str(reason)] = None
            else:
                yield name, clock
        if self.folder.side != "framework":
            self.damage += [
                Damage(self.folder.path, f"{text}, so some times are not known") for text in missing
            ]


def context_of(path: Path) -> Context | None:
    """The context of a file; ``None`` for one that lies in no folder of raw files."""
    folder = folder_of(path)
    return None if folder is None else Context(folder, _host(folder))


def contexts(path: Path) -> list[Context]:
    """The contexts of all folders below a path. Raises :class:`Unreadable`."""
    folders = find_folders(path)
    hosts = {one.path.parent: one for one in folders if one.side == "host"}
    return [Context(one, hosts.get(one.path.parent)) for one in folders]


def _host(folder: RawFolder) -> RawFolder | None:
    if folder.side == "host":
        return folder
    try:
        return next(iter(find_folders(folder.path.parent / HOST)), None)
    except Unreadable:
        return None
