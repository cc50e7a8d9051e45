"""Servers to probe: the reference over a real socket, sound or with one thing broken."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from ascend_conformance.finding import FileReport
from ascend_conformance.media.api.options import ProbeOptions
from ascend_conformance.media.api.run import probe
from ascend_ref.tools.serve import Answers, Session, open_answers
from ascend_ref.tools.serve.listening import Endpoint
from ascend_ref.tools.serve.server import serve as serve_reference

Message = dict[str, Any]
Sent = Message | str | bytes | None
Change = Callable[[Message, Message], Iterable[Sent]]
"""From a request and one message that the reference sends for it to what is sent instead.

``None`` closes the connection."""

Silence = Callable[[str], Iterable[Sent]]
"""What is sent for a text that the reference leaves without an answer."""

PATIENT, IMPATIENT = 20.0, 0.4
"""Seconds for an answer that comes for sure, and for one that never does."""


def unchanged(_request: Message, message: Message) -> Iterable[Sent]:
    return [message]


def nothing(_text: str) -> Iterable[Sent]:
    return []


@contextmanager
def listening(attend: Callable[[ServerConnection], None]) -> Iterator[str]:
    """A server of WebSockets in a thread of its own, and its address."""
    with serve(attend, "127.0.0.1", 0, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()


class Reference:
    """The reference for a file over a real socket. What it sends goes through ``change``, and for
    what it drops it sends what ``dropped`` says. What it hears goes through ``heard`` first."""

    def __init__(self, file: Path, answers: Answers) -> None:
        self.file = file
        self.address = ""
        self.change: Change = unchanged
        self.dropped: Silence = nothing
        self.heard: Callable[[str], str] = str
        self._answers = answers

    def attend(self, client: ServerConnection) -> None:
        session = Session(self._answers)
        with suppress(ConnectionClosed):
            for text in client:
                for sent in self._answered(session, str(text)):
                    if sent is None:
                        return
                    client.send(json.dumps(sent) if isinstance(sent, dict) else sent)

    def _answered(self, session: Session, text: str) -> Iterator[Sent]:
        is_dropped = True
        for message in session.handle(self.heard(text)):
            is_dropped = False
            yield from self.change(json.loads(text), copy.deepcopy(message))
        if is_dropped:
            yield from self.dropped(text)

    def report(
        self, change: Change = unchanged, dropped: Silence = nothing, **options: Any
    ) -> FileReport:
        """The verdict on the reference with a change."""
        self.change, self.dropped = change, dropped
        return judged(self.address, self.file, **options)


@contextmanager
def reference(file: Path) -> Iterator[Reference]:
    with open_answers(file) as answers:
        server = Reference(file, answers)
        with listening(server.attend) as server.address:
            yield server


@contextmanager
def served(file: Path) -> Iterator[str]:
    """``ascend-ref serve`` in a thread of its own, until its first client leaves; its address."""
    ready = threading.Event()
    address: list[str] = []

    def tell(told: str) -> None:
        address.append(told)
        ready.set()

    with open_answers(file) as answers:
        work = serve_reference(Session(answers), Endpoint(), tell, once=True)
        thread = threading.Thread(target=lambda: asyncio.run(work))
        thread.start()
        try:
            assert ready.wait(PATIENT)
            yield address[0]
        finally:
            thread.join(PATIENT)
            assert not thread.is_alive()


def judged(address: str, file: Path, **options: Any) -> FileReport:
    (found,) = probe(address, file, ProbeOptions(**{"timeout": PATIENT, **options})).files
    return found


def places(found: FileReport) -> set[tuple[str, str | None, str | None]]:
    return {(one.rule, one.table, one.column) for one in found.findings}


def told(found: FileReport) -> Mapping[str, str]:
    """Message by place, for a look at what went wrong."""
    return {f"{one.rule} {one.place}": f"{one.message} [{one.expected}]" for one in found.findings}
