"""A capture as counted rows without any number of its own, to compare two of them by meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

from ascend_ref.capture import RECORDS, Capture

Plain = Mapping[str, Counter[Hashable]]
TEXTS_OF_SAMPLES = ("type", "name", "mode", "eventName", "coreType", "metric", "args")


def plain(capture: Capture) -> Plain:
    """Every table by name: rows with texts, calls, tasks and collectives in place of numbers.

    Those of records with their places, as CSV files show them in this order.
    """
    texts = capture.texts.all

    def text(number: int) -> str | None:
        return texts[number] if number >= 0 else None

    def rows(batch: object) -> list[dict[str, int]]:
        columns = {name: column.tolist() for name, column in batch.columns()}  # type: ignore[attr-defined]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    calls = {
        one["connection"]: (
            one["start"],
            one["end"],
            one["level"],
            one["thread"],
            text(one["name"]),
        )
        for one in rows(capture.calls)
    }
    tasks = {
        one["identity"]: (
            *(one[name] for name in ("start", "end", "device", "stream", "number", "context")),
            one["model"],
            calls.get(one["connection"], one["connection"]),
            text(one["kind"]),
        )
        for one in rows(capture.tasks)
    }
    kinds = [
        tuple(
            value if name in ("blocks", "mix_blocks") else text(value)
            for name, value in one.items()
        )
        for one in rows(capture.kernel_kinds)
    ]
    groups = [(text(one["name"]), one["rank"], one["size"]) for one in rows(capture.groups)]
    operators = [
        (
            *(text(one[name]) for name in ("name", "kind", "algorithm")),
            groups[one["group"]],
            calls.get(one["connection"]),
            *(one[name] for name in ("device", "count", "data_type", "relay", "retry")),
        )
        for one in rows(capture.collectives)
    ]
    marks = [
        {**one, "message": text(one["message"]), "domain": text(one["domain"])}
        for one in rows(capture.marks)
    ]
    events = [{**one, "name": text(one["name"])} for one in rows(capture.workspace_events)]
    transfers = [
        (
            tasks[one.pop("task")],
            operators[one.pop("collective")],
            text(one.pop("kind")),
            *one.values(),
        )
        for one in rows(capture.transfers)
    ]
    found: dict[str, Counter[Hashable]] = {
        "calls": Counter(calls.values()),
        "tasks": Counter(tasks.values()),
        "kernels": Counter(
            (tasks[one["task"]], kinds[one["kind"]]) for one in rows(capture.kernels)
        ),
        "counters": Counter(
            (tasks[task], *zip(capture.counters.metrics, values, strict=True))
            for task, values in zip(
                capture.counters.task.tolist(), capture.counters.values.tolist(), strict=True
            )
        ),
        "copies": Counter(
            (tasks[one["task"]], one["size"], one["operation"]) for one in rows(capture.copies)
        ),
        "collectives": Counter(operators),
        "transfers": Counter(transfers),
        "marks": Counter(tuple(one.values()) for one in marks),
        "workspace": Counter(tuple(one.values()) for one in events),
    }
    for name, table in capture.samples.items():
        columns = {
            key: [text(one) for one in column.tolist()]
            if key in TEXTS_OF_SAMPLES
            else [tasks.get(one) for one in column.tolist()]
            if key == "globalTaskId"
            else column.tolist()
            for key, column in sorted(table.items())
        }
        found[name] = Counter(zip(*columns.values(), strict=True))
    for name, record in capture.records.items():
        columns = {
            key: [text(one) for one in column.tolist()]
            if key in RECORDS[name].texts
            else column.tolist()
            for key, column in sorted(record.items())
        }
        found[name] = Counter(enumerate(zip(*columns.values(), strict=True)))
    return {name: counted for name, counted in found.items() if counted}
