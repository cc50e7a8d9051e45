"""Compact and additional records of a host as facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.capture.kinds import NODE
from ascend_ref.db.introspect import quote_identifier
from ascend_ref.raw.context import Context
from ascend_ref.raw.layout import Layout
from ascend_ref.raw.vocabulary import named
from ascend_spec import raw_catalog
from ascend_spec.core.packed import Field
from ascend_spec.raw import RawFile
from ascend_spec.raw.records import HASH_DIC

from ...engine.sqlite_facts import STAGED, SqlValue
from .gather_calls import Holders, holders, offsets_of, signed
from .reading import Folder

Rows: TypeAlias = Iterator[tuple[SqlValue, ...]]
Records = npt.NDArray[Any]

LISTS: Mapping[str, str] = {"fusionOpId": "fusionOpNum"}
"""Fields of several texts, and how many of them count."""

MAY_BE_NONE = frozenset(
    ["modelName", "dynOpName", "kernelName", "cclTag", "hashId", "algType", "groupName"]
)
"""Texts that a record need not have; there is a 0 then (ge-profiling 6, G3)."""


@dataclass
class _Stream:
    """The records of one kind of file as they come."""

    folder: Folder
    kind: RawFile
    calls: Holders
    known: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    memory: dict[tuple[int, int], int] = field(default_factory=dict)


def gather_host(folder: Folder) -> None:
    """Every compact and additional record of the host."""
    host = folder.host
    if host is None:
        return
    calls = holders(folder)
    known = np.array(sorted(folder.texts), np.uint64)
    for file in host.folder.files:
        kind = raw_catalog().files[file]
        if kind.form == "records" and file != "api_event" and _has_heads(kind):
            _gather_file(_Stream(folder, kind, calls, known), host)


def _gather_file(stream: _Stream, host: Context) -> None:
    """The records of one kind of file; what only all of them show waits in staged tables."""
    facts, file = stream.folder.facts, stream.kind.file
    table, rows_of = TABLES.get(file, (None, None))
    together = TOGETHER.get(file)
    facts.stage(facts.tables["head"], _HEADS)
    facts.stage(facts.tables["unknown_text"], _UNKNOWN)
    if table is not None and together is not None:
        facts.stage((*facts.tables[table], *together))
    for layout, block, number in stream.folder.blocks(host, file):
        rows = layout.view(0, block.rows)
        offsets = offsets_of(block, layout)
        facts.add(_HEADS, _heads_of(stream.kind, rows, offsets, number))
        if len(layout.members) == 1:
            facts.add(_UNKNOWN, _unknown_texts(stream, layout, rows, offsets, number))
        if table is not None and rows_of is not None:
            places = ((number, None, offset) for offset in offsets)
            made = rows_of(stream, rows)
            found = ((*place, *own) for place, own in zip(places, made, strict=True))
            facts.add(table if together is None else STAGED, found)
    if table is not None and together is not None:
        facts.add_staged_to(table, _query_of_batches(facts.tables[table]))
    facts.add_staged_to("head", _FIRST_HEADS, _HEADS)
    facts.add_staged_to("unknown_text", _FIRST_UNKNOWN, _UNKNOWN)


_HEADS, _UNKNOWN = "staged_heads", "staged_unknown_texts"
"""Heads and numbers of no text of each block; of all blocks the first of each is a fact."""

# Of a group the other columns are those of the row with the least rowid.
_FIRST_HEADS = (
    f"SELECT file, line, offset, of, level, type, records, fits FROM (SELECT min(rowid), file, "
    f"line, offset, of, level, type, sum(records) AS records, fits FROM {_HEADS} "
    "GROUP BY level, type) ORDER BY file, offset"
)
_FIRST_UNKNOWN = (
    "SELECT file, line, offset, of, field, number FROM (SELECT min(rowid), * "
    f"FROM {_UNKNOWN} GROUP BY field, number) ORDER BY file, offset"
)


def _has_heads(kind: RawFile) -> bool:
    declaration = raw_catalog().record(kind.members[0].record)
    names = [one.name for one in declaration.subcons]
    return names[:1] == ["magicNumber"] and raw_catalog().record_size(kind.members[0].record) in (
        64,
        256,
    )


def _heads_of(kind: RawFile, rows: Records, offsets: Sequence[int], number: int) -> Rows:
    """Levels and types of a block, each at its first record."""
    keys = rows["level"].astype(np.int64) << 32 | rows["type"]
    found = np.unique(keys, return_index=True, return_counts=True)
    for key, first, count in zip(*(one.tolist() for one in found), strict=True):
        level, value = key >> 32, key & 0xFFFF_FFFF
        fits = int(_fits(kind, level, value))
        yield number, None, offsets[first], kind.file, level, value, count, fits


def _unknown_texts(
    stream: _Stream, layout: Layout, rows: Records, offsets: Sequence[int], number: int
) -> Rows:
    """Numbers of a block that the dictionary does not have, each where it is first."""
    for name, count in _text_fields(layout.declaration(layout.members[0])):
        column = rows[name]
        places = np.arange(len(rows))
        if column.ndim > 1:
            used = np.arange(column.shape[1])[None, :] < rows[count].astype(np.int64)[:, None]
            places = np.broadcast_to(places[:, None], column.shape)[used]
            column = column[used]
        values, first = np.unique(column, return_index=True)
        is_unknown = ~np.isin(values, stream.known)
        for value, at in zip(values[is_unknown].tolist(), first[is_unknown].tolist(), strict=True):
            if value == 0 and (name in MAY_BE_NONE or stream.kind.file != "node_basic_info"):
                continue
            yield number, None, offsets[places[at]], stream.kind.file, name, str(value)


def _text_fields(declaration: construct.Struct) -> Iterator[tuple[str, str]]:
    """Fields that are numbers of texts; of those of several the field with their number."""
    for one in declaration.subcons:
        if isinstance(one, Field) and one.facts.values == HASH_DIC:
            yield str(one.name), LISTS.get(str(one.name), "")


def _query_of_batches(columns: Sequence[str]) -> str:
    """The staged records with what follows from others, in their order."""
    listed = ", ".join(_OF_OTHERS.get(one, quote_identifier(one)) for one in columns)
    return (
        f"SELECT {listed} FROM {STAGED} WINDOW batch AS (PARTITION BY thread, time, key), "
        "before AS (batch ORDER BY rowid) ORDER BY rowid"
    )


def _fits(kind: RawFile, level: int, value: int) -> bool:
    """Whether a head is that of a kind of file; where levels differ, the type is of the first."""
    if kind.levels and level not in kind.levels:
        return False
    return kind.type is None or value == kind.type or level != kind.levels[0]


# --- tables --------------------------------------------------------------------------------------


def _held(stream: _Stream, rows: Records) -> tuple[Sequence[int | None], list[str | None]]:
    """For each record whether a call of a node holds it, and the text of its item."""
    if not stream.calls:
        return [None] * len(rows), [None] * len(rows)
    times = rows["timeStamp"].astype(np.int64)
    held, items = stream.calls.of(rows["threadId"].astype(np.int64), times)
    texts = _texts(stream, items.view(np.uint64))
    return held.astype(int).tolist(), [
        text if one else None for one, text in zip(held.tolist(), texts, strict=True)
    ]


def _texts(stream: _Stream, column: npt.NDArray[Any]) -> list[str | None]:
    """The texts of numbers; a number of no text as itself, 0 of no text as nothing."""
    texts = stream.folder.texts
    return [texts.get(one) or (f"{one:#x}" if one else None) for one in column.tolist()]


def _heads(rows: Records) -> tuple[list[int], list[int]]:
    return rows["threadId"].tolist(), rows["timeStamp"].astype(np.int64).tolist()


def _operators(stream: _Stream, rows: Records) -> Rows:
    cores = named("ge_task_types")
    kinds = rows["taskType"].tolist()
    columns = (
        *_heads(rows),
        _texts(stream, rows["opName"]),
        kinds,
        [cores.get(one) for one in kinds],
        _texts(stream, rows["opType"]),
        (rows["blockNum"] & 0xFFFF).tolist(),
        (rows["blockNum"] >> 16).tolist(),
        rows["opFlag"].tolist(),
        *_held(stream, rows),
    )
    return zip(*columns, strict=True)


def _attributes(stream: _Stream, rows: Records) -> Rows:
    texts = (_texts(stream, rows[one]) for one in ("opName", "hashId"))
    return zip(*_heads(rows), *texts, *_held(stream, rows), strict=True)


def _collectives(stream: _Stream, rows: Records) -> Rows:
    columns = (*_heads(rows), _texts(stream, rows["groupName"]), *_held(stream, rows))
    return zip(*columns, strict=True)


def _keys(rows: Records) -> list[int]:
    """The numbers of names, as SQLite holds them."""
    found: list[int] = rows["opName"].astype(np.int64).tolist()
    return found


def _tensor_records(stream: _Stream, rows: Records) -> Rows:
    threads, times = _heads(rows)
    names, (held, items) = _texts(stream, rows["opName"]), _held(stream, rows)
    counts = rows["tensorNum"].tolist()
    sides = rows["tensorData"]["tensorType"]
    shape = rows["tensorData"]["shape"]
    most = sides.shape[1]
    used = np.arange(most)[None, :] < np.minimum(rows["tensorNum"].astype(np.int64), most)[:, None]
    ended = np.logical_or.accumulate(shape == 0, axis=2)
    zeros = np.sum((ended & (shape != 0)) & used[:, :, None], axis=(1, 2)).tolist()
    for place, key in enumerate(_keys(rows)):
        own = sides[place][: min(counts[place], most)].tolist()
        is_mixed = any(first > second for first, second in pairwise(own))
        first, last = (own[0], own[-1]) if own else (None, None)
        yield (
            *(threads[place], times[place], names[place], counts[place], None, None),
            *(",".join(map(str, own)), int(is_mixed), zeros[place], held[place], items[place]),
            *(key, first, last),
        )


def _contexts(stream: _Stream, rows: Records) -> Rows:
    counts = rows["ctxIdNum"].tolist()
    ids = rows["ctxIds"]
    different = [len(set(one[:count].tolist())) for one, count in zip(ids, counts, strict=True)]
    held, items = _held(stream, rows)
    of_nodes = (rows["level"] == NODE).tolist()
    held = [one if own else None for one, own in zip(held, of_nodes, strict=True)]
    names = _texts(stream, rows["opName"])
    return zip(*_heads(rows), names, counts, different, held, items, strict=True)


def _fusions(stream: _Stream, rows: Records) -> Rows:
    threads, times = _heads(rows)
    sizes = [rows[name].tolist() for name in _SIZES]
    totals, names = rows["totalMemSize"].tolist(), _texts(stream, rows["opName"])
    for place, key in enumerate(_keys(rows)):
        total = sum(one[place] for one in sizes) % (1 << 64)
        yield (
            *(threads[place], times[place], names[place], int(rows["fusionOpNum"][place])),
            *(None, None, signed(totals[place]), signed(total), key),
        )


_SIZES = ("inputMemsize", "outputMemsize", "weightMemSize", "workspaceMemSize")


def _memory(stream: _Stream, rows: Records) -> Rows:
    threads, times = _heads(rows)
    names = _texts(stream, rows["nodeId"])
    columns = (rows["addr"].astype(np.int64), rows["size"], rows["deviceId"])
    for place, (address, size, device) in enumerate(
        zip(*(one.tolist() for one in columns), strict=True)
    ):
        before = stream.memory.pop((device, address), 0)
        if before + size > 0:
            stream.memory[device, address] = min(before + size, 1 << 62)
        yield (*(threads[place], times[place], names[place], address, size, device, before),)


def _planned(stream: _Stream, rows: Records) -> Rows:
    columns = (
        _texts(stream, rows["opName"]),
        rows["graphId"].tolist(),
        rows["size"].tolist(),
        rows["lifeStart"].astype(np.int64).tolist(),
        rows["lifeEnd"].astype(np.int64).tolist(),
    )
    return zip(*columns, strict=True)


def _graphs(stream: _Stream, rows: Records) -> Rows:
    columns = (
        *_heads(rows),
        _texts(stream, rows["modelName"]),
        rows["graphId"].tolist(),
        rows["modelId"].tolist(),
        [None] * len(rows),
        [None] * len(rows),
    )
    return zip(*columns, strict=True)


TABLES: Mapping[str, tuple[str, Callable[[_Stream, Records], Rows]]] = {
    "node_basic_info": ("operator", _operators),
    "node_attr_info": ("attribute", _attributes),
    "hccl_op_info": ("collective", _collectives),
    "tensor_info": ("tensor_record", _tensor_records),
    "context_id_info": ("context", _contexts),
    "fusion_op_info": ("fusion", _fusions),
    "task_memory_info": ("memory", _memory),
    "static_op_mem": ("planned", _planned),
    "graph_id_map": ("graph", _graphs),
}
"""By kind of file, the table of facts and what makes its rows, without their places."""

_OF_OTHERS: Mapping[str, str] = {
    "place": "row_number() OVER before",
    "batch": "count(*) OVER batch",
    "is_mixed": "max(is_mixed, coalesce(lag(last) OVER before > first, 0))",
    "is_seen": "model IN (SELECT item FROM executed)",
}
"""Columns that follow from other records: those of an operator, which agree in its key, and calls.
"""

TOGETHER: Mapping[str, Sequence[str]] = {
    "tensor_info": ("key", "first", "last"),
    "fusion_op_info": ("key",),
    "graph_id_map": ("key",),
}
"""By kind of file whose facts follow from several records, what is staged beyond them."""
