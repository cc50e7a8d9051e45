"""Tokens of a mixture of experts, as written: what is sent arrives and is worked on.

Nothing of the simulator is asked: sizes are those of the small tasks, rows those of the shapes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ascend_simulator import write_run
from ascend_simulator.scenario import parse

HIDDEN, SEQUENCE, TOP_K, WIDTH = 64, 96, 2, 2
MODEL = f"""
model: {{kind: moe, layers: 2, hidden: {HIDDEN}, heads: 4, sequence: {SEQUENCE}, vocabulary: 256,
         experts: 12, top_k: {TOP_K}, microbatches: 2}}
schedule: {{active: 2}}
"""
CASES = {
    "one host": "parallelism: {ranks: 4, expert: 4}",
    "two groups": "parallelism: {ranks: 4, expert: 2}",
    "odd": "parallelism: {ranks: 3, expert: 3}",
    "two hosts, tensor, pipeline": "hardware: {devices_per_host: 2}\n"
        "parallelism: {ranks: 8, expert: 2, tensor: 2, pipeline: 2}",
}  # fmt: skip
EXCHANGES = """
    SELECT o.value, c.startNs, c.count, json_group_array(json_array(t.dstRank, t.size)), g.value
    FROM COMMUNICATION_OP c JOIN STRING_IDS o ON o.id = c.opName
    JOIN STRING_IDS g ON g.id = c.groupName
    JOIN COMMUNICATION_TASK_INFO t ON t.opId = c.opId JOIN STRING_IDS k ON k.id = t.taskType
    WHERE o.value LIKE 'hcom_alltoallv%' AND k.value IN ('Memcpy', 'RDMASend') AND t.size > 0
    GROUP BY c.opId, c.startNs ORDER BY c.startNs
"""
PRODUCTS = """
    SELECT startNs, trim(s.value, '"') FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)
    JOIN STRING_IDS t ON t.id = opType JOIN STRING_IDS s ON s.id = outputShapes
    WHERE t.value = 'GroupedMatmul' ORDER BY startNs
"""


class Rank:
    """What one database says of its tokens.

    sent: by operator name, the group and the Byte for each place in it. given: elements. products:
    the two-dimensional results of grouped products as (start, rows).
    """

    def __init__(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            exchanges = database.execute(EXCHANGES).fetchall()
            products = database.execute(PRODUCTS).fetchall()
            query = "SELECT value FROM META_DATA WHERE name = 'parallel_group_info'"
            self.groups = json.loads(database.execute(query).fetchone()[0])
        self.number = int(path.stem.rpartition("_")[2])
        self.order = [name for name, *_ in exchanges]
        self.starts = [start for _, start, *_ in exchanges]
        self.given = {name: count for name, _, count, *_ in exchanges}
        self.group = {name: group for name, *_, group in exchanges}
        self.sent = {name: dict(json.loads(sizes)) for name, _, _, sizes, _ in exchanges}
        shapes = [(start, tuple(map(int, shape.split(",")))) for start, shape in products]
        self.products = [(start, shape[0]) for start, shape in shapes if len(shape) == 2]

    def members(self, name: str) -> list[int]:
        found: list[int] = self.groups[self.group[name]]["global_ranks"]
        return found


@pytest.fixture(scope="module", params=list(CASES))
def ranks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Rank]:
    out = tmp_path_factory.mktemp("routing") / "run"
    run = write_run(parse(MODEL + CASES[request.param]), 5, out)
    found = [Rank(path) for path in run.folder.rglob("ascend_pytorch_profiler_*.db")]
    return sorted(found, key=lambda rank: rank.number)


def exchanges(ranks: list[Rank]) -> Iterator[tuple[int, list[Rank], np.ndarray]]:
    """Place in the program, ranks of a group and Byte from each to each, of every operator."""
    for rank in ranks:
        for place, name in enumerate(rank.order):
            members = [ranks[number] for number in rank.members(name)]
            if members[0] is rank:
                size = range(len(members))
                sent = [[member.sent[name].get(to, 0) for to in size] for member in members]
                yield place, members, np.array(sent)


def test_every_rank_sends_all_its_tokens_and_gets_them_back(ranks: list[Rank]) -> None:
    """Forward and backward: to the experts and back, then the gradients the same way."""
    seen = 0
    matrices: dict[tuple[int, int], np.ndarray] = {}
    for place, members, sent in exchanges(ranks):
        matrices[members[0].number, place] = sent
        seen += 1
        assert sent.min() > 0
        for row, member in zip(sent, members, strict=True):
            assert row.sum() == member.given[member.order[place]] * WIDTH
        whole = sent.sum() // (HIDDEN * WIDTH)
        assert whole == len(members) * SEQUENCE // (2 if len(ranks) == 8 else 1) * TOP_K
    assert seen
    for (rank, place), sent in matrices.items():
        if place % 2 == 0:
            back = matrices[rank, place + 1]
            assert back.tolist() == sent.T.tolist()
    assert any(len(set(sent.sum(axis=0).tolist())) > 1 for sent in matrices.values())


def test_grouped_products_work_on_what_has_arrived(ranks: list[Rank]) -> None:
    checked = 0
    for place, members, sent in exchanges(ranks):
        for member, column in zip(members, sent.T, strict=True):
            if place % 2:  # on the way back: from its experts, to them with gradients
                continue
            begin, end = member.starts[place], member.starts[place + 1]
            rows = {rows for start, rows in member.products if begin < start < end}
            assert rows == {column.sum() // (HIDDEN * WIDTH)}
            checked += 1
    assert checked
