"""The story of a capture, step by step: host calls launch device tasks."""

from __future__ import annotations

import json

from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE
from ascend_spec import catalog

from ..draws import Draws
from .communication import Expansion, operator_name
from .device import (
    COMMUNICATION_STREAM,
    COMPUTE_STREAM,
    OTHER_STREAM,
    PROFILING_STREAM,
    SCHEDULE_STREAM,
    Device,
    Part,
)
from .kernels import KERNELS, RELU
from .shape import Shape
from .world import (
    BACKWARD_THREAD,
    FIRST_CONNECTION,
    FIRST_STEP,
    LAUNCH_THREAD,
    MAIN_THREAD,
    RELEASE_THREAD,
    SESSION_START_NS,
    Activity,
    Call,
    Collective,
    Kernel,
    Link,
    Mark,
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
            SESSION_START_NS + 8_000_000,
        )
        self.sequence = FIRST_SEQUENCE
        self.copied = 0
        self.linked_marks = 0

    def play(self) -> World:
        world = self.world
        for device in self.devices:
            device.run(PROFILING_STREAM, "PROFILING_ENABLE", 0, SESSION_START_NS + 6_000_000)
        for step in range(self.shape.steps):
            self._step(step)
        end = self.clock[MAIN_THREAD]
        for device in self.devices:
            device.run(PROFILING_STREAM, "PROFILING_DISABLE", 20, end + 400_000)
            world.tasks.extend(device.tasks)
        end = max(end, *(device.idle_from for device in self.devices))
        world.session = (SESSION_START_NS, (end // 1000 + 2_001) * 1000)
        self._number_calls()
        for identity, task in enumerate(world.tasks):
            task.identity = identity
        world.tasks.sort(key=lambda task: task.start)
        return world

    def _number_calls(self) -> None:
        """CANN_API.connectionId counts the host events; profiling tasks take the id after them."""
        self.world.calls.sort(key=lambda call: (call.start, -call.end))
        for offset, call in enumerate(self.world.calls):
            call.connection = FIRST_CONNECTION + offset
        for task in self.world.tasks:
            if task.stream == PROFILING_STREAM:
                task.connection = FIRST_CONNECTION + len(self.world.calls)

    def _step(self, step: int) -> None:
        start = self.clock[MAIN_THREAD]
        self._advance_all(start + 2_000)
        step_row = self._activity(
            MAIN_THREAD, start, start, "op", f"ProfilerStep#{FIRST_STEP + step}"
        )
        step_row.stack = STACK[2:]
        for device in self.devices:
            for _ in range(5):
                self._copy_memory(device)
        kernels = [
            KERNELS[(step * self.shape.operators + index) % len(KERNELS)]
            for index in range(self.shape.operators)
        ]
        kernels += [_named(name) for name in self.shape.names if name]
        forward: list[Activity] = []
        for index, kernel in enumerate(kernels):
            forward.append(self._operator(kernel))
            if index == (len(kernels) - 1) // 2 and self.shape.with_communication:
                for device in self.devices:
                    self._schedule(device)
                    self._communicate(device, step, "allReduce")
        self._backward(forward)
        if self.shape.with_communication:
            for device in self.devices:
                self._communicate(device, step, "allReduce")
        if self.shape.with_communication and self.shape.ranks > 1:
            for device in self.devices:
                self._communicate(device, step, "send")
                self._communicate(device, step, "receive")
        if self.shape.with_mstx:
            self._marks(step)
        if self.shape.with_gc:
            self._collect_garbage()
        for device in self.devices:
            self._events(device)
        self._model_and_release()
        self._synchronize()
        step_row.end = self.clock[MAIN_THREAD]
        self.world.steps.append((start, step_row.end))
        self._advance_all(step_row.end + 1_000)

    def _advance_all(self, moment: int) -> None:
        for thread, clock in self.clock.items():
            self.clock[thread] = max(clock, moment)

    def _activity(self, thread: int, start: int, end: int, kind: str, name: str) -> Activity:
        row = Activity(start, end, thread, kind, name)
        self.world.activities.append(row)
        return row

    def _call(self, level: str, thread: int, name: str, start: int, end: int) -> Call:
        call = Call(start, end, level, thread, name)
        self.world.calls.append(call)
        return call

    def _enqueue(self, name: str, start: int) -> Link:
        """A main-thread entry into the task queue, 4 us long; returns what its exit shares."""
        link = Link()
        row = self._activity(MAIN_THREAD, start, start + 4_000, "queue", name)
        row.link = link
        row.enters_queue = True
        return link

    def _dequeue(self, name: str, link: Link, after: int, length: int) -> int:
        """The launch thread takes the entry and works for ``length``; returns when it began."""
        start = max(self.clock[LAUNCH_THREAD], after)
        self._activity(LAUNCH_THREAD, start, start + length, "queue", name).link = link
        self.clock[LAUNCH_THREAD] = start + length + 500
        return start

    def _launch(self, start: int) -> Call:
        """A node-level launch of 10 us, with the runtime call inside at level 2."""
        call = self._call("node", LAUNCH_THREAD, "launch", start, start + 10_000)
        if self.shape.level == 2:
            self._call(
                "runtime", LAUNCH_THREAD, "KernelLaunchWithHandle", start + 1_500, start + 8_500
            )
        return call

    def _operator(self, kernel: Kernel) -> Activity:
        """One framework operator, its kernel on every busy device."""
        launches = len(self.devices)
        start = self.clock[MAIN_THREAD]
        length = 40_000 + self.host.one(0, 20_000, 10)
        name = f"torch/nn/functional.py({self.host.one(100, 900)}): {kernel.api}"
        self._activity(MAIN_THREAD, start, start + length + 2_000, "trace", name)
        outer = self._activity(MAIN_THREAD, start + 1_000, start + length, "op", kernel.framework)
        outer.sequence = self.sequence
        self.sequence += 1
        outer.data_types = "float;\r\nfloat;\r\nScalarList"
        outer.shapes = "32,64,55,55;\r\n64;\r\n"
        outer.stack = STACK
        workspace = f"{kernel.api}GetWorkspaceSize"
        self._call("acl", MAIN_THREAD, workspace, start + 3_000, start + 9_000)
        inner = self._activity(
            MAIN_THREAD, start + 10_000, start + length - 2_000, "op", kernel.api
        )
        inner.stack = STACK[1:]
        link = self._enqueue(kernel.api, start + 12_000)
        self.clock[MAIN_THREAD] = start + length + 5_000
        began = self._dequeue(kernel.api, link, start + 16_500, 12_000 * launches + 2_000)
        self._call("acl", LAUNCH_THREAD, kernel.api, began + 300, began + 12_000 * launches + 1_500)
        calls = [self._launch(began + 1_000 + 12_000 * turn) for turn in range(launches)]
        for device, call in zip(self.devices, calls, strict=True):
            self._compute(device, kernel, call)
        inner.calls = tuple(calls)
        return outer

    def _compute(self, device: Device, kernel: Kernel, call: Call) -> None:
        length = self.work.one(4_000, 60_000, 20) + self.work.one(0, 9)
        after = call.end + 1_500
        if kernel.subtask:
            part = Part(0, length, kernel.task_type, kernel=kernel)
            device.run_group(COMPUTE_STREAM, [part], after, call)
        else:
            stream = OTHER_STREAM if kernel.core == "DSA_SQE" else COMPUTE_STREAM
            device.run(stream, kernel.task_type, length, after, call).kernel = kernel

    def _backward(self, forward: list[Activity]) -> None:
        for row in forward:
            start = max(self.clock[BACKWARD_THREAD], self.clock[MAIN_THREAD])
            length = self.host.one(8_000, 20_000, 10)
            name = f"{row.name.rpartition('::')[2]}Backward0"
            self._activity(
                BACKWARD_THREAD,
                start,
                start + length,
                "op",
                f"autograd::engine::evaluate_function: {name}",
            )
            inner = self._activity(BACKWARD_THREAD, start + 500, start + length - 500, "op", name)
            inner.sequence, inner.forward_thread = row.sequence, 1
            inner.link = row.link = Link()
            inner.shapes = "32,64,55,55"
            self.clock[BACKWARD_THREAD] = start + length + 1_000
        self.clock[MAIN_THREAD] = max(self.clock.values())

    def _plain_call(self, name: str, entry: str) -> Call:
        """An acl call behind the task queue that launches its task without a node event."""
        start = self.clock[MAIN_THREAD]
        link = self._enqueue(entry, start)
        self.clock[MAIN_THREAD] = start + 5_000
        began = self._dequeue(entry, link, start + 4_500, 4_000)
        return self._call("acl", LAUNCH_THREAD, name, began + 200, began + 3_800)

    def _copy_memory(self, device: Device) -> None:
        call = self._plain_call("aclrtMemcpyAsync", "acl_memcpy_host_to_device")
        size = self.work.one(512, 1 << 20, 512)
        task = device.run(
            COMPUTE_STREAM, "MEMCPY_ASYNC", 600 + size // 20, call.start + 2_500, call
        )
        kinds = catalog().enums["ENUM_MEMCPY_OPERATION"].members
        task.copies = (size, kinds[self.copied % len(kinds)].id)
        self.copied += 1

    def _schedule(self, device: Device) -> None:
        """The AI CPU kernel that prepares a communication operator on the device."""
        names = ("allReduceInitAicpuKernel", "allReduceAicpuKernel")
        start = self.clock[MAIN_THREAD]
        link = self._enqueue("HcclAicpuKernel", start)
        self.clock[MAIN_THREAD] = start + 5_000
        began = self._dequeue("HcclAicpuKernel", link, start + 4_500, 26_000)
        self._call("acl", LAUNCH_THREAD, "HcclLaunchAicpuKernel", began + 200, began + 25_500)
        for turn, name in enumerate(names):
            call = self._launch(began + 1_000 + 12_000 * turn)
            task = device.run(SCHEDULE_STREAM, "KERNEL_AICPU", 3_000, call.end + 1_500, call)
            task.schedules = name

    def _communicate(self, device: Device, step: int, kind: str) -> None:
        shape, world = self.shape, self.world
        start = self.clock[MAIN_THREAD]
        entry = f"Hccl{kind.capitalize()}"
        row = self._activity(MAIN_THREAD, start, start + 6_000, "op", entry)
        link = self._enqueue(entry, start + 1_000)
        self.clock[MAIN_THREAD] = start + 7_000
        began = self._dequeue(entry, link, start + 5_500, 16_000)
        self._call("acl", LAUNCH_THREAD, f"hcom_{kind}_", began + 200, began + 15_500)
        call = self._launch(began + 1_000)
        row.calls = (call,)
        self._call("communication", LAUNCH_THREAD, "Launch_Ffts", began + 1_200, began + 10_800)
        index = sum(other.device == device.number for other in world.collectives)
        collective = Collective(
            name=operator_name(kind, world.group, index),
            kind=kind,
            call=call,
            device=device.number,
            count=self.wires.one(40_960, 204_800, 4_096),
            data_type="FP32" if kind == "allReduce" else "BFP16",
            step=step,
        )
        after = call.end + 1_500
        if kind == "receive":
            after = max(after, device.idle_from)
        place = (shape.rank + self.devices.index(device)) % shape.ranks
        parts = Expansion(collective, place, shape.ranks, self.wires).parts()
        collective.tasks = device.run_group(COMMUNICATION_STREAM, parts, after, call)
        world.collectives.append(collective)

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
            ("marker", 0, "epoch", "default", False),
            ("push/pop", 6_000, "数据加载 🚀", "default", False),
            ("start/end", 9_000, "forward", "Module", True),
            ("marker_ex", 0, json.dumps(payload), "communication", True),
        ):
            link = NONE
            if linked:
                link = self.linked_marks
                self.linked_marks += 1
                for device in self.devices:
                    task = device.run(COMPUTE_STREAM, "MsTx", length, start + 2_500)
                    task.connection = FIRST_MARK_CONNECTION + link
            text = f"{message} {step}" if not linked else message
            self.world.marks.append(Mark(start, start + length, kind, text, domain, link))
            self._activity(MAIN_THREAD, start, start + length + 200, "mstx", f"mstx_{kind}_op")
            start += length + 1_000
        self.clock[MAIN_THREAD] = start

    def _collect_garbage(self) -> None:
        for _ in range(2):
            start = self.clock[MAIN_THREAD]
            length = self.host.one(1_000, 3_000, 10)
            self.world.collections.append((start, start + length))
            self.clock[MAIN_THREAD] = start + length + 500

    def _events(self, device: Device) -> None:
        """Events: recorded, awaited, and one that no host call explains (db-schema.md 4.4)."""
        call = self._plain_call("aclrtRecordEvent", "record_event")
        device.run(COMPUTE_STREAM, "EVENT_RECORD", 0, max(call.end, device.idle_from) + 1_000, call)
        call = self._plain_call("aclrtStreamWaitEvent", "wait_event")
        recorded = device.free_from(COMPUTE_STREAM)
        device.run(COMMUNICATION_STREAM, "EVENT_WAIT", 40, max(call.end + 1_500, recorded), call)
        model = device.run(OTHER_STREAM, "EVENT_RECORD", 20, recorded + 2_000)
        model.model = 1

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


def _named(name: str) -> Kernel:
    """A vector operator that carries a text of the caller in all its names."""
    return Kernel(
        framework=f"custom::{name}",
        api=f"aclnn{name}",
        name=f"aclnn{name}_{name}_Relu",
        op_type=RELU.op_type,
        core=RELU.core,
        task_type=RELU.task_type,
        blocks=RELU.blocks,
        formats=RELU.formats,
        data_types=RELU.data_types,
        shapes=RELU.shapes,
    )
