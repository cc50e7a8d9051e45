"""Records and lines of two files, in no fixed order: what of one has no equal in the other.

Records come as objects with a value for each name. Equal ones are left out by a hash of each; the
others are paired and compared as rows of tables are (:mod:`.pairing`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ascend_ref.spill import Spill

from ..compare.sql import quoted
from ..media.text.database import open_facts
from .hashes import Hashes, unlike_rows
from .pairing import RIGHT, Difference, Example, Pairing, Table

Record: TypeAlias = Mapping[str, Any]
Records: TypeAlias = Callable[[], Iterator[Record]]
"""The records of a side, as often as they are asked for."""

BATCH = 1 << 12
PLACES = frozenset(("line", "offset"))
"""What says where a record stands, not what it is."""
_OF = "unlike_records"
_TIME = re.compile(r"time|start|begin|cycle|cnt|^ts$", re.IGNORECASE)
_INT64 = 1 << 63


@dataclass(frozen=True, slots=True)
class Pair:
    """Two files of records. ``place``: what places call them; ``noun``: what one record is."""

    place: str
    left: Records
    right: Records
    noun: str = "record"


def differences(pair: Pair, sides: tuple[str, str], examples: int) -> Iterator[Difference]:
    """What the records of two sides do not agree in, whatever their order is."""
    spill = Spill()
    hashes = [_hashes(spill, one) for one in (pair.left, pair.right)]
    rows = unlike_rows(spill, *hashes)
    if not any(map(len, rows)):
        return
    columns = _columns([(pair.left, rows[0]), (pair.right, rows[1])])
    alike = max(len(some) - len(own) for some, own in zip(hashes, rows, strict=True))
    with open_facts() as facts:
        schema = pa.schema(
            [("file", pa.int32()), ("row", pa.int64()), *((one, columns[one]) for one in columns)]
        )
        facts.scan("part", schema.empty_table(), f"CREATE TABLE {_OF} AS FROM part")
        for number, (records, own) in enumerate(((pair.left, rows[0]), (pair.right, rows[1]))):
            for part in _loaded(number, records, own, schema):
                facts.scan("part", part, f"INSERT INTO {_OF} FROM part")
        texts = [one for one, kind in columns.items() if pa.types.is_string(kind)]
        near = next((one for one, kind in columns.items() if _is_time(one, kind)), None)
        table = Table(
            pair.place,
            pair.place,
            _OF,
            {one: quoted(one) for one in columns},
            tuple(one for one in ("record", *texts[:1]) if one in columns) if near else (),
            near,
            alike=alike,
        )
        for one in Pairing(facts, RIGHT, sides, examples).rows(table, {"left": (), "right": ()}):
            yield replace(one, examples=tuple(_placed(pair, example) for example in one.examples))


def _placed(pair: Pair, example: Example) -> Example:
    places = {which: f"{pair.noun} {row:,}" for which, (_, row) in example.rows.items()}
    return replace(example, places=places)


def _is_time(name: str, kind: pa.DataType) -> bool:
    return not pa.types.is_string(kind) and _TIME.search(name) is not None


def _hashes(spill: Spill, records: Records) -> Hashes:
    def batches() -> Iterator[Hashes]:
        found = records()
        while some := list(islice(found, BATCH)):
            yield np.fromiter(map(_hash, some), np.int64, len(some))

    return spill.array(batches(), np.int64)


def _hash(record: Record) -> int:
    known = {name: value for name, value in record.items() if name not in PLACES}
    text = json.dumps(known, sort_keys=True, default=str)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _chosen(records: Records, rows: Hashes) -> Iterator[tuple[int, Record]]:
    """Some records with their numbers, counted from 0; ``rows`` ascending."""
    wanted = iter(rows.tolist())
    following = next(wanted, None)
    for number, record in enumerate(records()):
        if following is None:
            return
        if number == following:
            yield number, record
            following = next(wanted, None)


def _columns(sides: Sequence[tuple[Records, Hashes]]) -> Mapping[str, pa.DataType]:
    """The names in some records, each with a type that holds all of its values."""
    found: dict[str, set[str]] = {}
    for records, rows in sides:
        for _, record in _chosen(records, rows):
            for name, value in record.items():
                if name not in PLACES:
                    found.setdefault(name, set()).add(_kind(value))
    kinds = {name: some - {"nothing"} for name, some in found.items()}
    return {
        name: pa.int64() if some == {"whole"} else pa.float64() if some == {"real"} else pa.string()
        for name, some in kinds.items()
    }


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, int) and not isinstance(value, bool):
        return "whole" if -_INT64 <= value < _INT64 else "other"
    return "real" if isinstance(value, float) else "other"


def _loaded(number: int, records: Records, rows: Hashes, schema: pa.Schema) -> Iterator[pa.Table]:
    found = _chosen(records, rows)
    while some := list(islice(found, BATCH)):
        columns: list[pa.Array] = [
            pa.array([number] * len(some), pa.int32()),
            pa.array([row + 1 for row, _ in some], pa.int64()),
        ]
        for name, kind in zip(schema.names[2:], schema.types[2:], strict=True):
            cells = (record.get(name) for _, record in some)
            values = map(_text, cells) if pa.types.is_string(kind) else cells
            columns.append(pa.array(list(values), kind))
        yield pa.table(columns, schema=schema)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else value.encode("utf-8", "backslashreplace").decode()
    return json.dumps(value, sort_keys=True, default=str)
