"""What each reader makes of a timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ascend_ref.timeline.elements import Elements
from ascend_spec import consumer_catalog
from ascend_spec.consumers import Part, State, Trait

from ..compare.sql import text_literal
from ..media.text.database import Facts, open_facts
from ..media.text.deliverables import Deliverable
from ..media.text.loadtrace import load_timeline
from .answer import Outcome, PartAnswer, Remark
from .arrows import IdKind, draw_arrows, place_ends
from .nesting import Nesting
from .seeing import event_text, id_kinds, nest, see, size_of, stop_of

CROSSING = (
    "drops-overlapping-slices",
    "moves-overlapping-slices",
    "nests-overlapping-slices",
    "covers-overlapping-slices",
)
"""What readers do with slices that cross others of their thread."""
KEEPING = frozenset({"nests-overlapping-slices"})
ARROWS = "arrows-from-the-slice-that-began-last"
SHOWN_KEYS = ("name", "ph", "cat", "pid", "tid", "ts", "dur", "id")


def ask_timeline(
    file: Deliverable, asked: Sequence[tuple[State, Part]]
) -> Iterator[tuple[State, PartAnswer]]:
    """What each part makes of a timeline, which is read once. Raises ``OSError``."""
    with open_facts() as facts:
        elements = load_timeline(facts, 0, file)
        timeline = _Timeline(facts, elements, file.label)
        for state, part in asked:
            yield state, timeline.answer(state, part)


@dataclass
class _Timeline:
    """A timeline that has been read."""

    facts: Facts
    elements: Elements
    label: str

    @cached_property
    def stop(self) -> int | None:
        return stop_of(self.facts, self.elements)

    @cached_property
    def kinds(self) -> list[IdKind]:
        return [IdKind(*one) for one in id_kinds(self.facts, self.elements)]

    @cached_property
    def size(self) -> int:
        return size_of(self.elements.path)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Events by phase."""
        return dict(self.facts.rows("SELECT ph, count(*) FROM trace.event GROUP BY ph"))

    def answer(self, state: State, part: Part) -> PartAnswer:
        """What a part makes of it."""
        traits = {one.behaviour: one for one in state.traits(part)}
        view = _View(self, traits)
        refused = [one for one in (view.refuses(),) if one]
        if refused:
            return PartAnswer(part.name, self.label, "fails", tuple(refused))
        found = tuple(one for one in view.remarks() if one.count)
        outcome: Outcome = "partly" if found else "shows"
        return PartAnswer(part.name, self.label, outcome, found)


