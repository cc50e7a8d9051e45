"""From a world to the columns of one database, as the exporters of a revision would write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ascend_ref.db.encode.habits import Habits
from ascend_ref.db.encode.metadata import ENVIRONMENT
from ascend_ref.db.encode.strings import CANN, FRAMEWORK, MEMORY
from ascend_spec import Schema, catalog
from ascend_spec.db.model import Carrier, Column, Reading, Table

from .analysis import analysis_tables
from .framework import framework_tables
from .host import host_tables
from .memory import CannText, allocate, memory_tables
from .samples import sample_tables
from .script import perform
from .shape import Shape
from .tasks import Row, Rows, communication_tables, overlap_rows, task_tables
from .world import World

Columns = dict[str, list[Any]]

MEMORY_TABLES = ("MEMORY_RECORD", "OP_MEMORY")
STRINGS = "STRING_IDS.id"
UNUSED_TEXTS = {
    CANN: ("ACL_RTS", "ACL_OP", "ACL_NN", "HOST_HCCL", "master"),
    FRAMEWORK: ("record_param_comms", "[pytorch|profiler]"),
    MEMORY: ("APP", "[memory]"),
}
"""Texts that nothing refers to. Real files hold CANN's five; each space gets some here."""

HOST_UID = 3_538_958_389_648_580_163
HOST_NAME = "node-1"
DOCUMENTED_SPELLINGS = {"deviceld": "deviceId", "globalTID": "globalTid"}
"""Errata E1 and E2: names that only the documented reading has."""


def build(
    revision: str, carrier: Carrier, shape: Shape | None = None, reading: Reading = "observed"
) -> dict[str, Columns]:
    """Every table that a carrier can hold at a revision, as columns of equal length.

    Tables without rows (a switch of the shape is off, or the level does not collect them) are
    left out, as the exporters do; those that every file has are there. Raises ``KeyError`` for an
    unknown revision or for a table that the specimen does not know how to fill.
    """
    shape = shape or Shape()
    schema = catalog().at(revision, carrier, reading)
    tables = _rows(schema, shape)
    strings = _Strings()
    columns = {
        name: _encode(table, tables[name], strings, schema)
        for name, table in schema.tables.items()
        if name != "STRING_IDS" and tables[name] and shape.level in table.levels
    }
    if "STRING_IDS" in schema.tables:
        columns["STRING_IDS"] = strings.columns()
    return columns


def _rows(schema: Schema, shape: Shape) -> dict[str, Rows]:
    """Rows of all tables, with texts and enum names in place of ids."""
    devices = tuple(shape.rank + offset for offset in range(shape.devices))
    busy_devices = devices if schema.carrier == "msprof" else devices[:1]
    habits = Habits.of(schema)
    world = perform(shape, busy_devices, devices)
    if schema.carrier == "analysis":
        return analysis_tables(world, habits)
    if shape.with_memory:
        allocate(world, shape)
    if not shape.with_stack:
        for row in world.activities:
            row.stack = ()
    compute = schema.tables["COMPUTE_TASK_INFO"]
    return {
        "STRING_IDS": [],
        **_capture_rows(schema, shape, world),
        **task_tables(world, shape, habits, blocks_renamed="blockNum" in compute.columns),
        **communication_tables(world, shape, habits),
        "OVERLAP_ANALYSIS": overlap_rows(world, habits),
        **memory_tables(world, habits),
        **sample_tables(world, shape, habits, tuple(sorted(schema.enums["ENUM_MODULE"]))),
        **host_tables(shape),
        **framework_tables(world, habits),
    }


def _capture_rows(schema: Schema, shape: Shape, world: World) -> dict[str, Rows]:
    """The tables that say what was captured, and the enum tables."""
    enums: dict[str, Rows] = {
        name: [{"id": identifier, "name": member} for identifier, member in members.items()]
        for name, members in schema.enums.items()
    }
    pytorch = schema.carrier == "pytorch"
    return {
        **enums,
        "META_DATA": _meta_data(schema, shape, world),
        "SESSION_TIME_INFO": [{"startTimeNs": world.session[0], "endTimeNs": world.session[1]}],
        "NPU_INFO": [{"id": device, "name": shape.product} for device in world.devices],
        "HOST_INFO": [{"hostUid": HOST_UID, "hostName": HOST_NAME}],
        "RANK_DEVICE_MAP": [
            {"rankId": shape.rank if pytorch else -1, "deviceId": device}
            for device in world.devices
        ],
    }


