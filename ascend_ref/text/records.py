"""Files of records that no database has: one row each, as recorded, with what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import integers, reals
from ascend_ref.derive.decimals import python_round
from ascend_ref.derive.traffic import cache_rates, share
from ascend_ref.recorded import Recorded
from ascend_spec import catalog

from .columns import Columns, of_table
from .order import ordered
from .setting import Setting

Derived: TypeAlias = Callable[[pa.Table, Setting], Mapping[str, pa.Array]]
"""Further columns of a record, by the names that its entity has for them."""


def _cache_rates(table: pa.Table, setting: Setting) -> Mapping[str, pa.Array]:
    """Shares of the requests of each kernel; with STARS there is no hit rate (erratum T10)."""
    rates = _shares(table, hit_rate="hit", victim_rate="victim")
    stars = catalog().products[setting.family].can("stars")
    return {**rates, "hit_rate": pa.nulls(len(table))} if stars else rates


def _translation_rates(table: pa.Table, setting: Setting) -> Mapping[str, pa.Array]:
    """Shares of the translations of each kernel."""
    return _shares(table, tlb_hit_rate="hit", tlb_miss_rate="miss")


def _shares(table: pa.Table, **counted: str) -> dict[str, pa.Array]:
    request = integers(table["request"])
    return {
        rate: pa.array(cache_rates(integers(table[name]), request))
        for rate, name in counted.items()
    }


def _utilization(table: pa.Table, setting: Setting) -> Mapping[str, pa.Array]:
    """Load of each engine."""
    load = share(reals(table["busy"]), reals(table["observed"]))
    return {"utilization": pa.array(python_round(load))}


def _total(table: pa.Table, setting: Setting) -> Mapping[str, pa.Array]:
    """Memory of operators that were made of others, in all."""
    parts = ("input", "output", "weight", "workspace")
    return {"total": pa.array(np.sum([integers(table[name]) for name in parts], axis=0))}


DERIVED: Mapping[str, Derived] = {
    "l2_cache": _cache_rates,
    "soc_pmu": _translation_rates,
    "dvpp": _utilization,
    "fusion_op": _total,
}
"""What files show beyond the record of the same name."""


def one_row_each(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The rows of the record of the same name, as they stand."""
    name = setting.file.name
    yield _rows(setting, recorded.extras[name])


def aicpu(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Runs of AI CPU kernels that ended in the session."""
    table = recorded.extras["aicpu"]
    ended = integers(table["time"]) + integers(table["task"]) >= recorded.origin.start
    yield _rows(setting, table.filter(pa.array(ended)))


def _rows(setting: Setting, table: pa.Table) -> Columns:
    name = setting.file.name
    columns = {
        one: _known(table[one]) if pa.types.is_integer(table[one].type) else table[one]
        for one in table.column_names
    }
    derived = DERIVED[name](table, setting) if name in DERIVED else {}
    return ordered(setting, of_table(name, pa.table({**columns, **derived})))


def _known(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers with NULL in place of the negative ones, which stand for no value."""
    return pc.if_else(pc.less(numbers, 0), pa.scalar(None, pa.int64()), numbers)
