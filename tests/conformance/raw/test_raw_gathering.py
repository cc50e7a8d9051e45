"""What is gathered of drawn records, against plain programs that know the bytes alone."""

from __future__ import annotations

import random
import shutil
import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ascend_conformance.engine.sqlite_facts import SqliteFacts
from ascend_conformance.media.raw.facts import open_facts
from ascend_conformance.media.raw.gather import read_folder
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

SEEDS = range(8)
TEXTS = {21: "one", 22: "two", 23: "three"}
NODE = 10000


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture whose host and device have settings and no records."""
    scenario = override(preset("single-op"), steps=1)
    run = write_run(scenario, 3, tmp_path_factory.mktemp("raw") / "run", ("raw",)).folder
    found = sorted(run.rglob("PROF_*"))[0]
    for path in [*found.glob("host/data/*aging*"), *found.glob("device_*/data/*track*")]:
        path.unlink()
    return found


class Folder:
    """A copy of the capture, into which records are written."""

    def __init__(self, empty: Path, place: Path) -> None:
        self.path = place / empty.name
        shutil.copytree(empty, self.path)
        (self.device,) = self.path.glob("device_*")
        self.host("additional.hash_dic", b"".join(b"%d:%s\n" % (a, b.encode()) for a, b in texts()))
        self.host("additional.type_info_dic", b"")

    def host(self, name: str, content: bytes) -> None:
        (self.path / f"host/data/unaging.{name}.slice_0").write_bytes(content)

    def steps(self, content: bytes) -> None:
        number = self.device.name.removeprefix("device_")
        (self.device / f"data/ts_track.data.{number}.slice_0").write_bytes(content)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with open_facts() as facts:
            self.read(facts)
            return facts.rows(query)

    def read(self, facts: SqliteFacts) -> None:
        found = read_folder(facts, self.path, "folder")
        assert found.unreadable is None
        assert facts.rows("SELECT text FROM damage") == []


def texts() -> Sequence[tuple[int, str]]:
    return list(TEXTS.items())


def head(size: int, kind: int, thread: int, time: int, body: bytes, level: int = NODE) -> bytes:
    """A compact or additional record: magic number, level, type, thread, length and time."""
    begun = struct.pack("<HHIIIQ", 0x5A5A, level, kind, thread, len(body), time)
    return (begun + body).ljust(size, b"\0")


def call(level: int, kind: int, thread: int, begin: int, end: int, item: int = 0) -> bytes:
    return struct.pack("<HHIIIQQQ", 0x5A5A, level, kind, thread, 0, begin, end, item)


def text_of(number: int) -> str | None:
    return TEXTS.get(number, hex(number) if number else None)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_record_is_held_by_the_last_call_that_has_begun_before_it(
    seed: int, empty: Path, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    calls = []
    for _ in range(rng.randrange(1, 30)):
        begin = rng.randrange(1, 60)
        own = rng.choice([NODE, NODE, NODE, 20000]), rng.randrange(2), begin
        calls.append(
            (*own, rng.choice([begin, begin + rng.randrange(30)]), rng.choice([21, 22, 99]))
        )
    ops = [(rng.randrange(3), rng.randrange(1, 80), rng.choice([21, 98, 0])) for _ in range(40)]
    folder = Folder(empty, tmp_path)
    folder.host(
        "api_event.data",
        b"".join(call(level, 5, *own) for level, *own in calls)
        + call(NODE, 5, 0, 1, (1 << 64) - 1, 23),
    )
    folder.host(
        "compact.node_basic_info",
        b"".join(head(64, 0, one, time, struct.pack("<Q", name)) for one, time, name in ops),
    )
    found = folder.rows("SELECT thread, time, name, held, item FROM operator ORDER BY rowid")
    ends = folder.rows('SELECT "end", is_event FROM call ORDER BY rowid')
    assert ends == [*((one[3], 0) for one in calls), (None, 1)]
    nodes = [one for one in calls if one[0] == NODE]
    for (thread, time, number), row in zip(ops, found, strict=True):
        around = [one for one in nodes if one[1] == thread and one[2] < time <= one[3]]
        assert row[:3] == (thread, time, text_of(number))
        if not nodes:
            assert row[3:] == (None, None)
            continue
        assert row[3] == bool(around)
        # Of calls that begin together the shorter one is within the others.
        last = max(((one[2], -one[3]) for one in around), default=None)
        items = {text_of(one[4]) for one in around if (one[2], -one[3]) == last}
        assert row[4] in (items or {None})


@pytest.mark.parametrize("seed", SEEDS)
def test_records_of_tensors_of_one_operator_are_counted_and_their_sides_compared(
    seed: int, empty: Path, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    records = []
    for _ in range(40):
        count = rng.randrange(7)
        tensors = [
            (rng.choice([0, 0, 1]), [rng.choice([0, 0, 3]) for _ in range(8)]) for _ in range(5)
        ]
        key = rng.randrange(2), rng.randrange(1, 4), rng.choice([21, 22])
        records.append((*key, count, tensors))
    folder = Folder(empty, tmp_path)
    folder.host(
        "additional.tensor_info",
        b"".join(
            head(
                256,
                2,
                thread,
                time,
                struct.pack("<QI", name, count)
                + b"".join(struct.pack("<III8I", side, 0, 0, *shape) for side, shape in tensors),
            )
            for thread, time, name, count, tensors in records
        ),
    )
    found = folder.rows(
        "SELECT thread, time, name, tensors, place, batch, sides, is_mixed, zeros "
        "FROM tensor_record ORDER BY rowid"
    )
    before: dict[tuple[int, ...], list[int | None]] = {}
    sizes: dict[tuple[int, ...], int] = {}
    for thread, time, name, *_ in records:
        sizes[thread, time, name] = sizes.get((thread, time, name), 0) + 1
    for (thread, time, name, count, tensors), row in zip(records, found, strict=True):
        sides = [side for side, _ in tensors][:count]
        earlier = before.setdefault((thread, time, name), [])
        joined = [earlier[-1], *sides] if earlier and earlier[-1] is not None and sides else sides
        mixed = any(a == 1 and b == 0 for a, b in pairwise(joined))
        behind = 0
        for _, shape in tensors[:count]:
            first = shape.index(0) if 0 in shape else 8
            behind += sum(one != 0 for one in shape[first:])
        earlier.append(sides[-1] if sides else None)
        assert row == (
            *(thread, time, TEXTS[name], count, len(earlier), sizes[thread, time, name]),
            *(",".join(map(str, sides)), int(mixed), behind),
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_fused_operators_sub_tasks_and_memory_are_summed_up(
    seed: int, empty: Path, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    folder = Folder(empty, tmp_path)
    fusions = []
    for _ in range(30):
        sizes = [rng.choice([0, 5, (1 << 63) - 1, 1 << 63]) for _ in range(5)]
        fusions.append((rng.randrange(2), rng.randrange(1, 3), rng.choice([21, 22]), 3, *sizes))
    folder.host(
        "additional.fusion_op_info",
        b"".join(
            head(256, 4, thread, time, struct.pack("<QI5Q3Q", name, *own, 21, 77, 22), 15000)
            for thread, time, name, *own in fusions
        ),
    )
    contexts = [
        (rng.choice([NODE, NODE, 5500]), [rng.randrange(4) for _ in range(rng.randrange(6))])
        for _ in range(20)
    ]
    folder.host(
        "additional.context_id_info",
        b"".join(
            head(256, 4, 1, 5, struct.pack(f"<QI{len(ids)}I", 21, len(ids), *ids), level)
            for level, ids in contexts
        ),
    )
    memory = [
        (rng.choice([64, 128, 1 << 63]), rng.choice([-6, -4, 4, 6]), rng.randrange(2))
        for _ in range(60)
    ]
    folder.host(
        "additional.task_memory_info",
        b"".join(
            head(256, 7, 1, 5, struct.pack("<QqQQQI", address, size, 21, 0, 0, device))
            for address, size, device in memory
        ),
    )
    folder.host("api_event.data", call(NODE, 5, 1, 1, 9))
    with open_facts() as facts:
        folder.read(facts)
        found = facts.rows("SELECT place, batch, total, sum FROM fusion ORDER BY rowid")
        seen: list[tuple[int, ...]] = []
        for one, row in zip(fusions, found, strict=True):
            key, sizes = one[:3], one[4:]
            seen.append(key)
            batch = sum(other[:3] == key for other in fusions)
            total, whole = sizes[4], sum(sizes[:4]) % (1 << 64)
            wanted = seen.count(key), batch, total, whole
            assert tuple(number % (1 << 64) for number in row) == wanted
        rows = facts.rows("SELECT contexts, ids, held FROM context ORDER BY rowid")
        assert rows == [
            (len(ids), len(set(ids)), 1 if level == NODE else None) for level, ids in contexts
        ]
        (unknown,) = facts.rows(
            "SELECT field, number FROM unknown_text WHERE of = 'fusion_op_info'"
        )
        assert unknown == ("fusionOpId", "77")
        held: dict[tuple[int, int], int] = {}
        before = []
        for address, size, device in memory:
            before.append((held.get((address, device), 0),))
            held[address, device] = max(held.get((address, device), 0) + size, 0)
        assert facts.rows("SELECT before FROM memory ORDER BY rowid") == before


def test_heads_and_unknown_texts_stand_once_each_at_their_first_record(
    empty: Path, tmp_path: Path
) -> None:
    folder = Folder(empty, tmp_path)
    records = [(NODE, 0, 21), (5000, 0, 50), (NODE, 0, 51), (5000, 0, 50), (NODE, 3, 51)]
    content = b"".join(
        head(64, kind, 1, 5, struct.pack("<QIQ", 22, 0, name), level)
        for level, kind, name in records
    )
    folder.host("compact.node_basic_info", content)
    with open_facts() as facts:
        folder.read(facts)
        query = "SELECT offset, level, type, records, fits FROM head WHERE of = 'node_basic_info'"
        found = facts.rows(f"{query} ORDER BY rowid")
        assert found == [(0, NODE, 0, 2, 1), (64, 5000, 0, 2, 0), (256, NODE, 3, 1, 0)]
        query = "SELECT offset, of, field, number FROM unknown_text ORDER BY rowid"
        assert facts.rows(query) == [
            (64, "node_basic_info", "opType", "50"),
            (128, "node_basic_info", "opType", "51"),
        ]


def test_a_model_is_seen_where_a_call_loads_or_executes_it(empty: Path, tmp_path: Path) -> None:
    folder = Folder(empty, tmp_path)
    calls = [(15000, 1, 4), (15000, 2, 5), (15000, 3, 6), (NODE, 1, 7)]
    folder.host("api_event.data", b"".join(call(a, b, 1, 1, 9, item) for a, b, item in calls))
    folder.host(
        "additional.graph_id_map",
        b"".join(
            head(256, 0, 1, 5, struct.pack("<QII", 0, 1, model), 15000) for model in range(3, 8)
        ),
    )
    found = folder.rows("SELECT model, is_seen FROM graph ORDER BY rowid")
    assert found == [(3, 0), (4, 1), (5, 1), (6, 0), (7, 0)]


MEANINGS = {
    **{0: "start", 1: "end", 2: "fp", 3: "bp", 4: "iteration", 5: "sequence", 11: "mark"},
    **{60000: "framework", 60001: "framework"},
}


@pytest.mark.parametrize("seed", SEEDS)
def test_points_of_steps_have_their_meaning_and_iteration(
    seed: int, empty: Path, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    tags = [*MEANINGS, *(9999, 10000, 10001, 19999, 20000, 29999, 30000, 6, 65535)]
    points = [
        (time, rng.randrange(2), rng.choice([0, 1, 2, 3, 4, rng.choice(tags)]), rng.randrange(3))
        for time in rng.sample(range(1, 200), 60)
    ]
    folder = Folder(empty, tmp_path)
    folder.steps(
        b"".join(
            # Other records of the file are no points: of kind 12 every other one.
            struct.pack("<BBHIQQQHHHH", 1, 10, 32, 0, time, index, model, 9, 0, tag, 0).ljust(
                40, b"\0"
            )
            + struct.pack("<BBHI", 1, 12, 32, 0).ljust(40, b"\0")
            for time, model, tag, index in points
        )
    )
    found = folder.rows(
        'SELECT model, time, tag, "index", stream, meaning, pair, side, iteration FROM step '
        "ORDER BY rowid"
    )
    wanted: list[tuple[Any, ...]] = []
    for own in sorted({model for _, model, _, _ in points}):
        number, inside = 0, False
        for time, model, tag, index in sorted(points):
            if model != own:
                continue
            meaning, pair, side = MEANINGS.get(tag), None, None
            if 10_000 <= tag < 30_000:
                meaning = "reduction" if tag < 20_000 else "fetch"
                pair, side = tag % 10_000 // 2, tag % 2
            if meaning == "start":
                number, inside = number + 1, True
            wanted.append(
                (model, time, tag, index, 9, meaning, pair, side, number if inside else None)
            )
            if meaning == "iteration":
                number += 1
            if meaning == "end":
                inside = False
    assert found == wanted


def test_numbers_of_texts_are_those_of_the_collectors(empty: Path, tmp_path: Path) -> None:
    """Numbers of the evidence (ge-profiling 5.7), of characters with and without a sign."""
    lines = [
        "6251491202591237330:Conv2D",
        "6251491481764111570:Conv2D",
        "2448369759321462372:算子",
        "15984173733989788260:算子",
        "6251491202591237331:Conv2D",
        "247669290252505:Add",
        "247669290252505:Sub",
    ]
    folder = Folder(empty, tmp_path)
    folder.host("additional.hash_dic", "".join(f"{one}\n" for one in lines).encode())
    found = folder.rows("SELECT line, fits, text_before, number_before FROM hash_entry ORDER BY 1")
    first, number = "6251491202591237330", "2448369759321462372"
    assert found == [
        *((1, 1, None, None), (2, 1, None, first), (3, 1, None, None), (4, 1, None, number)),
        *((5, 0, None, first), (6, 1, None, None), (7, 0, "Add", None)),
    ]


def test_lines_of_no_form_are_damage_with_their_numbers(empty: Path, tmp_path: Path) -> None:
    folder = Folder(empty, tmp_path)
    bad = "".join(f"none {one}\n" for one in range(300))
    folder.host("additional.hash_dic", b"21:one\n\xff:x\n" + bad.encode() + b"22:two\n")
    with open_facts() as facts:
        read_folder(facts, folder.path, "folder")
        assert facts.rows("SELECT line, text FROM hash_entry") == [(1, "one"), (303, "two")]
        rows = facts.rows("SELECT line, kind, text FROM damage ORDER BY rowid")
    # The first hundred each, then the last with the number of the others.
    assert [line for line, _, _ in rows] == [*range(2, 102), 302]
    assert {kind for _, kind, _ in rows} == {"line"}
    assert rows[-1][2].endswith("(line 302); 200 more before it are not listed")


def test_the_cores_of_an_operator_are_the_lower_half_of_a_word(empty: Path, tmp_path: Path) -> None:
    folder = Folder(empty, tmp_path)
    bodies = [(0, 22, 0x0002_FFFF, 1), (99, 23, 0xFFFF_1000, 7)]
    records = [struct.pack("<QIQII", 21, *own) for own in bodies]
    folder.host("compact.node_basic_info", b"".join(head(64, 0, 3, 5, one) for one in records))
    query = "SELECT name, task_type, core, op_type, blocks, ratio, flag FROM operator"
    assert folder.rows(query) == [
        ("one", 0, "AI_CORE", "two", 0xFFFF, 2, 1),
        ("one", 99, None, "three", 0x1000, 0xFFFF, 7),
    ]
