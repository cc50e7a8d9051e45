"""From a Chrome trace (``trace_view.json``, ``msprof_*.json``) to the bars of one device."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.db.display import clip, show_path
from ascend_ref.derive.matching import counterparts
from ascend_ref.derive.overlap import COMMUNICATION_KERNELS
from ascend_ref.derive.steps import Spans, StepRange

from .columns import Columns, Texts, connected, pairs_of, texts
from .errors import CannotDraw, chosen
from .kinds import COMPUTING_KINDS, PROFILER_TASKS, Kind, kind_of, operator_type
from .recording import WHOLE, Bars, Part, Recording, Section, gather, spans_of, steps_of

HARDWARE: Final = ("Ascend Hardware",)
COMMUNICATION: Final = ("Communication", "HCCL")
"""Names of the layer, the newest first (text-outputs.md 9, E5)."""

STREAM: Final = re.compile(r"Stream (\d{1,18})")
PLANE: Final = re.compile(r"Plane (\d{1,18})")
GROUP: Final = re.compile(r"(?:Group (.+) )?Communication(?: Kernel)?", re.DOTALL)
DEVICE: Final = re.compile(r"NPU (\d{1,18})")
STEP: Final = re.compile(r"ProfilerStep#(\d{1,18})")
ITERATION: Final = re.compile(r"Iteration (\d{1,18})")
DEVICE_BITS: Final = 31
"""Of a process number (text-outputs.md 5.1)."""
AT_ONCE: Final = 100_000

# What takes part: names of processes and threads, what ran, steps, and arrows from a launch to its
# task. Events of the framework carry a category, what ran on the device has none.
QUERY: Final = """
SELECT ph, name, cat, pid, tid, ts, TRY_CAST(dur * 1000 AS BIGINT) AS dur,
  CASE ph WHEN 'M' THEN coalesce(args ->> '$.name', args ->> '$.labels')
          WHEN 'X' THEN args ->> '$."Task Type"' END AS detail,
  CASE WHEN ph IN ('s', 'f') THEN CAST(hash(id) >> 1 AS BIGINT) END AS flow
FROM ({events})
WHERE ph = 'M' AND name IN ('process_name', 'process_labels', 'thread_name')
  OR ph IN ('s', 'f') AND cat = 'HostToDevice'
  OR ph = 'X' AND (cat IS NULL OR cat = 'Iteration Time' OR starts_with(name, 'ProfilerStep#'))
"""


def from_timeline(paths: Sequence[Path], device: int | None) -> Recording:
    """The bars of one device, from one file or from all slices of one.

    Raises :class:`CannotDraw` for a file that is damaged, and where it has no such device.
    """
    events = _read(paths)
    layers = _Layers(events.of("M"))
    own = chosen("device", device, layers.devices())
    slices = events.of("X")
    ran = slices.take(slices.category.codes < 0)
    gathered = gather([_streams(ran, layers, own), *_groups(ran, layers, own)])
    return Recording(
        *gathered,
        device=own,
        devices=layers.devices(),
        steps=tuple(_steps(events, slices.take(slices.category.codes >= 0), gathered[0])),
        dividing=(Kind.VECTOR,),
    )


@dataclass(frozen=True)
class _Events(Columns):
    """Columns of the events that take part. start: ns, -1 without. length: ns."""

    phase: Texts
    name: Texts
    category: Texts
    process: Integers
    thread: Integers
    start: Integers
    length: Integers
    detail: Texts
    flow: Integers

    def of(self, phase: str) -> _Events:
        """The events of a phase."""
        return self.take(self.phase.holds(lambda one: one == phase))

    def bounds(self) -> Spans:
        """When they started and ended."""
        return Spans(self.start, self.start + self.length)


def _read(paths: Sequence[Path]) -> _Events:
    table = pa.concat_tables([batch for path in paths for batch in _batches(path)])
    return _Events(
        phase=texts(table["ph"]),
        name=texts(table["name"]),
        category=texts(table["cat"]),
        process=integers(table["pid"]),
        thread=integers(table["tid"]),
        start=integers(table["ts"]),
        length=integers(table["dur"], 0),
        detail=texts(table["detail"]),
        flow=integers(table["flow"]),
    )


def _batches(path: Path) -> list[pa.Table]:
    """The events of a file that take part."""
    import duckdb

    from ascend_ref.timeline.elements import Elements
    from ascend_ref.timeline.read import element_reader, events_query

    path.open("rb").close()  # says by itself why it cannot be read
    elements = Elements(path)
    query = QUERY.format(events=events_query("elements"))
    try:
        with connected() as connection:
            connection.register("elements", element_reader(elements))
            reader = connection.sql(query).to_arrow_reader(AT_ONCE)
            batches = [pa.table(list(map(_encoded, batch)), batch.schema.names) for batch in reader]
    except (duckdb.Error, pa.ArrowInvalid) as error:
        reason = clip(str(error).splitlines()[0], 200)
        raise CannotDraw(f"{show_path(path)}: {reason}; expected a whole timeline") from None
    if elements.damage is not None:
        reason, place = elements.damage.reason, elements.damage.offset
        raise CannotDraw(
            f"{show_path(path)}: {reason}, at byte {place:,}; expected a whole timeline"
        )
    return batches or [
        pa.table([_encoded(pa.nulls(0, one.type)) for one in reader.schema], reader.schema.names)
    ]


def _encoded(column: pa.Array) -> pa.Array:
    return column.dictionary_encode() if pa.types.is_string(column.type) else column


class _Layers:
    """Names and labels of processes, names of threads."""

    def __init__(self, metadata: _Events) -> None:
        self.names: dict[int, str] = {}
        self.threads: dict[tuple[int, int], str] = {}
        self._labels: dict[int, str] = {}
        texts_of = (*metadata.detail.values, "")  # the last one for -1
        columns = (metadata.name.codes, metadata.process, metadata.thread, metadata.detail.codes)
        for name, process, thread, detail in zip(*(one.tolist() for one in columns), strict=True):
            match metadata.name.values[name]:
                case "process_name":
                    self.names[process] = texts_of[detail]
                case "process_labels":
                    self._labels[process] = texts_of[detail]
                case _:
                    self.threads[process, thread] = texts_of[detail]

    def processes(self, names: Sequence[str], device: int | None) -> list[int]:
        """The processes that are such a layer of a device."""
        devices = self._devices()
        return [
            process
            for process, name in self.names.items()
            if name in names and devices[process] == device
        ]

    def devices(self) -> tuple[int, ...]:
        """The devices that ran something, where the processes name them."""
        devices = self._devices()
        known = {devices[process] for process, name in self.names.items() if name in HARDWARE}
        return tuple(sorted(one for one in known if one is not None))

    def _devices(self) -> dict[int, int | None]:
        """By the labels; older writers' labels bear no number, but then the processes may."""
        several = sum(name in HARDWARE for name in self.names.values()) > 1
        found: dict[int, int | None] = {}
        for process in self.names:
            labelled = DEVICE.fullmatch(self._labels.get(process, ""))
            unlabelled = process & DEVICE_BITS if several else None
            found[process] = int(labelled[1]) if labelled else unlabelled
        return found


