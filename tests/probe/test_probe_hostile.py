"""Servers that want to crash, hang or fill up the probe."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from probe_files import handmade
from probe_servers import IMPATIENT, Message, Sent, judged, listening, places, reference
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection

from ascend_conformance.finding import FileReport, Report
from ascend_conformance.media import load_rules
from ascend_conformance.media.api.client import MAX_MESSAGE, CannotConnect
from ascend_conformance.report import BYTES_PER_FILE, FORMATS
from ascend_conformance.report.html import LARGEST

IMPORT = "import/action"
SHORT = IMPATIENT / 2
"""Seconds for servers that never answer."""

QUICKLY = 15 * IMPATIENT
"""More than any of these may take: a few timeouts, and a slow machine."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return handmade(tmp_path_factory.mktemp("probed"))


def verdict_on(
    attend: Callable[[ServerConnection], None], file: Path, timeout: float = SHORT
) -> FileReport:
    """The verdict on a server, which must come soon."""

    def tolerant(client: ServerConnection) -> None:
        with suppress(ConnectionClosed, OSError):
            attend(client)

    with listening(tolerant) as address:
        started = time.monotonic()
        found = judged(address, file, timeout=timeout)
        assert time.monotonic() - started < QUICKLY
    return found


def test_a_server_that_says_nothing(file: Path) -> None:
    def attend(client: ServerConnection) -> None:
        for _ in client:
            pass

    found = verdict_on(attend, file)
    assert places(found) == {("API001", IMPORT, None)}
    assert {skip.reason for skip in found.skipped} == {"the server did not import the file"}


def test_a_server_that_hangs_up_at_once(file: Path) -> None:
    found = verdict_on(lambda client: client.close(), file)
    assert places(found) == {("API017", IMPORT, None)}
    assert all("closed it with code 1000" in skip.reason for skip in found.skipped)


def test_a_server_that_falls_silent_is_given_up_after_three_requests(file: Path) -> None:
    with reference(file) as server:

        def change(request: Message, message: Message) -> Iterable[Sent]:
            return [message] if request["command"] == IMPORT else []

        started = time.monotonic()
        found = server.report(change, timeout=SHORT)
        assert time.monotonic() - started < QUICKLY
    assert {one.rule for one in found.findings} == {"API001"}
    assert sum(one.count for one in found.findings) == 3
    reasons = {skip.reason for skip in found.skipped}
    assert reasons == {"3 requests in a row stayed without an answer"}


def test_a_server_that_breaks_off_again_and_again_is_given_up(file: Path) -> None:
    with reference(file) as server:

        def change(request: Message, message: Message) -> Iterable[Sent]:
            return [message] if request["command"] == IMPORT else [None]

        found = server.report(change)
    assert {one.rule for one in found.findings} == {"API017"}
    assert sum(one.count for one in found.findings) == 4


def test_one_command_that_ends_the_connection_does_not_hide_the_others(file: Path) -> None:
    with reference(file) as server:

        def change(request: Message, message: Message) -> Iterable[Sent]:
            if message.get("command") == "source/details/roofline":
                return [None]
            if message.get("command") == "unit/counter":
                message["body"]["data"] = []
            return [message]

        found = server.report(change)
    assert places(found) == {
        ("API017", "source/details/roofline", None),
        ("API005", "unit/counter", "/body/data/*"),
    }
    assert found.skipped == ()


def endless(sent: str | bytes) -> Callable[[ServerConnection], None]:
    def attend(client: ServerConnection) -> None:
        client.recv()
        while True:
            client.send(sent)

    return attend


EVENT = json.dumps({"type": "event", "id": 1, "event": "x", "moduleName": "m", "body": {}})


@pytest.mark.parametrize(
    ("sent", "rules"),
    [
        (EVENT, {"API001"}),
        ("no JSON", {"API001", "API008"}),
        (b"\0" * 1000, {"API001", "API008"}),
        ("[" * 100_000, {"API001", "API008"}),
        ('{"id": ' + "9" * 5000 + "}", {"API001", "API008"}),
        ('{"requestId": 99}', {"API001", "API009"}),
        ('{"event": {}, "type": [], "id": 1e400}', {"API001", "API008"}),
        ('{"event": ["<b>"], "type": null}', {"API001", "API007"}),
    ],
    ids=["events", "text", "binary", "deep", "digits", "answers", "infinite", "types"],
)
def test_a_server_that_never_stops_talking(file: Path, sent: Any, rules: set[str]) -> None:
    found = verdict_on(endless(sent), file)
    assert {one.rule for one in found.findings} == rules


