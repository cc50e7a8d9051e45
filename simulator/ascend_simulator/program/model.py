"""A program: one step of one pipeline stage, the same for every step and every rank of the stage.

A program says *what* runs and how long it takes at the nominal clock, never *when*: the world
(:mod:`ascend_simulator.world`) lays it out in time. Durations are ns, sizes Byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .cost import Cost

Core = Literal["AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "AI_CPU", "DSA_SQE"]
Thread = Literal["main", "backward"]
Dimension = Literal["world", "dp", "tp", "pp", "ep", "edp"]
"""edp: ranks that hold the same experts (the data-parallel ranks, one of each ``ep`` group)."""
CollectiveKind = Literal[
    "allReduce", "allGather", "reduceScatter", "alltoallv", "broadcast", "send", "receive"
]
MODULE = "nn.Module: "
"""Begins the entry of a module in a path, as the Python trace names it: ``nn.Module: Linear_0``."""
COMPUTE_STREAM = "compute"
OTHER_STREAM = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel(Cost):
    """One device kernel: the texts of COMPUTE_TASK_INFO, its cost and its counters.

    task_type: TASK.taskType (``KERNEL_AICORE``, ``KERNEL_AIVEC``, ``MIX_AIV``, …).
    subtask: runs as a sub-task inside an enclosing FFTS+ task.
    flops: floating point operations (2 per multiply-add).
    """

    name: str
    op_type: str
    core: Core
    task_type: str
    input_formats: str
    input_data_types: str
    input_shapes: str
    output_formats: str
    output_data_types: str
    output_shapes: str
    op_state: str = "static"
    hf32: str = "NO"
    attributes: str = "N/A"
    flops: int = 0
    subtask: bool = False


@dataclass(frozen=True, slots=True)
class Tensor:
    """Memory that an operator takes: ``last_use`` is the place of the operator after which the
    framework gives it back; None keeps it for good (it is taken in the first step only).

    until: place of the operator of the next step after which it is given back, where the script
    holds on to it beyond its own step, as to a gradient or the last loss.
    """

    size: int
    last_use: int | None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """One call of the framework, on one of its threads.

    name: as in PYTORCH_API (``aten::mm``). api: the CANN call that it leads to (``aclnnMm``;
    ``hcom_allReduce_`` for collectives). two_phase: called as GetWorkspaceSize plus execute; else
    as one aclopCompileAndExecute, and ``api`` is the type of the compiled operator (``Conv2D``).
    workspace: Byte that the call takes while it launches. host: ns that the framework thread spends
    on it. data_types, shapes: operands in PYTORCH form (joined by ";"; each a plain list such as
    ``32,3,224,224``). inner: framework operators before, around and inside of it, itself among
    them, as depth and name in the order in which they begin; the last one, without a name, stands
    for its new tensors and what enters the queue. Empty: the operator alone. module: path of
    modules (:data:`MODULE`) and Python functions that called it, outermost first; the function of
    a module's own is the entry after it.
    forward: place of the forward operator of a backward one. sequence: place in the autograd
    sequence of the step (forward and backward share it), -1 outside of autograd.
    """

    name: str
    api: str
    thread: Thread
    host: int
    two_phase: bool = True
    workspace: int = 0
    data_types: str = ""
    shapes: str = ""
    inner: tuple[tuple[int, str], ...] = ()
    module: tuple[str, ...] = ()
    forward: int | None = None
    sequence: int = -1
    tensors: tuple[Tensor, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """Run a kernel on a stream. With several ``variants``, each run draws one of them, per rank and
    step, by its ``load`` (not 0), which depends on the data, such as tokens per expert. Launches
    with the same load have as many variants and draw the same one: they work on the same tokens.
    workspace: Byte of the operator's workspace that the kernel writes to.
    """

    operator: int
    variants: tuple[Kernel, ...]
    stream: str = COMPUTE_STREAM
    load: int = 0
    workspace: int = 0


@dataclass(frozen=True, slots=True)
class Routed:
    """Tokens that an alltoallv takes to the experts, or ``back``, and that differ from run to run.

    load: as of the launches that work on them. rows: that the experts of a rank get, by variant.
    width: elements of a row.
    """

    load: int
    rows: tuple[int, ...]
    width: int
    back: bool


@dataclass(frozen=True, slots=True)
class Collective:
    """Take part in a communication operator, on the stream of its group.

    count: elements per rank, as in COMMUNICATION_OP.count: of allGather what each rank gives, of
    reduceScatter what each receives, of alltoallv what each gives to all together, on average where
    it is ``routed``. data_type: name in ENUM_HCCL_DATA_TYPE.
    peer: of send and receive, distance of the other pipeline stage (+1 next, -1 previous, cyclic).
    tag: the n-th send with a tag meets the n-th receive of the same tag in the peer's program.
    """

    operator: int
    kind: CollectiveKind
    dimension: Dimension
    count: int
    data_type: str
    peer: int = 0
    tag: int = 0
    routed: Routed | None = None


@dataclass(frozen=True, slots=True)
class Await:
    """The compute stream waits for a collective: ``item`` is its place in the program."""

    operator: int
    item: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy between host and device. operation: name in ENUM_MEMCPY_OPERATION."""

    operator: int
    size: int
    operation: str
    duration: int


@dataclass(frozen=True, slots=True)
class Synchronize:
    """The framework thread waits until everything launched before has ended on the device."""

    operator: int


@dataclass(frozen=True, slots=True)
class Prepare:
    """The framework thread works alone, such as loading data, for so many ns."""

    operator: int
    duration: int


@dataclass(frozen=True, slots=True)
class Annotate:
    """An mstx range from here to the end of the operator of item ``last``.

    Ranges that begin together form an operator of their own, which does nothing else. domain
    ``default`` ranges also run on the compute stream where ``on_device`` is set.
    """

    operator: int
    message: str
    domain: str
    last: int
    on_device: bool = False


Item: TypeAlias = Launch | Collective | Await | Copy | Synchronize | Prepare | Annotate


@dataclass(frozen=True, slots=True)
class Program:
    """Operators and items of one step, both in order of the host program.

    The items of one operator stand together, and operators of the backward thread run while the
    main thread waits for them. The last item of a step is always a Synchronize.
    persistent: Byte of parameters, gradients and optimizer state, held before the first step.
    flops: of one step on one rank.
    """

    operators: tuple[Operator, ...]
    items: tuple[Item, ...]
    persistent: int = 0

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """The communication operators, in order of launch."""
        return tuple(item for item in self.items if isinstance(item, Collective))

    @property
    def flops(self) -> int:
        """Floating point operations of one step (of the first variant where there are several)."""
        return sum(item.variants[0].flops for item in self.items if isinstance(item, Launch))
