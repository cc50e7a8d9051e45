"""OSRT_API: system and thread calls of the host's threads while they wait."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, SystemCalls, Texts

from ..program.model import Prepare, Synchronize
from ..world.timeline import RankTimeline
from .calls import THREAD_IDS, Thread

IDLE_NS = 20_000
"""The consumer sleeps in ``read`` when the queue stays empty so long."""
MARGIN_NS = 500


def system_calls(timeline: RankTimeline, texts: Texts, process: int) -> SystemCalls:
    """Calls in order of start.

    The main thread waits for the device in ``ioctl`` and for data in ``pthread_mutex_lock`` and
    ``read``; the consumer waits for entries in ``read``.
    """
    host, program = timeline.host, timeline.program
    threads = {
        place: Thread.BACKWARD
        if program.operators[item.operator].thread == "backward"
        else Thread.MAIN
        for place, item in enumerate(program.items)
    }
    parts: list[tuple[Integers, Integers, Thread, str]] = []
    for place, item in enumerate(program.items):
        begin, handed, left = host.begin[:, place], host.handed[:, place], host.left[:, place]
        if isinstance(item, Synchronize):
            parts.append((handed, left, threads[place], "ioctl"))
        elif isinstance(item, Prepare):
            third = (left - begin) // 3
            parts.append((begin, begin + third, threads[place], "pthread_mutex_lock"))
            parts.append((begin + third, begin + 2 * third, threads[place], "read"))
    parts.append((*_sleeps(timeline), Thread.CONSUMER, "read"))
    lengths = [len(start) for start, *_ in parts]
    ids = [THREAD_IDS[thread] + process for *_, thread, _ in parts]
    calls = SystemCalls(
        start=np.concatenate([start for start, *_ in parts]),
        end=np.concatenate([end for _, end, *_ in parts]),
        thread=np.repeat(np.array(ids, np.int64), lengths),
        name=np.repeat(texts.numbers(name for *_, name in parts), lengths),
    )
    calls = calls.take(calls.end - calls.start > 2 * MARGIN_NS)
    calls.start[:] += MARGIN_NS
    calls.end[:] -= MARGIN_NS
    return calls.take(np.argsort(calls.start, kind="stable"))


def _sleeps(timeline: RankTimeline) -> tuple[Integers, Integers]:
    queued = np.flatnonzero(timeline.plan.occupied > 0)
    asleep = timeline.host.done[:, queued].reshape(-1)[:-1]
    awake = timeline.host.taken[:, queued].reshape(-1)[1:]
    long = awake - asleep > IDLE_NS
    return asleep[long], awake[long]
