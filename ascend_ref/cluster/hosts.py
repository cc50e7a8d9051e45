"""HostInfo, RankDeviceMap and ClusterBaseInfo: where the ranks ran, and as what."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from .ranks import RANK, Rank, fact_of_any, joined
from .steps import ARGUMENTS

OWN = "rank"
"""The member of distributed_args that differs between ranks."""


def hosts(ranks: Sequence[Rank]) -> pa.Table:
    """Each host once, under the name that the last rank gives it."""
    found = joined(ranks, "HOST_INFO")
    named = dict(zip(found["hostUid"].to_pylist(), found["hostName"].to_pylist(), strict=True))
    return pa.table(
        {
            "hostUid": pa.array(named, pa.string()),
            "hostName": pa.array(named.values(), pa.string()),
        }
    )


def devices(ranks: Sequence[Rank]) -> pa.Table:
    """The devices of each rank, with its host and the folder of its profile."""
    found = joined(ranks, "RANK_DEVICE_MAP")
    by_number = {rank.number: rank for rank in ranks}
    own = [by_number[number] for number in found[RANK].to_pylist()]
    host = {number: _host(rank) for number, rank in by_number.items()}
    found = found.append_column("hostUid", pa.array([host[one.number] for one in own], pa.string()))
    return found.append_column("profilePath", pa.array([one.folder for one in own], pa.string()))


def _host(rank: Rank) -> str | None:
    named: list[str | None] = rank.tables["HOST_INFO"]["hostUid"].to_pylist()
    return named[0] if named else None


def base_info(ranks: Sequence[Rank]) -> pa.Table:
    """distributed_args without the rank, where the program states them."""
    stated = {key: one for key, one in fact_of_any(ranks, ARGUMENTS).items() if key != OWN}
    rows = [(ARGUMENTS, json.dumps(stated))] if stated else []
    return pa.table(
        {
            "key": pa.array([key for key, _ in rows], pa.string()),
            "value": pa.array([value for _, value in rows], pa.string()),
        }
    )
