"""What communication operators did, computed again from their tasks in the timeline.

Lengths are counted in parts of a ns, because older writers wrote fractions of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import chosen, dictionary, text_numbers
from ascend_ref.capture.batch import Integers
from ascend_ref.derive import matrix, transit
from ascend_ref.derive.adapter_steps import step_at
from ascend_ref.derive.communication_report import CLASSES, SHOWN_LINKS, quotients
from ascend_ref.derive.decimals import python_round, shortest_texts, unit_floats
from ascend_ref.derive.group_hash import group_hash
from ascend_ref.derive.matching import groups
from ascend_ref.derive.mindspore_matrix import class_of, kind_of

from ..database import Facts
from .mindspore import of_mindspore, step_names
from .reading import NONE, Asked, integers, read, reals, texts
from .steps import device_steps_of

PARTS = 64
"""Parts of a ns."""
NS_PER_MS, BYTES_PER_MB = 1e6, 1e6
NO_RANK = (1 << 32) - 1
MASTERS: Mapping[str, tuple[int, ...]] = {
    "0 and 1": (0, 1),
    **{str(plane): (plane,) for plane in range(8)},
}
"""Planes that may be those of the master, for which the documents state waiting and moving. An
operator of few ranks has plane 0 alone; one of more ranks uses it for work within the chip, and
exchanges first on plane 1 (text-outputs.md 7.8)."""
WORK = """
WITH task AS (SELECT *, tid - plane - 1 AS thread FROM view.drawn_communication_task
    WHERE ts IS NOT NULL AND dur IS NOT NULL AND plane IS NOT NULL),
  operator AS (SELECT file, pid, tid, ts, max(end_ns) AS end_ns, arg_max(row, end_ns) AS row
    FROM view.drawn_communication WHERE ts IS NOT NULL AND end_ns IS NOT NULL GROUP BY ALL),
  led AS (SELECT o.*, t."stream id" FROM operator o
    JOIN (SELECT DISTINCT file, pid, thread, ts, "stream id" FROM task) t
    ON o.file = t.file AND o.pid = t.pid AND o.tid = t.thread AND o.ts = t.ts)
SELECT t.file, t.row, CASE WHEN t.ts <= s.end_ns THEN s.row ELSE o.row END AS operator,
  t.ts AS start, t.dur, t.plane, t."task type" AS kind, t."link type" AS link,
  t."transport type" AS transport, t."src rank" AS source, t."dst rank" AS target,
  t."size(Byte)" AS size
FROM task t
ASOF LEFT JOIN operator o ON o.file = t.file AND o.pid = t.pid AND o.tid = t.thread AND o.ts <= t.ts
ASOF LEFT JOIN led s ON s.file = t.file AND s.pid = t.pid AND s.tid = t.thread
  AND s."stream id" = t."stream id" AND s.ts <= t.ts