@dataclass
class _View:
    """A timeline as a reader with these behaviours reads it."""

    timeline: _Timeline
    traits: Mapping[str, Trait]

    @property
    def facts(self) -> Facts:
        return self.timeline.facts

    def refuses(self) -> Remark | None:
        """Why the reader shows nothing at all."""
        elements = self.timeline.elements
        events = sum(self.timeline.counts.values())
        damage = elements.damage
        if not events and damage is None and not elements.in_object:
            return self._remark("fails-on-damage", 0, 0, text="a list without events")
        if "fails-on-damage" in self.traits and (damage is not None or elements.marked):
            cut = damage is not None and damage.offset >= self.timeline.size
            tolerated = cut and "stops-where-the-file-ends" in self.traits and events
            if (not tolerated and not self._behind_the_list()) or elements.marked:
                reason = damage.reason if damage else "a byte order mark"
                return self._remark("fails-on-damage", events, events, text=reason)
        if "needs-an-object" in self.traits and not elements.in_object:
            return self._remark("needs-an-object", events, events)
        texts = "SELECT count(*), min(row) FROM trace.event WHERE ph = 'X' AND ts_decimals >= 0"
        if "needs-times-that-are-numbers" in self.traits:
            number, row = self.facts.rows(texts)[0]
            event = event_text(elements, row) if number else None
            if isinstance(event, dict) and isinstance(event.get("ts"), str):
                return self._remark("needs-times-that-are-numbers", number, number, row)
        return None

    def _behind_the_list(self) -> bool:
        """Whether what is no JSON follows the list, which readers of events do not look at."""
        damage = self.timeline.elements.damage
        if damage is None:
            return False
        with self.timeline.elements.path.open("rb") as file:
            file.seek(max(0, damage.offset - 64))
            text = file.read(min(damage.offset, 64) + 1)
        return text.endswith(b"]") or text[:-1].rstrip().endswith(b"]")

    def remarks(self) -> Iterator[Remark]:
        """What is lost and misread, for each behaviour."""
        see(self.facts, self.traits, self._stop())
        yield from self._unread()
        yield from self._counted()
        crossing = next((one for one in CROSSING if one in self.traits), None)
        if crossing is not None:
            exact = crossing == "covers-overlapping-slices"
            nesting = nest(self.facts, keeps=crossing in KEEPING, exact=exact)
            yield from self._nested(nesting, crossing)
            if ARROWS in self.traits:
                place_ends(self.facts, self.timeline.kinds, self.traits, keeps=crossing in KEEPING)
                draw_arrows(self.facts)
                yield from self._arrows()
        yield from self._ids()

    def _stop(self) -> int | None:
        wanted = "stops-at-a-length-that-is-no-number" in self.traits
        return self.timeline.stop if wanted else None

    def _unread(self) -> Iterator[Remark]:
        elements, total = self.timeline.elements, sum(self.timeline.counts.values())
        damage = elements.damage
        cut = damage is not None and damage.offset >= self.timeline.size
        if cut and "stops-where-the-file-ends" in self.traits:
            words = f"the first {total:,} events read of a file that is cut off"
            remark = self._remark("stops-where-the-file-ends", 1, None)
            yield replace(remark, words=words, offset=self.timeline.size)
        stop = self._stop()
        if stop is not None:
            left = self.facts.value("SELECT count(*) FROM trace.event WHERE row >= ?", (stop,))
            yield self._remark("stops-at-a-length-that-is-no-number", left, total, stop)

    def _counted(self) -> Iterator[Remark]:
        """Behaviours that a condition on an event finds."""
        slices = self.timeline.counts.get("X", 0)
        events = sum(self.timeline.counts.values()) - self.timeline.counts.get("M", 0)
        totals = {"slices": slices, "events": events}
        behaviours = consumer_catalog().behaviours
        stop = self._stop()
        read = "" if stop is None else f" AND row < {stop}"
        for behaviour, (source, condition) in CONDITIONS.items():
            if behaviour in self.traits:
                select = f"SELECT count(*), min(row) FROM {source} WHERE ({condition}){read}"
                number, row = self.facts.rows(select)[0]
                yield self._remark(behaviour, number, totals[behaviours[behaviour].unit], row)
        if "float64-times" in self.traits:
            select = (
                "SELECT count(*), min(row), max(abs(begins - ts)) FROM seen.event "
                "WHERE ph = 'X' AND begins <> ts"
            )
            number, row, most = self.facts.rows(select)[0]
            remark = self._remark("float64-times", number, slices, row)
            yield replace(remark, words=f"{remark.words} by up to {most or 0} ns")

    def _nested(self, nesting: Nesting, crossing: str) -> Iterator[Remark]:
        slices = self.timeline.counts.get("X", 0)
        yield self._remark(crossing, nesting.crossing, slices, nesting.first.get("crossing"))
        if "float64-times" in self.traits:
            remark = self._remark(
                "float64-times", nesting.misplaced, slices, nesting.first.get("misplaced")
            )
            words = f"{nesting.misplaced:,} slices shown inside slices that they are not inside of"
            yield replace(remark, words=words)
        if "draws-deep-slices-at-the-top" in self.traits:
            name = "draws-deep-slices-at-the-top"
            yield self._remark(name, nesting.deep, slices, nesting.first.get("deep"))

    def _arrows(self) -> Iterator[Remark]:
        shown, elsewhere, row = self.facts.rows(
            "SELECT count(*), count(*) FILTER (elsewhere), min(end_row) FILTER (elsewhere) "
            "FROM seen.arrow"
        )[0]
        yield self._remark(ARROWS, elsewhere, shown, row)
        ends = self.facts.value("SELECT count(*) FROM seen.point")
        starts = self.facts.value("SELECT count(*) FROM seen.point WHERE ph = 's'")
        for behaviour, condition in ENDS.items():
            if behaviour in self.traits:
                select = f"SELECT count(*), min(row) FROM seen.point p WHERE {condition}"
                number, row = self.facts.rows(select)[0]
                total = starts if behaviour == "drops-doubled-starts" else ends
                yield self._remark(behaviour, number, total, row)

    def _ids(self) -> Iterator[Remark]:
        """Ids that fall together as doubles."""
        if "float64-ids" not in self.traits:
            return
        numbers = [one.category or "" for one in self.timeline.kinds if not one.is_text]
        if not numbers:
            return
        listed = ", ".join(map(text_literal, numbers))
        number, row = self.facts.rows(
            f"""
SELECT count(*), min(row) FROM (
  SELECT row, min(id) OVER same <> max(id) OVER same AS together FROM trace.event
  WHERE ph IN ('s', 't', 'f') AND coalesce(cat, '') IN ({listed})
    AND TRY_CAST(id AS HUGEINT) IS NOT NULL
  WINDOW same AS (PARTITION BY CAST(TRY_CAST(id AS HUGEINT) AS DOUBLE), cat, name)
) WHERE together
"""
        )[0]
        ends = sum(self.timeline.counts.get(phase, 0) for phase in ("s", "t", "f"))
        yield self._remark("float64-ids", number, ends, row)

    def _remark(
        self,
        behaviour: str,
        count: int,
        total: int | None,
        row: int | None = None,
        text: str | None = None,
    ) -> Remark:
        fact = consumer_catalog().behaviours[behaviour]
        trait = self.traits[behaviour]
        elements = self.timeline.elements
        offset = None if row is None or not count else elements.offset_of(row)
        of = "" if total is None else f" of {total:,}"
        words = f"{count:,}{of} {fact.unit} {fact.outcome}"
        if fact.kind == "fails":
            words = text or fact.summary.rstrip(".")
        return Remark(
            behaviour=behaviour,
            kind=fact.kind,
            words=words,
            why=fact.summary,
            remedy=fact.remedy,
            source=trait.source,
            count=count or int(fact.kind == "fails"),
            total=total,
            row=row if count else None,
            offset=offset,
            line=None if offset is None else elements.line_of(offset),
            example=_example(event_text(elements, row)) if row is not None and count else {},
        )


