"""What the exporters of a revision do beyond columns."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from encode_captures import PID, SESSION, capture
from encode_profiles import NEWEST, REVISIONS, encoded, texts

from ascend_ref.capture import Capture
from ascend_spec import catalog

OLDEST, PUBLIC = REVISIONS[0], "1.2.0-2025-12"
FRAMEWORK, MEMORY = 1 << 28, 2 << 28


def with_samples(table: str, **columns: Any) -> Capture:
    """A capture with one sampled table that is known to the last value."""
    shown = capture()
    known = {name: values[:1] for name, values in shown.samples[table].items()}
    rows = len(next(iter(columns.values())))
    filled = {name: np.repeat(values, rows) for name, values in known.items()}
    filled |= {name: np.array(values) for name, values in columns.items()}
    return replace(shown, samples={table: filled})


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("carrier", ["msprof", "pytorch"])
def test_each_space_of_texts_is_dense_and_free_of_repetitions(revision: str, carrier: str) -> None:
    strings = encoded(capture(), revision, carrier)["STRING_IDS"]
    spaces: dict[int, list[tuple[int, str]]] = {}
    for identifier, text in zip(strings["id"], strings["value"], strict=True):
        spaces.setdefault(identifier >> 28, []).append((identifier, text))
    assert list(spaces) == ([0, 1, 2] if carrier == "pytorch" else [0])
    for base, rows in spaces.items():
        assert [identifier - (base << 28) for identifier, _ in rows] == list(range(len(rows)))
        assert len({text for _, text in rows}) == len(rows)


def test_ids_do_not_depend_on_the_order_of_the_texts() -> None:
    shown = capture(1)
    numbers = np.arange(len(shown.texts) - 1, -1, -1)
    moved = type(shown.texts)(reversed(shown.texts.all))
    tasks = replace(shown.tasks, kind=numbers[shown.tasks.kind])
    only = replace(shown, **{**empty_but_tasks(shown), "texts": shown.texts})
    other = replace(shown, **{**empty_but_tasks(shown), "texts": moved, "tasks": tasks})
    assert encoded(only) == encoded(other)


def empty_but_tasks(shown: Capture) -> dict[str, Any]:
    names = (
        "kernels", "schedules", "copies", "groups", "collectives", "transfers", "calls",
        "activities", "links", "frames", "marks", "memory_blocks", "memory_totals",
        "workspace_events", "system_calls",
    )  # fmt: skip
    empty = {name: getattr(shown, name).empty() for name in names}
    return {**empty, "samples": {}, "counters": type(shown.counters).empty()}


def test_the_framework_has_no_id_for_the_empty_text() -> None:
    shown = capture()
    blank = shown.texts.number("")
    activities = replace(shown.activities, shapes=np.where(shown.activities.shapes < 0, -1, blank))
    shapes = encoded(replace(shown, activities=activities))["PYTORCH_API"]["inputShapes"]
    assert set(shapes) == {None, 4294967295}


@pytest.mark.parametrize(("revision", "none"), [(OLDEST, 4294967295), (PUBLIC, -1), (NEWEST, -1)])
def test_a_task_without_a_call_carries_the_sentinel_of_its_time(revision: str, none: int) -> None:
    shown = capture()
    tasks = replace(shown.tasks, connection=np.full(len(shown.tasks), -1))
    task = encoded(replace(shown, tasks=tasks), revision)["TASK"]
    assert set(task["connectionId"]) == {none}
    assert set(task["modelId"]) == {4294967295}
    assert 4294967295 in task["contextId"]


def test_processes_and_threads_are_packed() -> None:
    tables = encoded(capture())
    assert set(tables["TASK"]["globalPid"]) == {PID}
    assert {thread >> 32 for thread in tables["CANN_API"]["globalTid"]} == {PID}
    assert {thread & 0xFFFFFFFF for thread in tables["PYTORCH_API"]["globalTid"]} == {
        PID, PID + 7, PID + 11,
    }  # fmt: skip


def test_shapes_stand_in_quotes_once() -> None:
    shapes = texts(encoded(capture()), "COMPUTE_TASK_INFO", "inputShapes")
    assert set(shapes) == {'"32,64;64"'}


def test_the_core_count_changed_its_name_and_left_it_to_the_threads() -> None:
    before = encoded(capture(), PUBLIC)["COMPUTE_TASK_INFO"]
    after = encoded(capture(), NEWEST)
    assert before["blockDim"] == after["COMPUTE_TASK_INFO"]["blockNum"]
    assert set(texts(after, "COMPUTE_TASK_INFO", "blockDim")) == {"N/A"}


def test_counters_stand_metric_after_metric() -> None:
    shown = capture()
    table = encoded(shown)["TASK_PMU_INFO"]
    tasks = shown.counters.task.tolist()
    assert table["globalTaskId"] == tasks * len(shown.counters.metrics)
    names = texts(encoded(shown), "TASK_PMU_INFO", "name")
    assert names == [name for name in shown.counters.metrics for _ in tasks]
    assert table["value"] == shown.counters.values.T.ravel().tolist()


@pytest.mark.parametrize(
    ("revision", "entry"), [("1.0.0-2025-01", "Enqueue"), (NEWEST, "Enqueue@aclnnMm")]
)
def test_entries_of_the_queue_are_named_as_then(revision: str, entry: str) -> None:
    tables = encoded(capture(), revision)
    queue = [
        name
        for name, kind in zip(
            texts(tables, "PYTORCH_API", "name"), tables["PYTORCH_API"]["type"], strict=True
        )
        if kind == 50002
    ]
    half = len(queue) // 2
    assert queue == [entry] * half + ["Dequeue@aclnnMm"] * half


def test_framework_calls_stand_in_sections_and_their_times_are_text() -> None:
    table = encoded(capture())["PYTORCH_API"]
    sections = [{50003: 0, 50002: 1, 50001: 2}[kind] for kind in table["type"]]
    assert sections == sorted(sections)
    operators = [
        (int(start), -int(end))
        for start, end, kind in zip(table["startNs"], table["endNs"], table["type"], strict=True)
        if kind == 50001
    ]
    marks = 2
    assert operators[:-marks] == sorted(operators[:-marks])
    assert all(time.isdecimal() and len(time) == 19 for time in table["startNs"])


@pytest.mark.parametrize(("revision", "offset"), [(OLDEST, None), (NEWEST, 5 << 28)])
def test_links_of_the_framework_lie_above_those_of_the_host(
    revision: str, offset: int | None
) -> None:
    tables = encoded(capture(), revision)
    calls = set(tables["CANN_API"]["connectionId"])
    links = tables["CONNECTION_IDS"]
    private = sorted(set(links["connectionId"]) - calls)
    first = max(calls) + 8_000 if offset is None else offset
    assert private == list(range(first, first + len(private)))
    assert sorted(set(links["id"])) == list(range(len(set(links["id"]))))
    assert links["id"] == sorted(links["id"])
    own = tables["PYTORCH_API"]["connectionId"]
    assert sorted(key for key in own if key is not None) == sorted(set(links["id"]))
    ends = {number: links["connectionId"].count(number) for number in private}
    assert set(ends.values()) == {2}


def test_only_the_stacks_in_use_are_told_and_numbered_densely() -> None:
    tables = encoded(capture())
    used = {chain for chain in tables["PYTORCH_API"]["callchainId"] if chain is not None}
    assert used == set(tables["PYTORCH_CALLCHAINS"]["id"]) == set(range(len(used)))
    assert tables["PYTORCH_CALLCHAINS"]["stackDepth"] == [0, 1] * len(used)


@pytest.mark.parametrize(
    ("table", "column"),
    [("QOS", "bandwidth"), ("PCIE", "txPostMax"), ("NIC", "rxBytes"), ("ROCE", "txPackets")],
)
def test_counters_and_rates_wrap_at_32_bits(table: str, column: str) -> None:
    shown = with_samples(table, **{column: [7, 2**32 - 1, 2**32, 2**40 + 5]})
    assert encoded(shown)[table][column] == [7, 2**32 - 1, 0, 5]


@pytest.mark.parametrize(("table", "column"), [("HBM", "bandwidth"), ("NETDEV_STATS", "macTxByte")])
def test_other_amounts_do_not_wrap(table: str, column: str) -> None:
    assert encoded(with_samples(table, **{column: [2**40]}))[table][column] == [2**40]


@pytest.mark.parametrize(("revision", "last"), [(OLDEST, [1, 2]), (NEWEST, [2, 1])])
def test_the_clock_is_told_at_both_ends_of_the_session(revision: str, last: list[int]) -> None:
    times = [SESSION + 5, SESSION + 9]
    shown = with_samples("AICORE_FREQ", timestampNs=times, freq=[1_800, 1_000])
    table = encoded(shown, revision)["AICORE_FREQ"]
    bounds = [SESSION, shown.origin.end]
    late = [*times, *bounds]
    assert table["timestampNs"] == (late if revision == OLDEST else sorted(late))
    rows = dict(zip(table["timestampNs"], table["freq"], strict=True))
    assert [rows[bound] for bound in bounds] == [1_800, 1_000]


@pytest.mark.parametrize("revision", REVISIONS)
def test_modules_keep_their_names_whatever_their_ids(revision: str) -> None:
    newest = catalog().at(NEWEST, "pytorch").enums["ENUM_MODULE"]
    members = catalog().at(revision, "pytorch").enums["ENUM_MODULE"]
    numbers = sorted(newest)
    reserved = [number + 1 for number in numbers]
    shown = with_samples("NPU_MODULE_MEM", moduleId=numbers, totalReserved=reserved)
    table = encoded(shown, revision)["NPU_MODULE_MEM"]
    told = dict(zip(table["totalReserved"], table["moduleId"], strict=True))
    assert len(set(told.values())) == len(told)
    for number, name in newest.items():
        if name in members.values():
            assert members[told[number + 1]] == name
    # Real samples hold every module that the driver knows (db-schema.md 7.7).
    assert list(table["moduleId"]) == sorted(members)


def test_the_map_of_ranks_is_not_for_the_first_databases_of_msprof() -> None:
    assert "RANK_DEVICE_MAP" not in encoded(capture(rank=1), OLDEST, "msprof")
    assert encoded(capture(rank=1), NEWEST, "msprof")["RANK_DEVICE_MAP"]["rankId"] == [-1]
    assert encoded(capture(rank=1), OLDEST)["RANK_DEVICE_MAP"]["rankId"] == [1]


def test_the_host_is_a_number_before_it_is_a_text() -> None:
    identity = capture().origin.host_uid
    assert encoded(capture(), OLDEST)["HOST_INFO"]["hostUid"] == [identity]
    assert encoded(capture(), NEWEST)["HOST_INFO"]["hostUid"] == [str(identity)]


@pytest.mark.parametrize(
    ("revision", "end"), [(OLDEST, -616), (NEWEST, SESSION + 1_800_000_000_000)]
)
def test_a_session_without_end_gets_that_of_its_exporter(revision: str, end: int) -> None:
    tables = encoded(capture(abnormal=True), revision)
    assert tables["SESSION_TIME_INFO"]["endTimeNs"] == [end]


def test_groups_are_described_under_their_readable_names() -> None:
    tables = encoded(capture(ranks=4, rank=2))
    names, values = tables["META_DATA"].values()
    facts = dict(zip(names, values, strict=True))
    described = json.loads(facts["parallel_group_info"])
    assert set(texts(tables, "COMMUNICATION_OP", "groupName")) == set(described)
    assert next(iter(described.values())) == {
        "group_name": "default_group", "group_rank": 2, "global_ranks": [0, 1, 2, 3],
    }  # fmt: skip
    assert "distributed_args" in facts
    assert "parallel_group_info" not in encoded(capture(), carrier="msprof")["META_DATA"]["name"]


def test_columns_that_nothing_fills_hold_the_nothing_of_the_spec() -> None:
    samples = {
        "AICORE_FREQ": {"deviceId": np.array([0]), "timestampNs": np.array([SESSION + 1])},
        "HBM": {"timestampNs": np.array([SESSION + 1])},
    }
    tables = encoded(replace(capture(), samples=samples))
    assert set(tables["AICORE_FREQ"]["dieId"]) == {-1}
    assert tables["HBM"]["bandwidth"] == [0]
    assert texts(tables, "HBM", "type")[0] in {"read", "write"}
