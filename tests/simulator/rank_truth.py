"""What ranks share their time on, read from captures alone: by sweeping over times in whole ns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ascend_ref.capture import Capture

MS = 1_000_000
VECTORS = {"vec_fp32_ratio": 32, "vec_fp16_ratio": 128, "vec_int32_ratio": 64, "vec_misc_ratio": 32}
"""Operations of an instruction in a cycle, as MindSpore's parser has them (M86)."""
Span = tuple[int, int]


class Step(NamedTuple):
    """Milliseconds of a step: computing, and communicating while nothing computes."""

    computing: float
    alone: float


def steps_of(capture: Capture) -> list[Step]:
    """Steps from the first kernel of the graph to the end of the last one that starts."""
    bounds = list(_bounds(capture))
    alone = _alone(list(_computing(capture)), list(_sums(capture)))
    found = [0] * len(bounds)
    for start, end in alone:
        step = next((n for n, (_, last) in enumerate(bounds) if start <= last), None)
        if step is not None:
            found[step] += end - start
    return [
        Step((end - start - own) / MS, own / MS)
        for (start, end), own in zip(bounds, found, strict=True)
    ]


def operations_of(capture: Capture) -> float:
    """Millions of operations of a graph run once: those of the first iteration, as metrics say."""
    _, last = next(_iterations(capture))
    counters = capture.counters
    metrics = dict(zip(counters.metrics, counters.values.T, strict=True))
    vectors = sum(metrics[name] * lanes for name, lanes in VECTORS.items())
    every = metrics["cube_fops"] + vectors * metrics["total_cycles"]
    tasks = capture.tasks
    end = dict(zip(tasks.identity.tolist(), tasks.end.tolist(), strict=True))
    own = [row for row, task in enumerate(counters.task.tolist()) if end[task] <= last]
    return float(every[own].sum()) / 1e6


class Link(NamedTuple):
    """What went over a link of two ranks: ms, kB."""

    time: float
    size: float


def links_of(capture: Capture) -> dict[tuple[int, int], Link]:
    """What one rank moved over links of SDMA in all, by source and target."""
    transfers, tasks, texts = capture.transfers, capture.tasks, capture.texts
    length = dict(zip(tasks.identity.tolist(), (tasks.end - tasks.start).tolist(), strict=True))
    found: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row, collective in enumerate(transfers.collective.tolist()):
        if texts[int(transfers.kind[row])] not in ("Memcpy", "Reduce_Inline"):
            continue
        first = int(capture.groups.first[int(capture.collectives.group[collective])])
        places = int(transfers.source[row]), int(transfers.target[row])
        if -1 in places or places[0] == places[1]:
            continue
        link = tuple(int(capture.group_ranks[first + place]) for place in places)
        own = found[link[0], link[1]]
        own[0] += length[int(transfers.task[row])] / MS
        own[1] += int(transfers.size[row]) / 1000
    return {link: Link(*own) for link, own in found.items()}


def memory_of(capture: Capture) -> list[int]:
    """Bytes that the graph holds at each kernel of its first iteration."""
    begin, end = next(_iterations(capture))
    blocks = capture.memory_blocks
    spans = [
        (given, end + 1 if taken < 0 else taken, size)
        for given, taken, size in zip(
            blocks.allocated.tolist(), blocks.released.tolist(), blocks.size.tolist(), strict=True
        )
    ]
    kernels = [one[0] for one in _kernels(capture) if begin <= one[0] and one[1] <= end]
    return [sum(size for given, taken, size in spans if given <= time < taken) for time in kernels]


def _iterations(capture: Capture) -> Iterator[Span]:
    trace = capture.records["step_trace"]
    yield from zip(trace["start"].tolist(), trace["end"].tolist(), strict=True)


def _kernels(capture: Capture) -> list[Span]:
    tasks = capture.tasks
    spans = dict(
        zip(
            tasks.identity.tolist(),
            zip(tasks.start.tolist(), tasks.end.tolist(), strict=True),
            strict=True,
        )
    )
    return sorted(spans[task] for task in capture.kernels.task.tolist())


def _bounds(capture: Capture) -> Iterator[Span]:
    kernels = _kernels(capture)
    for start, end in _iterations(capture):
        own = [one for one in kernels if start <= one[0] and one[1] <= end]
        yield own[0][0], own[-1][1]


def _computing(capture: Capture) -> Iterator[Span]:
    yield from _kernels(capture)


def _sums(capture: Capture) -> Iterator[Span]:
    trace = capture.records["step_trace_reduce"]
    yield from zip(trace["start"].tolist(), trace["end"].tolist(), strict=True)


def _alone(computing: Sequence[Span], communicating: Sequence[Span]) -> list[Span]:
    """Where something communicates and nothing computes, between the first and the last kernel."""
    first, last = min(one[0] for one in computing), max(one[1] for one in computing)
    times = sorted({time for one in (*computing, *communicating) for time in one})
    computes, communicates = _depths(computing, times), _depths(communicating, times)
    found: list[Span] = []
    for place, (start, end) in enumerate(pairwise(times)):
        if computes[place] or not communicates[place] or start < first or end > last:
            continue
        if found and found[-1][1] == start:
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def _depths(spans: Iterable[Span], times: Sequence[int]) -> list[int]:
    """How many spans hold each time to the next one."""
    place = {time: number for number, time in enumerate(times)}
    change = [0] * (len(times) + 1)
    for start, end in spans:
        change[place[start]] += 1
        change[place[end]] -= 1
    depth, found = 0, []
    for one in change[:-1]:
        depth += one
        found.append(depth)
    return found
