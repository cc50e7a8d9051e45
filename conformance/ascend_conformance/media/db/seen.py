"""What the checker recognised in a file: product, level, ranks, span, and coverage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ascend_ref.db.detect import shown_level as level_of_rows
from ascend_spec.db.model import Column, Table

from ...engine.deciding import deciding
from ...finding import Coverage, Seen
from .session import Session
from .sql import single_row

SAMPLE_ROWS = 10_000


def make_seen(session: Session) -> Seen:
    """What the file states about its capture; an analysis.db relies on its profiler database."""
    capture = session.profiler or session
    level = profiler_level(session)
    start, end = _span(capture)
    return Seen(
        carrier=session.schema.carrier,
        schema_version=capture.identity.schema_version,
        revision=session.schema.revision.id,
        own=None if session.found == session.schema.revision else session.found.id,
        product=_product(capture),
        level=level,
        ranks=_ranks(capture),
        devices=_devices(capture),
        start_ns=start,
        end_ns=end,
        rows=dict(session.rows),
        coverage=_coverage(session, level),
        readings=_readings(session),
        reasons=_reasons(session),
    )


def _reasons(session: Session) -> tuple[str, ...]:
    """The facts of the file that exclude other revisions of its schema."""
    own, version = session.schema, session.identity.schema_version
    if session.found != own.revision:
        return ()
    found: dict[str, set[str]] = {}
    for other in session.catalog.revisions:
        if version == own.revision.schema_version != other.schema_version:
            found.setdefault(f"SCHEMA_VERSION {version}", set()).add(other.id)
        theirs = session.catalog.at(other.id, own.carrier).tables
        for name, match in session.layout.tables.items():
            if name not in theirs:
                found.setdefault(name, set()).add(other.id)
                continue
            for column in sorted(match.columns.keys() - theirs[name].columns.keys()):
                found.setdefault(f"{name}.{column}", set()).add(other.id)
            for column in sorted(theirs[name].columns.keys() - match.columns.keys()):
                found.setdefault(f"no {name}.{column}", set()).add(other.id)
    return deciding(dict(sorted(found.items(), key=lambda one: one[0].startswith("no "))))


def _product(session: Session) -> str | None:
    names = _chips(session)
    chips = ", ".join(name for name in names[:4] if name != "UNKNOWN")
    families = sorted(_families(session, names).values())
    return f"{chips} ({', '.join(families)})" if chips and families else chips or None


def _chips(session: Session) -> list[str]:
    if not session.layout.holds("NPU_INFO.name"):
        return []
    return session.texts("SELECT DISTINCT name AS value FROM main.NPU_INFO ORDER BY 1")


def _families(session: Session, chips: Iterable[str]) -> dict[str, str]:
    """The products with one of these chips: key to name."""
    known = session.catalog.products.items()
    return {key: product.name for key, product in known if {*chips} & {*product.chips}}


def profiler_level(session: Session) -> str | None:
    """``0``, ``1`` or ``2`` with its ground: what profiler_info says, else what the rows show."""
    stated = stated_level(session)
    if stated is not None:
        return f"{stated} (profiler_info)"
    shown = shown_level(session)
    return None if shown is None else f"{shown} (from the rows)"


def configuration(session: Session) -> Mapping[str, object]:
    """The settings of profiler_info, those of both its parts."""
    config = (session.profiler_info or {}).get("config")
    parts = config.values() if isinstance(config, dict) else ()
    return {name: one for part in parts if isinstance(part, dict) for name, one in part.items()}


def stated_level(session: Session) -> str | None:
    """The level of profiler_info without its prefix: ``0`` for ``Level0``."""
    of_mindspore = (session.profiler_info or {}).get("profiler_parameters")
    if isinstance(of_mindspore, dict):
        level = of_mindspore.get("profiler_level")
    else:
        level = configuration(session).get("_profiler_level")
    return level.removeprefix("Level").lstrip("_") if isinstance(level, str) else None


def shown_level(session: Session) -> str | None:
    """The level that the rows show, as text."""
    if session.schema.carrier == "analysis":
        return "1 or 2" if session.rows.get("CommAnalyzerTime") else None
    level = level_of_rows(
        session.layout.holds,
        lambda table: bool(session.rows.get(table)),
        lambda query: session.connection.execute(query).fetchone() is not None,
    )
    return None if level is None else str(level)


def _span(session: Session) -> tuple[int | None, int | None]:
    if not session.rows.get("SESSION_TIME_INFO") or not (
        session.layout.holds("SESSION_TIME_INFO.startTimeNs")
        and session.layout.holds("SESSION_TIME_INFO.endTimeNs")
    ):
        return None, None
    row = single_row(
        session.connection, "SELECT min(startTimeNs), max(endTimeNs) FROM main.SESSION_TIME_INFO"
    )
    start, end = (value if isinstance(value, int) else None for value in row)
    return start, end


def _integers(session: Session, table: str, column: str) -> tuple[int, ...]:
    if not session.layout.holds(f"{table}.{column}"):
        return ()
    rows = session.connection.execute(
        f"SELECT DISTINCT {column} FROM main.{table} WHERE typeof({column}) = 'integer' "
        "ORDER BY 1 LIMIT 1000"
    )
    return tuple(row[0] for row in rows)


def _ranks(session: Session) -> tuple[int, ...]:
    """Those of RANK_DEVICE_MAP; where msprof did not know the rank, that of the file name."""
    found = _integers(session, "RANK_DEVICE_MAP", "rankId")
    named = session.identity.rank_from_name
    return found if named is None or any(rank >= 0 for rank in found) else (named,)


def _devices(session: Session) -> tuple[int, ...]:
    return _integers(session, "NPU_INFO", "id") or _integers(session, "StepTraceTime", "deviceId")


def _coverage(session: Session, level: str | None) -> Coverage:
    """Columns that carry a value, of those this carrier, revision, product and level can fill."""
    exercised = producible = 0
    missing: list[str] = []
    for table in _producible_tables(session, level):
        producible += len(table.columns)
        if session.rows.get(table.name):
            exercised += len(_filled(session, table))
        else:
            missing.append(table.name)
    return Coverage(exercised, producible, tuple(missing))


def _producible_tables(session: Session, level: str | None) -> Iterator[Table]:
    family = _families(session, _chips(session)).keys()
    number = int(level[0]) if level and level[0].isdecimal() else None
    for table in session.schema.tables.values():
        fits = not family or family & set(table.products)
        if fits and (number is None or number in table.levels):
            yield table


def _filled(session: Session, table: Table) -> set[str]:
    """Columns with at least one value that is neither NULL nor a sentinel.

    The first rows settle most columns; the rest share one scan.
    """
    match = session.layout.tables[table.name]
    open_columns = [table.columns[name] for name in match.columns]
    filled: set[str] = set()
    for scope in (f"(SELECT * FROM main.{table.name} LIMIT {SAMPLE_ROWS})", f"main.{table.name}"):
        if not open_columns:
            break
        wanted = ", ".join(f"max({_carries_value(column)})" for column in open_columns)
        values = single_row(session.connection, f"SELECT {wanted} FROM {scope}")
        filled |= {column.name for column, value in zip(open_columns, values, strict=True) if value}
        open_columns = [column for column in open_columns if column.name not in filled]
        if session.rows[table.name] <= SAMPLE_ROWS:
            break
    return filled


def _carries_value(column: Column) -> str:
    if not column.none:
        return f"{column.name} IS NOT NULL"
    return f"{column.name} NOT IN ({', '.join(map(str, column.none))})"


def _readings(session: Session) -> tuple[str, ...]:
    """Errata on which the documents state this file's columns differently from what it holds."""
    if session.schema.reading != "observed":
        return ()
    found = {
        erratum.id
        for erratum in session.catalog.errata.values()
        for place in erratum.documented
        if session.layout.holds(place)
    }
    return tuple(sorted(found, key=lambda name: int(name[1:])))
