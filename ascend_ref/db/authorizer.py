"""What SQL may do on a connection to a foreign file: read, and work in temporary tables.

A second lock in addition to read-only and immutable: a wrong statement of ours, or one that a
hostile schema causes, is refused while it is compiled.
"""

from __future__ import annotations

import apsw

_FUNCTION_NAMES = """
    -> ->> abs acos asin atan atan2 avg ceil ceiling char coalesce concat concat_ws cos count
    cume_dist degrees dense_rank exp first_value floor format glob group_concat hex if ifnull iif
    instr json json_array json_array_length json_each json_error_position json_extract
    json_group_array json_group_object json_object json_quote json_tree json_type json_valid lag
    last_value lead length like likelihood likely ln log log10 log2 lower ltrim max min mod
    nth_value ntile nullif octet_length percent_rank pi pow power printf quote radians rank replace
    round row_number rtrim sign sin sqrt string_agg substr substring sum tan total trim trunc typeof
    unhex unicode unlikely upper zeroblob
"""
FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
"""Built-in functions whose answer depends on their arguments alone."""

OWN_PREFIX = "ascend_"
"""Functions that we register ourselves carry this prefix and are allowed."""

_READ_PRAGMA_NAMES = """
    application_id compile_options data_version database_list encoding freelist_count
    journal_mode page_count page_size schema_version trusted_schema user_version
"""
READ_PRAGMAS = frozenset(_READ_PRAGMA_NAMES.split())
"""Allowed without a value."""

_ASKING_PRAGMA_NAMES = """
    index_info index_list index_xinfo integrity_check quick_check table_info table_xinfo
"""
ASKING_PRAGMAS = frozenset(_ASKING_PRAGMA_NAMES.split())
"""Allowed with a value, which names a table, an index or a number of messages."""

_ALWAYS = frozenset(
    {
        apsw.SQLITE_SELECT,
        apsw.SQLITE_READ,
        apsw.SQLITE_RECURSIVE,
        apsw.SQLITE_TRANSACTION,
        apsw.SQLITE_SAVEPOINT,
        apsw.SQLITE_DETACH,
        apsw.SQLITE_CREATE_TEMP_TABLE,
        apsw.SQLITE_CREATE_TEMP_INDEX,
        apsw.SQLITE_DROP_TEMP_TABLE,
        apsw.SQLITE_DROP_TEMP_INDEX,
    }
)
_IN_TEMP = frozenset(
    {apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE, apsw.SQLITE_REINDEX}
)


class Authorizer:
    """The callback of one connection. ``attachable`` is the one URI that ATTACH may open now."""

    def __init__(self) -> None:
        self.attachable: str | None = None

    def __call__(
        self,
        operation: int,
        first: str | None,
        second: str | None,
        database: str | None,
        cause: str | None,
    ) -> int:
        """``SQLITE_OK`` or ``SQLITE_DENY`` for one action of a statement that is being compiled."""
        del cause
        return (
            apsw.SQLITE_OK if self._allows(operation, first, second, database) else apsw.SQLITE_DENY
        )

    def _allows(
        self, operation: int, first: str | None, second: str | None, database: str | None
    ) -> bool:
        if operation in _ALWAYS:
            return True
        if operation == apsw.SQLITE_FUNCTION:
            name = (second or "").lower()
            return name in FUNCTIONS or name.startswith(OWN_PREFIX)
        if operation in _IN_TEMP:
            return database == "temp"
        if operation == apsw.SQLITE_PRAGMA:
            name = (first or "").lower()
            return name in ASKING_PRAGMAS or (name in READ_PRAGMAS and second is None)
        if operation == apsw.SQLITE_ATTACH:
            return self.attachable is not None and first == self.attachable
        return False
