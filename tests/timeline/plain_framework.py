"""The framework's part of trace_view.json, built row by row from text-outputs.md 6.1 and 8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plain_timeline import Event, Plain, length, us

OFFSET = 5 << 28
"""Of the framework's own connections in newer databases."""


class PlainFramework:
    """Host events of the framework, with nothing of the package but its tables."""

    def __init__(self, plain: Plain, *, named_enqueue: bool) -> None:
        self.plain = plain
        self.named_enqueue = named_enqueue
        recorded = plain.recorded
        self.pid = recorded.origin.pid
        self.rows = recorded.table("PYTORCH_API").to_pylist()
        for row in self.rows:
            row["tid"] = row["globalTid"] & 0xFFFFFFFF
        self.links: dict[int, list[int]] = {}
        for row in recorded.table("CONNECTION_IDS").to_pylist():
            self.links.setdefault(row["id"], []).append(row["connectionId"])
        frames: dict[int, list[tuple[int, str]]] = {}
        for row in recorded.table("PYTORCH_CALLCHAINS").to_pylist():
            frames.setdefault(row["id"], []).append((row["stackDepth"], row["stack"]))
        self.stacks = {
            number: ";\r\n".join(frame for _, frame in sorted(own))
            for number, own in frames.items()
        }

    def of_type(self, *types: str) -> list[Event]:
        return [row for row in self.rows if row["type"] in types]

    def x(self, row: Event, name: str, cat: str, args: Event) -> Event:
        return {
            "ph": "X",
            "name": name,
            "pid": self.pid,
            "tid": row["tid"],
            "ts": us(row["startNs"]),
            "dur": length(row["startNs"], row["endNs"]),
            "cat": cat,
            "args": args,
        }

    def point(self, ph: str, cat: str, name: str, identity: int, **place: Any) -> Event:
        return {"ph": ph, "bp": "e", "name": name, "id": identity, **place, "cat": cat}

    def at(self, row: Event) -> Event:
        return {"pid": self.pid, "tid": row["tid"], "ts": us(row["startNs"])}

    def operators(self) -> Iterator[Event]:
        for row in self.of_type("op", "mstx"):
            args = {"Sequence number": row["sequenceNumber"], "Fwd thread id": row["fwdThreadId"]}
            shapes, types = row["inputShapes"], row["inputDtypes"]
            if shapes is not None or types is not None:
                args |= {"Input Dims": shapes or "", "Input type": types or ""}
            if row["callchainId"] is not None:
                args["Call stack"] = self.stacks[row["callchainId"]]
            yield self.x(row, row["name"], "cpu_op", args)

    def queue(self) -> Iterator[Event]:
        rows = self.of_type("queue")
        taken = {}
        for row in rows:
            number = self.links[row["connectionId"]][0]
            row["number"] = number - OFFSET if number >= OFFSET else number
            if row["name"].startswith("Dequeue@"):
                taken[row["number"]] = row
        for row in rows:
            number, name = row["number"], row["name"]
            if row["name"].startswith("Dequeue@"):
                kind, ph = "dequeue", "f"
            else:
                kind, ph = "enqueue", "s"
                name = "Enqueue"
                if self.named_enqueue:
                    name += taken[number]["name"].removeprefix("Dequeue")
            yield self.x(row, name, kind, {"correlation_id": number})
            yield self.point(ph, "async_task_queue", "enqueue_to_dequeue", number, **self.at(row))

    def backward(self) -> Iterator[Event]:
        ends: dict[int, dict[str, Event]] = {}
        for row in self.of_type("op", "mstx"):
            if row["sequenceNumber"] < 0:
                continue
            side = "f" if row["fwdThreadId"] else "s"
            pair = ends.setdefault(row["sequenceNumber"], {})
            if side not in pair or pair[side]["startNs"] < row["startNs"]:
                pair[side] = row
        for number, pair in ends.items():
            if len(pair) == 2 and pair["s"]["tid"] != pair["f"]["tid"]:
                for ph in "sf":
                    yield self.point(ph, "fwdbwd", "fwdbwd", number, **self.at(pair[ph]))

    def functions(self) -> Iterator[Event]:
        """Ids are places among the calls and returns of a thread, which a stack replays."""
        rows = self.of_type("trace")
        for tid in {row["tid"] for row in rows}:
            own = [row for row in rows if row["tid"] == tid]
            own.sort(key=lambda row: (row["startNs"], -row["endNs"]))
            stack: list[Event] = []
            count = 0
            for row in own:
                while stack and stack[-1]["endNs"] <= row["startNs"]:
                    stack.pop()
                    count += 1
                row["number"] = count
                row["parent"] = stack[-1]["number"] if stack else 0
                stack.append(row)
                count += 1
        for row in rows:
            args = {"Python id": row["number"], "Python parent id": row["parent"]}
            if row["name"].startswith("nn.Module: "):
                args["Python module id"] = int(row["name"].rpartition("_")[2])
            yield self.x(row, row["name"], "python_function", args)

    def launches(self) -> Iterator[Event]:
        """One arrow to the first end of each one of HostToDevice whose call an operator caused.

        The operator is the one that CONNECTION_IDS tells, else the innermost around the enqueue
        whose dequeue the call lies in.
        """
        operators = self.of_type("op", "mstx")
        owner = {
            connection: row
            for row in reversed(operators)
            for connection in self.links.get(row["connectionId"], ())
        }
        seen = set()
        for identity, work, call, where in self.plain.linked():
            if identity in seen:
                continue
            seen.add(identity)
            moment = work["startNs"]
            row = owner.get(call["connectionId"]) or self._around(call, operators)
            if row is not None:
                yield self.point("s", "async_npu", "torch_to_npu", moment, **self.at(row))
                yield self.point("f", "async_npu", "torch_to_npu", moment, **where)

    def _around(self, call: Event, operators: list[Event]) -> Event | None:
        queue = self.of_type("queue")
        taking = [row for row in queue if row["name"].startswith("Dequeue@")]
        thread, moment = call["globalTid"] & 0xFFFFFFFF, call["startNs"]
        if taking:
            dequeue = inside(taking, thread, moment)
            if dequeue is None:
                return None
            number = self.links[dequeue["connectionId"]][0]
            source = next(
                row
                for row in queue
                if self.links[row["connectionId"]][0] == number and row not in taking
            )
            thread, moment = source["tid"], source["startNs"]
        return inside(operators, thread, moment)


def inside(rows: list[Event], thread: int, moment: int) -> Event | None:
    """The last row to begin on a thread that has not ended at a moment."""
    around = [
        row for row in rows if row["tid"] == thread and row["startNs"] <= moment <= row["endNs"]
    ]
    return max(around, key=lambda row: (row["startNs"], -row["endNs"]), default=None)
