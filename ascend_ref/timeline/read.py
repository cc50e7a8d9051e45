"""Timelines as tables: the events of ``trace_view.json``, ``msprof_*.json`` and relatives.

The columns (:data:`COLUMNS`) hold what every event has; ``args`` stays JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from .elements import SCHEMA, Elements

COLUMNS: Mapping[str, str] = {
    "row": "BIGINT",
    "ph": "VARCHAR",
    "name": "VARCHAR",
    "cat": "VARCHAR",
    "id": "VARCHAR",
    "pid": "BIGINT",
    "tid": "BIGINT",
    "ts": "BIGINT",
    "ts_decimals": "TINYINT",
    "dur": "DOUBLE",
    "bp": "VARCHAR",
    "args": "VARCHAR",
}
"""Columns of the events with their SQL types.

``row`` is the index in the array; ``Elements.offset_of`` gives its byte. ``id`` is the text, or the
digits of the number. ``ts`` is in ns, exact for texts; a JSON number is what a double holds of it;
``ts_decimals`` counts the digits behind its point, -1 where it is no number. ``dur`` is in us.
NULL: the event has no such key, or of another type.
"""

NO_TIME = -1
"""``ts_decimals`` of a text that is no decimal number."""

_OWN = [name for name in COLUMNS if name not in ("row", "ts_decimals")]
_EVENTS = json.dumps([{name: COLUMNS[name] for name in _OWN} | {"ts": "VARCHAR", "args": "JSON"}])


def events_query(source: str) -> str:
    """A SELECT of :data:`COLUMNS` over a relation with the columns of ``elements.SCHEMA``."""
    # Nearly all times are texts with three decimals: those are read as integers, the others slower.
    return f"""
SELECT row, ph, name, cat, id, pid, tid,
  CASE WHEN fixed IS NOT NULL THEN fixed
       WHEN ts IS NOT NULL THEN TRY_CAST(TRY_CAST(ts AS DECIMAL(30, 6)) * 1000 AS BIGINT) END AS ts,
  CASE WHEN fixed IS NOT NULL THEN 3::TINYINT
       WHEN ts IS NULL THEN NULL
       WHEN TRY_CAST(ts AS DECIMAL(30, 6)) IS NULL THEN {NO_TIME}::TINYINT
       ELSE least(strlen(split_part(ts, '.', 2)), 100)::TINYINT END AS ts_decimals,
  dur, bp, args
FROM (
  SELECT row, e.ph, e.name, e.cat, e.id,
    e.pid, e.tid, e.ts,
    CASE WHEN strlen(e.ts) - instr(e.ts, '.') = 3
           AND NOT contains(e.ts, 'e') AND NOT contains(e.ts, 'E')
         THEN TRY_CAST(replace(e.ts, '.', '') AS BIGINT) END AS fixed,
    e.dur, e.bp, CAST(e.args AS VARCHAR) AS args
  FROM (
    SELECT row + place AS row, e FROM (
      SELECT row, unnest(events) AS e, unnest(range(len(events))) AS place
      FROM (SELECT row, from_json("text", '{_EVENTS}') AS events FROM {source})
    ) WHERE e IS NOT NULL
  )
)
"""


def element_reader(elements: Elements) -> pa.RecordBatchReader:
    """The batches of a file as a stream that DuckDB can scan once."""
    return pa.RecordBatchReader.from_batches(SCHEMA, elements.batches())
