"""Documented constants as tables of the facts, so that rules name no number themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from ascend_spec import bin_catalog, per_spec

from .facts import Facts
from .flatten import SqlValue

Row = Sequence[SqlValue]


def add_spec_tables(facts: Facts, epoch: str) -> None:
    """Fill the ``spec_`` tables with what is in force at an epoch (``tables.yaml``)."""
    for table, rows in _tables(epoch).items():
        facts.add(table, rows)


@per_spec
def _tables(epoch: str) -> Mapping[str, Sequence[Row]]:
    known = bin_catalog()
    enums, memory = known.enums, known.memory
    chips = [str(one.value) for one in enums["chips"].members]
    op_types = [str(one.value) for one in enums["op_types"].members if one.alias_of is None]
    kernels = list(product(chips, op_types))
    return {
        "spec_enum": [
            (name, one.value, one.alias_of, one.label)
            for name, enum in enums.items()
            for one in enum.members
        ],
        "spec_chip_tag": [
            (one.value, chip) for one in enums["chip_tags"].members for chip in one.chips
        ],
        "spec_path": [row for chip, kind in kernels for row in _paths(chip, kind, epoch)],
        "spec_request": [
            (chip, path.value, size)
            for chip, path in product(chips, enums["memory_paths"].members)
            if (size := memory.request_bytes(chip, int(path.value), epoch)) is not None
        ],
        "spec_table_row": [
            (chip, kind, table.name, place, name, int(place >= len(table.rows)))
            for chip, kind in kernels
            for table in memory.tables(chip, kind, epoch).values()
            for place, name in enumerate((*table.rows, *table.optional_rows))
        ],
        "spec_load": [
            (code, chip, core, subcore, entry.name, entry.unit, int(entry.optional))
            for code, chip, subcore in product((0x06, 0x07), chips, (None, 0, 1))
            for core in ("cube", "vector")
            for entry in known.loads.entries(code, chip, core, epoch, subcore)
        ],
        "spec_column": [
            (
                *(code, one.name, one.dtype),
                *(one.shape.get("device"), one.shape.get("simulator")),
                int(one.when is not None),
            )
            for code, columns in known.columns.items()
            for one in columns.values()
        ],
        "spec_requires": [
            (one.code, needed.block, needed.why)
            for one in known.blocks.values()
            for needed in one.requires
        ],
    }


def _paths(chip: str, op_type: str, epoch: str) -> Iterator[Row]:
    found = bin_catalog().memory.path_set(chip, op_type, epoch)
    if found is None:
        return
    further = {path: option for option, paths in found.extra.items() for path in paths}
    for path in sorted({*found.paths, *further}):
        table, row = found.rows.get(path, (None, None))
        apart = int(path in found.apart_with_detail)
        yield chip, op_type, path, further.get(path), table, row, apart
