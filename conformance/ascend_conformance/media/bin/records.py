"""The packed records of 0x0A and 0x0B: judged as whole arrays, one finding for each broken rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.bin import BinFile, Entry, MalformedPayload
from ascend_ref.bin.records import Records, read_cache_records, read_memory_trace
from ascend_spec.bin import CACHE_RECORD, SECTION_LENGTH, TRACE_RECORD

from ...finding import Finding, Scalar
from .places import block_label, field_offset, first_place
from .rules import BinRule, RecordSearch, load_bin_rules

CHUNK = 32_768
"""Records judged at a time: a megabyte, which stays in the cache for all checks."""

TRACE_BLOCK = 0x0A
CACHE_BLOCK = 0x0B
DECLARATIONS: Mapping[int, construct.Struct] = {
    TRACE_BLOCK: TRACE_RECORD,
    CACHE_BLOCK: CACHE_RECORD,
}

Bad: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RecordFault:
    """A rule that some records break: how many, and the index of the first."""

    rule: BinRule
    count: int
    first: int


def record_findings(file: BinFile, rules: Sequence[BinRule]) -> Iterator[Finding]:
    """What is wrong with the records of the first block of each type."""
    wanted = {rule.id for rule in rules}
    for code in DECLARATIONS:
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
        first, rule, total = records[fault.first], fault.rule, len(records)
        values: dict[str, Scalar] = {name: int(first[name]) for name in first.dtype.names or ()}
        field = rule.search.records.fields[0] if rule.search.records else ""
        offset = start + fault.first * records.itemsize
        offset += field_offset(DECLARATIONS[entry.type], field)
        message = rule.counted(fault.count, total) + first_place(offset, None)
        yield replace(
            rule.finding(file.label, message),
            table=block_label(entry.type),
            column=field,
            count=fault.count,
            examples=({"record": fault.first, **values},),
            context={"count": fault.count, "rows": total, "offset": offset, "record": fault.first},
            offset=offset,
        )


def judge_records(records: Records, block: int) -> list[RecordFault]:
    """What is wrong with an array of the records of a block type, in the order of the rules."""
    searches = record_rules(block)
    counts = [0] * len(searches)
    firsts = [0] * len(searches)
    for start in range(0, len(records), CHUNK):
        chunk = records[start : start + CHUNK]
        for place, (_, search) in enumerate(searches):
            bad = CHECKS[search.check](chunk, search)
            found = int(np.count_nonzero(bad))
            if found and not counts[place]:
                firsts[place] = start + int(np.argmax(bad))
            counts[place] += found
    found_of = zip(searches, counts, firsts, strict=True)
    return [RecordFault(rule, count, first) for (rule, _), count, first in found_of if count]


def record_rules(block: int) -> list[tuple[BinRule, RecordSearch]]:
    """The rules about the packed records of a block type."""
    searches = [(rule, rule.search.records) for rule in load_bin_rules().values()]
    return [(rule, search) for rule, search in searches if search and search.block == block]


def _no_member(records: Records, search: RecordSearch) -> Bad:
    declared: Any = getattr(DECLARATIONS[search.block], search.fields[0])
    return np.isin(records[search.fields[0]], [*declared.subcon.ksymapping], invert=True)


def _negative(records: Records, search: RecordSearch) -> Bad:
    bad: Bad = records[search.fields[0]] < 0
    return bad


def _wraps(records: Records, search: RecordSearch) -> Bad:
    """Start and length reach beyond 64 bits; ``~start`` is what is left above it."""
    start, length = (records[name] for name in search.fields)
    bad: Bad = length > ~start
    return bad


def _sums(records: Records, search: RecordSearch) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    left, right = (
        sum(records[name].astype(np.uint64) for name in names)
        for names in (search.fields, search.others)
    )
    return np.asarray(left), np.asarray(right)


CHECKS: Mapping[str, Callable[[Records, RecordSearch], Bad]] = {
    "member": _no_member,
    "negative": _negative,
    "wraps": _wraps,
    "sum-differs": lambda records, search: np.not_equal(*_sums(records, search)),
    "sum-above": lambda records, search: np.greater(*_sums(records, search)),
}
"""Each kind of check: which records of a chunk are bad."""
