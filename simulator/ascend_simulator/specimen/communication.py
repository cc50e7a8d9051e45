"""Communication operators and the tasks they expand to (db-schema.md 7.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ascend_ref.capture.model import NONE

from ..draws import Draws
from ..world.network import ELEMENT_BYTES
from ..world.small_tasks import TASK_TYPES
from .world import Part, Row

NO_NOTIFY = -1
MASTER_PLANE = 0
LINK_BYTES_PER_NS = 15
LOCAL_BYTES_PER_NS = 300


@dataclass(slots=True)
class Expansion:
    """Lays the tasks of one operator out in time; planes run side by side."""

    operator: Row
    rank: int
    ranks: int
    draws: Draws
    notify_offset: int = 48
    clock: int = 0

    def parts(self) -> list[Part]:
        """The tasks in order of their context id."""
        if self.operator["kind"] == "send":
            return list(self._send())
        if self.operator["kind"] == "receive":
            return list(self._receive())
        return list(self._reduce_among_all())

    def _reduce_among_all(self) -> Iterator[Part]:
        planes = max(2, self.ranks - 1) if self.ranks > 1 else 1
        chunk = self.operator["count"] * ELEMENT_BYTES[self.operator["data_type"]] // self.ranks
        yield self._copy("Reduce_Inline", MASTER_PLANE, NONE, 4, "ON_CHIP")
        yield self._copy("Memcpy", MASTER_PLANE, self.rank, chunk, "ON_CHIP")
        opened = closed = self.clock
        for plane in reversed(range(planes if self.ranks > 1 else 0)):
            self.clock = opened
            peer = (self.rank + 1 + plane % (self.ranks - 1)) % self.ranks
            size = chunk if plane < planes - 1 else chunk - 4096
            yield from self._exchange(plane, peer, size)
            closed = max(closed, self.clock)
        self.clock = closed
        yield self._copy("Reduce_Inline", MASTER_PLANE, NONE, 4, "ON_CHIP")
        if planes > 1:
            for kind in ("Notify_Record", "Notify_Wait"):
                yield self._notify(kind, planes - 1, (self.rank + 1) % self.ranks)

    def _exchange(self, plane: int, peer: int, size: int) -> Iterator[Part]:
        for kind in ("Reduce_Inline", "Memcpy"):
            yield self._notify("Notify_Record", plane, peer)
            yield self._notify("Notify_Wait", plane, peer)
            yield self._copy(kind, plane, peer, size, "HCCS")
        yield self._notify("Notify_Record", plane, peer)
        yield self._notify("Notify_Wait", plane, peer)

    def _send(self) -> Iterator[Part]:
        peer = (self.rank + 1) % self.ranks
        size = self.operator["count"] * ELEMENT_BYTES[self.operator["data_type"]]
        yield self._notify("Notify_Wait", MASTER_PLANE, peer)
        yield self._copy("Memcpy", MASTER_PLANE, peer, size, "SIO")
        yield self._notify("Notify_Record", MASTER_PLANE, peer)

    def _receive(self) -> Iterator[Part]:
        peer = (self.rank + self.ranks - 1) % self.ranks
        yield self._notify("Notify_Record", MASTER_PLANE, peer)
        yield self._notify("Notify_Wait", MASTER_PLANE, peer)

    def _notify(self, kind: str, plane: int, peer: int) -> Part:
        """A notify of the owner: the peer for a record, the own rank for a wait."""
        records = kind == "Notify_Record"
        owner = peer if records else self.rank
        length = (
            self.draws.one(660, 760, 20)
            if records
            else self.draws.one(0, 1) * self.draws.one(20, 24_000, 20)
        )
        notify = (owner << 32) + self.notify_offset
        self.notify_offset += 4
        transport = "SDMA" if records else "LOCAL"
        return self._part(kind, length, plane, notify, peer, transport=transport)

    def _copy(self, kind: str, plane: int, peer: int, size: int, link: str) -> Part:
        speed = LOCAL_BYTES_PER_NS if link == "ON_CHIP" else LINK_BYTES_PER_NS
        reduces = kind == "Reduce_Inline"
        more = {"data_type": self.operator["data_type"]} if reduces else {}
        return self._part(
            *(kind, 600 + size // speed, plane, 0 if reduces else NO_NOTIFY, peer),
            size=size,
            link=link,
            **more,
        )

    def _part(
        self, kind: str, length: int, plane: int, notify: int, peer: int, **more: object
    ) -> Part:
        """more: further columns of the transfer."""
        transfer = Row(kind=kind, plane=plane, notify=notify, source=self.rank, target=peer, size=0)
        transfer |= {"transport": "SDMA", "master": int(plane == MASTER_PLANE), **more}
        offset = self.clock
        self.clock += length + self.draws.one(20, 300, 20)
        return Part(offset, length, TASK_TYPES[True][kind], transfer)
