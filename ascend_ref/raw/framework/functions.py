"""``torch.python_tracer_func`` and ``_hash``: functions of Python, as they begin and end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Activities, Capture, Integers, Texts
from ascend_ref.capture.kinds import TRACE
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import groups, ranks
from ascend_ref.derive.text_hash import name_id
from ascend_spec.raw.records import EXIT_NAME, MODULE_DELIMITER

from ..clocks import Clock
from ..damage import Damage
from .files import Files, Spelled, write_records
from .order import enclosing_first

CALLS, NAMES = "PYTHON_TRACER_FUNC", "PYTHON_TRACER_HASH"

CALL, RETURN, C_CALL = 0, 1, 2
"""Tags of the start and the end of a function, and how much more those of one of C are."""

BUILT_IN = "<built-in "
"""How names of functions of C begin."""

_MODULE = re.compile(r"nn\.Module: (.*)_([0-9]+)", re.DOTALL)
"""What readers show of the call of a module (upstream-torch-npu PyTraceEvent)."""


def write_functions(capture: Capture, folder: Path, clock: Clock) -> None:
    """Write the functions of a capture in order of time; ends refer to no function."""
    batch = capture.activities.take(capture.activities.kind == TRACE)
    batch = batch.take(enclosing_first(batch.start, batch.end, np.arange(len(batch))))
    texts = capture.texts.copy()
    values = np.full(len(texts) + 1, NONE)
    every = texts.all
    for name in np.unique(batch.name).tolist():
        values[name] = texts.number(stored(every[name]))
    leaving = texts.number(EXIT_NAME)
    used = np.append(np.unique(values[batch.name]), leaving)
    every = texts.all
    keys = np.zeros(len(texts), np.uint64)
    keys[used] = [name_id(every[one]) for one in used.tolist()]
    tag = np.array([C_CALL if one.startswith(BUILT_IN) else CALL for one in every], np.int64)
    start, end = clock.ticks(batch.start), clock.ticks(batch.end)
    events = _events(start, end)
    row, ends = events.row, events.is_end
    value = values[batch.name]
    columns = {
        "ts": np.where(ends, end[row], start[row]),
        "tid": batch.thread[row],
        "process_id": capture.origin.pid,
        "key": keys[np.where(ends, leaving, value[row])],
        "tag": tag[value[row]] + ends * RETURN,
    }
    write_records(folder, CALLS, columns, texts)
    if len(row):
        write_records(folder, NAMES, {"key": keys[used]}, texts, {"VALUE": Spelled(used)})


class _Events(NamedTuple):
    """Starts and ends of functions in order: which, and whether it is the end."""

    row: Integers
    is_end: Integers


def _events(start: Integers, end: Integers) -> _Events:
    """The events of functions that are in order of start, enclosing ones first.

    At one moment first those end that began before, inner ones first, then others begin; one
    without any length ends at once.
    """
    row = np.arange(len(start))
    short = start == end
    time = np.concatenate([start, end])
    later = np.concatenate([np.ones(len(row), np.int64), short])
    turn = np.concatenate([2 * row, np.where(short, 2 * row + 1, -row)])
    order = np.lexsort((turn, later, time))
    return _Events(order % max(len(row), 1), (order >= len(row)).astype(np.int64))


def stored(name: str) -> str:
    """What the adapter stores of what readers show of a function."""
    module = _MODULE.fullmatch(name)
    return name if module is None else f"{module[1]}{MODULE_DELIMITER}{name_id(name)}"


def with_numbers(thread: Integers, name: Integers, texts: Texts) -> Integers:
    """The names of functions in order of their calls, modules with numbers as readers count them.

    On each thread a class numbers its modules from 0 in order of their first calls. ``name``:
    numbers of what the adapter stores.
    """
    every = texts.all
    parts = {
        one: tuple(every[one].split(MODULE_DELIMITER))
        for one in np.unique(name).tolist()
        if every[one].count(MODULE_DELIMITER) == 1
    }
    found = name.copy()
    calls = np.flatnonzero(np.isin(name, list(parts)))
    if not len(calls):
        return found
    module, owner = name[calls], thread[calls]
    first, group = groups(owner, module)
    classes = {one: texts.number(kind) for one, (kind, _) in parts.items()}
    kind = np.array([classes[one] for one in module[first].tolist()], np.int64)
    _, class_on_thread = groups(owner[first], kind)
    number = ranks(class_on_thread)
    names = texts.all
    shown = [
        texts.number(f"nn.Module: {names[one]}_{count}")
        for one, count in zip(kind.tolist(), number.tolist(), strict=True)
    ]
    found[calls] = np.array(shown, np.int64)[group]
    return found


def read_functions(files: Files, texts: Texts) -> Activities:
    """The functions of a folder in order of start."""
    records, (time,) = files.times(files.read(CALLS), "ts")
    known = records.rows["tag"] < 4
    if not known.all():
        text = f"{int(np.sum(~known)):,} events of an unknown tag; expected 0 to 3"
        first = int(records.tagged.offset[np.flatnonzero(~known)[0]])
        files.damage.append(Damage(records.path, text, first))
        records, time = records.take(known), time[known]
    thread, key = records.numbers("tid"), records.numbers("key")
    order = np.lexsort((np.arange(len(time)), time, thread))
    thread, time, key = thread[order], time[order], key[order]
    is_end = records.rows["tag"][order] % 2 == 1
    calls, ends = _matched(thread, time, is_end)
    alone = int(np.sum(is_end)) - int(np.sum(ends >= 0))
    if alone:
        text = f"{alone:,} ends of functions without their start"
        files.damage.append(Damage(records.path, text))
    names = _names(files, key[calls], texts)
    names = with_numbers(thread[calls], names, texts)
    last = np.maximum.reduceat(time, _begins(thread)) if len(thread) else time
    _, own = np.unique(thread, return_inverse=True)
    end = np.where(ends >= 0, time[ends], last[own.reshape(-1)[calls]] if len(calls) else 0)
    found = Activities.filled(
        len(calls),
        start=time[calls],
        end=end,
        thread=thread[calls],
        kind=TRACE,
        queue=0,
        name=names,
    )
    return found.take(enclosing_first(found.start, found.end, order[calls]))


def _begins(thread: Integers) -> Integers:
    """Where each thread begins among events of one thread after the other."""
    return np.flatnonzero(np.append(True, thread[1:] != thread[:-1]))


def _matched(thread: Integers, time: Integers, is_end: Integers) -> tuple[Integers, Integers]:
    """The starts, and for each its end or NONE, of events of one thread after the other.

    An end is that of the last start of its thread that has none (upstream-torch-npu _replay_stack);
    one without a start is left out.
    """
    if not len(thread):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    height = np.cumsum(np.where(is_end, -1, 1))
    begins = _begins(thread)
    length = np.diff(np.append(begins, len(thread)))
    height -= np.repeat(np.append(0, height)[begins], length)
    # An end that goes below all before it on its thread has no start.
    owner = np.repeat(np.arange(len(begins)), length)
    span = 2 * len(thread) + 2
    low = np.minimum.accumulate(np.minimum(height, 0) - owner * span) + owner * span
    before = np.append(0, low)[:-1]
    before[begins] = 0
    alone = is_end & (height < before)
    height -= low
    kept = np.flatnonzero(~alone)
    level = np.where(is_end, height + 1, height)[kept]
    order = kept[np.lexsort((kept, level, owner[kept]))]
    ending = is_end[order]
    calls = order[~ending]
    place = np.flatnonzero(~ending)
    following = np.minimum(place + 1, len(order) - 1)
    levels = np.where(is_end, height + 1, height)
    right = (
        (following > place)
        & ending[following]
        & (owner[order[following]] == owner[calls])
        & (levels[order[following]] == levels[calls])
    )
    ends = np.where(right, order[following], NONE)
    turn = np.argsort(calls)
    return calls[turn], ends[turn]


def _names(files: Files, key: Integers, texts: Texts) -> Integers:
    """What the keys of functions stand for; a key without a name is shown itself."""
    hashes = files.read(NAMES)
    value = hashes.texts("VALUE", texts, files.damage)
    value = np.where(value == NONE, texts.number(""), value)
    # Of a key that stands there twice readers take the last name.
    named = dict(zip(hashes.numbers("key").tolist(), value.tolist(), strict=True))
    distinct, place = np.unique(key, return_inverse=True)
    unknown = [one for one in distinct.tolist() if one not in named]
    if unknown:
        text = f"{len(unknown):,} functions have no name; they are shown by their hashes"
        files.damage.append(Damage(hashes.path, text))
    table = [
        named[one] if one in named else texts.number(str(one % (1 << 64)))
        for one in distinct.tolist()
    ]
    found: Integers = np.array(table, np.int64)[place.reshape(-1)]
    return found
