"""Writes programs: operators as they are called, with what lies in L2 and how long tensors live.

A tape also differentiates: an operator that is recorded with its backward function takes part in
:meth:`Tape.backward`, which runs as PyTorch's engine does, latest first, on the backward thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..hardware.model import Machine
from .kernels import ND, WIDTHS, Kernels, Operand
from .model import (
    COMPUTE_STREAM,
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
    Synchronize,
    Tensor,
    Thread,
)

FRAME_NS = 9_000
LEAF_NS = 12_000
"""Host cost of a call on the main thread: of each framework operator, and of the call."""
NODE_NS = 34_000
BACKWARD_CALL_NS = 14_000
"""On the backward thread: of each autograd node, and of each framework operator."""
HOST_COPY_RATE = 25_700
"""Byte per microsecond from the host (PCIe 4.0 x16; fixtures-2025-01)."""
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


@dataclass(slots=True, eq=False)
class Storage:
    """Memory of a tensor. owner, last: places of the operators that took it and that used it last.

    owner is None for what lives beyond the step. touched: Byte moved by the device when it was last
    read or written; None before.
    """

    size: int
    owner: int | None
    last: int
    touched: int | None = None


@dataclass(slots=True, eq=False)
class Value:
    """A tensor of the program. node: the operator that differentiates it, None outside autograd.

    slot: which of the parts that the node's output was split into. leaf: a gradient is wanted of a
    tensor without a node.
    """

    shape: tuple[int, ...]
    data_type: str
    storage: Storage
    layout: str = ND
    node: Node | None = None
    slot: int = 0
    leaf: bool = False

    @property
    def wants_gradient(self) -> bool:
        """Whether anybody uses its gradient."""
        return self.node is not None or self.leaf

    @property
    def elements(self) -> int:
        """Number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def size(self) -> int:
        """Byte."""
        return self.elements * WIDTHS[self.data_type]

    def view(self, *shape: int) -> Value:
        """The same memory and history under another shape."""
        return Value(shape, self.data_type, self.storage, self.layout, self.node, self.slot)


@dataclass(slots=True, eq=False)
class Parameter(Value):
    """A weight. dimension: over which its gradient is summed. uses: gradients it gets per step."""

    dimension: Dimension = "dp"
    uses: int = 0
    seen: int = 0


Backward = Callable[[Value], Sequence[Value | None]]


@dataclass(slots=True, eq=False)
class Node:
    """A differentiable operator. forward: its place. backward: gradients of inputs.

    join: makes the gradient of the output from those of the parts that it was split into.
    """

    sequence: int
    forward: int
    inputs: tuple[Value, ...]
    backward: Backward
    join: Callable[[Sequence[Value]], Value] | None = None


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


@dataclass(slots=True)
class _Pending:
    """Gradients that wait for their node, by slot."""

    node: Node
    parts: dict[int, Value]


