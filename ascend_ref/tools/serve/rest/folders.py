"""The folders that clients may name. Nothing out of the one that is served is ever looked into."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ascend_ref.mindspore.analyse.files import INNER, Folder, devices_in
from ascend_ref.raw.damage import Unreadable

from .refused import Refused

MOST_FOLDERS = 10_000
"""That are looked through for those with intermediate files."""

SHOWN = 10


class Served:
    """A folder that is served. Raises ``Unreadable`` where nothing in it can be."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise Unreadable(f"{path}: no such folder")
        self.root = Path(os.path.realpath(path))
        if not self.known():
            raise Unreadable(
                f"{path}: no intermediate file of MindSpore's profiler in it, or below it"
            )

    def known(self) -> list[str]:
        """Some of the folders with intermediate files, by their paths below the one served."""
        return list(islice(self._known(), SHOWN))

    def _known(self) -> Iterator[str]:
        for path, folders, _ in islice(os.walk(self.root), MOST_FOLDERS):
            folders.sort()
            if devices_in(Path(path)):
                yield os.path.relpath(path, self.root)

    def of_profile(self, train_id: str, profile: str, refusal: str) -> Path:
        """The folder that a job and a folder below it name."""
        job = self._inside(train_id, refusal)
        self._check_job(job, train_id)
        path = self._inside(os.path.join(train_id, profile), refusal)
        if not os.path.isdir(path):
            raise Refused("no-folder", f"{profile!r:.200} in {train_id!r:.200}. {self._there()}")
        return path

    def of_job(self, name: str, refusal: str) -> Path:
        """The folder of the newest profile of a job, the last by name, or the job's own."""
        job = self._inside(name, refusal)
        self._check_job(job, name)
        found = sorted(one.name for one in job.iterdir() if one.name.startswith(INNER))
        inner = (self._inside(os.path.join(name, one), refusal) for one in reversed(found))
        return next((one for one in inner if os.path.isdir(one)), job)

    def open(self, path: Path, device: str | None) -> Folder:
        """The files of a device in a folder; by default of the lowest."""
        devices = devices_in(path)
        inner = path / INNER
        if not devices and os.path.isdir(inner) and self._is_inside(inner):
            path, devices = inner, devices_in(inner)
        if not devices:
            name = os.path.relpath(path, self.root)
            raise Refused("no-folder", f"No intermediate file in {name!r:.200}. {self._there()}")
        if device is None:
            device = devices[0]
        if device not in devices:
            listed = ", ".join(devices[:SHOWN])
            raise Refused("device", f"No file of device {device}; there are {listed}.")
        return Folder(path, device, self.root)

    def _inside(self, name: str, refusal: str) -> Path:
        """The place of a name, links followed. Refuses what is not below the served folder."""
        if os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
            raise Refused(refusal, f"Expected a path below the served folder, got {name!r:.200}.")
        try:
            path = Path(os.path.realpath(self.root / name))
        except ValueError:
            raise Refused(refusal, f"{name!r:.200} is no path.") from None
        if not self._is_inside(path):
            raise Refused(refusal, f"{name!r:.200} leads out of the served folder.")
        return path

    def _is_inside(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self.root)

    def _check_job(self, job: Path, name: str) -> None:
        if not os.path.isdir(job):
            raise Refused("no-job", f"{name!r:.200}. {self._there()}")

    def _there(self) -> str:
        return f"Folders with files: {', '.join(self.known())}"