def _meta_data(schema: Schema, shape: Shape, world: World) -> Rows:
    version = schema.revision.schema_version
    parts = zip(("MAJOR", "MINOR", "MICRO"), version.split("."), strict=True)
    facts = {"SCHEMA_VERSION": version} | {f"SCHEMA_VERSION_{part}": text for part, text in parts}
    if schema.carrier == "pytorch":
        group = {
            "group_name": "default_group",
            "group_rank": shape.rank,
            "global_ranks": list(range(shape.ranks)),
        }
        facts |= {
            "ENV_VARIABLES": json.dumps(dict.fromkeys(ENVIRONMENT, "")),
            "parallel_group_info": json.dumps({world.group: group}),
            "distributed_args": json.dumps(
                {
                    "tensor_model_parallel_size": 1,
                    "pipeline_model_parallel_size": 1,
                    "data_parallel_size": shape.ranks,
                    "context_parallel_size": 1,
                    "expert_model_parallel_size": 1,
                    "sequence_parallel": False,
                    "rank": shape.rank,
                    "world_size": shape.ranks,
                }
            ),
        }
    return [{"name": name, "value": value} for name, value in facts.items()]


class _Strings:
    """The three id spaces of STRING_IDS, each without holes and without repeated texts."""

    def __init__(self) -> None:
        self._spaces: dict[int, dict[str, int]] = {}

    def identifier(self, text: str, base: int) -> int:
        if base not in self._spaces:
            unused = UNUSED_TEXTS[base]
            self._spaces[base] = {text: base + place for place, text in enumerate(unused)}
        space = self._spaces[base]
        return space.setdefault(text, base + len(space))

    def columns(self) -> Columns:
        rows = [
            (identifier, text)
            for base in sorted(self._spaces)
            for text, identifier in self._spaces[base].items()
        ]
        return {"id": [row[0] for row in rows], "value": [row[1] for row in rows]}


def _encode(table: Table, rows: Rows, strings: _Strings, schema: Schema) -> Columns:
    return {
        column.name: _encode_column(table, column, rows, strings, schema)
        for column in table.columns.values()
    }


def _encode_column(
    table: Table, column: Column, rows: Rows, strings: _Strings, schema: Schema
) -> list[object]:
    key = DOCUMENTED_SPELLINGS.get(column.name, column.name)
    values = [_value(table, row, key) for row in rows]
    if STRINGS in column.references:
        return [_string_id(value, table, strings) for value in values]
    enum = next((target[:-3] for target in column.references if target.startswith("ENUM_")), None)
    if enum is not None:
        ids = _ids(schema, enum)
        return [ids[value] if isinstance(value, str) else value for value in values]
    if column.storage == ("text",):
        return [str(value) if isinstance(value, int) else value for value in values]
    return values


def _value(table: Table, row: Row, key: str) -> object:
    if key not in row:
        raise KeyError(f"the specimen has no value for {table.name}.{key}")
    return row[key]


def _string_id(value: object, table: Table, strings: _Strings) -> object:
    if not isinstance(value, str):
        return value
    base = CANN
    if table.writer != "msprof" and not isinstance(value, CannText):
        base = MEMORY if table.name in MEMORY_TABLES else FRAMEWORK
    return strings.identifier(str(value), base)


def _ids(schema: Schema, enum: str) -> Mapping[str, int]:
    """Names to ids; names of other revisions too, since the world uses one of each."""
    ids = {
        name: identifier for identifier, names in schema.accepted[enum].items() for name in names
    }
    return ids | {name: identifier for identifier, name in schema.enums[enum].items()}
