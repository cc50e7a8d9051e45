"""The things that happen in a specimen, and their common clock. Times are Unix ns."""

from __future__ import annotations

from dataclasses import dataclass, field

from ascend_ref.capture.model import NONE

SESSION_START_NS = 1_767_258_000_000_000_000
PROCESS = 3_217_657
MAIN_THREAD = PROCESS
BACKWARD_THREAD = PROCESS + 9_507
LAUNCH_THREAD = PROCESS + 3_538
RELEASE_THREAD = PROCESS + 3_539
FIRST_CONNECTION = 936
FIRST_STEP = 50
FREQUENCY_MHZ = 1_800

Row = dict[str, object]
Rows = list[Row]
"""Rows of a sampled table by the names of its columns, with texts as they are."""


@dataclass(slots=True, eq=False)
class Call:
    """One host API call of CANN; ``connection`` is set once all calls are in order of time."""

    start: int
    end: int
    level: str
    thread: int
    name: str
    connection: int = -1


@dataclass(frozen=True, slots=True)
class Kernel:
    """What COMPUTE_TASK_INFO tells of an operator; ``subtask`` runs inside an FFTS+ task."""

    framework: str
    api: str
    name: str
    op_type: str
    core: str
    task_type: str
    blocks: int
    formats: str
    data_types: str
    shapes: str
    subtask: bool = False
    dynamic: str = "dynamic"
    hf32: str = "NO"


@dataclass(frozen=True, slots=True)
class Transfer:
    """What COMMUNICATION_TASK_INFO tells of a task; texts are names in the HCCL enums."""

    operator: Collective
    kind: str
    plane: int
    notify: int
    source: int
    target: int
    transport: str
    size: int
    data_type: str
    link: str
    master: bool


@dataclass(slots=True, eq=False)
class Task:
    """One device task. ``connection`` overrides the connection of ``call``."""

    start: int
    end: int
    device: int
    stream: int
    number: int
    kind: str
    context: int = NONE
    model: int = NONE
    call: Call | None = None
    connection: int | None = None
    identity: int = -1
    kernel: Kernel | None = None
    schedules: str | None = None
    copies: tuple[int, int] | None = None
    transfer: Transfer | None = None


@dataclass(slots=True, eq=False)
class Collective:
    """One communication operator on one device; ``peer`` is None where all ranks take part."""

    name: str
    kind: str
    call: Call
    device: int
    count: int
    data_type: str
    step: int
    tasks: list[Task] = field(default_factory=list)


class Link:
    """What both ends of a queue entry share, or a forward and its backward operator."""


@dataclass(slots=True, eq=False)
class Activity:
    """One row of PYTORCH_API; ``kind`` is a name of ENUM_API_TYPE."""

    start: int
    end: int
    thread: int
    kind: str
    name: str
    calls: tuple[Call, ...] = ()
    link: Link | None = None
    sequence: int = -1
    forward_thread: int = 0
    data_types: str | None = None
    shapes: str | None = None
    stack: tuple[str, ...] = ()
    enters_queue: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of MSTX_EVENTS; ``device_link`` numbers those that a device task follows."""

    start: int
    end: int
    kind: str
    message: str
    domain: str
    device_link: int


@dataclass(slots=True)
class World:
    """All that happened during one capture."""

    devices: tuple[int, ...]
    busy_devices: tuple[int, ...]
    group: str
    session: tuple[int, int] = (SESSION_START_NS, SESSION_START_NS)
    steps: list[tuple[int, int]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)
    activities: list[Activity] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    collections: list[tuple[int, int]] = field(default_factory=list)
