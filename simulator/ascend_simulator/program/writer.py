"""Writes programs: operators as they are called, with what lies in L2 and how long tensors live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

from ..hardware.model import Machine
from .cost import Heads
from .framework import FRAMES, INNER
from .kernels import ND, Kernels, Operand, shape_text
from .model import (
    COMPUTE_STREAM,
    MODULE,
    Annotate,
    Await,
    Collective,
    CollectiveKind,
    Copy,
    Dimension,
    Item,
    Kernel,
    Launch,
    Operator,
    Prepare,
    Program,
    Routed,
    Synchronize,
    Tensor,
    Thread,
)
from .values import Node, Parameter, Storage, Value

FRAME_NS = 4_000
LEAF_NS = 4_000
OUTPUT_NS = 2_500
"""Host cost on the main thread: of a framework operator, of the call it makes, of a new tensor."""
NODE_NS = 34_000
BACKWARD_CALL_NS = 14_000
"""On the backward thread: of each autograd node, and of each framework operator."""
COLLECTIVE_CALL_NS = 75_000
"""On either thread: of a collective with its events (fixtures-2025-01)."""
HOST_COPY_RATE = 25_700
"""Byte per microsecond from the host (PCIe 4.0 x16; fixtures-2025-01)."""
HOST_COPY_NS, DEVICE_COPY_NS, ARGUMENT_NS = 2_000, 600, 240
"""What a copy from or to the host, or on the device, takes in addition to the time for its Byte;
a copy of an argument takes the last one more."""
COPIED_BYTES = 200_000
"""From this size on a kernel copies (fixtures-2025-01: 1.2 MB is copied by one, 93 kB not)."""
L2_SHARE = 3, 4
"""A tensor is still in L2 after this share of it has been moved through."""
HCCL_TYPES = {
    "FLOAT": "FP32",
    "FLOAT16": "FP16",
    "DT_BF16": "BFP16",
    "INT32": "INT32",
    "INT64": "INT64",
}
"""Names in ENUM_HCCL_DATA_TYPE."""
FRAMEWORK_TYPES = {
    "FLOAT": "float",
    "FLOAT16": "c10::Half",
    "DT_BF16": "c10::BFloat16",
    "INT32": "int",
    "INT64": "long int",
    "UINT8": "unsigned char",
    "UINT16": "unsigned short",
    "BOOL": "bool",
}
"""How PYTORCH_API.inputDtypes spells the data types."""
COLLECTIVE_CALLS = {
    "allReduce": "c10d::allreduce_",
    "allGather": "c10d::_allgather_base_",
    "reduceScatter": "c10d::_reduce_scatter_base_",
    "alltoallv": "c10d::alltoall_base_",
    "broadcast": "c10d::broadcast_",
    "send": "c10d::send",
    "receive": "c10d::recv_",
}


@dataclass(slots=True)
class _Draft:
    """An operator whose tensors are not yet known to be dead."""

    name: str
    api: str
    thread: Thread
    module: tuple[str, ...]
    forward: int | None
    sequence: int
    host: int = 0
    two_phase: bool = True
    workspace: int = 0
    data_types: str = ""
    shapes: str = ""
    taken: list[Storage] = field(default_factory=list)


class Writer:
    """Collects a program; see the module."""

    def __init__(self, machine: Machine, host_scale: int = 1) -> None:
        """host_scale: how many times slower the main thread is than without Python stacks."""
        self.machine = machine
        self.kernels = Kernels(machine.chip)
        self.persistent = 0
        self.parameters: list[Parameter] = []
        self._host_scale = host_scale
        self._drafts: list[_Draft] = []
        self._items: list[Item] = []
        self._moved = 0
        self._reach = machine.chip.l2 * L2_SHARE[0] // L2_SHARE[1]
        self._operands: dict[tuple[tuple[int, ...], str, str, bool], Operand] = {}
        self._thread: Thread = "main"
        self._module: tuple[str, ...] = ()
        self._modules: dict[str, dict[tuple[tuple[str, ...], int], int]] = {}
        self._inside: list[dict[str, int]] = [{}]
        self._node: Node | None = None
        self._node_begins = False
        self._loads = 0

    def parameter(
        self, *shape: int, data_type: str, dimension: Dimension = "dp", layout: str = ND
    ) -> Parameter:
        """A weight, which lives before the step and after it."""
        made = Parameter(shape, data_type, Storage(0, None, 0), layout, dimension=dimension)
        self.persistent += made.size
        self.parameters.append(made)
        return made

    @property
    def place(self) -> int:
        """Place of the last operator so far."""
        return len(self._drafts) - 1

    def hold(self, *values: Value, until: int | None = None) -> None:
        """The script holds on to tensors until an operator of the next step, by its place.

        By default that is the one that took the tensor: its result is bound to the same name.
        """
        for value in values:
            value.storage.until = value.storage.owner if until is None else until

    def constant(self, *shape: int, data_type: str, layout: str = ND) -> Value:
        """A tensor that lives before the step and after it, such as tables of angles."""
        made = Value(shape, data_type, Storage(0, None, 0), layout)
        self.persistent += made.size
        return made

    def call(
        self,
        name: str,
        api: str,
        inputs: Sequence[Value] = (),
        outputs: Sequence[tuple[tuple[int, ...], str]] = (),
        *,
        host: int | None = None,
        two_phase: bool = True,
        workspace: int = 0,
        layout: str = ND,
        lists: int = 0,
    ) -> list[Value]:
        """Call an operator; what is launched next belongs to it. Returns its new tensors.

        lists: so many lists are its operands, which the framework does not show one by one.
        """
        place = self._begin(name, api)
        draft = self._drafts[place]
        for value in inputs:
            value.storage.last = place
        draft.host = self._host_cost(name, len(outputs)) if host is None else host
        draft.two_phase, draft.workspace = two_phase, workspace
        draft.data_types = ";".join([FRAMEWORK_TYPES[value.data_type] for value in inputs])
        draft.shapes = ";".join([shape_text(value.shape) for value in inputs])
        if lists:
            draft.data_types = ";".join(["TensorList"] * lists + ["Scalar"])
            draft.shapes = ";" * lists
        made = []
        for shape, data_type in outputs:
            value = Value(shape, data_type, Storage(0, place, place), layout)
            value.storage.size = value.size
            draft.taken.append(value.storage)
            made.append(value)
        self._node_begins = False
        return made

    def _begin(self, name: str, api: str) -> int:
        node = self._node
        forward, sequence = None, -1
        if node is not None:
            forward, sequence = node.forward, self._drafts[node.forward].sequence
        self._drafts.append(_Draft(name, api, self._thread, self._module, forward, sequence))
        return len(self._drafts) - 1

    def _host_cost(self, name: str, outputs: int) -> int:
        calls = max(len(INNER.get(name, ())) - 1, 1)
        if self._thread == "backward":
            return BACKWARD_CALL_NS * calls + (NODE_NS if self._node_begins else 0)
        return (LEAF_NS + FRAME_NS * calls + OUTPUT_NS * outputs) * self._host_scale

    def see(self, *values: Value) -> list[Operand]:
        """Operands of a kernel, which brings them into L2."""
        limit = self._moved - self._reach
        seen = []
        for value in values:
            storage = value.storage
            cold = storage.touched is None or storage.touched < limit
            seen.append(self._operand(value, cold))
            self._moved += value.size
            storage.touched = self._moved
        return seen

    def see_new(self, values: Sequence[Value]) -> list[Operand]:
        """Operands that a kernel writes: never read, so never cold."""
        seen = []
        for value in values:
            seen.append(self._operand(value, False))
            self._moved += value.size
            value.storage.touched = self._moved
        return seen

    def _operand(self, value: Value, cold: bool) -> Operand:
        key = (value.shape, value.data_type, value.layout, cold)
        found = self._operands.get(key)
        if found is None:
            found = self._operands[key] = Operand(*key)
        return found

    def launch(
        self,
        *variants: Kernel,
        stream: str = COMPUTE_STREAM,
        load: int = 0,
        workspace: int = 0,
    ) -> None:
        """Run a kernel of the current operator."""
        self._items.append(Launch(len(self._drafts) - 1, variants, stream, load, workspace))

    def vector(
        self,
        kind: str,
        api: str,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        extra: Sequence[Operand] = (),
        stream: str = COMPUTE_STREAM,
    ) -> None:
        """Run a kernel of the vector unit (or the AI CPU) over tensors of the current operator.

        extra: further operands, which are too small to count, such as axes and factors.
        """
        seen = [*self.see(*inputs), *extra]
        self.launch(self.kernels.vector(kind, api, seen, self.see_new(outputs)), stream=stream)

    def matmul(
        self,
        kind: str,
        api: str,
        inputs: Sequence[Value],
        output: Value,
        size: tuple[int, int, int, int],
    ) -> None:
        """Run a product of matrices; size: batch, m, n, k."""
        seen = self.see(*inputs)
        (written,) = self.see_new([output])
        self.launch(self.kernels.matmul(kind, api, seen, written, size))

    def attention(
        self,
        kind: str,
        api: str,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        heads: Heads,
        extra: Sequence[Operand] = (),
    ) -> None:
        """Run fused attention; the queries are the first input. extra: as :meth:`vector` has it."""
        seen, written = [*self.see(*inputs), *extra], self.see_new(outputs)
        self.launch(self.kernels.attention(kind, api, seen, written, heads))

    def run(
        self,
        name: str,
        api: str,
        kind: str,
        inputs: Sequence[Value],
        outputs: Sequence[tuple[tuple[int, ...], str]] = (),
        *,
        written: Sequence[Value] = (),
        extra: Sequence[Operand] = (),
    ) -> list[Value]:
        """Call an operator that is one kernel of the vector unit; returns its new tensors.

        written: older tensors that it writes. extra: as :meth:`vector` takes them.
        """
        made = self.call(name, api, inputs, outputs)
        self.vector(kind, api, inputs, [*written, *made], extra)
        return made

    def collective(
        self,
        kind: CollectiveKind,
        dimension: Dimension,
        count: int,
        data_type: str,
        *,
        inputs: Sequence[Value] = (),
        outputs: Sequence[tuple[tuple[int, ...], str]] = (),
        peer: int = 0,
        tag: int = 0,
        routed: Routed | None = None,
    ) -> tuple[int, list[Value]]:
        """Launch a collective; returns its item, for :meth:`wait`, and its new tensors."""
        name, api = COLLECTIVE_CALLS[kind], f"hcom_{kind}_"
        made = self.call(name, api, inputs, outputs, host=COLLECTIVE_CALL_NS)
        place = len(self._items)
        hccl_type = HCCL_TYPES[data_type]
        operator = len(self._drafts) - 1
        item = Collective(operator, kind, dimension, count, hccl_type, peer, tag, routed)
        self._items.append(item)
        for value in (*inputs, *made):
            value.storage.touched = None
        return place, made

    def wait(self, item: int) -> None:
        """Let the compute stream wait for a collective."""
        self.call("wait_event", "aclrtStreamWaitEvent", host=LEAF_NS)
        self._items.append(Await(len(self._drafts) - 1, item))

    def copy_in(self, *shape: int, data_type: str, pinned: bool = False, layout: str = ND) -> Value:
        """Copy an input from the host; the framework waits for it unless it is ``pinned`` there."""
        (made,) = self.call("aten::to", "aclrtMemcpyAsync", (), [(shape, data_type)], layout=layout)
        draft = self._drafts[-1]
        draft.data_types, draft.shapes = FRAMEWORK_TYPES[data_type], shape_text(shape)
        self._copy(made.size, "host to device", HOST_COPY_NS)
        if not pinned:
            self._items.append(Synchronize(len(self._drafts) - 1))
        made.storage.touched = None
        return made

    def copy_out(self, x: Value) -> None:
        """Copy a tensor to the host, which waits for it."""
        self.call("aten::to", "aclrtMemcpyAsync", (x,))
        self._copy(x.size, "device to host", HOST_COPY_NS)
        self._items.append(Synchronize(len(self._drafts) - 1))

    def copy_over(self, name: str, x: Value) -> None:
        """Copy a small tensor on the device without a kernel."""
        self.call(name, "aclnnInplaceCopy", (x, x))
        rate = self.machine.chip.local_bandwidth
        self._copy(x.size, "device to device", DEVICE_COPY_NS, rate)

    def copy_argument(self, size: int) -> None:
        """Copy so many Byte that the current operator's kernel needs from the host."""
        self._copy(size, "host to device", HOST_COPY_NS + ARGUMENT_NS)

    def _copy(self, size: int, operation: str, start: int, rate: int = HOST_COPY_RATE) -> None:
        """A copy of the current operator. start: ns before the first Byte; rate: per us."""
        duration = start + size * 1000 // rate
        self._items.append(Copy(len(self._drafts) - 1, size, operation, duration // 20 * 20))

    def new_load(self) -> int:
        """A number for launches that work on the same tokens."""
        self._loads += 1
        return self._loads

    def synchronize(self) -> None:
        """Let the framework thread wait for the device."""
        self.call("aten::item", "aclrtSynchronizeStreamWithTimeout")
        self._items.append(Synchronize(len(self._drafts) - 1))

    def prepare(self, name: str, duration: int) -> None:
        """Let the framework thread work alone."""
        self.call(name, "", host=0)
        self._items.append(Prepare(len(self._drafts) - 1, duration))

    @contextmanager
    def module(self, name: str) -> Iterator[None]:
        """Operators of a module: a range of domain ``Module``.

        It is the same module as in another pass where it is the n-th of its name inside of the
        same one.
        """
        outer, counts = self._module, self._inside[-1]
        place = counts[name] = counts.get(name, -1) + 1
        known = self._modules.setdefault(name, {})
        number = known.setdefault((outer, place), len(known))
        with self._within(f"{MODULE}{name}_{number}", FRAMES[name]), self.range(name, "Module"):
            yield

    @contextmanager
    def frame(self, text: str) -> Iterator[None]:
        """Operators below a Python function."""
        with self._within(text):
            yield

    @contextmanager
    def _within(self, *entries: str) -> Iterator[None]:
        outer = self._module
        self._module = (*outer, *entries)
        self._inside.append({})
        yield
        self._inside.pop()
        self._module = outer

    @contextmanager
    def range(self, message: str, domain: str, on_device: bool = False) -> Iterator[None]:
        """An mstx range around operators; none where nothing is called."""
        place = self._mark()
        operator = self._items[place].operator
        yield
        if len(self._items) == place + 1:
            self._items.pop()
            if operator == len(self._drafts) - 1 and self._items[-1].operator != operator:
                self._drafts.pop()
            return
        last = len(self._items) - 1
        self._items[place] = Annotate(operator, message, domain, last, on_device)

    @contextmanager
    def flops(self, label: str) -> Iterator[None]:
        """A range that states the operations of the one kernel in it, for its utilisation."""
        place = self._mark()
        yield
        launched = self._items[-1]
        if not isinstance(launched, Launch):
            raise TypeError("a range of operations holds a kernel")
        self._items[place] = Annotate(
            self._items[place].operator,
            f"{launched.variants[0].flops}-{label}",
            "mfu_flops",
            len(self._items) - 1,
        )

    def _mark(self) -> int:
        """Place of a new range; its operator is that of a range that begins here as well."""
        last = self._items[-1] if self._items else None
        shared = isinstance(last, Annotate) and last.operator == len(self._drafts) - 1
        operator = len(self._drafts) - 1 if shared else self._begin("mstx::range", "")
        self._items.append(Annotate(operator, "", "", -1))
        return len(self._items) - 1

    def program(self) -> Program:
        """What was written, ending with a wait for the device."""
        plain = [column.name for column in fields(_Draft) if column.name != "taken"]
        operators = tuple(
            Operator(
                **{name: getattr(draft, name) for name in plain},
                inner=INNER.get(draft.name, ()),
                tensors=tuple([Tensor(part.size, part.last, part.until) for part in draft.taken]),
            )
            for draft in self._drafts
        )
        return Program(operators, tuple(self._items), self.persistent)
