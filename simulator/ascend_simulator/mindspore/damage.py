"""Faults of the raw files of a job: what each takes or changes, and where it is to be seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ascend_ref.mindspore.raw.records import layout_of
from ascend_ref.mindspore.write.device import HWTS, TRACE
from ascend_ref.raw.fields import put
from ascend_ref.raw.series import Gathered, Slice
from ascend_spec import mindspore_catalog
from ascend_spec.core.packed import dtype_of

from ..choices import FaultChoice
from ..draws import Draws
from ..loss.raw_slices import cut, lose_slice, tear
from .record import JobRecord, PointRecord

WRONG_MAGIC = 0x1234
WRONG_TAGS = {TRACE: 254}
WRONG_TAG = 9
"""Tags that are of no point of a step that has no sum of gradients there."""

DEVICES = 8


@dataclass(frozen=True, slots=True)
class JobDamage:
    """What a fault did to one file; truth.schema.yaml says what each member means."""

    path: str
    offset: int
    bytes: int
    gone: bool
    records: int
    is_stated: bool


def damage_job(
    folder: Path, record: JobRecord, fault: FaultChoice, draws: Draws
) -> list[JobDamage]:
    """Apply a fault to the files of a job, and to what is recorded of it. Paths are in ``folder``.

    Nothing where there is no such file, or one of too few records.
    """
    kind = fault.raw if fault.kind in OF_NAMED_FILES else _OF_FILE.get(fault.kind, record.kind)
    slices = _slices(folder, kind)
    if not slices:
        return []
    if fault.kind == "job-lost-file":
        record.gone.add(kind)
        return [_gone(folder, one.path) for one in slices]
    size = layout_of(kind, record.job.day).size
    return list(_FAULTS[fault.kind](_File(folder, kind, slices, size, record), fault, draws))


OF_NAMED_FILES: Collection[str] = ("job-lost-file", "job-lost-slice")
"""Faults for which ``raw`` names the kind of file."""

_OF_FILE: Mapping[str, str] = dict.fromkeys(
    (
        "job-torn-record",
        "job-wrong-magic",
        "job-swapped-slices",
        "job-foreign-slice",
        "job-endless-task",
        "job-lost-ends",
    ),
    HWTS,
)


@dataclass
class _File:
    """The slices of one kind of file, and how many bytes a record has."""

    folder: Path
    kind: str
    slices: Sequence[Slice]
    size: int
    record: JobRecord

    def cut(self, least: int) -> list[Path]:
        """Its slices, at least so many."""
        paths = cut(self.slices, self.size, least)
        self.renumber(paths)
        return paths

    def counts(self, paths: Sequence[Path]) -> list[int]:
        """Records of each slice."""
        return [path.stat().st_size // self.size for path in paths]

    def renumber(self, paths: Sequence[Path]) -> None:
        """Note in which slice each point stands."""
        if self.kind == HWTS:
            return
        places = [place for place, count in enumerate(self.counts(paths)) for _ in range(count)]
        self.record.points = [
            one._replace(place=place) for one, place in zip(self.record.points, places, strict=True)
        ]

    def lose(self, places: Collection[int]) -> None:
        """Take records out of what is recorded, by their places."""
        record = self.record
        if self.kind == HWTS:
            record.log = [one for place, one in enumerate(record.log) if place not in places]
        else:
            kept = [one for place, one in enumerate(record.points) if place not in places]
            record.points = kept

    def drop(self, lost: Collection[int]) -> Iterator[JobDamage]:
        """Take records out of the slices."""
        first = 0
        for one in self.slices:
            content = one.path.read_bytes()
            count = len(content) // self.size
            own = [place - first for place in sorted(lost) if first <= place < first + count]
            first += count
            if own:
                left = b"".join(
                    content[place * self.size : (place + 1) * self.size]
                    for place in range(count)
                    if place not in own
                )
                one.path.write_bytes(left)
                taken = len(own) * self.size
                yield self.damage(one.path, own[0] * self.size, taken, len(own), is_stated=False)
        self.lose(lost)

    def damage(
        self, path: Path, offset: int, size: int, records: int, *, is_stated: bool
    ) -> JobDamage:
        """What was done to a slice that is still there."""
        name = path.relative_to(self.folder).as_posix()
        return JobDamage(name, offset, size, False, records, is_stated)


def _slices(folder: Path, kind: str) -> list[Slice]:
    gathered = Gathered()
    found = False
    for path in sorted(folder.rglob("*")):
        named = mindspore_catalog().file_of(path.name) if path.is_file() else None
        if named is not None and named[0].file == kind:
            number = named[2].get("slice", "")
            stem = path.name[: len(path.name) - len(number)]
            gathered.add(str(path.parent), stem, number, ())
            found = True
    return list(gathered.ordered()) if found else []


def _gone(folder: Path, path: Path) -> JobDamage:
    size = path.stat().st_size
    path.unlink()
    return JobDamage(path.relative_to(folder).as_posix(), 0, size, True, 0, False)


def _lost_slice(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    paths = file.cut(max(fault.slices, 3))
    counts = file.counts(paths)
    for hit in lose_slice(paths, file.size, draws):
        place = paths.index(hit.path)
        first = sum(counts[:place])
        file.lose(range(first, first + counts[place]))
        name = hit.path.relative_to(file.folder).as_posix()
        yield JobDamage(name, 0, hit.size, True, counts[place], True)


def _torn_record(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    paths = file.cut(fault.slices)
    counts = file.counts(paths)
    for hit in tear(paths, file.size, at_end=fault.cut == "end", draws=draws):
        place = sum(counts[: paths.index(hit.path)]) + hit.offset // file.size
        file.lose({place})
        yield file.damage(hit.path, hit.offset, hit.size, 1, is_stated=True)


def _wrong_magic(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    place = draws.one(0, sum(file.counts([one.path for one in file.slices])) - 1)
    yield from _changed(file, place, "magic", WRONG_MAGIC, is_stated=True)
    file.lose({place})


def _swapped_slices(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    paths = file.cut(max(fault.slices, 2))
    if len(paths) < 2:
        return
    counts = file.counts(paths)
    place = draws.one(0, len(paths) - 2)
    first, other = paths[place], paths[place + 1]
    contents = first.read_bytes(), other.read_bytes()
    first.write_bytes(contents[1])
    other.write_bytes(contents[0])
    start = sum(counts[:place])
    middle, end = start + counts[place], start + counts[place] + counts[place + 1]
    log = file.record.log
    file.record.log = [*log[:start], *log[middle:end], *log[start:middle], *log[end:]]
    for path in (first, other):
        yield file.damage(path, 0, path.stat().st_size, 0, is_stated=False)


def _foreign_slice(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    """A slice of another device, as if it had been copied next to the first of this one."""
    job = file.record.job
    own = mindspore_catalog().file_of(file.slices[0].path.name)
    if own is None:
        return
    other = (job.device + draws.one(1, DEVICES - 1)) % DEVICES
    name = own[1].form.of(**{**own[2], "device": other})
    path = file.slices[0].path.with_name(name)
    path.write_bytes(file.slices[0].path.read_bytes())
    yield file.damage(path, 0, 0, 0, is_stated=False)


def _endless_task(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    names = sorted({one.operator for one in file.record.log if one.operator is not None})
    if names:
        name = names[draws.one(0, len(names) - 1)]
        log = file.record.log
        yield from file.drop(
            {n for n, one in enumerate(log) if one.operator == name and one.is_end}
        )


def _lost_ends(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    """The end of one execution of each fourth operator."""
    ends: dict[str, list[int]] = {}
    for place, one in enumerate(file.record.log):
        if one.operator is not None and one.is_end:
            ends.setdefault(one.operator, []).append(place)
    some = [ends[name] for name in sorted(ends)[::4]]
    yield from file.drop({own[draws.one(0, len(own) - 1)] for own in some})


def _lost_reductions(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    """Those of each second step, as in a real capture."""
    yield from file.drop(
        {
            place
            for place, one in enumerate(file.record.points)
            if one.iteration % 2 and _is_reduction(file.record, one)
        }
    )


def _wrong_tag(file: _File, fault: FaultChoice, draws: Draws) -> Iterator[JobDamage]:
    """The backward end of one step has the tag of another point."""
    tag = file.record.tags.values["BP_END"]
    places = [place for place, one in enumerate(file.record.points) if one.tag == tag]
    if not places:
        return
    place = places[draws.one(0, len(places) - 1)]
    wrong = WRONG_TAGS.get(file.kind, WRONG_TAG)
    field = "tag_id" if file.kind == TRACE else "tagId"
    yield from _changed(file, place, field, wrong, is_stated=False)
    file.record.points[place] = file.record.points[place]._replace(tag=wrong)


def _changed(
    file: _File, place: int, field: str, value: int, *, is_stated: bool
) -> Iterator[JobDamage]:
    """Put a number into a field of one record."""
    layout = layout_of(file.kind, file.record.job.day)
    first = 0
    for one in file.slices:
        content = bytearray(one.path.read_bytes())
        count = len(content) // file.size
        if first <= place < first + count:
            offset = (place - first) * file.size
            dtype = dtype_of(layout.declaration(layout.members[0]))
            rows = np.frombuffer(content, dtype, 1, offset)
            put(layout.declaration(layout.members[0]), rows, field, np.array([value]))
            one.path.write_bytes(content)
            yield file.damage(one.path, offset, 0, 1, is_stated=is_stated)
        first += count


def _is_reduction(record: JobRecord, one: PointRecord) -> bool:
    return record.tags.first <= one.tag < record.tags.first + 2 * record.tags.held


_Fault: TypeAlias = Callable[[_File, FaultChoice, Draws], Iterator[JobDamage]]
_FAULTS: Mapping[str, _Fault] = {
    "job-lost-slice": _lost_slice,
    "job-torn-record": _torn_record,
    "job-wrong-magic": _wrong_magic,
    "job-swapped-slices": _swapped_slices,
    "job-foreign-slice": _foreign_slice,
    "job-endless-task": _endless_task,
    "job-lost-ends": _lost_ends,
    "job-lost-reductions": _lost_reductions,
    "job-wrong-tag": _wrong_tag,
}
