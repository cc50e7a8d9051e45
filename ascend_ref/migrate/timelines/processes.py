"""Processes and threads of a timeline, and their numbers and names by another writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ascend_ref.timeline.layers.communication import LAYER as COMMUNICATION
from ascend_ref.timeline.layers.communication import numbers_groups
from ascend_spec import timeline_catalog
from ascend_spec.timeline import Layer, Thread

from ..refusal import Refusal
from .style import Style
from .survey import Survey

GROUPS = ("group", "nameless-group", "group-of-the-device", "nameless-group-of-the-device")
"""Threads of the operators of a group."""
DIGITS = 9
"""Of the number of a device."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a layer. ``device``: ``None`` for the host. ``os_pid``: ``None`` where the pid
    is not made as the writer makes it.
    """

    pid: int
    layer: Layer
    sort_index: int
    device: int | None
    os_pid: int | None


def processes_of(survey: Survey, layers: Mapping[int, Layer], style: Style) -> list[Process]:
    """The processes of a file that are layers of its writer, in its order."""
    found = []
    for pid, named in survey.processes.items():
        layer = layers.get(pid) or _nameless(pid, named.name, style)
        if layer is not None:
            found.append(_process(pid, layer, named.label, named.sort_index, style))
    return found


def _nameless(pid: int, name: str | None, style: Style) -> Layer | None:
    """The layer of a process whose name is taken away at level 0, by the numbers in its pid."""
    if name is not None:
        return None
    for layer in timeline_catalog().layers.values():
        if layer.name in style.form.pruned and style.has(layer):
            rule = style.pid_rule(layer)
            found = rule.quantities(pid)
            place = found.get("sortIndex"), found.get("deviceId")
            if place[0] == style.sort_index(layer) and rule.host_device in (None, place[1]):
                return layer
    return None


def _process(
    pid: int, layer: Layer, label: str | None, sort_index: int | None, style: Style
) -> Process:
    rule = style.pid_rule(layer)
    found = rule.quantities(pid)
    if not found and [part.of for part in rule.parts] == ["osPid"]:
        found = {"osPid": pid}
    device = None
    if layer.side != "host":
        form = style.form.labels.get(layer.side)
        number = ((form.named(label or "") if form else None) or {}).get("deviceId", "")
        is_stated = number.isdecimal() and len(number) <= DIGITS
        device = int(number) if is_stated else found.get("deviceId", 0)
    index = sort_index
    if index is None:
        index = found.get("sortIndex", style.sort_index(layer) or 0)
    process = Process(pid, layer, index, device, found.get("osPid"))
    made = _pid(process, style, index, found.get("deviceId", 0))
    return process if made == pid else replace(process, os_pid=None)


def _pid(process: Process, style: Style, sort_index: int, card: int) -> int | None:
    """The pid of a process by a writer; ``None`` where it cannot be made. ``card``: the device in
    pids of the host.
    """
    rule = style.pid_rule(process.layer)
    quantities = {"sortIndex": sort_index, "one": 1}
    if process.os_pid is not None:
        quantities["osPid"] = process.os_pid
    if process.device is not None:
        quantities["deviceId"] = process.device
    else:
        quantities["deviceId"] = card if rule.host_device is None else rule.host_device
    if any(part.of not in quantities for part in rule.parts):
        return None
    return rule.pid(**quantities)


def renumbered(processes: Iterable[Process], new: Style) -> Mapping[int, Process | None]:
    """The processes by their old pids as another writer numbers them; ``None`` for layers that it
    does not have.

    A pid that is not made as its writer makes it stays. Raises :class:`.Refusal` where two would
    have one number.
    """
    processes = list(processes)
    card = min((one.device for one in processes if one.device is not None), default=0)
    free = new.first_free
    dynamic: dict[str, int] = {}
    found: dict[int, Process | None] = {}
    for one in processes:
        if not new.has(one.layer):
            found[one.pid] = None
            continue
        index = new.sort_index(one.layer)
        if index is None:
            index = dynamic.setdefault(one.layer.name, free + len(dynamic))
        pid = _pid(one, new, index, card)
        found[one.pid] = replace(one, pid=one.pid if pid is None else pid, sort_index=index)
    again = Counter(one.pid for one in found.values() if one is not None)
    twice = next((pid for pid, count in again.items() if count > 1), None)
    if twice is not None:
        raise Refusal(f"two of its processes would have the pid {twice}")
    return found


@dataclass(slots=True)
class Threads:
    """The kinds of threads in the processes of one layer by two writers, and how the one's are the
    other's. ``tids``: of threads with a number of their own. ``moved``: of those that get another
    one, as JSON, with words on it.
    """

    layer: Layer
    old: Style
    new: Style
    pairs: list[tuple[Thread, Thread]] = field(default_factory=list)
    tids: dict[int, tuple[str, int]] = field(default_factory=dict)
    moved: dict[bytes, tuple[str, bytes, str]] = field(default_factory=dict)
    numbered: bool = False

    def __post_init__(self) -> None:
        ours, theirs = self.old.threads(self.layer), self.new.threads(self.layer)
        names = {one.thread for one in ours}
        for one in ours:
            same = [other for other in theirs if other.thread == one.thread]
            alike = [
                other for other in theirs if other.tid == one.tid and other.thread not in names
            ]
            for other in (same or alike)[:1]:
                self.pairs.append((one, other))
                numbers = [_fixed(one.tid), _fixed(other.tid)]
                if numbers[0] is not None and numbers[1] is not None:
                    self.tids[numbers[0]] = str(one.name and one.name.template), numbers[1]
        for number, (name, moved) in self.tids.items():
            if moved != number:
                words = f"thread {number} before"
                self.moved[str(number).encode()] = name, str(moved).encode(), words
        self.numbered = self.layer.name == COMMUNICATION and (
            numbers_groups(self.layer, self.new.of(self.layer))
            > numbers_groups(self.layer, self.old.of(self.layer))
        )

    def pair(self, tid: int, name: str) -> tuple[Thread, Thread] | None:
        """The kind that a thread is of, and its kind by the other writer."""
        for one, other in self.pairs:
            fixed = _fixed(one.tid)
            if one.name is not None and one.name.fits(name) and fixed in (None, tid):
                return one, other
        return None

    def is_group(self, name: str) -> bool:
        """Whether a thread is that of a group which the other writer knows by its number alone."""
        return self.numbered and any(
            one.thread in GROUPS and one.name is not None and one.name.fits(name)
            for one in self.old.threads(self.layer)
        )

    def named(self, name: str, number: int) -> str:
        """The name of a thread by the other writer. ``number``: that of its group."""
        group = next((one for one in self.new.threads(self.layer) if one.thread == "group"), None)
        if self.is_group(name) and group is not None and group.name is not None:
            return group.name.of(group=number)
        for one, other in self.pairs:
            parts = one.name.named(name) if one.name is not None else None
            if parts is not None and other.name is not None and one.name != other.name:
                return other.name.of(**parts)
        return name


def sort_index_of(thread: Thread, tid: int) -> int | None:
    """The place of a thread by its kind; ``None`` where its writer states none, or none that
    follows from its number.
    """
    if thread.sort_index is None:
        return None
    fixed = _fixed(thread.sort_index)
    if fixed is not None:
        return fixed
    return tid if thread.sort_index == thread.tid else None


def _fixed(parts: tuple[int | str, ...]) -> int | None:
    """The number that parts add up to, if they are all numbers."""
    numbers = list(_numbers(parts))
    return sum(numbers) if len(numbers) == len(parts) else None


def _numbers(parts: tuple[int | str, ...]) -> Iterator[int]:
    return (one for one in parts if isinstance(one, int))
