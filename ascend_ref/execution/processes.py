"""Processes of this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .executor import Common, Item, Job, Result, WorkerLost
from .interrupts import interrupts_held

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


@dataclass(frozen=True, slots=True)
class Processes:
    """As many fresh processes as ``workers``, started for each ``map`` and gone after it.

    Each of them holds one end of a pipe and ends at once when the other end is closed: on Ctrl-C
    or SIGTERM, and also when this process is killed.
    """

    workers: int

    def map(
        self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> Generator[Result, None, None]:
        """See :meth:`.Executor.map`."""
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        # Not fork: it would copy threads' locks, of Arrow and of the progress display.
        context = get_context("spawn")
        lifeline, held = context.Pipe(duplex=False)
        pool = ProcessPoolExecutor(
            min(self.workers, len(items)) or 1,
            mp_context=context,
            initializer=_begin,
            initargs=(Job(function, common), lifeline),
        )
        try:
            with interrupts_held():
                futures = [pool.submit(_perform, item) for item in items]
            for future in futures:
                yield future.result()
        except BrokenProcessPool as error:
            raise WorkerLost(
                "a worker process ended without an answer; it may have run out of memory"
            ) from error
        except BaseException:
            held.close()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            lifeline.close()
            held.close()


_job: Job[Any, Any, Any] | None = None


def _begin(job: Job[Any, Any, Any], lifeline: Connection) -> None:
    """What a worker process does first."""
    global _job  # noqa: PLW0603 - the pool has no other way to hand a value to all its tasks
    _job = job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()


def _end_with_parent(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except EOFError:
        # Nothing is tidied up here: whoever closed the other end does not wait for it.
        os._exit(1)


def _perform(item: Any) -> Any:
    if _job is None:
        raise RuntimeError("a worker process was not initialised")
    return _job(item)
