"""Ways in which a part of a profile gets lost: small named functions that take it away.

Each function changes a copy and returns what is gone, in words, or None where the copy has none of
it. To add one, write it with the decorator of its medium, whose arguments are the words of which a
finding has to call one lost.

None of them takes what leaves no trace that an independent reader could see:

- calls of the host that nothing else has the number of, and on a timeline alone the first calls,
  since real captures begin with tasks of calls that are older than their window;
- tasks of which no call that is left has the number, on a timeline: event records and waits;
- the first and the last records of memory, and levels at whose time nothing was taken: the
  allocator worked before and after the capture;
- layers that some writers, products or switches leave out (:data:`FREE_LAYERS`), rows of
  l2_cache.csv, which real files have of some operators only, and single arrows fwdbwd, which real
  files draw for 27 of 43 backward operators;
- the first or the last step of a timeline alone;
- a file of a folder msprof wrote, and the device's side of it: which files were exported stands
  nowhere;
- tables that nothing refers to and a switch or a writer decides on (:data:`FREE_TABLES`);
- files that a switch alone decides on (:data:`FREE_FILES`);
- times of a sampler that took fewer than 30;
- a rank where no file that is left names it.
"""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

Events = list[dict[str, Any]]
Taken = str | None


class Loss(NamedTuple):
    """One way to lose something. ``causes``: words of which a finding has to call one lost."""

    name: str
    causes: tuple[str, ...]
    take: Callable[[Path, random.Random], Taken]


DATABASE: list[Loss] = []
TEXT: list[Loss] = []
TIMELINE: list[Loss] = []


def span(rows: Sequence[Any], where: str, source: random.Random) -> Sequence[Any]:
    """The first, the last or some rows from the middle: 3 to 40, at most a third of them."""
    number = min(source.randint(3, 40), len(rows) // 3)
    if where == "head":
        return rows[:number]
    if where == "tail":
        return rows[len(rows) - number :]
    begin = source.randint(number, len(rows) - 2 * number) if number else 0
    return rows[begin : begin + number]


# --- databases ------------------------------------------------------------------------------------

Rows = sqlite3.Connection
FREE_TABLES = {"RANK_DEVICE_MAP", "QOS", "ACC_PMU", "SOC_BANDWIDTH_LEVEL", "META_DATA"}
"""Tables that depend on a switch alone, or on the writer."""


def in_database(
    *causes: str,
) -> Callable[[Callable[[Rows, random.Random], Taken]], Callable[[Rows, random.Random], Taken]]:
    """Register a loss of the database of a profile."""

    def register(
        change: Callable[[Rows, random.Random], Taken],
    ) -> Callable[[Rows, random.Random], Taken]:
        def take(folder: Path, source: random.Random) -> Taken:
            file = source.choice(databases(folder))
            with closing(sqlite3.connect(file)) as connection:
                gone = change(connection, source)
                connection.commit()
            return gone and f"{file.name}: {gone}"

        DATABASE.append(Loss(change.__name__, causes, take))
        return change

    return register


def databases(folder: Path) -> list[Path]:
    """The databases that an exporter of tasks wrote."""
    names = ("ascend_pytorch_profiler*.db", "msprof_*.db")
    return sorted(found for name in names for found in folder.rglob(name))


def tables(rows: Rows) -> list[str]:
    """Tables with rows."""
    select = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    names = [str(name) for (name,) in rows.execute(select)]
    return [
        name for name in sorted(names) if rows.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()
    ]


def forget_tasks(rows: Rows, tasks: Iterable[int]) -> None:
    """Delete tasks, and what other tables say of them."""
    rows.execute("CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)")
    rows.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(one,) for one in tasks])
    held = tables(rows)
    described = ("COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO", "MEMCPY_INFO")
    for table in (*described, "COMMUNICATION_SCHEDULE_TASK_INFO", "TASK"):
        if table in held:
            rows.execute(f"DELETE FROM {table} WHERE globalTaskId IN (SELECT id FROM gone)")
    if "COMMUNICATION_OP" in held and "COMMUNICATION_TASK_INFO" in held:
        left = "SELECT opId FROM COMMUNICATION_TASK_INFO"
        rows.execute(f"DELETE FROM COMMUNICATION_OP WHERE opId NOT IN ({left})")
    rows.execute("DROP TABLE temp.gone")


