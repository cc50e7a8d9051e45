"""A thread that works off one task after the other and never keeps the program from ending."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class Worker:
    """Runs what would hold up an event loop.

    Unlike an executor's, its thread is not waited for: ^C ends a server at once, even while a large
    file is being read.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="api-worker", daemon=True).start()

    async def run(self, task: Callable[[], Result]) -> Result:
        """The result of a task; its exception is raised here."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        self._tasks.put((loop, done, task))
        return await done

    def _work(self) -> None:
        while True:
            loop, done, task = self._tasks.get()
            try:
                result, problem = task(), None
            except Exception as error:
                result, problem = None, error
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, done, result, problem)


def _settle(done: asyncio.Future[Any], result: Any, problem: Exception | None) -> None:
    if done.cancelled():
        return
    if problem is None:
        done.set_result(result)
    else:
        done.set_exception(problem)
