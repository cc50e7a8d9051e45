"""Args that an event shows of the recording as it is: no code of their own."""

from __future__ import annotations

import pyarrow as pa

from ascend_ref.db.columns import integers_of
from ascend_ref.recorded.shown import ShownValues, TableRows
from ascend_spec.timeline import Arg

from .events import Events
from .notation import lengths
from .rows import Fragment
from .session import Session

NS_SHOWN_IN = "us"
UNKNOWN = "N/A"


class Filling:
    """Fills args of one session from the rows of tables that its events show."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._values = ShownValues(session.recorded.output)
        self._tables: dict[str, pa.Table] = {}

    def of(self, arg: Arg, events: Events) -> Fragment:
        """The values of an arg as text without quotes; what stands for no value where nothing is
        known.
        """
        rows = {name: TableRows(self._table(name), own) for name, own in events.rows.items()}
        values = self._values.of(arg.shows, rows) if rows else None
        nothing = self._session.notation.string(_nothing(arg))
        if values is None:
            return nothing
        if pa.types.is_integer(values.type) and arg.unit == NS_SHOWN_IN:
            texts: pa.Array = lengths(integers_of(values.fill_null(0)))
        elif pa.types.is_dictionary(values.type):
            texts = self._session.notation.strings(values.dictionary_decode())
        else:
            texts = values.cast(pa.string())
        return texts.fill_null(nothing)

    def _table(self, name: str) -> pa.Table:
        if name not in self._tables:
            self._tables[name] = self._session.recorded.table(name)
        return self._tables[name]


def _nothing(arg: Arg) -> str:
    known = [str(one) for one in (*arg.none, *arg.values)]
    return known[0] if known else UNKNOWN if "string" in arg.json else "0"
