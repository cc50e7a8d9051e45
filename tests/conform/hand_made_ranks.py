"""Two ranks of sixteen with few rows, written by hand, and what an analysis of both must show.

Ranks 4 and 9 are the two of one group. Every number of TRUTH was worked out on paper.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

Rows = Sequence[Sequence[Any]]

GROUP_TEXT = "10.0.0.5%eth0"
GROUP = "9042570021386451778"
"""2105387398 * 2^32 + 1565915970, the two sums over the text (consumers 2.1.5)."""
STARTS = 1_700_000_000_000_000.25

TIME = (
    "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC, "
    "transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, "
    "step TEXT, type TEXT"
)
BANDWIDTH = (
    "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, "
    "transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC, package_size NUMERIC, "
    "count NUMERIC, total_duration NUMERIC, step TEXT, type TEXT"
)
MATRIX = (
    "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, transport_type TEXT, "
    "transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, step TEXT, type TEXT, "
    "op_name TEXT"
)
STEP = (
    "deviceId INTEGER, step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, "
    "overlapped NUMERIC, communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC, "
    "communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC"
)
RUN = ("step3", "collective")

ANALYSES: Mapping[int, Mapping[str, tuple[str, Rows]]] = {
    4: {
        "CommAnalyzerTime": (
            TIME,
            [
                ("hcom_allReduce__778_0_1", GROUP, STARTS, 3, 2, 1, 0.5, 0, *RUN),
                ("hcom_broadcast__778_1_1", GROUP, STARTS + 9, 5, 1, 3, 1, 1, *RUN),
            ],
        ),
        "CommAnalyzerBandwidth": (
            BANDWIDTH,
            [
                *(
                    ("hcom_allReduce__778_0_1", GROUP, link, 10, 2, 5, 0, *packets, *RUN)
                    for link, packets in (
                        ("HCCS", (4, 2, 1.5)),
                        ("HCCS", (2, 1, 0.5)),
                        ("SDMA", (0, 0, 0)),
                    )
                ),
                ("hcom_broadcast__778_1_1", GROUP, "HCCS", 30, 1, 30, 0.5, 4, 7, 1, *RUN),
            ],
        ),
        "CommAnalyzerMatrix": (
            MATRIX,
            [
                (
                    "allreduce-top1",
                    GROUP,
                    "0",
                    "1",
                    "HCCS",
                    5,
                    1,
                    5,
                    *RUN,
                    "hcom_allReduce__778_0_1",
                ),
                ("allreduce-total", GROUP, "0", "1", "HCCS", 10, 4, 2.5, *RUN, ""),
                ("broadcast-total", GROUP, "0", "1", "HCCS", 2, 1, 2, *RUN, ""),
                ("allreduce-total", GROUP, "0", "0", "LOCAL", 1, 0, 0, *RUN, ""),
                ("allreduce-total", GROUP, "0", "7", "HCCS", 99, 1, 99, *RUN, ""),
            ],
        ),
        "StepTraceTime": (STEP, [(0, "3", 100, 20, 5, 25, 10, 128, 2, 18, 7)]),
    },
    9: {
        "CommAnalyzerTime": (
            TIME,
            [("hcom_allReduce__778_0_1", GROUP, STARTS + 2, 3, 0, 3, 3, 0, *RUN)],
        ),
        "CommAnalyzerMatrix": (
            MATRIX,
            [("allreduce-total", GROUP, "1", "0", "HCCS", 10, 5, 2, *RUN, "")],
        ),
        "StepTraceTime": (STEP, [(1, "3", 90, 30, 4, 34, 11, 131, 0, 30, 8)]),
    },
}
ARGUMENTS = {
    "tensor_model_parallel_size": 2,
    "pipeline_model_parallel_size": 2,
    "data_parallel_size": 4,
    "world_size": 16,
}
HOSTS = {4: (77, "north", 4), 9: (88, "south", 1)}
"""Identity and name of its host, and the device, of each rank."""

_A, _B, _T = "hcom_allReduce__778_0_1", "hcom_broadcast__778_1_1", "Total Op Info"
TRUTH: Mapping[str, list[tuple[Any, ...]]] = {
    "CommunicationGroupMapping": [("collective", "(4,9)", GROUP, GROUP_TEXT, "dp")],
    "ClusterCommunicationTime": [
        ("step3", 4, _T, GROUP, 0, 8, 3, 4, 1.5, 1, 0.3333, 0.5714),
        ("step3", 4, _A, GROUP, STARTS, 3, 2, 1, 0.5, 0, 0, 0),
        ("step3", 4, _B, GROUP, STARTS + 9, 5, 1, 3, 1, 1, 0, 0),
        ("step3", 9, _T, GROUP, 0, 3, 0, 3, 3, 0, 1, 1),
        ("step3", 9, _A, GROUP, STARTS + 2, 3, 0, 3, 3, 0, 0, 0),
    ],
    "ClusterCommunicationBandwidth": [
        ("step3", 4, _T, GROUP, "HCCS", 40, 3, 13.3333, 0, 2, 1, 0.5),
        ("step3", 4, _T, GROUP, "HCCS", 40, 3, 13.3333, 0, 4, 9, 2.5),
        ("step3", 4, _T, GROUP, "SDMA", 10, 2, 5, 0, 0, 0, 0),
        ("step3", 4, _A, GROUP, "HCCS", 10, 2, 5, 0, 2, 1, 0.5),
        ("step3", 4, _A, GROUP, "HCCS", 10, 2, 5, 0, 4, 2, 1.5),
        ("step3", 4, _A, GROUP, "SDMA", 10, 2, 5, 0, 0, 0, 0),
        ("step3", 4, _B, GROUP, "HCCS", 30, 1, 30, 0.5, 4, 7, 1),
    ],
    "ClusterCommunicationMatrix": [
        ("step3", _T, GROUP, 4, 4, "LOCAL", "", 1, 0, 0),
        ("step3", _T, GROUP, 4, 9, "HCCS", "", 12, 5, 2.4),
        ("step3", _T, GROUP, 9, 4, "HCCS", "", 10, 5, 2),
        ("step3", "allreduce-top1", GROUP, 4, 9, "HCCS", _A, 5, 1, 5),
        ("step3", "allreduce-total", GROUP, 4, 4, "LOCAL", "", 1, 0, 0),
        ("step3", "allreduce-total", GROUP, 4, 9, "HCCS", "", 10, 4, 2.5),
        ("step3", "allreduce-total", GROUP, 9, 4, "HCCS", "", 10, 5, 2),
        ("step3", "broadcast-total", GROUP, 4, 9, "HCCS", "", 2, 1, 2),
    ],
    "ClusterStepTraceTime": [
        ("3", "rank", "4", 100, 20, 5, 25, 10, 128, 2, 18, 7, 2, 0, 0),
        ("3", "rank", "9", 90, 30, 4, 34, 11, 131, 0, 30, 8, 0, 1, 1),
    ],
    "HostInfo": [("77", "north"), ("88", "south")],
    "RankDeviceMap": [(4, 4, "77", "rank4_ascend_pt"), (9, 1, "88", "rank9_ascend_pt")],
    "ClusterBaseInfo": [("distributed_args", json.dumps(ARGUMENTS))],
}


def with_both_kinds() -> Mapping[int, Mapping[str, tuple[str, Rows]]]:
    """The same, but that rank 4 sends in the group of the collectives, where it broadcasts."""
    sent = {"hcom_broadcast__778_1_1": "hcom_send__778_1_1", "broadcast-total": "send-total"}

    def changed(row: Sequence[Any]) -> Sequence[Any]:
        if row[0] not in sent:
            return row
        return [sent[row[0]], *("p2p" if one == "collective" else one for one in row[1:])]

    own = {
        name: (columns, [changed(row) for row in rows])
        for name, (columns, rows) in ANALYSES[4].items()
    }
    return {**ANALYSES, 4: own}


def write(
    folder: Path,
    analyses: Mapping[int, Mapping[str, tuple[str, Rows]]] = ANALYSES,
    *,
    stated: bool = True,
) -> Path:
    """The profiles of both ranks below a folder. ``stated``: whether the program states groups."""
    for number, tables in analyses.items():
        output = folder / f"rank{number}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        uid, name, device = HOSTS[number]
        group = {"group_name": "dp", "group_rank": 0, "global_ranks": [4, 9]}
        facts: dict[str, Any] = {"distributed_args": ARGUMENTS | {"rank": number}}
        facts |= {"parallel_group_info": {GROUP_TEXT: group}} if stated else {}
        described = [("SCHEMA_VERSION", "1.2.0"), *((k, json.dumps(v)) for k, v in facts.items())]
        profiler: Mapping[str, tuple[str, Rows]] = {
            "META_DATA": ("name TEXT, value TEXT", described),
            "HOST_INFO": ("hostUid TEXT, hostName TEXT", [(str(uid), name)]),
            "RANK_DEVICE_MAP": ("rankId INTEGER, deviceId INTEGER", [(number, device)]),
        }
        _fill(output / f"ascend_pytorch_profiler_{number}.db", profiler)
        _fill(output / "analysis.db", tables)
        metadata = json.dumps(facts)
        (output.parent / "profiler_metadata.json").write_text(metadata, encoding="utf-8")
        (output.parent / f"profiler_info_{number}.json").write_text(
            json.dumps({"rank_id": number}), encoding="utf-8"
        )
    return folder


def _fill(path: Path, tables: Mapping[str, tuple[str, Rows]]) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for name, (columns, rows) in tables.items():
            database.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * len(rows[0]))
            database.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)


def shown(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The tables of a database with their rows in order; of paths the last part."""
    with closing(sqlite3.connect(database)) as connection:
        names = [one for (one,) in connection.execute("SELECT name FROM sqlite_master")]
        found = {one: connection.execute(f"SELECT * FROM {one}").fetchall() for one in names}
    found["RankDeviceMap"] = [(*row[:-1], Path(row[-1]).name) for row in found["RankDeviceMap"]]
    return {name: sorted(rows) for name, rows in found.items()}
