"""The API over WebSocket (bin-blocks.md 7.1)."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import queue
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

from websockets import Origin
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.protocol import State

from .answer import Body
from .envelope import encoded
from .session import Session

MAX_MESSAGE = 16 << 20
"""Bytes of a request, as in the viewer's server; a longer one closes the connection."""

KEEPALIVE_SECONDS = 60
"""Of silence until a ping, and again until the connection ends: the viewer's 120 s together."""

CLOSE_SECONDS = 1.0
"""How long a client may take to say goodbye."""

WAITING_REQUESTS = 2
"""Messages taken from the network before the first is answered."""

LOCAL_ORIGIN = re.compile(r"https?://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?", re.ASCII)
"""Pages that this machine serves to itself."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to listen. ``origins``: allowed besides this machine's own; port 0: a free one."""

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


async def serve(
    session: Session, endpoint: Endpoint, ready: Callable[[str], None], *, once: bool
) -> signal.Signals | None:
    """Answer clients, one at a time, until a signal comes; with ``once`` until the first leaves.

    ``ready`` is called with the address. Returns the signal. Raises :class:`CannotListen`.
    """
    ended: asyncio.Future[signal.Signals | None] = asyncio.get_running_loop().create_future()
    desk = _Desk(session, ended if once else None)
    try:
        server = await listen(
            desk.attend,
            endpoint.host,
            endpoint.port,
            create_connection=_Connection,
            origins=[None, LOCAL_ORIGIN, *map(Origin, endpoint.origins)],
            compression=None,
            server_header=None,
            max_size=MAX_MESSAGE,
            max_queue=WAITING_REQUESTS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=KEEPALIVE_SECONDS,
            ping_timeout=KEEPALIVE_SECONDS,
            logger=_SILENT,
        )
    except OSError as problem:
        # asyncio puts the address in brackets in front of the reason.
        raise CannotListen((problem.strerror or str(problem)).rpartition("): ")[2]) from problem
    async with server:
        host, port = server.sockets[0].getsockname()[:2]
        ready(f"ws://{f'[{host}]' if ':' in host else host}:{port}")
        with _signals(ended), _quiet_loop():
            try:
                return await ended
            finally:
                desk.close()


class _Connection(ServerConnection):
    """Nothing is taken from a client that does not read: the pongs to its pings would pile up."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.paused:
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.recv_messages.paused:
            self.transport.resume_reading()


class _Desk:
    """Takes one client at a time.

    The next may come while the last one's answer is still being worked out; it waits for the end of
    that, since the session knows one request at a time.
    """

    def __init__(self, session: Session, left: asyncio.Future[Any] | None) -> None:
        self._session = session
        self._worker = _Worker()
        self._left = left
        self._client: ServerConnection | None = None
        self._free = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def attend(self, client: ServerConnection) -> None:
        """Answer a client until it leaves; a second one is turned away (A20)."""
        if self._client is not None and self._client.state is State.OPEN:
            await client.close(CloseCode.TRY_AGAIN_LATER, "another client is being served")
            return
        self._client = client
        async with self._free:
            self._task = asyncio.current_task()
            try:
                with suppress(ConnectionClosed):
                    async for message in client:
                        await self._answer(client, message)
            finally:
                self._task = None
                if self._left is not None:
                    _settle(self._left, None, None)

    def close(self) -> None:
        """Leave the client, also in the middle of an answer, so that nobody waits for its end."""
        if self._task is not None:
            self._task.cancel()

    async def _answer(self, client: ServerConnection, message: str | bytes) -> None:
        """Send what a message leads to. The kind of frame does not matter; other bytes than UTF-8
        are dropped."""
        if isinstance(message, bytes):
            try:
                message = message.decode()
            except UnicodeDecodeError:
                return
        answers: Iterator[Body] = self._session.handle(message)
        while (text := await self._worker.run(lambda: _next(answers))) is not None:
            await client.send(text)


Result = TypeVar("Result")

_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class _Worker:
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
                loop.call_soon_threadsafe(_settle, done, result, problem)


def _settle(done: asyncio.Future[Any], result: Any, problem: Exception | None) -> None:
    if done.done():  # cancelled, or a signal or the first client came before
        return
    if problem is None:
        done.set_result(result)
    else:
        done.set_exception(problem)


def _next(answers: Iterator[Body]) -> str | None:
    answer = next(answers, None)
    return None if answer is None else encoded(answer)


@contextmanager
def _quiet_loop() -> Iterator[None]:
    """Keep back warnings, one for each write to a client that is gone.

    A pipe at stderr that nobody reads would be full of them, and the server would wait for it.
    """
    logger = logging.getLogger("asyncio")
    logger.addFilter(_is_error)
    try:
        yield
    finally:
        logger.removeFilter(_is_error)


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR


@contextmanager
def _signals(ended: asyncio.Future[signal.Signals | None]) -> Iterator[None]:
    """Let ^C and SIGTERM end the server, where this thread receives them."""
    loop = asyncio.get_running_loop()

    def end(number: int, _: FrameType | None) -> None:
        loop.call_soon_threadsafe(_settle, ended, signal.Signals(number), None)

    before: dict[signal.Signals, Any] = {}
    with suppress(ValueError):  # not the main thread
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_SILENT = logging.getLogger("ascend_ref.tools.serve.websockets")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
