"""What the recipes of row 11 about pairs, stages and messages write about a profile."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from consumer_differences import different
from consumer_ranks import Rank, one, ranks_of, rows, tables
from consumer_run import Run

PAIRED = re.compile(r"hcom_([Ss]end|[Rr](?:ecv|eceive))__\d+_\d+_\d+")
STAGES = """
    SELECT CASE WHEN s.value LIKE '%forward%' THEN 'FP' ELSE 'BP' END, t.startNs, t.endNs
    FROM MSTX_EVENTS m LEFT JOIN TASK t USING (connectionId)
    JOIN STRING_IDS s ON s.id = m.message
    WHERE s.value LIKE '%forward%' OR s.value LIKE '%backward%'
        OR s.value LIKE '%WeightGradStore_pop%'
    ORDER BY 2, 3, 1
"""
MESSAGES = """
    WITH message AS (
        SELECT m.connectionId, replace(s.value, '\\"', '"') AS text
        FROM MSTX_EVENTS m JOIN STRING_IDS s ON s.id = m.message
    )
    SELECT count(*), total(t.endNs - t.startNs) FROM message m JOIN TASK t
        ON t.connectionId = m.connectionId OR json_valid(m.text)
            AND CAST(json_extract(m.text, '$.streamId') AS INTEGER) = t.streamId
    WHERE text LIKE '%"streamId":%' AND text LIKE '%"count":%' AND text LIKE '%"dataType":%'
        AND text LIKE '%"groupName":%' AND text LIKE '%"opName":%'
"""
OPERATORS = "COMMUNICATION_OP"


def pairs(ranks: Sequence[Rank], run: Run) -> list[str]:
    """p2p_pairing numbers the operators: each send of a group has its receive."""
    ends: dict[str, Counter[tuple[str, str]]] = {"send": Counter(), "receive": Counter()}
    unpaired: list[str] = []
    for rank in ranks_of(run.profile):
        columns = rows(rank.profiler, f"SELECT name FROM pragma_table_info('{OPERATORS}')")
        pair = "opConnectionId" if ("opConnectionId",) in columns else "NULL"
        for name, group, number in rows(
            rank.profiler,
            f"SELECT n.value, g.value, {pair} FROM {OPERATORS} o "
            "JOIN STRING_IDS n ON n.id = o.opName JOIN STRING_IDS g ON g.id = o.groupName",
        ):
            told = PAIRED.fullmatch(name)
            if told and number is None:
                unpaired.append(f"{name} of rank {rank.number}")
            elif told:
                ends["send" if told[1].lower() == "send" else "receive"][group, number] += 1
    return [
        *([] if any(ends.values()) else ["p2p_pairing: no pair in any rank"]),
        *different("p2p_pairing, operators without a pair", unpaired, []),
        *different("p2p_pairing, receives by group and pair", ends["receive"], ends["send"]),
    ]


def stages(ranks: Sequence[Rank], run: Run) -> list[str]:
    """pp_chart writes the forward and backward tasks of a rank into its database."""
    lines = []
    for rank, copy in zip(ranks, ranks_of(run.profile), strict=True):
        what = f"pp_chart, StepTaskInfo of rank {rank.number}"
        if "StepTaskInfo" not in tables(copy.profiler):
            lines.append(f"{what} is absent")
            continue
        found = rows(
            copy.profiler, "SELECT name, startNs, endNs FROM StepTaskInfo ORDER BY 2, 3, 1"
        )
        lines += different(what, found, rows(rank.profiler, STAGES))
    return lines


def without_operators(profile: Path) -> None:
    """Drops what mstx2commop makes: where the table exists, the mode does nothing."""
    for rank in ranks_of(profile):
        connection = sqlite3.connect(rank.profiler)
        with connection:
            connection.execute(f"DROP TABLE IF EXISTS {OPERATORS}")
        connection.close()


def operators_of_messages(ranks: Sequence[Rank], run: Run) -> list[str]:
    """mstx2commop makes an operator of each task that a message of the framework announces."""
    lines = []
    for rank in ranks:
        what = f"mstx2commop, {OPERATORS} of rank {rank.number}"
        relative = (rank.folder.name, rank.output.name, rank.profiler.name)
        made = run.database.parent.joinpath("Mstx2Commop", *relative)
        if OPERATORS not in tables(made):
            lines.append(f"{what} is absent")
            continue
        found = rows(made, f"SELECT count(*), total(endNs - startNs) FROM {OPERATORS}")
        expected = rows(rank.profiler, MESSAGES)
        lines += different(what, found, expected)
        nameless = (
            f"SELECT count(*) FROM {OPERATORS} WHERE opName NOT IN (SELECT id FROM STRING_IDS)"
        )
        lines += different(f"{what}, without a name", one(made, nameless), 0)
    return lines


def nothing_made(run: Run) -> list[str]:
    """mstx2commop leaves a profile alone that has its communication operators."""
    return different("mstx2commop, files", [name for name in run.written() if ".db" in name], [])
