"""Events of one writer as another writes them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ascend_spec.timeline import Layer, Thread

from ..account import Effect, Notes
from .processes import Process, renumbered, sort_index_of
from .style import Style
from .survey import Event, integer_of, text_of
from .ways import BOUND, Lane, Way


@dataclass(slots=True)
class Made:
    """An event as it is now, with its args apart; those that come behind it. ``event``: ``None``
    for one that goes, and why ``lost``. ``place``: what it is; ``gone``: args that it has no more.
    """

    place: str
    event: Event | None
    args: Event | None = None
    behind: tuple[tuple[Event, Event], ...] = ()
    lost: str = ""
    gone: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def quoted(text: str) -> bytes:
    """A text as JSON."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


class Direction:
    """From one writer to another, of a file with some processes. ``threads``: their names by pid
    and tid. ``label``: what the account calls the file.
    """

    def __init__(
        self,
        old: Style,
        new: Style,
        processes: Iterable[Process],
        threads: Mapping[tuple[int, int], str],
        label: str,
    ) -> None:
        self.old, self.new, self.label = old, new, label
        self._known = {one.pid: one for one in processes}
        self.processes = renumbered(self._known.values(), new)
        self._names = threads
        self._lanes: dict[str, Lane] = {}
        self._groups = dict(self._numbered_groups())

    def lane(self, layer: Layer) -> Lane:
        """The process of a layer."""
        found = self._lanes.get(layer.name)
        if found is None:
            found = self._lanes[layer.name] = Lane(layer, self.old, self.new)
        return found

    def _numbered_groups(self) -> Iterator[tuple[tuple[int, int], int]]:
        """The numbers of the groups of communication, in the order in which they are named."""
        numbers: Counter[int] = Counter()
        for (pid, tid), name in self._names.items():
            process = self._known.get(pid)
            if process is not None and self.lane(process.layer).threads.is_group(name):
                yield (pid, tid), numbers[pid]
                numbers[pid] += 1

    def renamed_threads(self) -> Mapping[tuple[int, int], str]:
        """The names of the threads as they are afterwards."""
        found = {}
        for (pid, tid), name in self._names.items():
            old, new = self._known.get(pid), self.processes.get(pid)
            if old is not None and new is not None:
                threads = self.lane(old.layer).threads
                named = threads.named(name, self._groups.get((pid, tid), 0))
                found[new.pid, threads.tids.get(tid, ("", tid))[1]] = named
        return found

    def convert(self, event: Event, args: Event | None, notes: Notes) -> Made:
        """An event of the old writer, and its args. What is done is counted in ``notes``."""
        pid, phase = integer_of(event.get("pid")), text_of(event.get("ph"))
        old = None if pid is None else self._known.get(pid)
        if pid is None or old is None or phase is None:
            return Made("", event, args)
        new, layer = self.processes[pid], old.layer
        if new is None:
            return Made(layer.name, None, lost=f"no layer of {self.new.writer}")
        event, lane = dict(event), self.lane(layer)
        if new.pid != pid:
            event["pid"] = str(new.pid).encode()
            self._note(notes, "remapped", "pid", lane.rules)
        if phase == "M":
            return self._metadata(event, args, old, new, notes)
        tid = event.get("tid")
        moved = lane.threads.moved.get(tid) if tid is not None else None
        if moved is not None:
            event["tid"] = moved[1]
            self._note(notes, "remapped", f"{layer.name}: {moved[0]}", moved[2])
        name = text_of(event.get("name")) or ""
        way = lane.way(phase, name, text_of(event.get("cat")), tuple(args or ()))
        if way.lost:
            return Made(way.place, None, lost=way.lost)
        if way.name is not None:
            event["name"] = quoted(way.name)
            self._note(notes, "renamed", f"{way.place}: name", "by the names of the target")
        for part in way.nameless:
            self._note(notes, "defaulted", f"{way.place}: name", f"no {part}")
        if way.steps:
            args = self._args(args or {}, way, notes)
        if way.decimals:
            self._add_decimals(event, way.place, notes)
        made = self._ordered(event, args, way, notes)
        made.gone = way.gone
        return made

    def _note(self, notes: Notes, effect: Effect, place: str, words: str) -> None:
        notes[effect, f"{self.label}: {place}", words] += 1

    def _metadata(
        self, event: Event, args: Event | None, old: Process, new: Process, notes: Notes
    ) -> Made:
        what, tid = text_of(event.get("name")), integer_of(event.get("tid"))
        place = f"{old.layer.name}: {what}"
        if args is None:
            return Made(place, event)
        args = dict(args)
        behind: tuple[tuple[Event, Event], ...] = ()
        if what in ("thread_name", "thread_sort_index") and tid is not None:
            pair = self._thread(event, old, tid, notes)
            if what == "thread_name":
                self._rename_thread(args, old, tid, notes)
                behind = self._placed(event, pair, old.layer, notes)
            elif pair is not None and pair[0].sort_index and pair[1].sort_index is None:
                return Made(place, None, lost=f"no sort index of threads of {self.new.writer}")
            elif pair is not None:
                indexes = sort_index_of(pair[0], tid), sort_index_of(pair[1], _tid(event))
                if integer_of(args.get("sort_index")) == indexes[0] and indexes[1] is not None:
                    args["sort_index"] = str(indexes[1]).encode()
        else:
            self._name_process(args, what, old, new, notes)
        made = self._ordered(event, args, self.lane(old.layer).metadata(), notes)
        return Made(place, made.event, made.args, behind)

    def _name_process(
        self, args: Event, what: str | None, old: Process, new: Process, notes: Notes
    ) -> None:
        layer = old.layer
        if what == "process_name" and layer.form is None:
            names = [layer.process_name(one.of(layer)) for one in (self.old, self.new)]
            if text_of(args.get("name")) == names[0] != names[1]:
                args["name"] = quoted(names[1])
                self._note(notes, "renamed", names[1], f"{names[0]} before")
        elif what == "process_labels":
            labels = [one.label(layer.side, old.device) for one in (self.old, self.new)]
            if labels[1] is not None and text_of(args.get("labels")) == labels[0] != labels[1]:
                args["labels"] = quoted(labels[1])
                self._note(notes, "converted", "process_labels", f"{labels[1]}, {labels[0]} before")
        elif what == "process_sort_index":
            before = integer_of(args.get("sort_index"))
            if before is not None and before == old.sort_index != new.sort_index:
                args["sort_index"] = str(new.sort_index).encode()
                self._note(notes, "remapped", layer.name, f"sort index {before} before")

    def _thread(
        self, event: Event, process: Process, tid: int, notes: Notes
    ) -> tuple[Thread, Thread] | None:
        """The kinds of a thread by both writers; the event gets its number by the new one."""
        threads = self.lane(process.layer).threads
        name = self._names.get((process.pid, tid), "")
        pair = threads.pair(tid, name)
        moved = threads.tids.get(tid)
        if pair is not None and moved is not None and moved[1] != tid:
            event["tid"] = str(moved[1]).encode()
            self._note(notes, "remapped", f"{process.layer.name}: {name}", f"thread {tid} before")
        return pair

    def _rename_thread(self, args: Event, process: Process, tid: int, notes: Notes) -> None:
        before = text_of(args.get("name"))
        if before is None:
            return
        layer, number = process.layer, self._groups.get((process.pid, tid), 0)
        named = self.lane(layer).threads.named(before, number)
        if named != before:
            args["name"] = quoted(named)
            words = f"{named}, {before} before"
            self._note(notes, "renamed", f"{layer.name}: thread_name", words)

    def _placed(
        self, event: Event, pair: tuple[Thread, Thread] | None, layer: Layer, notes: Notes
    ) -> tuple[tuple[Event, Event], ...]:
        """The sort index of a thread whose writer before stated none."""
        if pair is None or pair[0].sort_index is not None:
            return ()
        index = sort_index_of(pair[1], _tid(event))
        if index is None:
            return ()
        self._note(notes, "added", f"{layer.name}: thread_sort_index", "for each thread")
        args = {"sort_index": str(index).encode()}
        added = {**event, "name": b'"thread_sort_index"'}
        made = self._ordered(added, args, self.lane(layer).metadata(), Counter())
        return () if made.event is None else ((made.event, args),)

    def _args(self, given: Event, way: Way, notes: Notes) -> Event:
        made: Event = {}
        for step in way.steps:
            source, target = step.source, step.target
            if source is None:
                made[str(target)] = step.value
                words = step.value.decode()
                self._note(notes, "defaulted", f"{way.place}: {target}", words)
            elif target is not None:
                made[target] = step.held(given[source])
                if source != target:
                    self._note(notes, "renamed", f"{way.place}: {target}", f"{source} before")
        return made

    def _add_decimals(self, event: Event, place: str, notes: Notes) -> None:
        """Give a time its decimals, where one writer leaves them away and the other does not."""
        text = text_of(event.get("ts"))
        if text is not None and text.isdecimal():
            event["ts"] = f'"{text}.000"'.encode()
            self._note(notes, "converted", f"{place}: ts", "three decimals")

    def _ordered(self, event: Event, args: Event | None, way: Way, notes: Notes) -> Made:
        if way.empty and "args" not in event:
            event["args"], args = b"{}", {}
        elif way.empty is False and args is not None and not args:
            del event["args"]
            args = None
        if way.bound and BOUND not in event:
            event[BOUND] = b'"e"'
        elif way.bound is False:
            event.pop(BOUND, None)
        if way.order:
            ordered = [key for key in way.order if key in event]
            ordered += [key for key in event if key not in way.order]
            if ordered != list(event):
                event = {key: event[key] for key in ordered}
                self._note(notes, "converted", "the order of keys", f"as {self.new.writer} has it")
        return Made(way.place, event, args)


def _tid(event: Event) -> int:
    return integer_of(event.get("tid")) or 0
