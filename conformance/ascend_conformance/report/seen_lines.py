"""What the checker recognised in a file, as labelled lines for the formats that people read."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_conformance.finding import (
    API,
    BLOCK_FILE,
    MINDSPORE,
    RAW,
    SOURCE,
    SPEC,
    TEXT,
    FileReport,
    Seen,
)

from .detail import Detail
from .escape import visible
from .phrases import counted, time_span
from .sentences import names

UNKNOWN = "unknown"


def seen_lines(file: FileReport, detail: Detail) -> Iterator[tuple[str, str]]:
    """Pairs of label and value, every value on one line and safe to show."""
    if file.seen:
        yield from _recognised(file.seen, detail)
    if file.unreadable is None and not (file.seen and file.seen.carrier in (SPEC, SOURCE)):
        rules, places = counted(file.rules_run, "rule"), counted(file.places_checked, "place")
        if file.seen is None and file.places_checked and not file.rules_run:
            yield "compared", places
        else:
            yield "checked", f"{rules} at {places}"


def _recognised(seen: Seen, detail: Detail) -> Iterator[tuple[str, str]]:
    if seen.carrier == BLOCK_FILE:
        blocks, types = sum(seen.rows.values()), counted(len(seen.rows), "type")
        yield from _format(seen, "epoch", detail)
        yield "blocks", f"{blocks:,} of {types}"
    elif seen.carrier == API:
        of, commands = seen.coverage.exercised, counted(seen.coverage.producible, "command")
        yield from _format(seen, "generation", detail)
        yield "answers", f"{sum(seen.rows.values()):,} to {of:,} of {commands}"
    elif seen.carrier == MINDSPORE:
        yield from _mindspore(seen, detail)
    elif seen.carrier == RAW:
        yield "format", f"{seen.carrier}, {_known(seen.revision, detail)}"
        yield "devices", _numbers(seen.devices, detail)
        kinds = counted(len(seen.rows), "kind")
        yield "records", f"{sum(seen.rows.values()):,} of {kinds} of files"
    elif seen.carrier in (SPEC, SOURCE):
        yield "states", _known(seen.revision, detail)
        if seen.schema_version is not None:
            yield "version", _known(seen.schema_version, detail)
        every = [counted(count, kind) for kind, count in seen.rows.items()]
        what = "changes" if seen.carrier == SPEC else "read"
        yield what, names(every, detail, "kind of thing") or "none"
    elif seen.carrier == TEXT:
        yield from _text(seen, detail)
    else:
        yield from _database(seen, detail)


def _mindspore(seen: Seen, detail: Detail) -> Iterator[tuple[str, str]]:
    yield from _generation(seen, detail)
    yield "devices", _numbers(seen.devices, detail)
    kinds = counted(len(seen.rows), "kind")
    yield "files", f"{sum(seen.rows.values()):,} of {kinds}"


def _generation(seen: Seen, detail: Detail) -> Iterator[tuple[str, str]]:
    yield "format", f"{seen.carrier}, generation {_known(seen.revision, detail)}"
    yield "because", names(seen.reasons, detail, "reason")


def _text(seen: Seen, detail: Detail) -> Iterator[tuple[str, str]]:
    yield "format", f"{seen.carrier}, written by {_known(seen.revision, detail)}"
    yield from _own(seen, detail)
    if seen.reasons:
        yield "because", names(seen.reasons, detail, "reason")
    yield from _capture(seen, detail)
    for file, text in list(seen.files.items())[: detail.entries]:
        yield "file", f"{visible(file, detail.name)}: {visible(text, 2 * detail.name)}"
    if len(seen.files) > detail.entries:
        yield "files", f"{counted(len(seen.files) - detail.entries, 'further file')} not listed"


def _capture(seen: Seen, detail: Detail) -> Iterator[tuple[str, str]]:
    yield "product", _known(seen.product, detail)
    yield "level", _known(seen.level, detail)
    yield "ranks", _numbers(seen.ranks, detail)
    yield "devices", _numbers(seen.devices, detail)
    yield "time", time_span(seen.start_ns, seen.end_ns) or UNKNOWN


def _format(seen: Seen, state: str, detail: Detail) -> Iterator[tuple[str, str]]:
    yield "format", f"{seen.carrier}, {state} {_known(seen.revision, detail)}"
    yield from _own(seen, detail)
    yield "chip", _known(seen.product, detail)


def _own(seen: Seen, detail: Detail) -> Iterator[tuple[str, str]]:
    if seen.own is not None:
        yield "judged", f"as was asked for; it is of {visible(seen.own, detail.name)}"


def _known(value: str | None, detail: Detail) -> str:
    return UNKNOWN if value is None else visible(value, detail.name)


def _database(seen: Seen, detail: Detail) -> Iterator[tuple[str, str]]:
    version, revision = _known(seen.schema_version, detail), _known(seen.revision, detail)
    yield "carrier", _known(seen.carrier, detail)
    yield "schema", f"version {version}, revision {revision}"
    yield from _own(seen, detail)
    if seen.reasons:
        yield "because", names(seen.reasons, detail, "reason")
    yield from _capture(seen, detail)
    rows, tables = sum(seen.rows.values()), len(seen.rows)
    yield "rows", f"{rows:,} in {counted(tables, 'table')}"
    yield "coverage", _coverage(seen, detail)
    if seen.readings:
        yield "readings", f"as real files have it: {names(seen.readings, detail, 'reading')}"


def _coverage(seen: Seen, detail: Detail) -> str:
    coverage = seen.coverage
    if not coverage.producible:
        return UNKNOWN
    # Rounded down, so that 100 % means every column.
    percent = 100 * coverage.exercised // coverage.producible
    text = f"{percent} % ({coverage.exercised:,} of {counted(coverage.producible, 'column')})"
    if coverage.missing_tables:
        return f"{text}; missing {names(coverage.missing_tables, detail, 'table')}"
    return text


def _numbers(numbers: tuple[int, ...], detail: Detail) -> str:
    if not numbers:
        return "none"
    return names((str(number) for number in numbers), detail, "number")