def _streams(ran: _Events, layers: _Layers, device: int | None) -> Part:
    """The bars of the streams."""
    own = ran.take(np.isin(ran.process, layers.processes(HARDWARE, device)))
    own = own.take(~own.name.holds(PROFILER_TASKS.__contains__))
    kind = own.detail.numbers(kind_of, Kind.OTHER)
    named = own.name.numbers(kind_of, Kind.OTHER)
    # Without the name of an operator a task of a core only encloses others, as FFTS+ tasks do.
    encloses = np.isin(named, COMPUTING_KINDS)
    kind = np.where(kind == Kind.OTHER, named, kind)
    kind[encloses] = Kind.OTHER
    communicates = own.name.holds(lambda name: name.endswith(COMMUNICATION_KERNELS))
    kind[communicates] = Kind.SCHEDULE
    threads, lane = pairs_of(own.process, own.thread)
    streams = [_number(STREAM, layers.threads.get(one, ""), one[1]) for one in threads]
    return _part(Section.STREAM, own, kind, None, np.array(streams, np.int64)[lane])


def _groups(ran: _Events, layers: _Layers, device: int | None) -> Iterator[Part]:
    """The bars of the communication operators and of the planes, whose threads follow theirs."""
    own = ran.take(np.isin(ran.process, layers.processes(COMMUNICATION, device)))
    threads, lane = pairs_of(own.process, own.thread)
    named = {place: layers.threads.get(place, "") for place in threads}
    groups = {
        place: found[1] or "" for place, name in named.items() if (found := GROUP.fullmatch(name))
    }
    # Legacy writers put the group behind its planes.
    home = {process: group for (process, _), group in reversed(groups.items())}
    names = []
    for place in threads:
        home[place[0]] = groups.get(place, home.get(place[0], ""))
        names.append(home[place[0]])
    group = Texts(lane, tuple(names))
    plane = np.array([_number(PLANE, name, -1) for name in named.values()], np.int64)[lane]
    small = plane >= 0
    for section, rows in ((Section.GROUP, ~small), (Section.PLANE, small)):
        some = own.take(rows)
        kind = np.full(len(some.start), Kind.OPERATION, np.int64)
        if section is Section.PLANE:
            kind = some.name.numbers(kind_of, Kind.OTHER)
        yield _part(section, some, kind, group[rows], plane[rows])


def _part(
    section: Section, events: _Events, kind: Integers, group: Texts | None, number: Integers
) -> Part:
    name = events.name.renamed(operator_type)
    return Part(section, *events.bounds(), kind, name, group, number)


def _steps(events: _Events, host: _Events, bars: Bars) -> list[StepRange]:
    """The steps of the framework as the device saw them, else the iterations of a graph."""
    number = host.name.numbers(lambda name: _number(STEP, name, -1), -1)
    if (number >= 0).any():
        starts, ends = events.of("s"), events.of("f")
        ran = bars.take(np.isin(bars.kind, (*COMPUTING_KINDS, Kind.OPERATION)))
        arrow = counterparts(ran.start, 0, ends.start)
        return steps_of(
            number,
            host.bounds(),
            Spans(starts.start, starts.start),
            np.where(arrow >= 0, counterparts(np.append(ends.flow, -1)[arrow], 0, starts.flow), -1),
            Spans(ran.start, ran.end),
        )
    number = host.name.numbers(lambda name: _number(ITERATION, name, -1), -1)
    found = number >= 0
    return spans_of(number[found], *host.bounds().at(found)) or [WHOLE]


def _number(pattern: re.Pattern[str], name: str, none: int) -> int:
    found = pattern.fullmatch(name)
    return int(found[1]) if found else none