def _example(event: object) -> dict[str, int | float | str | None]:
    """The keys of an event that show what it is."""
    if not isinstance(event, dict):
        return {}
    shown = ((key, event.get(key)) for key in SHOWN_KEYS if key in event)
    return {key: value for key, value in shown if isinstance(value, (int, float, str))}


CONDITIONS: Mapping[str, tuple[str, str]] = {
    "drops-events-without-times": (
        "trace.event",
        "ph IS NULL OR ph <> 'M' AND (ts IS NULL OR ts_decimals < 0 OR ph = 'X' AND dur IS NULL)",
    ),
    "drops-times-before-0": ("trace.event", "ph <> 'M' AND ts < 0 AND ts_decimals >= 0"),
    "drops-negative-lengths": ("seen.event", "ph = 'X' AND took < 0"),
    "process-numbers-of-32-bits": ("seen.event", "ph = 'X' AND pid IS DISTINCT FROM process"),
    "thread-0-is-the-main-thread": (
        "seen.event",
        "ph = 'X' AND tid IS DISTINCT FROM thread AND (process, thread) IN "
        "(SELECT (process, tid) FROM seen.event WHERE ph = 'X' AND tid = thread)",
    ),
    "drops-slices-without-category": ("seen.event", "ph = 'X' AND cat IS NULL"),
}
"""By behaviour the table and the condition of what it affects."""

ENDS: Mapping[str, str] = {
    "drops-ids-that-are-not-hexadecimal": "is_text AND key IS NULL",
    "drops-ids-from-2-63": "NOT is_text AND key IS NULL",
    "arrow-ids-of-64-bits": (
        "row IN (SELECT row FROM (SELECT row, min(lower(id)) OVER same <> max(lower(id)) OVER same "
        "AS together FROM seen.point WHERE is_text AND strlen(id) > 16 "
        "WINDOW same AS (PARTITION BY key, cat, name)) WHERE together)"
    ),
    "drops-arrows-outside-slices": "key IS NOT NULL AND top IS NULL",
    "drops-doubled-starts": (
        "ph = 's' AND key IS NOT NULL AND top IS NOT NULL "
        "AND row NOT IN (SELECT row FROM seen.start)"
    ),
    "drops-arrows-without-start": (
        "ph IN ('t', 'f') AND key IS NOT NULL AND top IS NOT NULL "
        "AND row NOT IN (SELECT end_row FROM seen.arrow)"
    ),
}
"""The same of ends of arrows, in ``seen.point``."""

BEHAVIOURS = frozenset(
    {
        *CONDITIONS,
        *ENDS,
        *CROSSING,
        ARROWS,
        "float64-times",
        "float64-ids",
        "draws-deep-slices-at-the-top",
        "stops-at-a-length-that-is-no-number",
        "stops-where-the-file-ends",
        "fails-on-damage",
        "needs-an-object",
        "needs-times-that-are-numbers",
    }
)
"""Those that are counted in timelines."""
