"""Findings about the packed records of 0x0A and 0x0B."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ascend_ref.bin import BinFile, Entry, MalformedPayload
from ascend_ref.bin.records import read_cache_records, read_memory_trace
from ascend_spec.bin import SECTION_LENGTH

from ...finding import Finding, Scalar
from .places import block_label
from .queries import first_place
from .recordchecks import CACHE_BLOCK, DECLARATIONS, TRACE_BLOCK, RecordFault, judge_records
from .rules import BinRule


def record_findings(file: BinFile, rules: Sequence[BinRule]) -> Iterator[Finding]:
    """What is wrong with the records of the first block of each type."""
    wanted = {rule.id for rule in rules}
    for code in (TRACE_BLOCK, CACHE_BLOCK):
        entry = next((one for one in file.entries if one.type == code), None)
        if entry is not None:
            found = _of_block(file, entry)
            yield from (finding for finding in found if finding.rule in wanted)


def _of_block(file: BinFile, entry: Entry) -> Iterator[Finding]:
    payload = file.payload(entry)
    start = entry.payload_offset
    try:
        if entry.type == TRACE_BLOCK:
            records = read_memory_trace(payload).records
            start += SECTION_LENGTH.sizeof()
        else:
            records = read_cache_records(payload)
    except MalformedPayload:
        return  # a row of the table "payload"
    for fault in judge_records(records, entry.type):
        first = records[fault.first]
        values: dict[str, Scalar] = {name: int(first[name]) for name in first.dtype.names or ()}
        yield _finding(file, entry, fault, start, len(records), values)


def _finding(
    file: BinFile,
    entry: Entry,
    fault: RecordFault,
    start: int,
    total: int,
    values: dict[str, Scalar],
) -> Finding:
    rule = fault.rule
    field = rule.search.records.fields[0] if rule.search.records else ""
    offset = start + fault.first * DECLARATIONS[entry.type].sizeof() + _field_offset(entry, field)
    message = rule.counted(fault.count, total) + first_place(offset, None)
    return replace(
        rule.finding(file.label, message),
        table=block_label(entry.type),
        column=field,
        count=fault.count,
        examples=({"record": fault.first, **values},),
        context={"count": fault.count, "rows": total, "offset": offset, "record": fault.first},
        offset=offset,
    )


def _field_offset(entry: Entry, name: str) -> int:
    offset = 0
    for field in DECLARATIONS[entry.type].subcons:
        if field.name == name:
            break
        offset += int(field.sizeof())
    return offset
