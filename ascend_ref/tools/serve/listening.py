"""What all servers of ours have in common: where they listen, who may ask, and how they end."""

from __future__ import annotations

import asyncio
import ipaddress
import queue
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

MAX_MESSAGE = 16 << 20
"""Bytes of a request, as in the server of MindStudio Insight; a longer one is not read."""

CLOSE_SECONDS = 1.0
"""How long a client may take to say goodbye."""

PATIENCE_SECONDS = 60.0
"""How long a client may be silent, or take for a request or for reading an answer."""

LOCAL_HOST = r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?"
LOCAL_ORIGIN = re.compile(rf"https?://{LOCAL_HOST}", re.ASCII)
"""Pages that this machine serves to itself."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to listen. ``origins``: allowed with this machine's own; port 0: a free one."""

    host: str = "127.0.0.1"
    port: int = 0
    origins: tuple[str, ...] = ()


class CannotListen(Exception):
    """No client can reach the endpoint; the text is the reason."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host name or address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def address_of(listening: socket.socket, scheme: str) -> str:
    """The URL of a socket that listens."""
    host, port = listening.getsockname()[:2]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


Result = TypeVar("Result")

_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class Worker:
    """A thread that runs what would hold up an event loop, one task after the other.

    Unlike an executor's, it is not waited for: ^C ends a server at once, even while a large
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
                loop.call_soon_threadsafe(settle, done, result, problem)


def settle(done: asyncio.Future[Any], result: Any, problem: Exception | None) -> None:
    """End a future, unless it has ended."""
    if done.done():  # cancelled, or a signal or the first client came before
        return
    if problem is None:
        done.set_result(result)
    else:
        done.set_exception(problem)


@contextmanager
def signals(ended: asyncio.Future[signal.Signals | None]) -> Iterator[None]:
    """Let ^C and SIGTERM end the server, where this thread receives them."""
    loop = asyncio.get_running_loop()

    def end(number: int, _: FrameType | None) -> None:
        loop.call_soon_threadsafe(settle, ended, signal.Signals(number), None)

    before: dict[signal.Signals, Any] = {}
    with suppress(ValueError):  # not the main thread
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
