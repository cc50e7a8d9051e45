"""Documented constants as tables of the facts, so that rules name no number themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from ascend_spec import bin_catalog, per_spec

from .facts import Facts
from .flatten import SqlValue

Rows = Iterator[Sequence[SqlValue]]


def add_spec_tables(facts: Facts, epoch: str) -> None:
    """Fill the ``spec_`` tables with what is in force at an epoch (``tables.yaml``)."""
    for table, rows in _tables(epoch).items():
        facts.add(table, rows)


@per_spec
def _tables(epoch: str) -> Mapping[str, Sequence[Sequence[SqlValue]]]:
    return {
        "spec_enum": list(_enums()),
        "spec_chip_tag": list(_chip_tags()),
        "spec_path": list(_paths(epoch)),
        "spec_request": list(_requests(epoch)),
        "spec_table_row": list(_table_rows(epoch)),
        "spec_load": list(_loads(epoch)),
        "spec_column": list(_columns()),
        "spec_requires": list(_requires()),
    }


def _enums() -> Rows:
    for name, enum in bin_catalog().enums.items():
        for member in enum.members:
            yield name, member.value, member.alias_of, member.label


def _chip_tags() -> Rows:
    for member in bin_catalog().enums["chip_tags"].members:
        for chip in member.chips:
            yield member.value, chip


def _chips() -> list[str]:
    return [str(member.value) for member in bin_catalog().enums["chips"].members]


def _op_types() -> list[str]:
    members = bin_catalog().enums["op_types"].members
    return [str(member.value) for member in members if member.alias_of is None]


def _paths(epoch: str) -> Rows:
    for chip, op_type in product(_chips(), _op_types()):
        found = bin_catalog().memory.path_set(chip, op_type, epoch)
        if found is None:
            continue
        further = {path: option for option, paths in found.extra.items() for path in paths}
        for path in sorted({*found.paths, *further}):
            table, row = found.rows.get(path, (None, None))
            apart = int(path in found.apart_with_detail)
            yield chip, op_type, path, further.get(path), table, row, apart


def _requests(epoch: str) -> Rows:
    members = bin_catalog().enums["memory_paths"].members
    for chip, member in product(_chips(), members):
        size = bin_catalog().memory.request_bytes(chip, int(member.value), epoch)
        if size is not None:
            yield chip, member.value, size


def _table_rows(epoch: str) -> Rows:
    for chip, op_type in product(_chips(), _op_types()):
        for table in bin_catalog().memory.tables(chip, op_type, epoch).values():
            for place, name in enumerate((*table.rows, *table.optional_rows)):
                yield chip, op_type, table.name, place, name, int(place >= len(table.rows))


def _loads(epoch: str) -> Rows:
    for code, chip, subcore in product((0x06, 0x07), _chips(), (None, 0, 1)):
        for core in ("cube", "vector"):
            for entry in bin_catalog().loads.entries(code, chip, core, epoch, subcore):
                yield code, chip, core, subcore, entry.name, entry.unit, int(entry.optional)


def _columns() -> Rows:
    for code, columns in bin_catalog().columns.items():
        for column in columns.values():
            shapes = column.shape
            optional = int(column.when is not None)
            yield (
                code,
                column.name,
                column.dtype,
                shapes.get("device"),
                shapes.get("simulator"),
                optional,
            )


def _requires() -> Rows:
    for known in bin_catalog().blocks.values():
        for needed in known.requires:
            yield known.code, needed.block, needed.why
