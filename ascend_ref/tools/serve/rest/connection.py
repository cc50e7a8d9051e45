"""Connections that do not wait for clients without end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..listening import PATIENCE_SECONDS

OWING = (h11.IDLE, h11.SEND_BODY)
"""States of a client that has not sent all of its request."""


class Connection(H11Protocol):
    """Ends where a client takes too long for its request, or stops reading its answer.

    While a request is answered, the one who reads its body limits that, so that the answer says
    why.
    """

    _request: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client is there, and owes a request."""
        super().connection_made(transport)
        self._request = self._later(self._end_of_request)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        _cancel(self._request)
        _cancel(self._reading)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request, its end, or more."""
        super().data_received(data)
        if self.conn.their_state not in OWING:
            _cancel(self._request)
            self._request = None
        elif self._request is None:
            self._request = self._later(self._end_of_request)

    def pause_writing(self) -> None:
        """More was written than the client has read."""
        super().pause_writing()
        left = self.transport.get_write_buffer_size()
        self._reading = self._later(lambda: self._end_of_reading(left))

    def resume_writing(self) -> None:
        """It has read nearly all."""
        super().resume_writing()
        _cancel(self._reading)

    def _end_of_request(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
        else:
            self._request = self._later(self._end_of_request)

    def _end_of_reading(self, before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left == before:
            self.transport.abort()
        else:
            self._reading = self._later(lambda: self._end_of_reading(left))

    def _later(self, end: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(PATIENCE_SECONDS, end)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
