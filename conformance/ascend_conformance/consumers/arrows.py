"""Which slices the arrows of a timeline lead from and to, as a reader finds them.

``seen.point`` has the ends of arrows: ``key``, the id as read (``NULL``: not read), ``top``, the
slice it belongs to, and whether that is ``elsewhere``: not where the end is. ``seen.arrow`` has the
arrows that are shown, with the rows of both ends and both slices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ..compare.sql import text_literal
from ..media.text.database import Facts

_ORDER = "ORDER BY begins, CASE WHEN ph = 'X' THEN -took ELSE 0 END, row"
_HEXADECIMAL = r"^(0[xX])?[0-9a-fA-F]+$"
_DIGITS = r"lower(ltrim(regexp_replace(id, '^0[xX]', ''), '0'))"
MOST_DIGITS = 16
"""Hexadecimal digits of 64 bits; strtoull gives the greatest number for more."""


class IdKind(NamedTuple):
    """Whether the ids of a category are texts."""

    category: str | None
    is_text: bool


MISREAD: Mapping[str, str] = {
    "drops-ids-that-are-not-hexadecimal": (
        f"is_text AND NOT regexp_matches(id, {text_literal(_HEXADECIMAL)})"
    ),
    "arrow-ids-of-64-bits": f"is_text AND strlen({_DIGITS}) > {MOST_DIGITS}",
    "drops-ids-from-2-63": "NOT is_text AND TRY_CAST(id AS BIGINT) IS NULL",
    "float64-ids": f"NOT is_text AND abs(TRY_CAST(id AS HUGEINT)) > {1 << 53}",
}
"""By behaviour the ids of ends that are not read, or can be taken for others: SQL."""


def place_ends(
    facts: Facts, kinds: Iterable[IdKind], does: Collection[str], *, keeps: bool
) -> None:
    """Make ``seen.point`` of ``seen.event`` and ``seen.crossing``.

    ``keeps``: whether slices that cross others are shown inside them.
    """
    opened = "row" if keeps else "coalesce(c.top, row)"
    window = f"PARTITION BY process, thread {_ORDER}"
    facts.connection.execute(
        f"""
CREATE OR REPLACE TABLE seen.point AS
WITH placed AS (
  SELECT *, last_value(opened IGNORE NULLS) OVER ({window} ROWS UNBOUNDED PRECEDING) AS open_one,
    {_waiting(facts, window)} AS next_one
  FROM (
    SELECT e.*, CASE WHEN ph = 'X' AND took >= 0 THEN {opened} END AS opened,
      CASE WHEN ph = 'X' AND took >= 0 AND c.top IS NULL THEN row END AS begun
    FROM seen.event e LEFT JOIN seen.crossing c USING (row)
    WHERE (coalesce(process, 0), thread) IN
      (SELECT (coalesce(process, 0), thread) FROM seen.event WHERE ph <> 'X')
  )
), ends AS (
  SELECT row, ph, coalesce(cat, '') AS cat, coalesce(name, '') AS name, id, pid, tid, begins, ts,
    CASE WHEN ph = 'f' AND bp IS DISTINCT FROM 'e' THEN next_one ELSE open_one END AS top,
    {is_text(kinds)} AS is_text
  FROM placed WHERE ph <> 'X'
), ends_with_keys AS (SELECT *, {_key(does)} AS key FROM ends)
SELECT e.*,
  top IS NOT NULL AND (e.ts NOT BETWEEN s.ts AND s.ends OR s.ts <> e.ts AND b.ts IS NOT NULL)
    AS elsewhere
FROM ends_with_keys e LEFT JOIN seen.event s ON s.row = top
LEFT JOIN (SELECT DISTINCT pid, tid, ts FROM seen.event WHERE ph = 'X') b
  ON b.pid = e.pid AND b.tid = e.tid AND b.ts = e.ts
"""
    )


def draw_arrows(facts: Facts) -> None:
    """Make ``seen.start``, the starts that count, and ``seen.arrow`` of ``seen.point``."""
    facts.connection.execute(
        """
CREATE OR REPLACE TABLE seen.start AS
SELECT * FROM seen.point WHERE ph = 's' AND key IS NOT NULL AND top IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY key, cat, name ORDER BY begins, row) = 1
"""
    )
    facts.connection.execute(
        """
CREATE OR REPLACE TABLE seen.arrow AS
SELECT s.row AS start_row, s.top AS start_slice, e.row AS end_row, e.top AS end_slice,
  s.elsewhere OR e.elsewhere AS elsewhere
FROM seen.point e JOIN seen.start s USING (key, cat, name)
WHERE e.ph IN ('t', 'f') AND e.top IS NOT NULL AND (s.begins, s.row) < (e.begins, e.row)
"""
    )


def _waiting(facts: Facts, window: str) -> str:
    """The next slice of the thread, for ends that wait for it; most files have none."""
    waits = "SELECT 1 FROM seen.event WHERE ph = 'f' AND bp IS DISTINCT FROM 'e' LIMIT 1"
    if not facts.rows(waits):
        return "NULL::BIGINT"
    return (
        f"first_value(begun IGNORE NULLS) OVER ({window} "
        "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)"
    )


def is_text(kinds: Iterable[IdKind]) -> str:
    """SQL: whether the id of an end is a text, by its category."""
    cases = "".join(
        f" WHEN coalesce(cat, '') = {text_literal(one.category or '')} THEN {one.is_text}"
        for one in kinds
    )
    return f"CASE{cases} ELSE TRUE END" if cases else "TRUE"


def _key(does: Collection[str]) -> str:
    """The id as read: hexadecimal digits."""
    text = _DIGITS
    if "arrow-ids-of-64-bits" in does:
        most = text_literal("f" * MOST_DIGITS)
        text = f"CASE WHEN strlen({_DIGITS}) > {MOST_DIGITS} THEN {most} ELSE {_DIGITS} END"
    if "drops-ids-that-are-not-hexadecimal" in does:
        text = f"CASE WHEN regexp_matches(id, {text_literal(_HEXADECIMAL)}) THEN {text} END"
    number = "lower(hex(TRY_CAST(id AS UBIGINT)))"
    if "drops-ids-from-2-63" in does:
        number = "lower(hex(CAST(TRY_CAST(id AS BIGINT) AS UBIGINT)))"
    return f"CASE WHEN is_text THEN {text} ELSE ltrim({number}, '0') END"
