"""Timelines built row by row from text-outputs.md 5 and 6, with nothing of the package but tables.

Slow and plain on purpose: what the writers must agree with, event by event and key by key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ascend_ref.recorded import Recorded

Event = dict[str, Any]
NONE = 4294967295
UNCONNECTED = 4_000_000_000


def us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


def length(start: int, end: int) -> float:
    return (end - start) / 1000


@dataclass(frozen=True)
class Style:
    """sort: by layer. host: device number of host layers. parts of a pid as in 5.1."""

    engine: str
    sort: dict[str, int]

    def pid(self, recorded: Recorded, layer: str, device: int | None) -> int:
        process = recorded.origin.pid or 0
        if device is None:
            device = recorded.origin.devices[0] if self.engine == "2025-01" else 31
        return (process << 10 | self.sort[layer] << 5 | device) & 0xFFFFFFFF

    def x(self, **keys: Any) -> Event:
        order = ["name", "pid", "tid", "ts", "dur"]
        order += ["ph", "cat", "args"] if self.engine == "cpp" else ["args", "cat", "ph"]
        if self.engine == "cpp":
            keys.setdefault("args", {})
        return {key: {**keys, "ph": "X"}[key] for key in order if key in keys or key == "ph"}

    def c(self, **keys: Any) -> Event:
        order = ["name", "pid", "tid", "ts", "ph", "args"]
        if self.engine != "cpp":
            order = ["name", "ts", "pid", "tid", "args", "ph"]
        return {key: {**keys, "ph": "C", "tid": 0}[key] for key in order}

    def flow(self, phase: str, cat: str, name: str, identity: str, **place: Any) -> Event:
        event = {"name": name, "ph": phase, "cat": cat, "id": identity, **place}
        if phase == "f":
            event["bp"] = "e"
        order = ["name", "pid", "tid", "ph", "cat", "id", "ts", "bp"]
        if self.engine != "cpp":
            order = ["name", "ph", "cat", "id", "pid", "tid", "ts"]
            if phase == "f":
                order = ["name", "ph", "id", "ts", "cat", "pid", "tid", "bp"]
        return {key: event[key] for key in order if key in event}


CPP = Style(
    "cpp",
    {
        "CANN": 7,
        "Ascend Hardware": 14,
        "Communication": 16,
        "NPU MEM": 17,
        "Acc PMU": 19,
        "HBM": 24,
        "LLC": 27,
        "Overlap Analysis": 31,
    },
)
PYTHON = Style("python", {"CANN": 7, "Ascend Hardware": 14, "Communication": 17})
OLD = Style(
    "2025-01",
    {
        "CANN": 7,
        "Ascend Hardware": 13,
        "Communication": 15,
        "HBM": 17,
        "LLC": 18,
        "NPU MEM": 19,
        "Acc PMU": 21,
        "Overlap Analysis": 23,
    },
)


class Plain:
    """The tables of a recording as rows, and what belongs to them."""

    def __init__(self, recorded: Recorded, style: Style) -> None:
        self.recorded = recorded
        self.style = style
        self.calls = recorded.table("CANN_API").to_pylist()
        self.call_of = {row["connectionId"]: row for row in self.calls}
        self.kernel_of = {
            row["globalTaskId"]: row for row in recorded.table("COMPUTE_TASK_INFO").to_pylist()
        }
        tasks = recorded.table("TASK").to_pylist()
        inner = {place(row) for row in tasks if row["contextId"] != NONE}
        self.tasks = [row for row in tasks if row["contextId"] != NONE or place(row) not in inner]
        self.task_of = {row["globalTaskId"]: row for row in tasks}
        self.operators = recorded.table("COMMUNICATION_OP").to_pylist()
        self.small_tasks = recorded.table("COMMUNICATION_TASK_INFO").to_pylist()
        for row in self.operators:
            if row["deviceId"] is None:
                row["deviceId"] = recorded.origin.devices[0]
        self.batch = self._batches(tasks)

    def _batches(self, tasks: list[Event]) -> dict[int, int]:
        """A number that comes again in its stream is of a later batch."""
        seen: dict[Any, list[int]] = {}
        for row in sorted(tasks, key=lambda row: row["globalTaskId"]):
            identities = seen.setdefault((*place(row), row["contextId"]), [])
            if row["globalTaskId"] not in identities:
                identities.append(row["globalTaskId"])
        return {
            identity: number
            for identities in seen.values()
            for number, identity in enumerate(identities)
        }

    def pid(self, layer: str, device: int | None = None) -> int:
        return self.style.pid(self.recorded, layer, device)

    def cann(self) -> Iterator[Event]:
        titles = {"acl": "AscendCL", "node": "Node", "runtime": "Runtime", "model": "Model"}
        kernels: dict[int, str] = {}
        for row in reversed(self.tasks):
            if row["globalTaskId"] in self.kernel_of:
                kernels[row["connectionId"]] = self.kernel_of[row["globalTaskId"]]["name"]
        launched = {row["connectionId"]: row["opType"] for row in self.operators}
        for row in self.calls:
            level, name = row["type"], row["name"]
            title, mode, identity, item = titles.get(level, "Communication"), name, "0", "0"
            if level in ("communication", "hccl"):
                old = self.style.engine == "2025-01"
                title, level = ("Hccl", "hccl") if old else ("Communication", "communication")
                mode, item = "master", name
            elif level == "acl":
                mode = "ACL_OP"
                if name.startswith("aclrt"):
                    mode = "ACL_RTS"
                elif name.startswith("aclnn") or name[0].isupper():
                    mode = "ACL_NN"
                elif name.startswith("hcom_"):
                    mode, item = "HOST_HCCL", name
                identity = name
            elif level == "node":
                connection = row["connectionId"]
                item = kernels.get(connection) or launched.get(connection) or item
            thread = row["globalTid"] & 0xFFFFFFFF
            yield self.style.x(
                name=f"{title}@{name}",
                pid=self.pid("CANN"),
                tid=thread,
                ts=us(row["startNs"]),
                dur=length(row["startNs"], row["endNs"]),
                args={
                    "Thread Id": thread,
                    "Mode": mode,
                    "level": level,
                    "id": identity,
                    "item_id": item,
                    "connection_id": row["connectionId"],
                },
            )

    def hardware(self) -> Iterator[Event]:
        copies = {
            row["globalTaskId"]: row for row in self.recorded.table("MEMCPY_INFO").to_pylist()
        }
        messages = {
            row["connectionId"]: row["message"]
            for row in reversed(self.recorded.table("MSTX_EVENTS").to_pylist())
        }
        for row in self.tasks:
            kernel = self.kernel_of.get(row["globalTaskId"])
            name = kernel["name"] if kernel else row["taskType"]
            kind = row["taskType"]
            if kernel and kernel["taskType"] != "N/A":
                kind = kernel["taskType"]
            span = row["endNs"] - row["startNs"]
            args = {
                "Model Id": row["modelId"],
                "Task Type": kind,
                "Physic Stream Id": row["streamId"],
                "Task Id": row["taskId"],
                "Batch Id": self.batch[row["globalTaskId"]],
                "Subtask Id": row["contextId"],
                "connection_id": row["connectionId"],
            }
            if row["taskType"] == "MsTx":
                if self.style.engine == "2025-01":
                    continue
                name = messages.get(row["connectionId"], "N/A")
                args = {"Physic Stream Id": row["streamId"], "Task Id": row["taskId"]}
            elif row["taskType"] == "MEMCPY_ASYNC" and copies:
                size, way = 0, "other"
                if row["globalTaskId"] in copies:
                    copied = copies[row["globalTaskId"]]
                    size, way = copied["size"], copied["memcpyOperation"]
                rate = size / span if span else 0.0
                if self.style.engine == "cpp":
                    args |= {"size(B)": size, "bandwidth(GB/s)": rate, "operation": way}
                elif self.style.engine == "2025-01":
                    args |= {"data size(Byte)": size, "memcpy direction": way}
            yield self.style.x(
                name=name,
                pid=self.pid("Ascend Hardware", row["deviceId"]),
                tid=row["streamId"],
                ts=us(row["startNs"]),
                dur=span / 1000,
                args=args,
            )

    def groups(self) -> dict[tuple[int, str], int]:
        """The tid of each group's operators, in order of first use."""
        planes: dict[tuple[int, str], set[int]] = {}
        for row in self.operators:
            planes.setdefault((row["deviceId"], row["groupName"]), set())
        for row in self.small_tasks:
            device = self.task_of[row["globalTaskId"]]["deviceId"]
            plane = 0 if row["planeId"] == NONE else row["planeId"]
            planes.setdefault((device, row["groupName"]), set()).add(plane)
        first: dict[int, int] = {}
        found = {}
        for (device, name), used in planes.items():
            found[device, name] = first.get(device, 0)
            first[device] = found[device, name] + max(used, default=-1) + 2
        return found

    def communication(self) -> Iterator[Event]:
        tid = self.groups()
        models: dict[int, int] = {}
        for row in reversed(self.small_tasks):
            models[row["opId"]] = self.task_of[row["globalTaskId"]]["modelId"]
        ranks: dict[str, set[int]] = {}
        for row in self.small_tasks:
            ranks.setdefault(row["groupName"], set()).update((row["srcRank"], row["dstRank"]))
        for row in self.operators:
            size = row["rankSize"]
            args = {
                "rank_size": len(ranks[row["groupName"]] - {NONE}) if size is None else size,
                "connection_id": row["connectionId"],
                "model id": models.get(row["opId"], NONE),
                "data_type": row["dataType"],
                "alg_type": row["algType"],
                "count": row["count"],
            }
            if self.style.engine == "2025-01":
                del args["rank_size"]
            if self.style.engine == "cpp":
                args |= {key: "yes" if row[key] else "no" for key in ("relay", "retry")}
            yield self.style.x(
                name=row["opName"],
                pid=self.pid("Communication", row["deviceId"]),
                tid=tid[row["deviceId"], row["groupName"]],
                ts=us(row["startNs"]),
                dur=length(row["startNs"], row["endNs"]),
                args=args,
            )
        constant = {"Notify_Record": 1, "Notify_Wait": 0.02, "Memcpy": 1.5, "Reduce_Inline": 0.6}
        for row in self.small_tasks if self.recorded.switches.level else ():
            task = self.task_of[row["globalTaskId"]]
            span = task["endNs"] - task["startNs"]
            notify = row["notifyId"]
            if notify in (-1, 9223372036854775807):
                notify = 18446744073709551615
            estimate = float(constant.get(row["taskType"], 0))
            if row["taskType"] in ("Memcpy", "Reduce_Inline"):
                estimate += row["size"] / 19300
            yield self.style.x(
                name=row["taskType"],
                pid=self.pid("Communication", task["deviceId"]),
                tid=tid[task["deviceId"], row["groupName"]] + row["planeId"] + 1,
                ts=us(task["startNs"]),
                dur=span / 1000,
                args={
                    "notify_id": str(notify),
                    "duration estimated(us)": estimate,
                    "stream id": task["streamId"],
                    "task id": task["taskId"],
                    "context id": task["contextId"],
                    "task type": row["taskType"],
                    "src rank": row["srcRank"],
                    "dst rank": row["dstRank"],
                    "transport type": row["transportType"],
                    "size(Byte)": row["size"],
                    "data type": row["dataType"],
                    "link type": row["linkType"],
                    "bandwidth(GB/s)": row["size"] / span if span else 0.0,
                    "model id": task["modelId"],
                },
            )

    def counters(self) -> Iterator[Event]:
        table = self.recorded.table

        def sample(layer: str, row: Event, name: str, **args: Any) -> Event:
            pid = self.pid(layer, row["deviceId"])
            return self.style.c(name=name, pid=pid, ts=us(row["timestampNs"]), args=args)

        for row in table("HBM").to_pylist():
            way = row["type"].capitalize()
            rate = {f"{way}(MB/s)": row["bandwidth"] / 2**20}
            yield sample("HBM", row, f"HBM {row['hbmId']}/{way}", **rate)
        for row in table("NPU_MEM").to_pylist():
            owner = {"app": "APP", "device": "Device"}[row["type"]]
            for kind, size in (
                ("DDR", row["ddr"]),
                ("HBM", row["hbm"]),
                ("Memory", row["ddr"] + row["hbm"]),
            ):
                yield sample("NPU MEM", row, f"{owner}/{kind}", KB=size / 1024)
        for row in table("LLC").to_pylist():
            name = f"LLC {row['llcId']} {row['mode'].capitalize()}"
            rate = {"Throughput(MB/s)": row["throughput"] / 2**20}
            yield sample("LLC", row, f"{name}/Throughput", **rate)
            yield sample("LLC", row, f"{name}/Hit Rate", **{"Hit Rate(%)": row["hitRate"] / 100})
        yield from self.accelerators(sample)

    def accelerators(self, sample: Any) -> Iterator[Event]:
        columns = ["readBwLevel", "readOstLevel", "writeBwLevel", "writeOstLevel"]
        names = ["read_bandwidth", "read_ost", "write_bandwidth", "write_ost"]
        rows = self.recorded.table("ACC_PMU").to_pylist()
        if self.style.engine == "2025-01":
            names[2] = "write_band_width"
            for row in rows:
                for name, column in zip(names, columns, strict=True):
                    yield sample("Acc PMU", row, name, value=row[column], acc_id=row["accId"])
            return
        moments: dict[Any, Event] = {}
        for row in rows:
            best = moments.setdefault((row["deviceId"], row["timestampNs"]), dict(row))
            best |= {column: max(best[column], row[column]) for column in columns}
        for row in moments.values():
            for name, column in zip(names, columns, strict=True):
                yield sample("Acc PMU", row, name, value=row[column])

    def linked(self) -> Iterator[tuple[int, Event, Event, Event]]:
        """Work that calls caused: id of the arrow, the row, its call, and the place of its event.

        Tasks before copies before communication operators.
        """
        engine = self.style.engine
        tid = self.groups()
        copies = [row for row in self.tasks if row["taskType"] == "MEMCPY_ASYNC"]
        others = [row for row in self.tasks if row["taskType"] != "MEMCPY_ASYNC"]
        for row in [*others, *copies, *self.operators]:
            call = self.call_of.get(row["connectionId"])
            if call is None:
                continue
            connection, layer = row["connectionId"], "Ascend Hardware"
            identity = (connection << 32) - (0 if engine == "cpp" else 1)
            thread = row.get("streamId")
            if "opId" in row:
                if call["type"] != "node":
                    continue
                layer, thread = "Communication", tid[row["deviceId"], row["groupName"]]
            elif row["taskType"] == "MEMCPY_ASYNC":
                if engine == "python":
                    identity = (connection << 32) + row["contextId"]
                elif engine == "2025-01":
                    identity = connection
            else:
                about = call["name"] in ("aclrtRecordEvent", "aclrtStreamWaitEvent")
                kernel = row["globalTaskId"] in self.kernel_of and call["type"] == "node"
                if not kernel and not (about and engine != "2025-01"):
                    continue
                if engine != "cpp":
                    identity = (row["streamId"] << 64) + (row["taskId"] << 48) + row["contextId"]
                    identity += self.batch[row["globalTaskId"]] << 32
                if engine == "python":
                    identity += row["deviceId"] << 80
            where = {
                "pid": self.pid(layer, row["deviceId"]),
                "tid": thread,
                "ts": us(row["startNs"]),
            }
            yield identity, row, call, where

    def arrows(self) -> Iterator[Event]:
        """HostToDevice. A start that has no end is left out."""
        started = set()
        for identity, _, call, where in self.linked():
            name = f"HostToDevice{identity}"
            yield self.style.flow("f", "HostToDevice", name, str(identity), **where)
            if identity not in started:
                started.add(identity)
                origin = {
                    "pid": self.pid("CANN"),
                    "tid": call["globalTid"] & 0xFFFFFFFF,
                    "ts": us(call["startNs"]),
                }
                yield self.style.flow("s", "HostToDevice", name, str(identity), **origin)


def place(task: Event) -> tuple[int, int, int]:
    return task["deviceId"], task["streamId"], task["taskId"]


def canonical(event: Event) -> str:
    """An event with its keys in order and the types of its numbers."""
    return json.dumps(event)
