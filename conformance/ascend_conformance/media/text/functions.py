"""The functions that queries on the facts have."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_ref.timeline.layers.counters import BY_A_NANOSECOND, NANOSECONDS
from ascend_spec import catalog, per_spec, text_catalog

from ...compare.sql import text_literal

_MACROS = (
    # us to whole ns; NULL for what is none.
    "CREATE MACRO ns(us) AS TRY_CAST(round(us * 1000) AS BIGINT)",
    # A text of us to ns, exactly.
    "CREATE MACRO instant(text) AS TRY_CAST(TRY_CAST(text AS DECIMAL(38, 6)) * 1000 AS BIGINT)",
    # The load of the first sample of a core as the timeline shows it.
    "CREATE MACRO by_a_second(usage) AS "
    f"CASE WHEN usage > {BY_A_NANOSECOND:e} THEN usage / {NANOSECONDS:e} ELSE usage END",
)


@per_spec
def _level_of_call() -> str:
    """A macro for the level of a call of CANN by its newest name; empty for one without a number.

    Levels without a number have a name in what the Python engine writes, and none in what the C++
    engine does (level_type_constant.py and api_statistic_assembler.cpp of msprof).
    """
    members = [one for one in catalog().enums["ENUM_API_TYPE"].members if not one.carriers]
    newest = {one.id: one.name for one in members}
    names = " ".join(
        f"WHEN {text_literal(one.name)} THEN {text_literal(newest[one.id])}" for one in members
    )
    return f"CREATE MACRO level_of_call(name) AS CASE name {names} ELSE '' END"


@per_spec
def _of_writers() -> Sequence[str]:
    """Macros for what operator_memory of a writer has otherwise: whether its totals are exchanged,
    and how many us what it calls one is.
    """
    writers = text_catalog().writers.values()
    exchanging = ", ".join(text_literal(one.id) for one in writers if one.exchanged_totals)
    lengths = " ".join(
        f"WHEN {text_literal(one.id)} THEN {one.ns_per_us / 1000}" for one in writers
    )
    return (
        f"CREATE MACRO exchanges_totals(writer) AS writer IN ({exchanging})",
        f"CREATE MACRO us_of(writer) AS CASE writer {lengths} END",
    )


def functions() -> Sequence[str]:
    """The statements that make them."""
    return (*_MACROS, _level_of_call(), *_of_writers())
