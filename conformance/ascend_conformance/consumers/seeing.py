"""The events of a timeline as a reader reads them: tables of the facts, made anew for each state.

``seen.event`` has every event with a time: ``begins`` and ``took`` are its time and length in ns as
read, ``ts`` and ``ends`` the exact ones, ``process`` and ``thread`` the numbers as read.
``seen.crossing`` has the slices that cross others: ``row``, and ``top``, the slice that is open on
the thread then.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path

from ascend_ref.timeline.elements import Elements
from ascend_ref.timeline.recognition import FLOWS

from ..compare.sql import text_literal
from ..media.text.database import Facts
from .nesting import Nesting, Slice

ENDS = f"({', '.join(map(text_literal, FLOWS))})"
"""Phases of the ends of arrows, in SQL."""
AS_MUCH = 20_000
"""Slices that are walked at once."""
TEXT = 1 << 16
"""Bytes in which an event that is looked at ends."""

_READ = """CASE WHEN {0} = trunc({0}) THEN TRY_CAST({0} AS BIGINT) * 1000
  ELSE TRY_CAST(round({0} * 1000) AS BIGINT) END"""
"""us to ns in doubles, as CoerceToTs of Perfetto does it."""

# The double nearest to the decimal text: whole us are exact up to 2^53, the rest has three digits.
_TIME = "((ts // 1000) + (ts % 1000) / 1000.0)"
MOST = (1 << 32) - 1
"""Of a number of a process or thread that is read as it is."""

_32_BITS = f"{{0}} BETWEEN 0 AND {MOST}"


def see(facts: Facts, does: Collection[str], stop: int | None) -> None:
    """Make ``seen.event`` for a reader with these behaviours; ``stop``: the first row not read."""
    rounded = "float64-times" in does
    at = _READ.format(_TIME) if rounded else "ts"
    took = _READ.format("dur") if rounded else "TRY_CAST(round(dur * 1000) AS BIGINT)"
    process = "pid"
    if "process-numbers-of-32-bits" in does:
        process = f"CASE WHEN {_32_BITS.format('pid')} THEN pid ELSE 0 END"
    thread = "coalesce(tid, 0)"
    if "thread-0-is-the-main-thread" in does:
        thread = f"CASE WHEN tid > 0 AND {_32_BITS.format('tid')} THEN tid ELSE ({process}) END"
    until = f"AND row < {stop}" if stop is not None else ""
    before = "AND begins >= 0" if "drops-times-before-0" in does else ""
    facts.connection.execute("CREATE SCHEMA IF NOT EXISTS seen")
    facts.connection.execute(
        f"""
CREATE OR REPLACE TABLE seen.event AS
SELECT * FROM (
  SELECT row, ph, cat, name, id, bp, pid, tid, ts,
    ts + TRY_CAST(round(dur * 1000) AS BIGINT) AS ends,
    {process} AS process, {thread} AS thread, {at} AS begins,
    CASE WHEN ph = 'X' THEN {took} END AS took
  FROM trace.event WHERE (ph = 'X' OR ph IN {ENDS}) AND ts IS NOT NULL AND ts_decimals >= 0 {until}
) WHERE begins IS NOT NULL AND (ph <> 'X' OR took IS NOT NULL) {before}
"""
    )


def nest(facts: Facts, *, keeps: bool, exact: bool = False) -> Nesting:
    """Walk over the slices of every thread, and make ``seen.crossing``.

    keeps: whether slices that cross others are put inside them. exact: whether the reader takes
    slices that touch after rounding for what they are.
    """
    begins, took = ("ts", "ends - ts") if exact else ("begins", "took")
    connection = facts.connection
    connection.execute("CREATE OR REPLACE TABLE seen.crossing (row BIGINT, top BIGINT)")
    nesting = Nesting(keeps)
    with facts.another() as reading:
        cursor = reading.connection.execute(
            f"SELECT coalesce(process, 0), thread, row, {begins}, {took}, ts, ends FROM seen.event "
            f"WHERE ph = 'X' AND took >= 0 ORDER BY process, thread, {begins}, {took} DESC, row"
        )
        while batch := cursor.fetchmany(AS_MUCH):
            found = list(nesting.walk([Slice._make(row) for row in batch]))
            if found:
                rows, tops = ([*values] for values in zip(*found, strict=True))
                connection.execute(
                    "INSERT INTO seen.crossing SELECT unnest(?::BIGINT[]), unnest(?::BIGINT[])",
                    [rows, tops],
                )
    return nesting


def event_text(elements: Elements, row: int) -> object:
    """One event as it stands in its file; ``None`` where it cannot be read again."""
    offset = elements.offset_of(row)
    if offset is None:
        return None
    try:
        with elements.path.open("rb") as file:
            file.seek(offset)
            text = file.read(TEXT).decode("utf-8", "replace")
        return json.JSONDecoder().raw_decode(text)[0]
    except (OSError, ValueError, RecursionError):
        return None


def id_kinds(facts: Facts, elements: Elements) -> Iterator[tuple[str | None, bool]]:
    """For each category of arrows whether their ids are texts, by the first of them.

    The facts have ids as texts, whatever they are in the file; no writer mixes both.
    """
    select = (
        f"SELECT cat, min(row) FROM trace.event WHERE ph IN {ENDS} AND id IS NOT NULL "
        "GROUP BY cat ORDER BY 2 LIMIT 1000"
    )
    for category, row in facts.rows(select):
        event = event_text(elements, row)
        yield category, not (isinstance(event, dict) and isinstance(event.get("id"), int))


def stop_of(facts: Facts, elements: Elements) -> int | None:
    """The first event whose length is no number, at which some readers stop."""
    rows = facts.rows("SELECT row FROM unit.key_fault WHERE key = 'dur' ORDER BY row")
    for (row,) in rows:
        event = event_text(elements, row)
        length = event.get("dur") if isinstance(event, dict) else None
        try:
            float(length)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return int(row)
    return None


def size_of(path: Path) -> int:
    """Bytes of a timeline."""
    return path.stat().st_size