def test_a_message_of_any_size_is_not_taken(file: Path) -> None:
    def attend(client: ServerConnection) -> None:
        client.recv()
        client.send((b"x" * 65536 for _ in range(2 * MAX_MESSAGE // 65536)), text=True)

    # A slow machine takes its time over 64 MiB; the connection ends as soon as they are there.
    found = verdict_on(attend, file, timeout=QUICKLY / 2)
    (one,) = found.findings
    assert one.rule == "API017"
    assert "1009" in one.message


def test_a_message_longer_than_any_answer_is_not_read(file: Path) -> None:
    def attend(client: ServerConnection) -> None:
        client.recv()
        client.send(f"[{'0,' * (3 << 20)}0]")
        client.recv()

    found = verdict_on(attend, file)
    assert {one.rule for one in found.findings} == {"API001", "API008"}
    assert "at most 4,1" in found.findings[-1].message or "characters" in found.findings[-1].message


def test_a_file_whose_import_cannot_be_taken_is_not_asked_about(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ascend_conformance.media.api.talk.MAX_MESSAGE", 100)
    with reference(file) as server:
        found = server.report()
    assert found.findings == ()
    assert all("more than the 100 bytes" in one.reason for one in found.skipped)


@contextmanager
def raw(attend: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server of bare TCP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def work() -> None:
            with suppress(OSError):
                peer, _ = listener.accept()
                with peer:
                    attend(peer)

        thread = threading.Thread(target=work)
        thread.start()
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def upgrade(peer: socket.socket) -> None:
    head = peer.recv(4096).decode()
    key = next(line.split(": ")[1] for line in head.split("\r\n") if "Sec-WebSocket-Key" in line)
    digest = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()  # noqa: S324
    accept = base64.b64encode(digest).decode()
    lines = ("HTTP/1.1 101 Switching", "Upgrade: websocket", "Connection: Upgrade")
    reply = "\r\n".join((*lines, f"Sec-WebSocket-Accept: {accept}", "", ""))
    peer.sendall(reply.encode())


def test_a_server_that_sends_pings_and_reads_nothing(file: Path) -> None:
    def attend(peer: socket.socket) -> None:
        upgrade(peer)
        while True:
            peer.sendall((b"\x89\x7d" + b"p" * 125) * 100)

    with raw(attend) as address:
        started = time.monotonic()
        found = judged(address, file, timeout=SHORT)
        assert time.monotonic() - started < QUICKLY
    assert {one.rule for one in found.findings} <= {"API001", "API017"}


def test_a_server_that_never_ends_its_message(file: Path) -> None:
    def attend(peer: socket.socket) -> None:
        upgrade(peer)
        peer.sendall(b"\x01\x01{")
        while True:
            peer.sendall(b"\x00\x01 ")
            time.sleep(0.001)

    with raw(attend) as address:
        found = judged(address, file, timeout=SHORT)
    assert places(found) == {("API001", IMPORT, None)}


def not_upgraded(reply: bytes) -> Callable[[socket.socket], None]:
    def attend(peer: socket.socket) -> None:
        peer.recv(4096)
        peer.sendall(reply)
        peer.recv(1)

    return attend


REDIRECT = b"HTTP/1.1 302 Found\r\nLocation: ws://192.0.2.1/\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    "attend",
    [
        not_upgraded(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        not_upgraded(REDIRECT),
        not_upgraded(b"220 smtp ready\r\n"),
        not_upgraded(b""),
        lambda peer: None,
    ],
    ids=["not-found", "redirect", "other-protocol", "silent", "closed"],
)
def test_what_is_no_server_of_websockets_cannot_be_connected_to(
    file: Path, attend: Callable[[socket.socket], None]
) -> None:
    with raw(attend) as address:
        started = time.monotonic()
        with pytest.raises(CannotConnect, match="expected a server of WebSockets"):
            judged(address, file, timeout=SHORT)
        assert time.monotonic() - started < QUICKLY


@pytest.mark.parametrize("address", ["127.0.0.1:9", "http://127.0.0.1:9", "ws://", "ws://h:99999"])
def test_what_is_no_address_is_told_so(file: Path, address: str) -> None:
    with pytest.raises(CannotConnect, match="expected"):
        judged(address, file, timeout=SHORT)


def test_a_report_on_a_server_full_of_strange_names_stays_small(file: Path) -> None:
    strange = {f"<script>{number}\n\x1b[31m{'long' * 500}": number for number in range(60)}
    with reference(file) as server:

        def change(request: Message, message: Message) -> Iterable[Sent]:
            if message.get("result"):
                message["body"] = {**message["body"], **strange}
                message.update(strange)
            return [message]

        found = server.report(change)
    assert len(found.findings) < 200
    report = Report((found,), "0", "observed")
    for kind, render in FORMATS.items():
        text = render(report, load_rules())
        assert len(text.encode()) <= (LARGEST if kind == "html" else BYTES_PER_FILE)
        assert "\x1b" not in text