def tasks_of(rows: Rows, where: str = "1") -> list[int]:
    """The numbers of tasks in the order of their start."""
    if "TASK" not in tables(rows):
        return []
    select = f"SELECT globalTaskId FROM TASK WHERE {where} ORDER BY startNs, globalTaskId"
    return [number for (number,) in rows.execute(select)]


def lost_tasks(rows: Rows, source: random.Random, where: str) -> Taken:
    gone = span(tasks_of(rows), where, source)
    forget_tasks(rows, gone)
    return f"{len(gone)} tasks from {gone[0]}, {where}" if gone else None


@in_database("tasks")
def first_tasks(rows: Rows, source: random.Random) -> Taken:
    return lost_tasks(rows, source, "head")


@in_database("tasks")
def last_tasks(rows: Rows, source: random.Random) -> Taken:
    return lost_tasks(rows, source, "tail")


@in_database("tasks")
def tasks_in_the_middle(rows: Rows, source: random.Random) -> Taken:
    return lost_tasks(rows, source, "middle")


@in_database("tasks")
def tasks_of_a_stream(rows: Rows, source: random.Random) -> Taken:
    if "TASK" not in tables(rows):
        return None
    select = "SELECT streamId FROM TASK GROUP BY streamId HAVING count(*) > 2 ORDER BY 1"
    stream = source.choice(rows.execute(select).fetchall())[0]
    forget_tasks(rows, tasks_of(rows, f"streamId = {stream}"))
    return f"stream {stream}"


