"""The API over WebSocket (bin-blocks.md 7.1)."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from websockets import Origin
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.protocol import State

from .answer import Body
from .envelope import encoded
from .listening import (
    CLOSE_SECONDS,
    LOCAL_ORIGIN,
    MAX_MESSAGE,
    PATIENCE_SECONDS,
    CannotListen,
    Endpoint,
    Worker,
    address_of,
    settle,
    signals,
)
from .session import Session

WAITING_REQUESTS = 2
"""Messages taken from the network before the first is answered."""


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
            open_timeout=PATIENCE_SECONDS,
            ping_interval=PATIENCE_SECONDS,
            ping_timeout=PATIENCE_SECONDS,  # both together are the viewer's 120 s
            logger=_SILENT,
        )
    except OSError as problem:
        # asyncio puts the address in brackets in front of the reason.
        raise CannotListen((problem.strerror or str(problem)).rpartition("): ")[2]) from problem
    async with server:
        with signals(ended), _quiet_loop():
            ready(address_of(server.sockets[0], "ws"))
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
        self._worker = Worker()
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
                    settle(self._left, None, None)

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


_SILENT = logging.getLogger("ascend_ref.tools.serve.websockets")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
