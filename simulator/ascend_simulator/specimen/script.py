"""The story of a capture, step by step: host calls launch device tasks."""

from __future__ import annotations

import json

from ascend_ref.capture.model import FIRST_MARK_CONNECTION
from ascend_spec import catalog

from ..draws import Draws
from ..world.layout import operator_names
from ..world.streams import COMPUTE_STREAM, OTHER_STREAM, PROFILING_STREAM
from .communication import Expansion
from .kernels import Operator, known_operators, named_operator
from .shape import Shape
from .world import (
    BACKWARD_THREAD,
    COMMUNICATION_STREAM,
    FIRST_CONNECTION,
    FIRST_STEP,
    LAUNCH_THREAD,
    MAIN_THREAD,
    PROCESS,
    RELEASE_THREAD,
    SCHEDULE_STREAM,
    SESSION_START_NS,
    Device,
    Part,
    Row,
    World,
)

FIRST_SEQUENCE = 1_350
STACK = (
    "torch/_ops.py(692): __call__",
    "torch/nn/modules/module.py(1511): _wrapped_call_impl",
    "训练/main.py(375): train",
)


def perform(shape: Shape, busy_devices: tuple[int, ...], devices: tuple[int, ...]) -> World:
    """Play the capture that a shape describes."""
    return _Stage(shape, busy_devices, devices).play()


BETWEEN_RANKS_NS = 1_000
"""No two devices begin in the same nanosecond."""