class Tape:
    """Collects a program; see the module."""

    def __init__(self, machine: Machine, host_scale: int = 1) -> None:
        """host_scale: how many times slower the main thread is than without Python stacks."""
        self.machine = machine
        self.kernels = Kernels(machine.chip)
        self.persistent = 0
        self.parameters: list[Parameter] = []
        self.on_gradient: Callable[[Parameter, Value], None] = lambda parameter, gradient: None
        self._host_scale = host_scale
        self._drafts: list[_Draft] = []
        self._items: list[Item] = []
        self._moved = 0
        self._thread: Thread = "main"
        self._module: tuple[str, ...] = ()
        self._node: Node | None = None
        self._node_begins = False
        self._sequence = 0

    # What a program consists of.

    def parameter(
        self, *shape: int, data_type: str, dimension: Dimension = "dp", layout: str = ND
    ) -> Parameter:
        """A weight, which lives before the step and after it."""
        made = Parameter(shape, data_type, Storage(0, None, 0), layout, dimension=dimension)
        self.persistent += made.size
        self.parameters.append(made)
        return made

    def constant(self, *shape: int, data_type: str) -> Value:
        """A tensor that no step changes or takes, such as tables of angles."""
        made = Value(shape, data_type, Storage(0, None, 0))
        self.persistent += made.size
        return made

    def call(
        self,
        name: str,
        api: str,
        inputs: Sequence[Value] = (),
        outputs: Sequence[tuple[tuple[int, ...], str]] = (),
        *,
        nested: int = 0,
        host: int | None = None,
        two_phase: bool = True,
        workspace: int = 0,
        layout: str = ND,
    ) -> list[Value]:
        """Call an operator; what is launched next belongs to it. Returns its new tensors.

        nested: framework operators inside it, which make it slower on the host.
        """
        place = self._begin(name, api)
        draft = self._drafts[place]
        for value in inputs:
            value.storage.last = place
        draft.host = self._host_cost(nested) if host is None else host
        draft.two_phase, draft.workspace = two_phase, workspace
        draft.data_types = ";".join([FRAMEWORK_TYPES[value.data_type] for value in inputs])
        draft.shapes = ";".join([",".join(map(str, value.shape)) for value in inputs])
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

    def _host_cost(self, nested: int) -> int:
        if self._thread == "backward":
            return BACKWARD_CALL_NS * (1 + nested) + (NODE_NS if self._node_begins else 0)
        return (LEAF_NS + FRAME_NS * (1 + nested)) * self._host_scale

    def see(self, *values: Value) -> list[Operand]:
        """Operands of a kernel, which brings them into L2."""
        limit = self._moved - self.machine.chip.l2 * L2_SHARE[0] // L2_SHARE[1]
        seen = []
        for value in values:
            storage = value.storage
            cold = storage.touched is None or storage.touched < limit
            seen.append(Operand(value.shape, value.data_type, value.layout, cold))
            self._moved += value.size
            storage.touched = self._moved
        return seen

    def launch(self, *variants: Kernel, stream: str = COMPUTE_STREAM, load: int = 0) -> None:
        """Run a kernel of the current operator."""
        self._items.append(Launch(len(self._drafts) - 1, variants, stream, load))

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

    def see_new(self, values: Sequence[Value]) -> list[Operand]:
        """Operands that a kernel writes: never read, so never cold."""
        self.see(*values)
        return [Operand(value.shape, value.data_type, value.layout) for value in values]

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
    ) -> tuple[int, list[Value]]:
        """Launch a collective; returns its item, for :meth:`wait`, and its new tensors."""
        made = self.call(COLLECTIVE_CALLS[kind], f"hcom_{kind}_", inputs, outputs, nested=1)
        place = len(self._items)
        hccl_type = HCCL_TYPES[data_type]
        operator = len(self._drafts) - 1
        self._items.append(Collective(operator, kind, dimension, count, hccl_type, peer, tag))
        for value in (*inputs, *made):
            value.storage.touched = None
        return place, made

    def wait(self, item: int) -> None:
        """Let the compute stream wait for a collective."""
        self.call("wait_event", "aclrtStreamWaitEvent", host=LEAF_NS)
        self._items.append(Await(len(self._drafts) - 1, item))

    def copy_in(self, name: str, *shape: int, data_type: str, pinned: bool = False) -> Value:
        """Copy an input from the host; the framework waits for it unless it is ``pinned`` there."""
        (made,) = self.call(name, "aclrtMemcpyAsync", (), [(shape, data_type)], nested=2)
        duration = 2_000 + made.size * 1000 // HOST_COPY_RATE
        operator = len(self._drafts) - 1
        self._items.append(Copy(operator, made.size, "host to device", duration // 20 * 20))
        if not pinned:
            self._items.append(Synchronize(operator))
        made.storage.touched = None
        return made

    def synchronize(self, name: str) -> None:
        """Let the framework thread wait for the device."""
        self.call(name, "aclrtSynchronizeStreamWithTimeout", nested=1)
        self._items.append(Synchronize(len(self._drafts) - 1))

    def prepare(self, name: str, duration: int) -> None:
        """Let the framework thread work alone."""
        self.call(name, "", host=0)
        self._items.append(Prepare(len(self._drafts) - 1, duration))

    # Where operators stand.

    @contextmanager
    def module(self, name: str, frame: str | None = None) -> Iterator[None]:
        """Operators of a module: a range of domain ``Module``. frame: its text in Python stacks."""
        outer = self._module
        self._module = (*outer, frame or f"nn.Module: {name}")
        with self.range(name, "Module"):
            yield
        self._module = outer

    @contextmanager
    def frame(self, text: str) -> Iterator[None]:
        """Operators below a Python function."""
        outer = self._module
        self._module = (*outer, text)
        yield
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

    # Differentiation.

    def differentiable(self, output: Value, inputs: Sequence[Value], backward: Backward) -> Value:
        """Record how the last operator's output is differentiated; returns the output.

        ``backward`` takes the gradient of the output and gives those of the inputs, None for one
        that needs none.
        """
        place = len(self._drafts) - 1
        output.node = Node(self._sequence, place, tuple(inputs), backward)
        self._drafts[place].sequence = self._sequence
        self._sequence += 1
        for value in inputs:
            if isinstance(value, Parameter):
                value.uses += 1
        return output

    def hook(self, x: Value, backward: Callable[[Value], Value]) -> Value:
        """The same tensor, whose gradient goes through ``backward`` on its way back."""
        made = x.view(*x.shape)
        place = len(self._drafts) - 1 if x.node is None else x.node.forward
        made.node = Node(self._sequence, place, (x,), lambda gradient: [backward(gradient)])
        made.slot = 0
        self._sequence += 1
        return made

    def split(
        self,
        x: Value,
        shapes: Sequence[tuple[int, ...]],
        join: Callable[[Sequence[Value]], Value],
    ) -> list[Value]:
        """Parts of a tensor, which share its memory."""
        if x.node is not None:
            x.node.join = join
        return [
            Value(shape, x.data_type, x.storage, x.layout, x.node, slot)
            for slot, shape in enumerate(shapes)
        ]

    def backward(self, outputs: Sequence[tuple[Value, Value]]) -> dict[int, Value]:
        """Differentiate (output, gradient) pairs back to leaves, on the backward thread.

        Returns the gradients of the leaves that are not parameters, by identity of their storage.
        """
        pending: dict[int, _Pending] = {}
        leaves: dict[int, Value] = {}
        with self.backward_thread():
            for output, gradient in outputs:
                self._deliver(output, gradient, pending, leaves)
            while pending:
                item = pending.pop(max(pending))
                node = item.node
                self._node, self._node_begins = node, True
                parts = [item.parts[slot] for slot in sorted(item.parts)]
                gradients = node.backward(node.join(parts) if node.join else parts[0])
                self._node = None
                for value, part in zip(node.inputs, gradients, strict=True):
                    if part is not None:
                        self._deliver(value, part, pending, leaves)
        return leaves

    @contextmanager
    def backward_thread(self) -> Iterator[None]:
        """What is called here runs on the thread of the autograd engine, below no Python."""
        outer, self._thread, self._module = self._module, "backward", ()
        yield
        self._thread, self._module = "main", outer

    def _deliver(
        self,
        value: Value,
        gradient: Value,
        pending: dict[int, _Pending],
        leaves: dict[int, Value],
    ) -> None:
        if isinstance(value, Parameter):
            value.seen += 1
            self.on_gradient(value, gradient)
            return
        if value.node is None:
            parts, place = leaves, id(value.storage)
        else:
            item = pending.setdefault(value.node.sequence, _Pending(value.node, {}))
            parts, place = item.parts, value.slot
        other = parts.get(place)
        if other is not None:
            new = [(other.shape, other.data_type)]
            (total,) = self.call("aten::add", "aclnnAdd", (other, gradient), new)
            self.vector("Add", "aclnnAdd", (other, gradient), (total,))
            gradient = total
        parts[place] = gradient

    def program(self) -> Program:
        """What was written, ending with a wait for the device."""
        operators = tuple(
            Operator(
                draft.name,
                draft.api,
                draft.thread,
                draft.host,
                two_phase=draft.two_phase,
                workspace=draft.workspace,
                data_types=draft.data_types,
                shapes=draft.shapes,
                module=draft.module,
                forward=draft.forward,
                sequence=draft.sequence,
                tensors=tuple([Tensor(part.size, part.last) for part in draft.taken]),
            )
            for draft in self._drafts
        )
        return Program(operators, tuple(self._items), self.persistent)
