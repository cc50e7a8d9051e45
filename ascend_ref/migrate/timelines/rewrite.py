"""A timeline written event by event as another writer writes it, and what that loses."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ascend_ref.timeline.session import engine_of
from ascend_spec import text_catalog, timeline_catalog

from ..account import Effect, Entry, Migrated, Notes, entries_of, unlike_its
from ..refusal import Refusal
from .direction import Direction, Made, quoted
from .processes import processes_of
from .style import Style
from .survey import Event, Progress, Survey, events_of, members, survey

ANOTHER = unlike_its("writer")
SPELLING = "blanks, or the order of keys"


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of the folder of a timeline: the ``likely`` writers of its files, and the
    ``family`` of products.
    """

    likely: Sequence[str] = ()
    family: str | None = None


def migrate_timeline(
    source: Path,
    file: str,
    writer: str,
    kin: Callable[[str], bool],
    around: Around,
    target: Path,
    progress: Progress | None = None,
) -> Migrated | None:
    """Write a timeline as another generation of its writer would have written the same events.

    file: its kind (spec: timeline/files.yaml). kin: whether a writer is a generation of that
    program. Events stay in their order. ``None``, and nothing is written, where none of them wrote
    it. Raises :class:`.Refusal` for one that is damaged, or has no form at the target; ``OSError``.
    """
    known = timeline_catalog().files[file].writers
    if not any(map(kin, known)):
        return None
    if writer not in known:
        raise Refusal(f"no timeline of {writer} is known")
    found = survey(source, progress)
    reading = found.reading(file, around.likely or (writer,))
    if not kin(reading.writer):
        return None
    family = around.family
    if family is not None and family not in text_catalog().writers[writer].families:
        raise Refusal(f"{writer} writes no timeline on {family}")
    old = Style(reading.writer, _engine(found, reading.writer, family), file)
    forms = [timeline_catalog().form(one) for one in (reading.writer, writer)]
    if forms[0].types["ts"] != forms[1].types["ts"]:
        whose = " and ".join((reading.writer, writer))
        raise Refusal(f"the times of {whose} are by two clocks, and it holds one alone")
    if forms[0].engines == forms[1].engines:
        engine = old.engine
    else:
        engine = forms[1].engines[0] if len(forms[1].engines) == 1 else engine_of(family)
    new = Style(writer, engine, file)
    template = timeline_catalog().files[file].name.template
    label = re.sub(r"_\{[^}]*\}", "", template)
    if old.facts() == new.facts():
        shutil.copyfile(source, target)
        return Migrated(source.name, "migrated", old.writer, new.writer)
    processes = processes_of(found, reading.layers, old)
    there = Direction(old, new, processes, found.threads, label)
    after = [one for one in there.processes.values() if one is not None]
    strange = found.processes.keys() - there.processes.keys()
    taken = next((one.pid for one in after if one.pid in strange), None)
    if taken is not None:
        raise Refusal(f"a process that is no layer has the pid {taken}, which another would get")
    back = Direction(new, old, after, there.renamed_threads(), label)
    rewriting = _Rewriting(there, back, new)
    with target.open("xb") as output:
        rewriting.write(found, output, progress)
    return Migrated(
        source.name, "migrated", old.writer, new.writer, entries=tuple(rewriting.entries())
    )


def _engine(found: Survey, writer: str, family: str | None) -> str:
    """The engine whose layers a file holds: that in whose order most metadata have their keys."""
    engines = timeline_catalog().form(writer).engines
    if len(engines) == 1:
        return engines[0]
    votes: Counter[str] = Counter({engine_of(family): 0})
    for named in found.processes.values():
        for engine in engines:
            part = timeline_catalog().form(engine).parts["msprof"]
            votes[engine] += named.keys == part.keys["M"]
    return max(votes, key=lambda one: votes[one])


class _Rewriting:
    """Writes the events of a timeline, and notes what is done to them."""

    def __init__(self, there: Direction, back: Direction, new: Style) -> None:
        self._there, self._back = there, back
        self._item = new.form.item_separator.encode()
        self._key = new.form.key_separator.encode()
        self._notes: Notes = Counter()
        self._ignored: Notes = Counter()
        self._expected: bytes | None = None
        """What coming back would write behind the event before."""

    def entries(self) -> Iterator[Entry]:
        """What was done."""
        return entries_of(self._notes)

    def write(self, found: Survey, output: BinaryIO, progress: Progress | None) -> None:
        """Write all events. What stands between two of them stays, of one that goes what stands
        in front of it goes, too, and of the first ones what stands behind them.
        """
        size = found.elements.path.stat().st_size
        parts = events_of(found)
        output.write(next(parts)[0])
        first: bytes | None = None
        is_first, gap = True, b""
        for text, spans, begin in parts:
            at = 0
            for start, end in spans:
                gap += text[at:start]
                first = gap if first is None else first
                for one in self._event(text[start:end]):
                    output.write(first if is_first else gap)
                    output.write(one)
                    is_first, gap = False, self._item
                at, gap = end, b""
            gap += text[at:]
            if progress:
                progress(size + begin, 2 * size, "written")
        output.write(gap)

    def _event(self, own: bytes) -> list[bytes]:
        """An event as it is now, with those that come behind it."""
        event = members(own)
        expected, self._expected = self._expected, None
        if event is None:
            return [own]
        args = members(event.get("args"))
        made = self._there.convert(event, args, self._notes)
        if made.event is None:
            self._note("lost", made.place, made.lost, own != expected)
            return []
        if not made.behind and is_same(made.event, event) and is_same(made.args, args):
            return [own]
        text = self._text(made.event, made.args)
        self._note_lost(own, event, args, made)
        return [text, *(self._text(*one) for one in made.behind)]

    def _note(self, effect: Effect, place: str, words: str, count: int) -> None:
        """Count; what is lost in no event is gone."""
        effect = effect if count or effect != "lost" else "gone"
        self._notes[effect, f"{self._there.label}: {place}", words] += count

    def _text(self, event: Event, args: Event | None) -> bytes:
        return self._object(event if args is None else {**event, "args": self._object(args)})

    def _object(self, pairs: Event) -> bytes:
        return b"{%b}" % self._item.join([quoted(key) + self._key + pairs[key] for key in pairs])

    def _note_lost(self, own: bytes, event: Event, args: Event | None, made: Made) -> None:
        """Count what of an event would not be there again after the way back."""
        back = self._back.convert(made.event or {}, made.args, self._ignored)
        again = b"" if back.event is None else self._text(back.event, back.args)
        if back.behind:
            self._expected = self._text(*back.behind[0])
        if again == own and not made.gone:
            return
        before, after = args or {}, back.args or {}
        for key in made.gone:
            words = f"no argument of {self._there.new.writer}"
            self._note("lost", f"{made.place}: {key}", words, before[key] != after.get(key))
        if again == own:
            return
        others = back.event or {}
        unlike = [key for key in event if key != "args" and event[key] != others.get(key)]
        unlike += [key for key in before if before[key] != after.get(key) and key not in made.gone]
        for key in unlike:
            # A pid is that of the whole process.
            place = made.place.partition("/")[0].partition(":")[0] if key == "pid" else made.place
            self._note("lost", f"{place}: {key}", ANOTHER, 1)
        if not unlike and not any(before[key] != after.get(key) for key in made.gone):
            self._note("lost", "spelling", SPELLING, 1)


def is_same(one: Event | None, other: Event | None) -> bool:
    """Whether two objects have the same members in the same order."""
    return one == other and list(one or ()) == list(other or ())
