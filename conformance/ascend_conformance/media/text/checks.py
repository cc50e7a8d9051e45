"""The checks of the checker itself, by the name that rule documents give them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from ascend_ref.timeline.event_keys import UNKNOWN
from ascend_spec import text_catalog

from ...engine.asking import Asked, At, Question
from ...finding import Finding
from ...options import Options
from . import structurecsv, structuredocs, structuretrace
from .apart import (
    DEVICES,
    columns_of_times,
    parts_of_another_device,
    parts_of_another_time,
)
from .cells import CellFault
from .clocks import unfitting_clocks
from .derived.operators import FILES
from .findings import Fault, finding_of
from .folder import Folder
from .layers import layers_by_table
from .loaddocs import DOUBLED
from .loadtrace import TWICE
from .queries import nothing_asked
from .rules import CELLS, TextRule, load_text_rules
from .structureargs import wrong_args
from .structurecsv import Check, malformed_rows

ARGS = "wrong-args"
OF_TEXT: Mapping[str, Check] = {
    "malformed-rows": partial(
        structurecsv.malformed_rows, ("bad-quote", "lone-return", "too-long")
    ),
    "rows-of-another-encoding": partial(malformed_rows, ("not-utf8",)),
    "rows-with-a-zero-byte": partial(malformed_rows, ("zero-byte",)),
    "short-rows": partial(malformed_rows, ("too-few-cells",)),
    "long-rows": partial(malformed_rows, ("too-many-cells",)),
    "blank-rows": partial(malformed_rows, ("blank",)),
    "byte-order-mark": structurecsv.byte_order_mark,
    "mixed-line-ends": structurecsv.mixed_line_ends,
    "unreadable-header": structurecsv.unreadable_header,
    "missing-columns": structurecsv.missing_columns,
    "strange-columns": structurecsv.strange_columns,
    "order-of-columns": structurecsv.order_of_columns,
    "doubled-columns": structurecsv.doubled_columns,
    "slices-in-order": structurecsv.slices_in_order,
    "full-slices": structurecsv.full_slices,
    "missing-files": structurecsv.missing_files,
    "lost-files": structurecsv.lost_files,
    "listed-files": structurecsv.listed_files,
    "damaged-documents": partial(structuredocs.damages, "document"),
    "damaged-timelines": partial(structuredocs.damages, "timeline"),
    "wrong-key-types": partial(structuretrace.key_faults, f"found NOT IN ('{UNKNOWN}', '{TWICE}')"),
    "unknown-keys": partial(structuretrace.key_faults, f"found = '{UNKNOWN}'"),
    "event-keys-twice": partial(structuretrace.key_faults, f"found = '{TWICE}'"),
}
"""Checks of what is known of the files themselves, from the folder and the number of examples."""
OF_DOCUMENTS: Mapping[str, Check] = {
    "departures": partial(
        structuredocs.departures, f"keyword NOT IN ('additionalProperties', '{DOUBLED}')"
    ),
    "strange-keys": partial(structuredocs.departures, "keyword = 'additionalProperties'"),
    "doubled-keys": partial(structuredocs.departures, f"keyword = '{DOUBLED}'"),
}
OF_TIMELINES: Mapping[str, Check] = {
    "nameless-processes": structuretrace.nameless_processes,
    "contradicting-metadata": structuretrace.contradicting_metadata,
    "unknown-layers": structuretrace.unknown_layers,
    "unknown-events": structuretrace.unknown_events,
    "wrong-pids": structuretrace.wrong_pids,
    ARGS: wrong_args,
    "crossing-slices": structuretrace.crossing_slices,
}
OF_ROWS: Mapping[str, Check] = {
    "order-of-rows": structurecsv.order_of_rows,
    "unfitting-clocks": unfitting_clocks,
}
OF_FOLDERS: Mapping[str, Check] = {
    "parts-of-another-time": parts_of_another_time,
    "parts-of-another-device": parts_of_another_device,
}
CHECKS = {**OF_TEXT, **OF_DOCUMENTS, **OF_TIMELINES, **OF_ROWS, **OF_FOLDERS}


def reads(check: str) -> tuple[str, ...]:
    """The schemas of the facts that a check looks at."""
    if check in structuretrace.EVENTS:
        return ("trace", "unit") if check == "missing-keys" else ("trace",)
    if check in OF_TEXT:
        return ("unit",)
    if check in OF_FOLDERS:
        return ("raw", "trace", "doc")
    return ("doc",) if check in OF_DOCUMENTS else ("trace",) if check in OF_TIMELINES else ("raw",)


def can_wake(check: str, schema: str, table: str, columns: Collection[str] | None) -> bool:
    """Whether a change of a table of the facts can concern a check.

    ``columns``: those whose cells change, in lower case; ``None``: rows come or go as well.
    """
    if schema not in reads(check) or (check == "unfitting-clocks" and table not in FILES):
        return False
    if schema == "trace" and table in layers_by_table():
        return check == ARGS  # the others look at the events that layers are selected from
    if check not in OF_FOLDERS or columns is None:
        return True
    seen = DEVICES if check == "parts-of-another-device" else columns_of_times()
    return not seen.isdisjoint(columns)


NAMES = frozenset(
    {*CHECKS, *structuretrace.EVENTS, *(f"{CELLS}{fault}" for fault in get_args(CellFault))}
)
"""Every check that a rule may name."""


EVENTS = "events"
"""What answers all checks of events together (:func:`.structuretrace.event_faults`)."""


def ask_checks(folder: Folder, rules: Iterable[TextRule], options: Options) -> Asked[Finding]:
    """Judge every rule that is a check; those that one pass over the files answers together."""
    passes: dict[str, list[At]] = {}
    for rule in rules:
        passes.setdefault(_pass_of(rule.search.check or ""), []).append(At(rule))
    asked = nothing_asked()
    asked.ask(
        Question(subjects, partial(_findings, folder, options, name))
        for name, subjects in passes.items()
    )
    return asked


def _pass_of(check: str) -> str:
    if check in structuretrace.EVENTS:
        return EVENTS
    return CELLS if check.startswith(CELLS) else check


def _findings(
    folder: Folder, options: Options, name: str, subjects: Sequence[At]
) -> Iterator[Finding]:
    """The findings of some rules, whose checks one pass answers."""
    chosen = {one.rule.id for one in subjects}
    writers: dict[int, str | None] | None = None
    for check, fault in _faults(folder, name, options.max_examples):
        if writers is None:
            writers = dict(folder.facts.rows("SELECT file, writer FROM unit.file"))
        rule = _rule_of(check, fault, writers.get(fault.file))
        if rule is not None and rule.id in chosen:
            finding = finding_of(folder, rule, fault)
            yield finding if options.with_sql else replace(finding, sql=None)


def _faults(folder: Folder, name: str, examples: int) -> Iterator[tuple[str, Fault]]:
    """The faults that a pass brings to light, each with the check that it is of."""
    if name == EVENTS:
        yield from structuretrace.event_faults(folder, examples)
    elif name == CELLS:
        for cell, fault in structurecsv.cell_faults(folder, examples):
            yield f"{CELLS}{cell.fault}", fault
    else:
        yield from ((name, fault) for fault in CHECKS[name](folder, examples))


def _rule_of(check: str, fault: Fault, writer: str | None) -> TextRule | None:
    """The rule that takes a fault: one for its writer before one for its erratum before all."""
    rules = [rule for rule in load_text_rules().values() if rule.search.check == check]
    by = text_catalog().writers[writer].kin if writer is not None else frozenset()
    for_writer = [rule for rule in rules if not by.isdisjoint(rule.search.writers)]
    for_erratum = [
        rule
        for rule in rules
        if not rule.search.writers and rule.erratum and rule.erratum in fault.errata
    ]
    for_all = [
        rule
        for rule in rules
        if not rule.search.writers and by.isdisjoint(rule.search.not_writers) and not rule.erratum
    ]
    return next(iter([*for_writer, *for_erratum, *for_all]), None)