WHERE t.ts <= o.end_ns OR t.ts <= s.end_ns ORDER BY operator, t.ts, t.row
"""
"""Tasks with the operator that began last before them, of several at the same time the one whose
first task ran on the same stream: what runs on one stream runs one behind the other."""
OPERATORS = """
SELECT file, row, name, ts AS start, dur, group_name FROM view.drawn_communication
WHERE ts IS NOT NULL AND dur IS NOT NULL ORDER BY row
"""


@dataclass(frozen=True, slots=True)
class Work:
    """The operators, and their tasks with the planes that these ran on."""

    operators: pa.Table
    tasks: transit.SmallTasks
    plane: Integers
    remote: transit.Mask
    """Operators that reach other hosts: what they send is measured up to the tasks that confirm it
    (``communication_parser.py``), and the timeline does not show which these are."""

    @property
    def start(self) -> Integers:
        """Starts of the operators, ns."""
        return integers(self.operators, "start")

    @property
    def length(self) -> Integers:
        """Lengths of the operators in parts of a ns."""
        return _parts(self.operators)


def _parts(rows: pa.Table) -> Integers:
    """Lengths in parts of a ns, from us."""
    return np.rint(reals(rows, "dur", 0.0).clip(0, 1e12) * 1e3 * PARTS).astype(np.int64)


def _work(facts: Facts) -> Work:
    operators, tasks = read(facts, OPERATORS), read(facts, WORK)
    rows = integers(operators, "row")
    owner = np.searchsorted(rows, integers(tasks, "operator"))
    start = integers(tasks, "start")
    begin = (start - start.min(initial=start[0] if len(start) else 0)) * PARTS
    kind, transport = (np.array(texts(tasks, name), np.str_) for name in ("kind", "transport"))
    links = [transit.OF_LINK.get(text, transit.SDMA) for text in texts(tasks, "link")]
    remote = transport == "RDMA"
    source, target = (integers(tasks, name, 0) for name in ("source", "target"))
    return Work(
        operators,
        transit.SmallTasks(
            owner=owner,
            start=begin,
            end=begin + _parts(tasks),
            link=np.where(remote, transit.RDMA, np.array(links, np.int64)),
            source=source,
            target=np.where(target == NO_RANK, source, target),
            size=integers(tasks, "size", 0).clip(0),
            on_master=np.ones(len(owner), np.bool_),
            moves=np.isin(kind, transit.TRANSIT_KINDS) & (remote | (transport == "SDMA")),
            waits=kind == transit.WAIT_KIND,
        ),
        integers(tasks, "plane"),
        np.bincount(owner[remote], minlength=len(operators)) > 0,
    )


def _milliseconds(parts: Integers) -> Any:
    return parts / PARTS / NS_PER_MS


def communication_times(asked: Asked) -> pa.Table:
    """How each operator spent its time, by the plane that is looked at; ms."""
    work = _work(asked.facts)
    count = len(work.operators)
    known = {
        "file": work.operators["file"],
        "row": work.operators["row"],
        "name": work.operators["name"],
        "step": _steps(asked.facts, work),
        "class": pa.array(_classes(asked.facts, texts(work.operators, "name")), pa.string()),
        "start": pa.array(unit_floats(work.start)),
        "elapse": pa.array(_milliseconds(work.length)),
        "remote": pa.array(work.remote),
    }
    found = []
    for name, planes in MASTERS.items():
        own = work.tasks.chosen(np.isin(work.plane, planes))
        division = transit.division(own, np.zeros(count, np.int64), work.length)
        spent = (division.transit, division.wait, division.synchronization, division.idle)
        columns = dict(zip(("transit", "wait", "synchronization", "idle"), spent, strict=True))
        shown = {column: pa.array(_milliseconds(parts)) for column, parts in columns.items()}
        tasks = pa.array(np.bincount(own.owner, minlength=count))
        found.append(pa.table({**known, **shown, "tasks": tasks, "plane": [name] * count}))
    return pa.concat_tables(found)


def _classes(facts: Facts, names: list[str]) -> list[str]:
    if of_mindspore(facts):
        return [class_of(name) for name in names]
    return [CLASSES[0 if matrix.is_point_to_point(name) else 1] for name in names]


def _steps(facts: Facts, work: Work) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(_step_names(facts, work.start), pa.string())])


def _step_names(facts: Facts, start: Integers) -> list[str]:
    """The steps of operators as the documents call them; one step takes all, and of several none
    takes what is outside, which stands in no document.
    """
    if of_mindspore(facts):
        return step_names(facts, start)
    steps = device_steps_of(facts)
    if len(steps) <= 1:
        only = f"step{steps[0].number}" if steps else "step"
        return [only] * len(start)
    return ["" if one == NONE else f"step{one}" for one in step_at(steps, start).tolist()]


def _packets(facts: Facts) -> tuple[Work, transit.Packets, transit.Packets]:
    work = _work(facts)
    by_link = transit.packets(work.tasks)
    return work, by_link, transit.link_sums(by_link)


def communication_links(asked: Asked) -> pa.Table:
    """What each operator moved over each link that the documents show."""
    work, by_link, sums = _packets(asked.facts)
    count, links = len(work.operators), len(SHOWN_LINKS)
    figures = {name: np.zeros(count * links, np.int64) for name in ("size", "time", "large", "all")}
    first, _ = groups(by_link.owner, by_link.link)
    for part, one in ((by_link, first), (sums, np.arange(len(sums.owner)))):
        rows = one[part.link[one] < links]
        place = part.owner[rows] * links + part.link[rows]
        own = (part.transit_size, part.transit_time, part.large, part.packets)
        for name, values in zip(figures, own, strict=True):
            figures[name][place] = values[rows]
    size, time = figures["size"] / BYTES_PER_MB, _milliseconds(figures["time"])
    share = figures["large"] / np.maximum(figures["all"], 1)
    tasks = np.bincount(work.tasks.owner[work.tasks.moves], minlength=count)
    return pa.table(
        {
            "name": _taken(work.operators["name"], np.repeat(np.arange(count), links)),
            "link": chosen(SHOWN_LINKS, np.tile(np.arange(links), count)),
            "size": pa.array(size),
            "time": pa.array(time),
            "bandwidth": pa.array(quotients(size, time)),
            "large": pa.array(python_round(share, matrix.RATE_PLACES)),
            "tasks": pa.array(np.repeat(tasks, links)),
            "step": _taken(_steps(asked.facts, work), np.repeat(np.arange(count), links)),
            "remote": pa.array(np.repeat(work.remote, links)),
        }
    )


def communication_packets(asked: Asked) -> pa.Table:
    """Packets of each operator by link and size."""
    work, by_link, _ = _packets(asked.facts)
    found = pa.table(
        {
            "name": _taken(work.operators["name"], by_link.owner),
            "link": chosen(transit.LINKS, by_link.link),
            "size": shortest_texts(by_link.size / BYTES_PER_MB),
            "packets": pa.array(by_link.count),
            "time": pa.array(_milliseconds(by_link.duration)),
            "step": _taken(_steps(asked.facts, work), by_link.owner),
        }
    )
    names = _taken(work.operators["name"], np.flatnonzero(work.remote))
    return _with_remote(found, work.remote[by_link.owner], {"name": names})


def communication_matrix(asked: Asked) -> pa.Table:
    """The chosen flows of each kind of operators, by step, group and pair of ranks."""
    work = _work(asked.facts)
    names = texts(work.operators, "name")
    steps = _step_names(asked.facts, work.start)
    is_of_mindspore = of_mindspore(asked.facts)
    kind_of_operator = kind_of if is_of_mindspore else matrix.matrix_kind
    columns = {
        # The matrix holds all operators where none is in a step (_communication_parser.py).
        "step": steps if any(steps) else ["step"] * len(steps),
        "class": _classes(asked.facts, names),
        "kind": [kind_of_operator(name) for name in names],
        "group": [_hash(name) for name in texts(work.operators, "group_name")],
    }
    operators = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    flows = transit.flows(work.tasks)
    flows = replace(flows, duration=flows.duration / PARTS)
    keys = [text_numbers(dictionary(values))[flows.owner] for values in operators.values()]
    _, heap = groups(*keys, flows.source, flows.target)
    rows = matrix.choices(flows, heap, filled=is_of_mindspore)
    owner = flows.owner[rows.flow]
    ends = [pa.array(one[rows.flow]).cast(pa.string()) for one in (flows.source, flows.target)]
    operator = _taken(work.operators["name"], owner)
    total = pa.array(rows.choice == matrix.CHOICES.index("total"))
    unnamed = pa.array(flows.link[rows.flow] == transit.SDMA)
    heaps = [" ".join(filter(None, one)) for one in zip(*list(columns.values())[1:], strict=True)]
    remote = dict.fromkeys(heaps[at] for at in np.flatnonzero(work.remote))
    far = np.array([one in remote for one in heaps], np.bool_)
    found = pa.table(
        {
            **{name: values.take(pa.array(owner)) for name, values in operators.items()},
            "place": chosen(matrix.CHOICES, rows.choice),
            "link": pc.binary_join_element_wise(*ends, "-"),
            "transport": pc.if_else(unnamed, None, chosen(transit.LINKS, flows.link[rows.flow])),
            "size": pa.array(rows.size / BYTES_PER_MB),
            "time": pa.array(rows.duration / NS_PER_MS),
            "bandwidth": pa.array(matrix.rate(rows.size, rows.duration)),
            "operator": pc.if_else(total, None, operator),
        }
    )
    return _with_remote(found, far[owner], {"heap": pa.array(list(remote), pa.string())})


def _with_remote(found: pa.Table, remote: transit.Mask, names: Mapping[str, pa.Array]) -> pa.Table:
    """Rows of operators within the host, and a row for each of ``names`` that are ``remote``."""
    count = len(next(iter(names.values())))
    near = found.filter(pa.array(~remote)).append_column(
        "remote", pa.array(np.zeros(int((~remote).sum()), np.bool_))
    )
    far = pa.table({**names, "remote": pa.array(np.ones(count, np.bool_))})
    return pa.concat_tables([near, far], promote_options="default")


def _taken(column: pa.ChunkedArray, rows: Integers) -> pa.Array:
    return column.combine_chunks().take(pa.array(rows))


def _hash(group: str) -> str | None:
    """What the documents call a group; older timelines know the groups by number alone."""
    return None if not group or group.isdecimal() else group_hash(group)
