"""Checks of packed records: on whole arrays, and the same one record at a time.

Both ways find the same records; the second exists so that a test can hold the first to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.bin.records import Records
from ascend_spec.bin import CACHE_RECORD, TRACE_RECORD

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
Plain: TypeAlias = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RecordFault:
    """A rule that some records break: how many, and the index of the first."""

    rule: BinRule
    count: int
    first: int


def judge_trace_records(records: Records) -> list[RecordFault]:
    """What is wrong with an array of TraceRecords (0x0A), in the order of the rules."""
    return judge_records(records, TRACE_BLOCK)


def judge_cache_records(records: Records) -> list[RecordFault]:
    """What is wrong with an array of CacheRecords (0x0B), in the order of the rules."""
    return judge_records(records, CACHE_BLOCK)


def judge_records(records: Records, block: int) -> list[RecordFault]:
    """What is wrong with an array of the records of a block type, in the order of the rules."""
    rules = record_rules(block)
    searches = [_search(rule) for rule in rules]
    counts = [0] * len(rules)
    firsts = [0] * len(rules)
    for start in range(0, len(records), CHUNK):
        chunk = records[start : start + CHUNK]
        for place, (search, check) in enumerate(searches):
            bad = check.many(chunk, search)
            found = int(np.count_nonzero(bad))
            if found and not counts[place]:
                firsts[place] = start + int(np.argmax(bad))
            counts[place] += found
    return _faults(rules, counts, firsts)


def judge_records_plainly(parsed: Iterable[Plain], block: int) -> list[RecordFault]:
    """The same from records that construct has parsed, one at a time."""
    rules = record_rules(block)
    searches = [_search(rule) for rule in rules]
    counts = [0] * len(rules)
    firsts = [0] * len(rules)
    for index, record in enumerate(parsed):
        for place, (search, check) in enumerate(searches):
            if check.one(record, search):
                firsts[place] = firsts[place] if counts[place] else index
                counts[place] += 1
    return _faults(rules, counts, firsts)


def record_rules(block: int) -> list[BinRule]:
    """The rules about the packed records of a block type."""
    rules = load_bin_rules().values()
    return [rule for rule in rules if rule.search.records and rule.search.records.block == block]


def _faults(
    rules: Sequence[BinRule], counts: Sequence[int], firsts: Sequence[int]
) -> list[RecordFault]:
    found = zip(rules, counts, firsts, strict=True)
    return [RecordFault(rule, count, first) for rule, count, first in found if count]


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of check, on a chunk of records and on a single one."""

    many: Callable[[Records, RecordSearch], Bad]
    one: Callable[[Plain, RecordSearch], bool]


def members(block: int, field: str) -> range:
    """The values of a field that is an enumeration without gaps."""
    declared: Any = next(one for one in DECLARATIONS[block].subcons if one.name == field)
    values = sorted(declared.subcon.encmapping.values())
    found = range(values[0], values[-1] + 1)
    if list(found) != values:
        raise ValueError(f"{field} has gaps")
    return found


def _no_member(records: Records, search: RecordSearch) -> Bad:
    allowed = members(search.block, search.fields[0])
    column = records[search.fields[0]]
    above: Bad = column > allowed[-1]
    return above | (column < allowed[0]) if column.dtype.kind == "i" else above


def _is_no_member(record: Plain, search: RecordSearch) -> bool:
    return int(record[search.fields[0]]) not in members(search.block, search.fields[0])


def _negative(records: Records, search: RecordSearch) -> Bad:
    bad: Bad = records[search.fields[0]] < 0
    return bad


def _is_negative(record: Plain, search: RecordSearch) -> bool:
    return record[search.fields[0]] < 0


def _wraps(records: Records, search: RecordSearch) -> Bad:
    """Start and length reach beyond 64 bits; ``~start`` is what is left above it."""
    start, length = (records[name] for name in search.fields)
    bad: Bad = length > ~start
    return bad


def _is_wrapping(record: Plain, search: RecordSearch) -> bool:
    start, length = (record[name] for name in search.fields)
    return start + length >= 2**64


def _sums(records: Records, search: RecordSearch) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    left, right = (
        sum(records[name].astype(np.uint64) for name in names)
        for names in (search.fields, search.others)
    )
    return np.asarray(left), np.asarray(right)


def _sum_differs(records: Records, search: RecordSearch) -> Bad:
    left, right = _sums(records, search)
    bad: Bad = left != right
    return bad


def _sum_above(records: Records, search: RecordSearch) -> Bad:
    left, right = _sums(records, search)
    bad: Bad = left > right
    return bad


def _sums_of(record: Plain, search: RecordSearch) -> tuple[int, int]:
    left, right = (sum(record[name] for name in names) for names in (search.fields, search.others))
    return left, right


def _is_sum_different(record: Plain, search: RecordSearch) -> bool:
    left, right = _sums_of(record, search)
    return left != right


def _is_sum_above(record: Plain, search: RecordSearch) -> bool:
    left, right = _sums_of(record, search)
    return left > right


CHECKS: Mapping[str, Check] = {
    "member": Check(_no_member, _is_no_member),
    "negative": Check(_negative, _is_negative),
    "wraps": Check(_wraps, _is_wrapping),
    "sum-differs": Check(_sum_differs, _is_sum_different),
    "sum-above": Check(_sum_above, _is_sum_above),
}


def _search(rule: BinRule) -> tuple[RecordSearch, Check]:
    if rule.search.records is None:
        raise ValueError(f"{rule.id} is not about records")
    return rule.search.records, CHECKS[rule.search.records.check]
