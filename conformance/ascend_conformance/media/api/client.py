"""The client's end of the WebSocket: bounded in time and memory, whatever the server does."""

from __future__ import annotations

import logging
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.uri import parse_uri

from ascend_ref.db.display import clip, printable

MAX_MESSAGE = 64 << 20
"""Bytes of a message; a longer one ends the connection."""

FRAMES_WAITING = 1
"""Frames taken from the network before the message is asked for."""

CLOSE_SECONDS = 1.0
"""How long the server may take to say goodbye."""

REASON_LENGTH = 200


class CannotConnect(Exception):
    """There is no server of WebSockets at the address; the text is the line for the user."""


class Lost(Exception):
    """The connection has ended; the text says how."""


class Client:
    """An open connection. Use :func:`open_client`."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    def send(self, text: str) -> None:
        """Send a text message. Raises :class:`Lost`."""
        try:
            self._connection.send(text)
        except (WebSocketException, OSError) as problem:
            raise Lost(_reason(problem)) from problem

    def receive(self, deadline: float) -> str | bytes | None:
        """The next message; ``None`` when it has not come until ``deadline``, a monotonic time.

        Raises :class:`Lost`.
        """
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return None
        try:
            return self._connection.recv(remaining)
        except TimeoutError:
            return None
        except (WebSocketException, OSError) as problem:
            raise Lost(_reason(problem)) from problem


@contextmanager
def open_client(address: str, timeout: float) -> Iterator[Client]:
    """Connect to ``ws://HOST:PORT/PATH``, directly and without following redirects.

    ``timeout`` seconds are given to connecting, and to the network for each message that is sent.
    Raises :class:`CannotConnect`.
    """
    label = shown_address(address)
    with ExitStack() as stack:
        try:
            connection = _connected(address, timeout, stack)
        except InvalidURI as problem:
            expected = "expected an address such as ws://127.0.0.1:9000"
            raise CannotConnect(f"{label}: {expected}") from problem
        except (WebSocketException, OSError, ValueError, EOFError) as problem:
            reason = f"{_reason(problem)}; expected a server of WebSockets"
            raise CannotConnect(f"{label}: {reason}") from problem
        yield Client(connection)


def _connected(address: str, timeout: float, stack: ExitStack) -> ClientConnection:
    where = parse_uri(address)
    # A socket of our own: neither proxies of the environment nor redirects lead elsewhere.
    plain = socket.create_connection((where.host, where.port), timeout)
    stack.callback(plain.close)
    _limit_sending(plain, timeout)
    plain.settimeout(None)
    opening = connect(
        address,
        sock=plain,
        compression=None,
        open_timeout=timeout,
        close_timeout=min(timeout, CLOSE_SECONDS),
        ping_interval=None,
        max_size=MAX_MESSAGE,
        max_queue=FRAMES_WAITING,
        logger=_SILENT,
    )
    return stack.enter_context(opening)


def shown_address(address: str) -> str:
    """The address on one line, without a user's password."""
    scheme, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return printable(f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}")


def _limit_sending(plain: socket.socket, seconds: float) -> None:
    """Let sends fail that the server does not take, instead of waiting for ever.

    Without it a server that sends pings and reads nothing would block the pongs, and us with them.
    """
    if sys.platform == "win32":
        limit = struct.pack("@L", max(int(seconds * 1000), 1))
    else:
        whole = int(seconds)
        limit = struct.pack("@ll", whole, max(int((seconds - whole) * 1_000_000), 1))
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def _reason(problem: Exception) -> str:
    if isinstance(problem, ConnectionClosed):
        frame = problem.rcvd or problem.sent
        if frame is None:
            return "the connection broke off"
        ended = "the server closed it" if problem.rcvd else "it had to be closed"
        said = f", {frame.reason}" if frame.reason else ""
        return clip(printable(f"{ended} with code {int(frame.code)}{said}"), REASON_LENGTH)
    if isinstance(problem, OSError) and problem.strerror:
        return clip(printable(problem.strerror), REASON_LENGTH)
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    return clip(printable(str(problem) or type(problem).__name__), REASON_LENGTH)


_SILENT = logging.getLogger("ascend_conformance.media.api.websockets")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
