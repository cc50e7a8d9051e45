"""ClusterCommunicationMatrix: what went from rank to rank of the cluster."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.derive.communication_report import TOTAL
from ascend_ref.derive.matching import divided

from .communication import OPERATOR, constant, keys_of, reals, summed
from .groups import global_ranks
from .ranks import Rank, joined

ENDS = ("src_rank", "dst_rank")
PAIR = ["step", "group_name", *ENDS]
AMOUNTS = {
    "transport_type": "first",
    "op_name": "first",
    "transit_size": "sum",
    "transit_time": "sum",
}
TOTALS = "-total"
"""How the kinds end whose rows are the sums of their operators."""


def links(ranks: Sequence[Rank]) -> pa.Table:
    """Every pair of ranks by kind of operator; of each step, group and pair the sums of all kinds.

    Pairs with a rank that cannot be mapped to a global one are left out.
    """
    found = _between_global_ranks(joined(ranks, "CommAnalyzerMatrix"), ranks)
    single = summed(found, [*PAIR, OPERATOR], AMOUNTS)
    kinds = single.filter(pc.ends_with(single[OPERATOR], TOTALS))
    totals = summed(kinds, PAIR, AMOUNTS)
    totals = totals.append_column(OPERATOR, constant(totals, TOTAL))
    together = pa.concat_tables([single, totals.select(single.column_names)])
    rates = divided(reals(together, "transit_size"), reals(together, "transit_time"))
    return together.append_column("bandwidth", pa.array(rates))


def _between_global_ranks(table: pa.Table, ranks: Sequence[Rank]) -> pa.Table:
    columns = zip(*global_ranks(ranks), strict=True)
    names = ("group_name", "rank", "global")
    kinds = (pa.string(), pa.string(), pa.int64())
    known = pa.table(
        {
            name: pa.array(values, kind)
            for name, kind, values in zip(names, kinds, [*columns] or [(), (), ()], strict=True)
        }
    )
    keys = keys_of(known, ("group_name", "rank"))
    for end in ENDS:
        place = pc.index_in(keys_of(table, ("group_name", end)), keys)
        mapped = known["global"].take(place)
        table = table.set_column(table.column_names.index(end), end, mapped)
    return table.filter(pc.and_(table[ENDS[0]].is_valid(), table[ENDS[1]].is_valid()))
