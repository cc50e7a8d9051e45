"""Clients that stall are not waited for without end: M73."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from rest_files import SECONDS, Client, running, write_files
from slices import some

from ascend_ref.tools.serve.rest import app, connection

PATIENCE = 0.3
PLACE = {"train_id": "job", "profile": "profiler"}
ASKS = "/v1/mindinsight/profile/devices?train_id=job&profile=profiler"
SEARCH = "/v1/mindinsight/profile/ops/search?train_id=job&profile=profiler"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    for module in (app, connection):
        monkeypatch.setattr(module, "PATIENCE_SECONDS", PATIENCE)
    write_files(tmp_path / "job/profiler")
    with running(tmp_path) as client:
        yield client


def address(client: Client) -> tuple[str, int]:
    place = urlsplit(client.url)
    return place.hostname or "", place.port or 0


@contextmanager
def connected(client: Client) -> Iterator[socket.socket]:
    with socket.create_connection(address(client), SECONDS) as found:
        yield found


def head(client: Client, path: str, *more: str, method: str = "POST") -> bytes:
    lines = (f"{method} {path} HTTP/1.1", f"Host: {urlsplit(client.url).netloc}", *more)
    return "".join(f"{line}\r\n" for line in lines).encode()


def drip(connection: socket.socket, text: bytes) -> None:
    """Send bytes one by one, each in time."""
    for place in range(len(text)):
        connection.sendall(text[place : place + 1])
        time.sleep(PATIENCE / 20)


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server ends the connection."""
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize("sent", some([0, 1, 40, 90], every=2))
def test_m73_a_head_that_does_not_end_ends_the_connection(client: Client, sent: int) -> None:
    with connected(client) as stalled:
        start = time.monotonic()
        stalled.sendall(head(client, SEARCH, "Content-Length: 2")[:sent])
        assert rest(stalled) == b""
        assert PATIENCE * 0.9 <= time.monotonic() - start < SECONDS
    assert client.ask("devices", **PLACE)[0] == 200


def test_m73_the_next_head_that_does_not_end_ends_the_connection(client: Client) -> None:
    """Sooner than one without a next request, for which the server waits five seconds."""
    with connected(client) as stalled:
        stalled.sendall(head(client, ASKS, method="GET") + b"\r\n")
        answer = b""
        while b"profiler_mode" not in answer:
            answer += stalled.recv(1 << 16)
        start = time.monotonic()
        stalled.sendall(head(client, ASKS, method="GET")[:40])
        stalled.settimeout(PATIENCE * 8)
        assert rest(stalled) == b""
        assert time.monotonic() - start >= PATIENCE * 0.9


def test_m73_a_head_that_drips_ends_the_connection(client: Client) -> None:
    text = head(client, SEARCH, *(f"X-{number}: x" for number in range(500)))
    with connected(client) as stalled:
        start = time.monotonic()
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            drip(stalled, text)
        assert time.monotonic() - start < PATIENCE * 10


@pytest.mark.parametrize("size", some(["Content-Length: 9", "Transfer-Encoding: chunked"], every=2))
@pytest.mark.parametrize("drips", [False, True])
def test_m73_a_body_that_does_not_end_is_refused(client: Client, size: str, drips: bool) -> None:
    with connected(client) as stalled:
        start = time.monotonic()
        stalled.sendall(head(client, SEARCH, size) + b"\r\n")
        if drips:
            for _ in range(3):
                stalled.sendall(b"1\r\n \r\n" if "chunked" in size else b" ")
                time.sleep(PATIENCE / 4)
        answer = rest(stalled)
        assert PATIENCE * 0.9 <= time.monotonic() - start < SECONDS
    assert b" 408 " in answer.partition(b"\r\n")[0]
    assert b'{"error_code": "too-slow"' in answer
    assert b"connection: close" in answer.lower()
    assert client.ask("devices", **PLACE)[0] == 200


@contextmanager
def bodies_that_stall(client: Client) -> Iterator[None]:
    """As many as the server waits for at once."""
    with ExitStack() as stack:
        for _ in range(app.WAITING):
            stalled = stack.enter_context(connected(client))
            stalled.sendall(head(client, SEARCH, "Content-Length: 9") + b"\r\n")
        yield


def test_m73_bodies_that_stall_are_in_the_way_of_nobody_for_long(client: Client) -> None:
    """On a busy machine heads are read late, or bodies given up before the question: again then."""
    codes = set[int]()
    end = time.monotonic() + SECONDS
    while 503 not in codes:
        with bodies_that_stall(client):
            given_up = time.monotonic() + PATIENCE
            answered = 0
            while answered != 200 or (503 not in codes and time.monotonic() < given_up):
                assert time.monotonic() < end
                answered = client.ask("devices", **PLACE)[0]
                codes.add(answered)
    assert codes == {200, 503}


def test_m73_a_body_that_nobody_reads_ends_the_connection(client: Client) -> None:
    """A request that is refused at once, whose body never comes."""
    with connected(client) as stalled:
        stalled.sendall(head(client, "/nothing", "Content-Length: 9") + b"\r\n")
        for _ in range(4):
            stalled.sendall(b" ")
            time.sleep(PATIENCE / 4)
        assert b" 404 " in rest(stalled)


@pytest.mark.exhaustive
def test_m73_an_answer_that_nobody_reads_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is read slowly is not."""
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", PATIENCE)
    write_files(tmp_path)
    events = json.dumps([{"name": "x" * 100_000}] * 400)
    (tmp_path / "ascend_timeline_display_0.json").write_text(events)
    asked = "/v1/mindinsight/profile/timeline?dir=."
    with running(tmp_path) as client:
        for pauses, is_whole in (([PATIENCE / 3] * 10, True), ([PATIENCE * 4], False)):
            with connected(client) as reader:
                reader.sendall(head(client, asked, "Connection: close", method="GET") + b"\r\n")
                taken = len(reader.recv(1 << 10))
                for pause in pauses:
                    time.sleep(pause)
                    taken += len(reader.recv(1 << 20)) if is_whole else 0
                assert (taken + len(rest(reader)) > len(events)) == is_whole


def test_m73_who_asks_in_time_is_answered_many_times(client: Client) -> None:
    """On one connection, with pauses that are short enough for each."""
    with connected(client) as patient:
        for _ in range(8):
            text = head(client, ASKS, method="GET") + b"\r\n"
            patient.sendall(text[:30])
            time.sleep(PATIENCE / 4)
            patient.sendall(text[30:])
            answer = b""
            while b"profiler_mode" not in answer:
                answer += patient.recv(1 << 16)
            assert b" 200 " in answer.partition(b"\r\n")[0]