@in_database("tasks")
def end_of_a_stream(rows: Rows, source: random.Random) -> Taken:
    if "TASK" not in tables(rows):
        return None
    select = "SELECT streamId FROM TASK GROUP BY streamId HAVING count(*) > 20 ORDER BY 1"
    stream = source.choice(rows.execute(select).fetchall())[0]
    gone = tasks_of(rows, f"streamId = {stream}")
    gone = gone[source.randint(len(gone) // 3, len(gone) - 5) :]
    forget_tasks(rows, gone)
    return f"the last {len(gone)} tasks of stream {stream}"


@in_database("tasks", "kernels", "table")
def tasks_of_a_step(rows: Rows, source: random.Random) -> Taken:
    if not {"TASK", "STEP_TIME"} <= set(tables(rows)):
        return None
    steps = rows.execute("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY 1").fetchall()
    number, start, end = source.choice(steps)
    forget_tasks(rows, tasks_of(rows, f"startNs BETWEEN {start} AND {end}"))
    return f"the tasks of step {number}"


@in_database("kernels")
def descriptions_of_kernels(rows: Rows, source: random.Random) -> Taken:
    if "COMPUTE_TASK_INFO" not in tables(rows):
        return None
    found = rows.execute("SELECT rowid FROM COMPUTE_TASK_INFO ORDER BY rowid").fetchall()
    gone = span(found, source.choice(["head", "middle", "tail"]), source)
    rows.executemany("DELETE FROM COMPUTE_TASK_INFO WHERE rowid = ?", gone)
    return f"{len(gone)} kernels from {gone[0][0]}"


@in_database("host calls", "launches")
def host_calls(rows: Rows, source: random.Random) -> Taken:
    if "CANN_API" not in tables(rows):
        return None
    where = source.choice(["head", "middle", "tail"])
    select = "SELECT rowid, connectionId FROM CANN_API ORDER BY startNs, endNs"
    gone = span(rows.execute(select).fetchall(), where, source)
    if not any(number in named_elsewhere(rows) for _, number in gone):
        return None
    rows.executemany("DELETE FROM CANN_API WHERE rowid = ?", [(row,) for row, _ in gone])
    return f"{len(gone)} host calls from {gone[0][0]}, {where}"


def named_elsewhere(rows: Rows) -> set[int]:
    """The numbers of calls that tasks and links of the framework have."""
    held = tables(rows)
    found: set[int] = set()
    for table, column in (("TASK", "connectionId"), ("CONNECTION_IDS", "connectionId")):
        if table in held:
            found |= {one for (one,) in rows.execute(f"SELECT DISTINCT {column} FROM {table}")}
    return found


@in_database("framework calls", "links")
def framework_calls(rows: Rows, source: random.Random) -> Taken:
    if "PYTORCH_API" not in tables(rows):
        return None
    where = source.choice(["head", "middle", "tail"])
    select = "SELECT rowid FROM PYTORCH_API WHERE connectionId IS NOT NULL ORDER BY startNs, endNs"
    gone = span(rows.execute(select).fetchall(), where, source)
    rows.executemany("DELETE FROM PYTORCH_API WHERE rowid = ?", gone)
    return f"{len(gone)} framework calls from {gone[0][0]}, {where}" if gone else None


@in_database("table", "tasks", "kernels", "host calls", "framework calls", "links", "steps")
def table(rows: Rows, source: random.Random) -> Taken:
    held = [one for one in tables(rows) if not one.startswith("ENUM_")]
    chosen = source.choice([one for one in held if one not in FREE_TABLES])
    rows.execute(f"DROP TABLE {chosen}")
    return chosen


@in_database("tasks", "device", "table")
def side_of_the_device(rows: Rows, source: random.Random) -> Taken:
    shown = ("TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "COMMUNICATION_OP")
    gone = [*shown, "TASK_PMU_INFO", "MEMCPY_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"]
    held = tables(rows)
    drop = source.random() < 0.5
    for name in gone:
        if name in held:
            rows.execute(f"DROP TABLE {name}" if drop else f"DELETE FROM {name}")
    return "dropped" if drop else "emptied"


@in_database("host calls", "host")
def side_of_the_host(rows: Rows, source: random.Random) -> Taken:
    if "CANN_API" not in tables(rows):
        return None
    drop = source.random() < 0.5
    for name in ("CANN_API", "PYTORCH_API", "CONNECTION_IDS"):
        if name in tables(rows) and (name == "CANN_API" or drop):
            rows.execute(f"DROP TABLE {name}")
    return "all" if drop else "CANN_API"


@in_database("steps", "table")
def step(rows: Rows, source: random.Random) -> Taken:
    if "STEP_TIME" not in tables(rows):
        return None
    (gone,) = source.choice(rows.execute("SELECT id FROM STEP_TIME ORDER BY 1").fetchall())
    rows.execute("DELETE FROM STEP_TIME WHERE id = ?", (gone,))
    return f"step {gone}"


@in_database("links")
def links_to_the_device(rows: Rows, source: random.Random) -> Taken:
    if "TASK" not in tables(rows):
        return None
    rows.execute("UPDATE TASK SET connectionId = 4294967295")
    return "all"


@in_database("links")
def links_of_the_framework(rows: Rows, source: random.Random) -> Taken:
    if "PYTORCH_API" not in tables(rows):
        return None
    rows.execute("UPDATE PYTORCH_API SET connectionId = NULL")
    rows.execute("DELETE FROM CONNECTION_IDS")
    return "all"


@in_database("collectives")
def collectives(rows: Rows, source: random.Random) -> Taken:
    if "COMMUNICATION_OP" not in tables(rows):
        return None
    found = rows.execute("SELECT opId FROM COMMUNICATION_OP ORDER BY startNs").fetchall()
    gone = found[: max(1, len(found) // 4)] if source.random() < 0.5 else found[-1:]
    rows.executemany("DELETE FROM COMMUNICATION_OP WHERE opId = ?", gone)
    return f"{len(gone)} collectives"


@in_database("memory")
def records_of_memory(rows: Rows, source: random.Random) -> Taken:
    held = [one for one in ("OP_MEMORY", "MEMORY_RECORD", "NPU_OP_MEM") if one in tables(rows)]
    if not held:
        return None
    name = source.choice(held)
    time = {"OP_MEMORY": "allocationTime", "MEMORY_RECORD": "timestamp"}.get(name, "timestampNs")
    found = rows.execute(f"SELECT rowid, {time} FROM {name} ORDER BY {time}, rowid").fetchall()
    gone = span(found, "middle", source)
    taken = {one for (one,) in rows.execute("SELECT allocationTime FROM OP_MEMORY")}
    if len(gone) < 8 or (name == "MEMORY_RECORD" and taken.isdisjoint(one for _, one in gone)):
        return None
    rows.executemany(f"DELETE FROM {name} WHERE rowid = ?", [(row,) for row, _ in gone])
    return f"{len(gone)} rows of {name} from {gone[0][0]}"


@in_database("samples")
def samples(rows: Rows, source: random.Random) -> Taken:
    held = [one for one in ("HBM", "LLC", "NPU_MODULE_MEM", "NPU_MEM") if one in tables(rows)]
    if not held:
        return None
    name = source.choice(held)
    times = rows.execute(f"SELECT DISTINCT timestampNs FROM {name} ORDER BY 1").fetchall()
    if len(times) < 30:  # fewer have no usual period
        return None
    begin = source.randint(2, len(times) - 6)
    rows.executemany(f"DELETE FROM {name} WHERE timestampNs = ?", times[begin : begin + 4])
    return f"4 times of {name} from {times[begin][0]}"


def _whole(name: str, *causes: str) -> Callable[..., None]:
    def register(take: Callable[[Path, random.Random], Taken], *into: list[Loss]) -> None:
        for losses in into:
            losses.append(Loss(name, causes, take))

    return register


def rank(folder: Path, source: random.Random) -> Taken:
    """One of several ranks: its folder is gone."""
    found = sorted(path for path in folder.iterdir() if path.is_dir())
    if len(found) < 3:
        return None
    gone = source.choice(found[:-1])
    shutil.rmtree(gone)
    return gone.name


def file_beside_a_database(folder: Path, source: random.Random) -> Taken:
    found = sorted(folder.rglob("analysis.db"))
    if not found:
        return None
    gone = source.choice(found)
    gone.unlink()
    return gone.name


_whole("rank", "ranks")(rank, DATABASE, TEXT)
_whole("file_beside_a_database", "file")(file_beside_a_database, DATABASE)


# --- text deliverables ----------------------------------------------------------------------------


def text_files(folder: Path) -> list[Path]:
    """Files of an output folder that an exporter wrote for readers."""
    names = {"truth.json", "info.json", "README.txt"}
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in (".csv", ".json") and path.name not in names
    )


FREE_FILES = ("npu_module_mem", "l2_cache")
"""Beginnings of files that a switch alone decides on."""


def is_of_framework(folder: Path) -> bool:
    """Whether a framework's profiler wrote the folder and says with which settings."""
    return any(folder.rglob("profiler_info*.json"))


def file(folder: Path, source: random.Random) -> Taken:
    if not is_of_framework(folder):
        return None
    due = [path for path in text_files(folder) if not path.name.startswith(FREE_FILES)]
    gone = source.choice(due)
    gone.unlink()
    return gone.name


def rows_of_a_csv_file(folder: Path, source: random.Random) -> Taken:
    found = [path for path in text_files(folder) if path.suffix == ".csv"]
    long = {
        path: lines
        for path in found
        if len(lines := csv_lines(path)) > 12 and not path.name.startswith("l2_cache")
    }
    if not long:
        return None
    chosen = source.choice(sorted(long))
    lines = long[chosen]
    where = source.choice(["head", "middle", "tail"])
    where = "middle" if chosen.name.startswith(("memory_record", "operator_memory")) else where
    gone = set(span(range(1, len(lines)), where, source))
    chosen.write_bytes(b"".join(one for at, one in enumerate(lines) if at not in gone))
    return f"{len(gone)} rows of {chosen.name} from {min(gone)}, {where}"


def csv_lines(path: Path) -> list[bytes]:
    """The rows of a CSV file as they stand there; a row goes on where a quote is open."""
    found: list[bytes] = []
    for line in path.read_bytes().splitlines(keepends=True):
        if found and found[-1].count(b'"') % 2:
            found[-1] += line
        else:
            found.append(line)
    return found


def step_of_a_csv_file(folder: Path, source: random.Random) -> Taken:
    found = []
    for path in text_files(folder):
        if path.suffix == ".csv":
            with path.open(newline="", encoding="utf-8") as lines:
                head = next(csv.reader(lines), [])
                at = next((one for one, name in enumerate(head) if name in ("Step", "Step Id")), -1)
                steps = {row[at] for row in csv.reader(lines) if len(row) > at and row[at]}
            if at >= 0 and len(steps) > 1:
                found.append((path, at, sorted(steps)))
    if not found:
        return None
    path, at, numbers = source.choice(found)
    gone = source.choice(numbers)
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))
    text = io.StringIO(newline="")
    csv.writer(text).writerows(one for one in rows if one[at] != gone)
    path.write_bytes(text.getvalue().encode())
    return f"step {gone} of {path.name}"


def whole_rank_of_text(folder: Path, source: random.Random) -> Taken:
    """All columns of the device: what an analysis writes that found no data of a device."""
    gone = (
        "kernel_details",
        "op_summary",
        "op_statistic",
        "task_time",
        "communication",
        "l2_cache",
    )
    if not is_of_framework(folder):
        return None
    found = [path for path in text_files(folder) if path.name.startswith(gone)]
    for path in found:
        path.unlink()
    for path in timelines(folder):
        lose_layers(path, lambda name: name in DEVICE_LAYERS)
    return "all" if found else None


_whole("file", "file")(file, TEXT)
_whole("rows_of_a_csv_file", "rows", "tasks", "kernels", "memory", "samples", "steps")(
    rows_of_a_csv_file, TEXT
)
_whole("step_of_a_csv_file", "steps", "rows")(step_of_a_csv_file, TEXT)
_whole("side_of_the_device", "tasks", "device", "file")(whole_rank_of_text, TEXT)


# --- timelines ------------------------------------------------------------------------------------

FREE_LAYERS = {"AI Core Freq", "HBM", "DDR", "QoS", "Python", "AscendCL", "Acc PMU"}
"""Layers that are not drawn with every other: by product, switch or writer."""
DEVICE_LAYERS = {"Ascend Hardware", "Communication", "HCCL", "Overlap Analysis", "AI Core Freq"}


def timelines(folder: Path) -> list[Path]:
    """Timelines of tasks."""
    found = [path for path in text_files(folder) if path.name.startswith(("trace_view", "msprof_"))]
    return [path for path in found if path.suffix == ".json" and "tx" not in path.name]


def in_timeline(
    *causes: str,
) -> Callable[[Callable[[Events, random.Random], Taken]], Callable[[Events, random.Random], Taken]]:
    """Register a loss of events; the change leaves those that stay in the list."""

    def register(
        change: Callable[[Events, random.Random], Taken],
    ) -> Callable[[Events, random.Random], Taken]:
        def take(folder: Path, source: random.Random) -> Taken:
            found = timelines(folder)
            if not found:
                return None
            chosen = source.choice(found)
            events = read_events(chosen)
            gone = change(events, source)
            write_events(chosen, events)
            return gone and f"{chosen.name}: {gone}"

        loss = Loss(change.__name__, causes, take)
        TIMELINE.append(loss)
        TEXT.append(loss)
        return change

    return register


def read_events(path: Path) -> Events:
    document = json.loads(path.read_bytes())
    events: Events = document["traceEvents"] if isinstance(document, dict) else document
    return events


def write_events(path: Path, events: Events) -> None:
    path.write_text(json.dumps(events, ensure_ascii=False), encoding="utf-8")


def processes(events: Events) -> dict[Any, str]:
    """Names of processes by pid."""
    return {
        one["pid"]: one["args"]["name"]
        for one in events
        if one["ph"] == "M" and one["name"] == "process_name"
    }


def place(event: dict[str, Any]) -> tuple[Any, Any, str]:
    return event["pid"], event["tid"], str(event["ts"])


def keep(events: Events, stays: Callable[[dict[str, Any]], bool]) -> None:
    """Leave some events out, and with them the arrows of which no end is left."""
    gone = {place(one) for one in events if one["ph"] == "X" and not stays(one)}
    cut = {
        (one.get("cat"), one["id"])
        for one in events
        if one["ph"] in "stf" and (place(one) in gone or not stays(one))
    }
    events[:] = [
        one
        for one in events
        if stays(one) and not (one["ph"] in "stf" and (one.get("cat"), one["id"]) in cut)
    ]


def lose_layers(path: Path, chosen: Callable[[str], bool]) -> None:
    events = read_events(path)
    pids = {pid for pid, name in processes(events).items() if chosen(name)}
    keep(events, lambda one: one["pid"] not in pids)
    write_events(path, events)


@in_timeline("layer", "tasks", "host calls", "framework calls", "memory", "samples", "rows")
def layer(events: Events, source: random.Random) -> Taken:
    held = {one["pid"] for one in events if one["ph"] in "XC"}
    layers = {
        pid: name
        for pid, name in processes(events).items()
        if pid in held and name not in FREE_LAYERS
    }
    pid = source.choice(sorted(layers, key=str))
    keep(events, lambda one: one["pid"] != pid)
    return layers[pid]


@in_timeline("arrows")
def kind_of_arrow(events: Events, source: random.Random) -> Taken:
    kinds = sorted({str(one.get("cat")) for one in events if one["ph"] in "stf"})
    if not kinds:
        return None
    gone = source.choice(kinds)
    events[:] = [one for one in events if one["ph"] not in "stf" or str(one.get("cat")) != gone]
    return gone


@in_timeline("arrows")
def some_arrows(events: Events, source: random.Random) -> Taken:
    kinds = Counter(str(one.get("cat")) for one in events if one["ph"] == "s")
    kinds = Counter(
        {kind: times for kind, times in kinds.items() if times > 20 and kind != "fwdbwd"}
    )
    if not kinds:
        return None
    kind = source.choice(sorted(kinds))
    starts = sorted(
        (one for one in events if one["ph"] == "s" and str(one.get("cat")) == kind),
        key=lambda one: float(one["ts"]),
    )
    gone = {one["id"] for one in span(starts, source.choice(["head", "middle", "tail"]), source)}
    events[:] = [
        one
        for one in events
        if one["ph"] not in "stf" or str(one.get("cat")) != kind or one["id"] not in gone
    ]
    return f"{len(gone)} of {kind} from {min(gone)}"


def slices(events: Events, layer_name: str) -> Iterator[dict[str, Any]]:
    pids = {pid for pid, name in processes(events).items() if name == layer_name}
    found = (one for one in events if one["ph"] == "X" and one["pid"] in pids)
    return iter(sorted(found, key=lambda one: float(one["ts"])))


def launched(events: Events) -> set[Any]:
    """The numbers of launches."""
    return {
        one["args"].get("connection_id")
        for one in slices(events, "CANN")
        if "node" in (one["args"].get("level"), one["args"].get("Mode"))
    }


def lose_slices(events: Events, gone: Sequence[dict[str, Any]]) -> None:
    numbers = {id(one) for one in gone}
    keep(events, lambda one: id(one) not in numbers)


@in_timeline("tasks")
def tasks_of_a_timeline(events: Events, source: random.Random) -> Taken:
    where = source.choice(["head", "middle", "tail"])
    tasks = list(slices(events, "Ascend Hardware"))
    gone = span(tasks, where, source)
    if not is_missed(events, tasks, gone):
        return None
    lose_slices(events, gone)
    return f"{len(gone)} tasks from {gone[0]['ts']}, {where}"


def is_missed(events: Events, tasks: Events, gone: Sequence[dict[str, Any]]) -> bool:
    """Whether a launch has no task but those that go."""
    lost = {id(one) for one in gone}
    left = {one["args"].get("connection_id") for one in tasks if id(one) not in lost}
    return any(one["args"].get("connection_id") in launched(events) - left for one in gone)


@in_timeline("tasks")
def stream_of_a_timeline(events: Events, source: random.Random) -> Taken:
    threads = Counter(one["tid"] for one in slices(events, "Ascend Hardware"))
    if len(threads) < 2:
        return None
    thread = source.choice(sorted(one for one, times in threads.items() if times > 2))
    tasks = list(slices(events, "Ascend Hardware"))
    gone = [one for one in tasks if one["tid"] == thread]
    if not is_missed(events, tasks, gone):
        return None
    lose_slices(events, gone)
    return f"stream {thread}"


@in_timeline("host calls", "launches")
def host_calls_of_a_timeline(events: Events, source: random.Random) -> Taken:
    where = source.choice(["middle", "tail"])
    gone = span(list(slices(events, "CANN")), where, source)
    named = {one["args"].get("connection_id") for one in slices(events, "Ascend Hardware")}
    lost = {id(one) for one in gone}
    calls = slices(events, "CANN")
    left = {one["args"].get("connection_id") for one in calls if id(one) not in lost}
    launches = (launched(events) & named) - left
    if not any(one["args"].get("connection_id") in launches for one in gone):
        return None
    lose_slices(events, gone)
    return f"{len(gone)} host calls from {gone[0]['ts']}, {where}"


@in_timeline("steps", "framework calls")
def step_of_a_timeline(events: Events, source: random.Random) -> Taken:
    found = [one for one in events if str(one.get("name")).startswith("ProfilerStep#")]
    if len(found) < 3:
        return None
    gone = source.choice(sorted(found, key=lambda one: float(one["ts"]))[1:-1])
    lose_slices(events, [gone])
    return str(gone["name"])


@in_timeline("tasks", "steps", "layer")
def tasks_of_a_step_of_a_timeline(events: Events, source: random.Random) -> Taken:
    found = [one for one in events if str(one.get("name")).startswith("ProfilerStep#")]
    if not found:
        return None
    step = source.choice(found)
    start, end = float(step["ts"]), float(step["ts"]) + float(step["dur"])
    tasks = list(slices(events, "Ascend Hardware"))
    gone = [one for one in tasks if start <= float(one["ts"]) < end]
    if not is_missed(events, tasks, gone):
        return None
    lose_slices(events, gone)
    return f"{len(gone)} tasks of {step['name']}"
