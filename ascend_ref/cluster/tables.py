"""All tables of the analysis, shaped as the spec has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ascend_spec import cluster_catalog
from ascend_spec.cluster import ClusterColumn, ClusterTable

from .communication import bandwidths, times
from .groups import group_table, groups, stages
from .hosts import base_info, devices, hosts
from .links import links
from .ranks import Rank
from .steps import steps


def cluster_tables(ranks: Sequence[Rank]) -> dict[str, pa.Table]:
    """The tables that have rows, by name; ``ranks``: in their order, at least one.

    Columns are int64, double and string, in the order of the spec.
    """
    found = groups(ranks)
    with np.errstate(all="ignore"):  # numbers of foreign databases may exceed all bounds
        made: Mapping[str, pa.Table] = {
            "CommunicationGroupMapping": group_table(found),
            "ClusterCommunicationTime": times(ranks),
            "ClusterCommunicationBandwidth": bandwidths(ranks),
            "ClusterCommunicationMatrix": links(ranks),
            "ClusterStepTraceTime": steps(ranks, stages(found)),
            "HostInfo": hosts(ranks),
            "RankDeviceMap": devices(ranks),
            "ClusterBaseInfo": base_info(ranks),
        }
    tables = cluster_catalog().tables
    return {
        name: made[name].select(list(table.columns)).cast(schema_of(table))
        for name, table in tables.items()
        if made[name].num_rows
    }


def schema_of(table: ClusterTable) -> pa.Schema:
    """The columns of a table in memory."""
    return pa.schema([pa.field(one.name, type_of(one)) for one in table.columns.values()])


def type_of(column: ClusterColumn) -> pa.DataType:
    """The type of a column in memory."""
    if "text" in column.storage:
        return pa.string()
    return pa.float64() if "real" in column.storage else pa.int64()
