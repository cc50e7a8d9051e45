"""Changes of entities, carried out on the bytes of records: the writing side of their views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.derive.text_hash import name_id
from ascend_ref.raw.communication import recorded_types
from ascend_ref.raw.context import Context
from ascend_ref.raw.decode.origins import Stands, layout_in
from ascend_ref.raw.decode.tasks import LAUNCHES
from ascend_ref.raw.dictionaries import TEXTS, TYPES
from ascend_ref.raw.fields import field_showing, numbers, opaque, put, time_field
from ascend_ref.raw.side import Unknown
from ascend_ref.raw.slices import read_blocks
from ascend_ref.raw.vocabulary import level, numbered
from ascend_spec import catalog, raw_catalog, recording_catalog
from ascend_spec.core.packed import Field
from ascend_spec.raw.records import HASH_DIC

from ...engine.relations.edits import CannotShow
from ...engine.relations.views import Dialect, View
from .moving import Interval, move_held
from .recorded import ShownByRecords, open_recorded

Record = npt.NDArray[Any]

_MOMENTS = ("start", "end", "time")
_TASK = ("stream", "number")
"""What both the log of a device and the host state of a task."""


class EditableRecords:
    """A folder whose records may be changed; after each change it is read again.

    ``unchanged``: what it holds before the first one, where that was read already.
    """

    dialect: Dialect = "duckdb"

    def __init__(self, path: Path, unchanged: ShownByRecords | None = None) -> None:
        self.path = path
        if unchanged is not None:
            self.shown = unchanged
        self.changes: list[tuple[Path, str]] = []
        """What was done to which file, in words."""
        self._held = ExitStack()

    def close(self) -> None:
        """Let go of what was read."""
        self._held.close()
        self.__dict__.pop("shown", None)

    @cached_property
    def shown(self) -> ShownByRecords:
        """The recording as it is now."""
        return self._held.enter_context(open_recorded(self.path))

    def views(self) -> Sequence[View]:
        """Those of what was read."""
        return self.shown.views()

    def rows(self, query: str) -> Iterable[tuple[Any, ...]]:
        """The rows of a SELECT."""
        return self.shown.rows(query)

    def values(self, query: str, columns: int, rows: int) -> Sequence[tuple[Any, ...]]:
        """The first rows of a SELECT."""
        return self.shown.values(query, columns, rows)

    def write(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        """Make a row show values. Raises :class:`.CannotShow`."""
        stands = self._stands(view, place)
        changes = [self._change(view, place, stands, *one) for one in values.items()]
        if view.entity == "host_call" and values.keys() & set(_MOMENTS):
            self._move_held(view, place, values)
        for some in changes:
            for where, name, number in some:
                _put(where, name, number)
                self._note(where, f"{name} is {number}")
        self.close()

    def drop(self, view: View, place: int) -> None:
        """Take the records of a row away. Raises :class:`.CannotShow`."""
        for stands in reversed(self._records(view, place)):
            content = stands.path.read_bytes()
            end = stands.offset + stands.size
            stands.path.write_bytes(content[: stands.offset] + content[end:])
            self._note(stands, "gone")
        self.close()

    def repeat(self, view: View, place: int) -> None:
        """Write the records of a row once more, behind all others. Raises :class:`.CannotShow`."""
        for stands in self._records(view, place):
            *_, last = stands.source.context.folder.files[stands.source.kind]
            record = stands.path.read_bytes()[stands.offset : stands.offset + stands.size]
            with last.path.open("ab") as file:
                file.write(record)
            self._note(stands, f"once more at the end of {last.path.name}")
        self.close()

    def _note(self, stands: Stands, what: str) -> None:
        where = f"{stands.source.record} at byte {stands.offset:,}"
        self.changes.append((stands.path, f"{where}: {what}"))

    # --- where -----------------------------------------------------------------------------------

    def _stands(self, view: View, place: int) -> Stands:
        found = self.shown.origins.stands(place)
        if found is None:
            raise CannotShow(f"no record holds the row of {view.name}")
        return found

    def _records(self, view: View, place: int) -> list[Stands]:
        stands = self._stands(view, place)
        return [stands, _close(stands)] if view.entity == "task" else [stands]

    def _launch(self, view: View, place: int) -> Stands:
        """What the host states of a task."""
        [(number,)] = self.rows(f"SELECT id FROM ({view.select({'id'})}) WHERE place = {place}")
        places = self.shown.origins.tables[LAUNCHES].places
        # Tasks that note a mark count behind those that the host launched.
        found = self.shown.origins.stands(int(places[number])) if number < len(places) else None
        if found is None:
            raise CannotShow("the host states nothing of the task")
        return found

    def _move_held(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        """Move what was reported in a call with it."""
        every = (
            f'SELECT place, thread, start, "end" FROM ({view.select({"thread", *_MOMENTS[:2]})})'
        )
        [(thread, start, end)] = self.rows(
            f'SELECT thread, start, "end" FROM ({every}) WHERE place = {place}'
        )
        inner = self.rows(
            f'SELECT start, "end" FROM ({every}) WHERE place <> {place} AND thread = {thread} '
            f'AND start >= {start} AND "end" <= {end}'
        )
        new = values.get("start", start), values.get("end", end)
        old, now, *others = (
            Interval(*(_ticks(self._host, None, time) for time in one))
            for one in ((start, end), new, *inner)
        )
        for path, offset in move_held(self._host, thread, old, now, others):
            self.changes.append((path, f"record at byte {offset:,}: moved with its call"))

    # --- what ------------------------------------------------------------------------------------

    def _change(
        self, view: View, place: int, stands: Stands, name: str, value: Any
    ) -> list[tuple[Stands, str, int]]:
        """The fields that show a value, each with its number."""
        entity = view.entity
        if value is None:
            raise CannotShow(f"no field states that {entity}.{name} is not known")
        if entity == "task":
            return self._change_of_task(view, place, stands, name, value)
        field = _field(stands.source.record, entity, name)
        if name in _MOMENTS:
            return [(stands, str(field.name), _ticks(stands.source.context, None, value))]
        if field.facts.values == "levels":
            return self._change_of_level(view, place, stands, value)
        number = self._number(field, stands, entity, name, value)
        if name == "mix_blocks":
            number //= max(_get(stands, "blockNum"), 1)
        elif entity == "workspace_event" and name == "size" and _get(stands, "size") < 0:
            number = -number
        return [(stands, str(field.name), number)]

    def _change_of_level(
        self, view: View, place: int, stands: Stands, value: str
    ) -> list[tuple[Stands, str, int]]:
        """The number of the layer, and that by which the call has its name there as well."""
        of = _member("ENUM_API_TYPE", value)
        [(name,)] = self.rows(f"SELECT name FROM ({view.select({'name'})}) WHERE place = {place}")
        return [(stands, "level", of), (stands, "type", _number_of_type(self._host, of, name))]

    def _change_of_task(
        self, view: View, place: int, stands: Stands, name: str, value: Any
    ) -> list[tuple[Stands, str, int]]:
        context, declaration = stands.source.context, raw_catalog().record(stands.source.record)
        if name in _MOMENTS:
            time, clock = time_field(declaration)
            own = stands if name == "start" else _close(stands)
            return [(own, time, _ticks(context, clock, value))]
        launch = self._launch(view, place)
        if name in _TASK:
            field = _field(launch.source.record, "task", name).name
            # The log's own field has the same name.
            return [(one, field, value) for one in (launch, stands, _close(stands))]
        if name == "connection":
            return self._moved(launch, value)
        field = _field(launch.source.record, "task", name)
        return [(launch, field.name, self._number(field, launch, "task", name, value))]

    def _moved(self, launch: Stands, connection: int) -> list[tuple[Stands, str, int]]:
        """A launch at the end of another call, where no inner call holds it."""
        view = next(one for one in self.views() if one.entity == "host_call")
        calls = view.select({"connection", "end", "thread"})
        found = list(
            self.rows(f'SELECT "end", thread FROM ({calls}) WHERE connection = {connection}')
        )
        if not found:
            raise CannotShow(f"no call has the number {connection}")
        tasks = next(one for one in self.views() if one.entity == "task")
        parts = f"SELECT 1 FROM ({tasks.select({'connection', 'context'})})"
        if list(self.rows(f"{parts} WHERE connection = {connection} AND context IS NOT NULL")):
            raise CannotShow("the operator of the call names the sub-tasks that it computes in")
        [(end, thread)] = found
        time = _ticks(launch.source.context, None, end)
        return [(launch, "timeStamp", time), (launch, "threadId", thread)]

    def _number(self, field: Field, stands: Stands, entity: str, name: str, value: Any) -> int:
        """The number that stands in a field for a value."""
        column = recording_catalog().entities[entity].columns[name]
        values = field.facts.values or ""
        if column.enum is not None:
            number = _member(column.enum, value)
            return int(recorded_types(np.array([number]))[0]) if "HCCL" in column.enum else number
        if values == HASH_DIC:
            return _number_of_text(self._host, str(value))
        if not column.is_text:
            return int(value)
        if values == TYPES:
            return _number_of_type(self._host, _get(stands, "level"), str(value))
        known = numbered(values).get(str(value)) if values in raw_catalog().vocabularies else None
        if values == "runtime_task_types":
            return _number_of_type(self._host, level("RUNTIME"), str(value), known)
        if known is None:
            raise CannotShow(f"no number of {entity}.{name} stands for {value}")
        return known

    @property
    def _host(self) -> Context:
        return next(one for one in self.shown.contexts if one.folder.side == "host")


def _member(enum: str, name: str) -> int:
    for one in catalog().enums[enum].members:
        if one.name == name:
            return int(one.id)
    raise CannotShow(f"{enum} has no {name}")


def _field(record: str, entity: str, name: str) -> Field:
    try:
        return field_showing(raw_catalog().record(record), f"{entity}.{name}")
    except KeyError as reason:
        raise CannotShow(f"no field of {record} shows {entity}.{name}") from reason


def _view(stands: Stands, content: bytes) -> tuple[construct.Struct, Record]:
    declaration = raw_catalog().record(stands.source.record)
    layout = layout_in(stands.source.context, stands.source.kind)
    if layout is None:
        raise CannotShow(f"{stands.source.kind} has no known layout")
    member = [one.record for one in layout.members].index(stands.source.record)
    row = np.frombuffer(content[stands.offset : stands.offset + stands.size], np.uint8).copy()
    return declaration, layout.view(member, row.reshape(1, -1))


def _get(stands: Stands, name: str) -> int:
    declaration, record = _view(stands, stands.path.read_bytes())
    return int(numbers(declaration, name, record)[0])


def _put(stands: Stands, name: str, number: int) -> None:
    content = stands.path.read_bytes()
    declaration, record = _view(stands, content)
    try:
        put(declaration, record, name, np.array([number], np.int64))
    except KeyError as reason:
        raise CannotShow(f"{stands.source.record} has {name} within another field") from reason
    end = stands.offset + stands.size
    changed = opaque(record).tobytes()
    stands.path.write_bytes(content[: stands.offset] + changed + content[end:])


def _close(stands: Stands) -> Stands:
    """The end of a task whose start stands there: the next record of the task and part."""
    source = stands.source
    layout = layout_in(source.context, source.kind)
    slices = source.context.folder.files[source.kind]
    if layout is None:
        raise CannotShow(f"{source.kind} has no known layout")
    declaration = raw_catalog().record(source.record)
    member = [one.record for one in layout.members].index(source.record)
    shared = [one for one in ("streamId", "taskId", "subTaskId") if one in _names(declaration)]
    wanted = [_get(stands, one) for one in shared]
    is_behind = False
    for _, run in slices.runs():
        for block in read_blocks(run, layout, source.context.folder.side, []):
            own = np.flatnonzero(layout.split(block.rows)[member])
            rows = layout.view(member, block.rows[own])
            same = np.ones(len(own), np.bool_)
            for name, value in zip(shared, wanted, strict=True):
                same &= numbers(declaration, name, rows) == value
            offsets = block.offset + own * layout.size
            is_behind |= block.path == stands.path
            if block.path == stands.path:
                same &= offsets > stands.offset
            if is_behind and same.any():
                offset = int(offsets[same][0])
                return Stands(block.path, offset, layout.size, source)
    raise CannotShow("the task has no end")


def _names(declaration: construct.Struct) -> set[str]:
    return {str(one.name) for one in declaration.subcons}


def _ticks(context: Context, clock: Any, time: int) -> int:
    """The ticks of a time, by the host's counter where no clock is named."""
    try:
        found = context.side.host if clock is None else context.side.by_name(clock)
    except Unknown as reason:
        raise CannotShow(str(reason)) from reason
    return int(found.ticks(np.array([time], np.int64))[0])


def _number_of_text(host: Context, text: str) -> int:
    """The number of a text, which the dictionary gets where it lacks it."""
    for number, known in host.names.texts.items():
        if known == text:
            return int(np.uint64(number).astype(np.int64))
    number = name_id(text, signed=False)
    _append(host, TEXTS, f"{number}:{text}\n")
    return int(np.uint64(number).astype(np.int64))


def _number_of_type(host: Context, of: int, name: str, known: int | None = None) -> int:
    """The number of a type of a layer, which the dictionary gets where it lacks it."""
    for (layer, number), text in host.names.types.items():
        if layer == of and text == name:
            return number
    if known is not None:
        return known
    number = 1 + max((one for layer, one in host.names.types if layer == of), default=0)
    _append(host, TYPES, f"{of}_{number}:{name}\n")
    return number


def _append(host: Context, kind: str, line: str) -> None:
    *_, last = host.folder.files[kind]
    with last.path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(line)
