"""``minddata_pipeline_raw``: operators of the data pipeline."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ascend_ref.raw.damage import Damage

from .documents import Malformed, is_number, read_document
from .run import Run
from .tables import write_rows

KIND = "minddata_pipeline"
TABLE = "minddata_pipeline_raw"

Operator: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """``interval``: between two samples; ``operators`` by their number."""

    interval: int | float
    operators: Mapping[int, Operator]


def write_pipeline(run: Run) -> None:
    """Write the operators, where there is a document of them."""
    slices = run.slices(KIND)
    if slices is None or not run.reads(KIND):
        return
    source = slices[0].path
    wrong: list[str] = []
    empty = run.way("empty_queues")
    rows = read_document(
        source, lambda value: list(rows_of(pipeline_of(value), empty, wrong)), run.damage
    )
    if rows is None:
        return
    run.damage += (Damage(source, text) for text in wrong)
    path = run.path(TABLE)
    if path is not None:
        header = [one.name for one in run.columns(TABLE)]
        cells = ([row[name] for name in header] for row in rows)
        write_rows(run, path, [header, *cells])


def pipeline_of(document: Any) -> Pipeline:
    """The operators of a document. Raises :class:`Malformed`."""
    found = _mapping(document, "the document")
    interval, operators = found.get("sampling_interval"), found.get("op_info")
    if interval is None or not is_number(interval):
        raise Malformed(f"sampling_interval is {interval!r}")
    if not isinstance(operators, list) or not operators:
        raise Malformed("op_info is no list of operators")
    by_number = {}
    for number, one in enumerate(operators):
        place = f"op_info[{number}]"
        operator = _mapping(one, place)
        by_number[_whole(operator.get("op_id"), f"{place}.op_id")] = operator
        children = operator.get("children")
        if children is not None and not isinstance(children, list):
            raise Malformed(f"{place}.children is no list")
        for child in children or ():
            _whole(child, f"{place}.children")
        _check_queue(operator.get("metrics"), place)
    if 0 not in by_number:
        raise Malformed("there is no operator 0")
    return Pipeline(interval, by_number)


def rows_of(pipeline: Pipeline, empty: str, wrong: list[str]) -> Iterator[Mapping[str, object]]:
    """The rows from operator 0 down. ``wrong``: takes what keeps a row or a value from being one;
    ``empty``: the way of empty_queues.
    """
    waiting: deque[tuple[int, int | None]] = deque([(0, None)])
    done = set()
    while waiting:
        number, parent = waiting.popleft()
        if number in done:
            wrong.append(f"operator {number} comes twice, the second time below {parent}")
            continue
        done.add(number)
        one = pipeline.operators[number]
        children = _children(pipeline.operators, number, wrong)
        waiting.extend((child, number) for child in children)
        sizes, average, length, usage = _queue(one, empty, wrong)
        yield {
            "op_id": number,
            "op_type": one.get("op_type"),
            "num_workers": one.get("num_workers"),
            "output_queue_size": sizes,
            "output_queue_average_size": average,
            "output_queue_length": length,
            "output_queue_usage_rate": usage,
            "sample_interval": pipeline.interval,
            "parent_id": parent,
            "children_id": children or None,
        }


def _children(operators: Mapping[int, Operator], number: int, wrong: list[str]) -> list[int]:
    """Those with a queue; the children of one without come behind all others in its place."""
    waiting = deque(operators[number].get("children") or ())
    found = []
    seen = set()
    while waiting:
        child = waiting.popleft()
        if child not in operators:
            wrong.append(f"operator {child}, a child of {number}, is not there")
        elif _queue_of(operators[child]):
            found.append(child)
        elif child in seen:
            wrong.append(f"operator {child} is below itself, or comes twice below {number}")
        else:
            seen.add(child)
            waiting.extend(operators[child].get("children") or ())
    return found


def _queue(
    operator: Operator, empty: str, wrong: list[str]
) -> tuple[list[Any] | None, float | None, Any, float | None]:
    queue = _queue_of(operator)
    if not queue:
        return None, None, None, None
    sizes, length = queue["size"], queue.get("length")
    number = operator["op_id"]
    if not sizes:
        if empty == "stop":
            wrong.append(f"operator {number}: no sample of its queue")
        return sizes, None, length, None
    average = sum(sizes) / len(sizes)
    if not length:
        wrong.append(f"operator {number}: its queue can hold {length!r}")
        return sizes, average, length, None
    return sizes, average, length, average / length


def _queue_of(operator: Operator) -> Any:
    return (operator.get("metrics") or {}).get("output_queue")


def _check_queue(metrics: Any, place: str) -> None:
    if metrics is None:
        return
    queue = _mapping(metrics, f"{place}.metrics").get("output_queue")
    if not queue:
        return
    place = f"{place}.metrics.output_queue"
    sizes = _mapping(queue, place).get("size")
    if not isinstance(sizes, list) or not all(map(is_number, sizes)):
        raise Malformed(f"{place}.size is no list of numbers")
    length = queue.get("length")
    if length is not None and not is_number(length):
        raise Malformed(f"{place}.length is {length!r}")


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(f"{place} is no object")
    return value


def _whole(value: Any, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed(f"{place} is no whole number")
    return value
