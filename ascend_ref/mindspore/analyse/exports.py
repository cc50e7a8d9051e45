"""What msprof exported next to intermediate files, the newest of each kind, by rank."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from ascend_ref.raw.damage import Damage, few
from ascend_spec import layout_catalog

from ..scopes import moment
from .files import Folder

RUN = "run_info"
PROFILE, OUTPUT, DEVICE_FOLDER = (("msprof", one) for one in ("profile", "output", "device"))
INFORMATION = ("msprof", "info")
STEPS_TABLE, MODEL = "step_trace", "Model ID"
NO_RANK = -1

Event: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Export:
    """The newest collection of a rank. ``shift``: us that are taken off the times of its events.

    ``folder``: the intermediate files next to it. ``output``: its exports, if it has any.
    """

    rank: int
    folder: Folder
    output: Path | None
    shift: Decimal

    def files(self, called: str) -> list[Path]:
        """The files of one kind, all slices of the last export, by their names."""
        found: dict[tuple[int, ...], list[Path]] = {}
        for path in _entries(self.folder, self.output) if self.output else ():
            match = layout_catalog().match(path.name)
            if match and match.file.producer == "msprof" and match.called == called:
                found.setdefault(tuple(map(int, match.numbers)), []).append(path)
        return sorted(path for path in found[max(found)] if path.is_file()) if found else []

    def events(self, called: str) -> list[Event]:
        """The events of the last export of a time line; what is none is left out, and stated."""
        found: list[Event] = []
        for path in self.files(called):
            before = len(self.folder.damage)
            document = self.folder.json(path, called)
            if isinstance(document, list):
                sound = [one for one in document if _is_event(one)]
                found += sound
                if len(sound) < len(document):
                    text = "that are no objects, or whose name, pid, tid, ts or args cannot be"
                    self._state(path, f"{len(document) - len(sound):,} events {text}", called)
            elif len(self.folder.damage) == before:
                self._state(path, "is no list of JSON", called)
        return found

    def models(self) -> set[int]:
        """The models whose steps the last export has."""
        found: set[int] = set()
        for path in self.files(STEPS_TABLE):
            rows = self.folder.csv(path, STEPS_TABLE)
            if not rows or MODEL not in rows[0]:
                self._state(path, f"no column {MODEL}", STEPS_TABLE)
                continue
            column = rows[0].index(MODEL)
            with few(self.folder.damage) as damage:
                for row in rows[1:]:
                    text = row[column] if column < len(row) else ""
                    model = whole(text)
                    if model is not None:
                        found.add(model)
                    elif text:
                        damage.append(
                            Damage(path, f"{MODEL} is no number: {text!r:.60}", kind=STEPS_TABLE)
                        )
        return found

    def _state(self, path: Path, text: str, called: str) -> None:
        self.folder.damage.append(Damage(path, text, kind=called))


def find_exports(folder: Folder) -> list[Export]:
    """The last collection of each rank in a folder, by rank."""
    newest: dict[int, Path] = {}
    for path in _folders(folder, folder.path, PROFILE):
        newest[_rank(folder, path)] = path
    return [_export(folder, rank, path) for rank, path in sorted(newest.items())]


def _export(folder: Folder, rank: int, profile: Path) -> Export:
    of_rank = folder.of_rank(str(rank))
    stated = of_rank.object(RUN).get("diff_time", 0)
    shift = moment(stated)
    if shift is None:
        path = of_rank.find(RUN) or folder.path
        folder.damage.append(Damage(path, f"diff_time is no number: {stated!r:.60}", kind=RUN))
    output = next(_folders(folder, profile, OUTPUT), None)
    return Export(rank, of_rank, output, shift or Decimal(0))


def _rank(folder: Folder, profile: Path) -> int:
    """The rank that the first device of a collection states; 0 of one that states none."""
    for device in _folders(folder, profile, DEVICE_FOLDER):
        for path in _entries(folder, device):
            if layout_catalog().files[INFORMATION].name.fits(path.name) and path.is_file():
                stated = (folder.object_in(path, "info") or {}).get("rank_id", 0)
                rank = whole(stated)
                if rank is None or rank < NO_RANK:
                    text = f"rank_id is no rank: {stated!r:.60}"
                    folder.damage.append(Damage(path, text, kind="info"))
                return max(rank or 0, 0)
    return 0


def _folders(folder: Folder, path: Path, which: tuple[Any, str]) -> Iterator[Path]:
    form = layout_catalog().folders[which]
    return (one for one in _entries(folder, path) if form.is_called(one.name) and one.is_dir())


def _entries(folder: Folder, path: Path) -> list[Path]:
    """What is in a folder, by name, without what links lead out to."""
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return []
    return [path / name for name in names if folder.may_read(path / name)]


def whole(value: Any) -> int | None:
    """A whole number, or a text of one; ``None`` for anything else."""
    found = None if isinstance(value, bool) else moment(value)
    return int(found) if found is not None and found == found.to_integral_value() else None


def _is_event(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and all(isinstance(one.get(key), int | float | str | None) for key in ("pid", "tid"))
        and isinstance(one.get("name", ""), str)
        and isinstance(one.get("args", {}), dict)
        and ("ts" not in one or moment(one["ts"]) is not None)
    )
