"""The server over real sockets, for friends and for others."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from api_files import PLACE, answers, check_message, json_block, request, trace_block
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ascend_ref.tools.serve import Session
from ascend_ref.tools.serve.listening import Endpoint, is_loopback
from ascend_ref.tools.serve.server import serve
from ascend_spec import api_catalog

EVENT = {"ph": "X", "name": "n", "pid": "p", "tid": "t", "ts": 5, "dur": 1}
IMPORT = {"path": [PLACE.name], "projectName": "p", "projectAction": 1}
SECONDS = 10


@contextmanager
def running(*, once: bool = True, origins: tuple[str, ...] = ()) -> Iterator[str]:
    """A server in a thread of its own, and its address."""
    session = Session(answers(json_block(0x05, {"name": "ä"}), trace_block([EVENT])))
    ready = threading.Event()
    address: list[str] = []
    loops: list[asyncio.Task[Any]] = []

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        loops.append(task)

        def state(url: str) -> None:
            address.append(url)
            ready.set()

        await serve(session, Endpoint(origins=origins), state, once=once)

    def run() -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(work())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(SECONDS)
        yield address[0]
    finally:
        if not once:
            loops[0].get_loop().call_soon_threadsafe(loops[0].cancel)
        thread.join(SECONDS)
        assert not thread.is_alive()


def ask(client: ClientConnection, command: str, **params: object) -> dict[str, Any]:
    client.send(json.dumps(request(command, **params)))
    return receive(client)


def receive(client: ClientConnection) -> dict[str, Any]:
    return check_message(json.loads(client.recv(SECONDS)))


def test_a_signal_as_soon_as_the_address_is_known_ends_the_server() -> None:
    session = Session(answers(trace_block([EVENT])))
    serving = serve(session, Endpoint(), lambda _: signal.raise_signal(signal.SIGTERM), once=False)
    before = signal.signal(signal.SIGTERM, lambda *_: pytest.fail("it was for nobody"))
    try:
        assert asyncio.run(asyncio.wait_for(serving, SECONDS)) is signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)


def test_every_command_is_answered_over_a_socket() -> None:
    with running() as address, connect(address) as client:
        assert ask(client, "import/action", **IMPORT)["result"] is True
        events = [receive(client)["event"] for _ in range(3)]
        assert events == ["parse/progress", "parse/success", "parse/unitCompleted"]
        answered = []
        for command in api_catalog().commands:
            if command in ("import/action", "remote/reset"):
                continue
            params = {"blockId": "0", "sourceName": "/a", "coreName": "c", "projectName": "p"}
            answer = ask(client, command, **params, cardId=str(PLACE), rankId=str(PLACE))
            assert answer["command"] == command
            assert answer["requestId"] == 7
            answered.append(command)
        assert ask(client, "remote/reset")["result"] is True
        assert len(answered) == len(api_catalog().commands) - 2


def test_texts_arrive_as_they_are() -> None:
    with running() as address, connect(address) as client:
        ask(client, "import/action", **IMPORT)
        for _ in range(3):
            receive(client)
        assert ask(client, "source/details/baseInfo")["body"]["compare"]["name"] == "ä"


def test_half_a_character_in_a_request_does_not_break_the_answer() -> None:
    with running() as address, connect(address) as client:
        client.send(json.dumps(request("source/api/instructions/dynamic", coreName="\ud800")))
        assert receive(client)["result"] is True


def test_rubbish_gets_no_answer_and_the_next_request_does() -> None:
    with running() as address, connect(address) as client:
        for rubbish in ("not JSON", "[]", "", "x" * 100_000, b"\xff\xfe", b"", b"{}"):
            client.send(rubbish)
        assert ask(client, "source/details/roofline")["result"] is True


def test_a_binary_frame_is_taken_for_its_text() -> None:
    with running() as address, connect(address) as client:
        client.send(json.dumps(request("source/details/roofline")).encode())
        assert receive(client)["result"] is True


def test_a_message_that_is_too_long_ends_the_connection() -> None:
    with running(once=False) as address:
        with connect(address) as client:
            client.send("x" * ((16 << 20) + 1))
            with pytest.raises(ConnectionClosed) as closed:
                client.recv(SECONDS)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
        with connect(address) as client:
            assert ask(client, "source/details/roofline")["result"] is True


def test_who_comes_as_the_last_client_leaves_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = Session.handle

    def slowly(session: Session, message: str) -> Iterator[Any]:
        time.sleep(0.3)
        return handle(session, message)

    monkeypatch.setattr(Session, "handle", slowly)
    with running(once=False) as address:
        with connect(address) as first:
            first.send(json.dumps(request("source/details/roofline")))
        with connect(address) as second:
            with connect(address) as third, pytest.raises(ConnectionClosed) as closed:
                third.recv(SECONDS)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1013
            assert ask(second, "source/details/roofline")["result"] is True


def test_a_second_client_is_turned_away_and_the_first_goes_on() -> None:
    with running(once=False) as address:
        with connect(address) as first:
            assert ask(first, "source/details/roofline")["result"] is True
            with connect(address) as second, pytest.raises(ConnectionClosed) as closed:
                second.recv(SECONDS)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1013
            assert ask(first, "source/details/roofline")["result"] is True
        with connect(address) as third:
            assert ask(third, "source/details/roofline")["result"] is True


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost",
        "http://localhost:5173",
        "https://127.0.0.1:80",
        "http://127.0.0.2",
        "http://[::1]:9000",
        "https://viewer.example",  # by the list
        None,
    ],
)
def test_pages_of_this_machine_and_those_allowed_may_connect(origin: Any) -> None:
    with (
        running(origins=("https://viewer.example",)) as address,
        connect(address, origin=origin) as client,
    ):
        assert ask(client, "source/details/roofline")["result"] is True


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost.evil.example",
        "http://evil.example/http://localhost",
        "http://localhost:80@evil.example",
        "http://127.0.0.1.evil.example",
        "https://viewer.example:444",
        "file://",
        "null",
    ],
)
def test_any_other_page_is_refused_before_it_is_connected(origin: Any) -> None:
    with running(origins=("https://viewer.example",), once=False) as address:
        with pytest.raises(InvalidStatus) as refused, connect(address, origin=origin):
            pass
        assert refused.value.response.status_code == 403


def test_what_is_no_websocket_is_refused() -> None:
    with running(once=False) as address:
        host, port = address.removeprefix("ws://").split(":")
        with socket.create_connection((host, int(port)), SECONDS) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert plain.recv(100).startswith(b"HTTP/1.1 426")
        with connect(address) as client:
            assert ask(client, "source/details/roofline")["result"] is True


def test_a_client_that_leaves_in_the_middle_does_no_harm() -> None:
    with running(once=False) as address:
        for _ in range(3):
            with suppress(ConnectionClosed, OSError), connect(address) as client:
                for _ in range(50):
                    client.send(json.dumps(request("import/action", **IMPORT)))
                client.socket.shutdown(socket.SHUT_RDWR)
        for _ in range(50):  # until the server has seen that the last one is gone
            try:
                with connect(address) as late:
                    assert ask(late, "source/details/roofline")["result"] is True
                break
            except ConnectionClosed:
                continue
        else:
            pytest.fail("the server is still busy")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LOCALHOST"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["192.0.2.1", "::", "10.0.0.1", "example.org", "localhost.example.org", "", "127.0.0.1."],
)
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


# --- clients that do not read --------------------------------------------------------------------

OPENING = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PING = b"\x89\xfd" + bytes(4) + b"x" * 125
MOST_BUFFERED = 64 << 20  # far more than the system's own buffers take


@contextmanager
def plain_client(address: str) -> Iterator[socket.socket]:
    """A connection without a library that would answer, read or close by itself."""
    host, port = address.removeprefix("ws://").split(":")
    with socket.create_connection((host, int(port)), SECONDS) as plain:
        plain.sendall(OPENING)
        assert plain.recv(4096).startswith(b"HTTP/1.1 101")
        yield plain


def flooded(plain: socket.socket) -> bytes:
    """Pings until no more are taken; what is left of the last of them."""
    plain.settimeout(0.5)
    chunk = PING * 1000
    for _ in range(MOST_BUFFERED // len(chunk)):
        left = chunk
        while left:
            try:
                left = left[plain.send(left) :]
            except TimeoutError:
                return left[: len(left) % len(PING)]
    pytest.fail("pongs that nobody reads pile up")


def test_pings_are_not_taken_from_a_client_that_reads_no_pongs() -> None:
    with running(once=False) as address, plain_client(address) as plain:
        left = flooded(plain)
        question = json.dumps(request("source/details/roofline")).encode()
        frame = b"\x81\xfe" + len(question).to_bytes(2, "big") + bytes(4) + question
        sender = threading.Thread(target=plain.sendall, args=(left + frame,))
        plain.settimeout(SECONDS)
        sender.start()
        tail = b""
        while b'"requestId":7' not in tail:
            tail = tail[-100:] + plain.recv(1 << 16)
        sender.join()


def test_the_server_ends_soon_whoever_does_not_say_goodbye() -> None:
    with ExitStack() as deaf:
        with running(once=False) as address:
            deaf.enter_context(plain_client(address))
            started = time.monotonic()
        assert time.monotonic() - started < 5


def test_nothing_is_logged_of_clients_that_are_gone(caplog: pytest.LogCaptureFixture) -> None:
    """What nobody reads would fill a pipe at stderr, and then stop the server."""
    with running(once=False) as address:
        for _ in range(3):
            with plain_client(address) as plain:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                plain.sendall(PING * 5000)
                plain.recv(1)
        with connect(address) as client:
            assert ask(client, "source/details/roofline")["result"] is True
    assert [record for record in caplog.records if record.name == "asyncio"] == []