class _Stage:
    """The clocks of the host threads and the devices, while the script runs."""

    def __init__(
        self, shape: Shape, busy_devices: tuple[int, ...], devices: tuple[int, ...]
    ) -> None:
        self.shape = shape
        self.world = World(devices, busy_devices, group="10.0.0.5%eth0_60000_0_1767257999000000")
        self.devices = [Device(number) for number in busy_devices]
        self.host = Draws(shape.seed, "host")
        self.work = Draws(shape.seed, "device")
        self.wires = Draws(shape.seed, "communication")
        self.clock = dict.fromkeys(
            (MAIN_THREAD, BACKWARD_THREAD, LAUNCH_THREAD, RELEASE_THREAD),
            SESSION_START_NS + 8_000_000 + shape.rank * BETWEEN_RANKS_NS,
        )
        self.operators = known_operators()
        self.named = [named_operator(name) for name in shape.names if name]
        self.sequence = FIRST_SEQUENCE
        self.linked_marks = 0

    def play(self) -> World:
        world = self.world
        for device in self.devices:
            device.run(PROFILING_STREAM, "PROFILING_ENABLE", 0, SESSION_START_NS + 6_000_000)
        for step in range(self.shape.steps):
            self._step(step)
        self._wait_for_devices()
        end = self.clock[MAIN_THREAD]
        for device in self.devices:
            device.run(PROFILING_STREAM, "PROFILING_DISABLE", 20, end + 400_000)
        end = max(end, *(device.idle_from for device in self.devices))
        world.session = (SESSION_START_NS, (end // 1000 + 2_001) * 1000)
        self._number_calls()
        self._number_tasks()
        self._number_links()
        return world

    def _number_calls(self) -> None:
        """CANN_API.connectionId counts the host events."""
        calls = self.world.rows["calls"]
        calls.sort(key=lambda call: (call["start"], -call["end"]))
        for number, call in enumerate(calls, FIRST_CONNECTION):
            call.number = call["connection"] = number

    def _number_tasks(self) -> None:
        """In order of launch, as kernels stand; the other rows about tasks follow their start."""
        rows = self.world.rows
        tasks = rows["tasks"]
        tasks.extend(task for device in self.devices for task in device.tasks)
        for number, task in enumerate(tasks):
            task.number = task["identity"] = number
            if task["stream"] == PROFILING_STREAM:  # they take the connection after the last call
                task["connection"] = FIRST_CONNECTION + len(rows["calls"])
        tasks.sort(key=lambda task: task["start"])
        for table in ("schedules", "copies"):
            rows[table].sort(key=lambda row: (row["task"]["start"], row["task"].number))
        rows["kernels"].sort(key=lambda row: row["task"].number)
        kinds = {kernel["kind"]["name"]: kernel["kind"] for kernel in rows["kernels"]}
        rows["kernel_kinds"] = list(kinds.values())
        for kernel in rows["kernels"]:
            kernel["kind"].number = list(kinds).index(kernel["kind"]["name"])

    def _number_links(self) -> None:
        """In the order of the activities that first have them."""
        links = [row["link"] for row in self.world.rows["activities"] if "link" in row]
        for number, link in enumerate({id(link): link for link in links}.values()):
            link.number = number

    def _step(self, step: int) -> None:
        start = self.clock[MAIN_THREAD]
        self._advance_all(start + 2_000)
        name = f"ProfilerStep#{FIRST_STEP + step}"
        whole = self._activity(MAIN_THREAD, start, start, "op", name, frames=STACK[2:])
        for device in self.devices:
            for _ in range(5):
                self._copy_memory(device)
        shape = self.shape
        first = step * shape.operators
        turns = range(first, first + shape.operators)
        chosen = [self.operators[turn % len(self.operators)] for turn in turns] + self.named
        forward: list[Row] = []
        for index, operator in enumerate(chosen):
            forward.append(self._operator(operator))
            if index == (len(chosen) - 1) // 2 and shape.with_communication:
                for device in self.devices:
                    self._schedule(device)
                    self._communicate(device, step, "allReduce")
        self._backward(forward)
        for device in self.devices if shape.with_communication else ():
            self._communicate(device, step, "allReduce")
        for device in self.devices if shape.with_communication and shape.ranks > 1 else ():
            self._communicate(device, step, "send")
            self._communicate(device, step, "receive")
        if shape.with_mstx:
            self._marks(step)
        if shape.with_gc:
            self._collect_garbage()
        for device in self.devices:
            self._events(device)
        self._model_and_release()
        self._synchronize()
        whole["end"] = self.clock[MAIN_THREAD]
        self.world.add("steps", number=FIRST_STEP + step, start=start, end=whole["end"])
        self._advance_all(whole["end"] + 1_000)

    def _advance_all(self, moment: int) -> None:
        for thread, clock in self.clock.items():
            self.clock[thread] = max(clock, moment)

    def _activity(
        self,
        thread: int,
        start: int,
        end: int,
        kind: str,
        name: str,
        frames: tuple[str, ...] = (),
        **more: object,
    ) -> Row:
        """frames: of its call stack. more: of its columns."""
        plain = {"queue": 0, "forward_thread": 0}
        row = self.world.add("activities", **plain | more, start=start, end=end, thread=thread)
        row |= {"kind": kind, "name": name}
        if frames and self.shape.with_stack:
            row["stack"] = len(self.world.frames)
            self.world.frames.append(frames)
        return row

    def _call(self, level: str, thread: int, name: str, start: int, end: int) -> Row:
        return self.world.add("calls", start=start, end=end, level=level, thread=thread, name=name)

    def _queued(self, name: str, start: int, length: int) -> int:
        """An entry of the main thread into the task queue, 4 us long, and its exit.

        The launch thread takes it and works for ``length``; returns when it began. The main thread
        goes on after the entry.
        """
        link = Row()
        self._activity(MAIN_THREAD, start, start + 4_000, "queue", name, queue=1, link=link)
        began = max(self.clock[LAUNCH_THREAD], start + 4_500)
        self._activity(LAUNCH_THREAD, began, began + length, "queue", name, queue=2, link=link)
        self.clock[LAUNCH_THREAD] = began + length + 500
        self.clock[MAIN_THREAD] = start + 5_000
        return began

    def _launch(self, start: int) -> Row:
        """A node-level launch of 10 us, with the runtime call inside at level 2."""
        call = self._call("node", LAUNCH_THREAD, "launch", start, start + 10_000)
        if self.shape.level == 2:
            name = "KernelLaunchWithHandle"
            self._call("runtime", LAUNCH_THREAD, name, start + 1_500, start + 8_500)
        return call

    def _operator(self, operator: Operator) -> Row:
        """One framework operator, its kernel on every busy device."""
        launches, api = len(self.devices), operator.api
        start = self.clock[MAIN_THREAD]
        length = 40_000 + self.host.one(0, 20_000, 10)
        name = f"torch/nn/functional.py({self.host.one(100, 900)}): {api}"
        self._activity(MAIN_THREAD, start, start + length + 2_000, "trace", name)
        outer = self._activity(
            *(MAIN_THREAD, start + 1_000, start + length, "op", operator.framework),
            frames=STACK,
            sequence=self.sequence,
            data_types="float;\r\nfloat;\r\nScalarList",
            shapes="32,64,55,55;\r\n64;\r\n",
        )
        self.sequence += 1
        self._call("acl", MAIN_THREAD, f"{api}GetWorkspaceSize", start + 3_000, start + 9_000)
        inner = self._activity(
            *(MAIN_THREAD, start + 10_000, start + length - 2_000, "op", api), frames=STACK[1:]
        )
        began = self._queued(api, start + 12_000, 12_000 * launches + 2_000)
        self.clock[MAIN_THREAD] = start + length + 5_000
        self._call("acl", LAUNCH_THREAD, api, began + 300, began + 12_000 * launches + 1_500)
        for turn, device in enumerate(self.devices):
            call = self._launch(began + 1_000 + 12_000 * turn)
            self.world.add("links", activity=inner, connection=call)
            self._compute(device, operator, call)
        return outer

    def _compute(self, device: Device, operator: Operator, call: Row) -> None:
        length = self.work.one(4_000, 60_000, 20) + self.work.one(0, 9)
        kind, after = operator.task_type, call["end"] + 1_500
        if operator.subtask:
            (task,) = device.run_group(COMPUTE_STREAM, [Part(0, length, kind)], after, call)
        else:
            stream = OTHER_STREAM if operator.row["core"] == "DSA_SQE" else COMPUTE_STREAM
            task = device.run(stream, kind, length, after, connection=call)
        self.world.add("kernels", task=task, kind=operator.row)

    def _backward(self, forward: list[Row]) -> None:
        thread = BACKWARD_THREAD
        for row in forward:
            start = max(self.clock[thread], self.clock[MAIN_THREAD])
            length = self.host.one(8_000, 20_000, 10)
            name = f"{row['name'].rpartition('::')[2]}Backward0"
            around = f"autograd::engine::evaluate_function: {name}"
            self._activity(thread, start, start + length, "op", around)
            row["link"] = Row()
            self._activity(
                *(thread, start + 500, start + length - 500, "op", name),
                sequence=row["sequence"],
                forward_thread=1,
                shapes="32,64,55,55",
                link=row["link"],
            )
            self.clock[thread] = start + length + 1_000
        self.clock[MAIN_THREAD] = max(self.clock.values())

    def _plain_call(self, name: str, entry: str) -> Row:
        """An acl call behind the task queue that launches its task without a node event."""
        began = self._queued(entry, self.clock[MAIN_THREAD], 4_000)
        return self._call("acl", LAUNCH_THREAD, name, began + 200, began + 3_800)

    def _copy_memory(self, device: Device) -> None:
        call = self._plain_call("aclrtMemcpyAsync", "acl_memcpy_host_to_device")
        size, after = self.work.one(512, 1 << 20, 512), call["start"] + 2_500
        length = 600 + size // 20
        task = device.run(COMPUTE_STREAM, "MEMCPY_ASYNC", length, after, connection=call)
        kinds = catalog().enums["ENUM_MEMCPY_OPERATION"].members
        kind = kinds[len(self.world.rows["copies"]) % len(kinds)]
        self.world.add("copies", task=task, size=size, operation=kind.name)

    def _schedule(self, device: Device) -> None:
        """The AI CPU kernel that prepares a communication operator on the device."""
        began = self._queued("HcclAicpuKernel", self.clock[MAIN_THREAD], 26_000)
        self._call("acl", LAUNCH_THREAD, "HcclLaunchAicpuKernel", began + 200, began + 25_500)
        for turn, name in enumerate(("allReduceInitAicpuKernel", "allReduceAicpuKernel")):
            call = self._launch(began + 1_000 + 12_000 * turn)
            after = call["end"] + 1_500
            task = device.run(SCHEDULE_STREAM, "KERNEL_AICPU", 3_000, after, connection=call)
            self.world.add("schedules", task=task, name=name, core="AI_CPU", op_type=name)

    def _communicate(self, device: Device, step: int, kind: str) -> None:
        shape, world = self.shape, self.world
        start = self.clock[MAIN_THREAD]
        entry = f"Hccl{kind.capitalize()}"
        row = self._activity(MAIN_THREAD, start, start + 6_000, "op", entry)
        began = self._queued(entry, start + 1_000, 16_000)
        self.clock[MAIN_THREAD] = start + 7_000
        self._call("acl", LAUNCH_THREAD, f"hcom_{kind}_", began + 200, began + 15_500)
        call = self._launch(began + 1_000)
        world.add("links", activity=row, connection=call)
        self._call("communication", LAUNCH_THREAD, "Launch_Ffts", began + 1_200, began + 10_800)
        index = sum(other["device"] == device.number for other in world.rows["collectives"])
        collective = world.add(
            "collectives",
            name=operator_names(kind, world.group, [index])[0],
            kind=kind,
            algorithm="MESH-RING",
            group=0,
            connection=call,
            device=device.number,
            count=self.wires.one(40_960, 204_800, 4_096),
            data_type="FP32" if kind == "allReduce" else "BFP16",
            relay=0,
            retry=0,
            step=FIRST_STEP + step,
        )
        after = call["end"] + 1_500
        if kind == "receive":
            after = max(after, device.idle_from)
        place = (shape.rank + self.devices.index(device)) % shape.ranks
        parts = Expansion(collective, place, shape.ranks, self.wires).parts()
        tasks = device.run_group(COMMUNICATION_STREAM, parts, after, call)
        for part, task in zip(parts, tasks, strict=True):
            world.add("transfers", **part.transfer, task=task, collective=collective)

    def _marks(self, step: int) -> None:
        """One mark of each kind; the last two are followed by a task on the device."""
        start = self.clock[MAIN_THREAD]
        payload = {
            "streamId": "2",
            "count": "1",
            "dataType": "fp32",
            "groupName": "g",
            "opName": "o",
        }
        for kind, length, message, domain, linked in (
            ("marker", 0, f"epoch {step}", "default", False),
            ("push/pop", 6_000, f"数据加载 🚀 {step}", "default", False),
            ("start/end", 9_000, "forward", "Module", True),
            ("marker_ex", 0, json.dumps(payload), "communication", True),
        ):
            mark = self.world.add("marks", start=start, end=start + length, kind=kind)
            mark |= {"thread": PROCESS, "message": message, "domain": domain}
            if linked:
                mark["device_link"] = self.linked_marks
                connection = FIRST_MARK_CONNECTION + self.linked_marks
                self.linked_marks += 1
                for device in self.devices:
                    after = start + 2_500
                    device.run(COMPUTE_STREAM, "MsTx", length, after, connection=connection)
            self._activity(MAIN_THREAD, start, start + length + 200, "mstx", f"mstx_{kind}_op")
            start += length + 1_000
        self.clock[MAIN_THREAD] = start

    def _collect_garbage(self) -> None:
        for _ in range(2):
            start = self.clock[MAIN_THREAD]
            end = start + self.host.one(1_000, 3_000, 10)
            self.world.add("collections", start=start, end=end, thread=MAIN_THREAD)
            self.clock[MAIN_THREAD] = end + 500

    def _events(self, device: Device) -> None:
        """Events: recorded, awaited, and one that no host call explains (db-schema.md 4.4)."""
        call = self._plain_call("aclrtRecordEvent", "record_event")
        after = max(call["end"], device.idle_from) + 1_000
        device.run(COMPUTE_STREAM, "EVENT_RECORD", 0, after, connection=call)
        call = self._plain_call("aclrtStreamWaitEvent", "wait_event")
        recorded = device.free_from(COMPUTE_STREAM)
        after = max(call["end"] + 1_500, recorded)
        device.run(COMMUNICATION_STREAM, "EVENT_WAIT", 40, after, connection=call)
        device.run(OTHER_STREAM, "EVENT_RECORD", 20, recorded + 2_000, model=1)

    def _model_and_release(self) -> None:
        start = max(self.clock[RELEASE_THREAD], self.clock[MAIN_THREAD])
        self._call("model", RELEASE_THREAD, "ModelExecute", start, start + 5_000)
        self._call("acl", RELEASE_THREAD, "aclCreateTensorDesc", start + 5_200, start + 5_600)
        self._call("acl", RELEASE_THREAD, "aclDestroyTensorDesc", start + 6_000, start + 6_400)
        self.clock[RELEASE_THREAD] = start + 7_000

    def _synchronize(self) -> None:
        """The step ends when host and devices have nothing left to do."""
        start = self.clock[MAIN_THREAD]
        idle = max(*self.clock.values(), *(device.idle_from for device in self.devices))
        name = "aclrtSynchronizeStreamWithTimeout"
        self._call("acl", MAIN_THREAD, name, start, idle + 2_000)
        self.clock[MAIN_THREAD] = idle + 3_000

    def _wait_for_devices(self) -> None:
        """The profiler of PyTorch does so before it stops."""
        start = self.clock[MAIN_THREAD]
        self._call("acl", MAIN_THREAD, "aclrtSynchronizeDevice", start, start + 5_000)
        self.clock[MAIN_THREAD] = start + 6_000
