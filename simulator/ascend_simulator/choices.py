"""A scenario: everything that a simulated run depends on, besides the seed. Nothing here computes.

Every field has a default, so a document may be as short as its name. The JSON Schema next to this
file states the ranges; :mod:`.load` enforces both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ascend_ref.capture import Switches

ProductName = Literal["A2", "A3", "910A", "310P", "200I-500-A2", "950"]
ModelKind = Literal[
    "dense-transformer", "moe", "cnn", "recommendation", "llm-inference", "single-operator"
]
DataType = Literal["FLOAT16", "DT_BF16", "FLOAT"]
Place = Literal["host", "device"]
Cut = Literal["middle", "end"]
Loader = Literal["source", "generator", "map", "batch"]
Algorithm = Literal["auto", "ring", "mesh", "hd", "nhr", "pairwise", "pipeline"]


@dataclass(frozen=True, slots=True)
class HardwareChoice:
    """Which machine, and what differs from its data sheet. None keeps the product's own value.

    frequency: nominal clock of the AI cores in MHz. hbm_bandwidth, link_bandwidth, host_bandwidth:
    10^9 Byte/s of memory, of one HCCS (or PCIe) link to a peer and of one RoCE port.
    algorithm: how collectives of more than two ranks expand; ``auto`` asks size and topology.
    kernel_gap: ns for which the compute stream rests after a kernel; in real captures 90,000.
    """

    product: ProductName = "A2"
    devices_per_host: int | None = None
    frequency: int | None = None
    hbm_bandwidth: int | None = None
    link_bandwidth: int | None = None
    host_bandwidth: int | None = None
    algorithm: Algorithm = "auto"
    kernel_gap: int = 0


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which network; a kind reads the fields that it has a use for.

    layers, hidden, heads, sequence, vocabulary: of transformers. experts, top_k: of MoE layers.
    batch: samples per rank and micro-batch. microbatches: per step. expand: width of the
    feed-forward part as a multiple of hidden, in tenths. image, channels: of a CNN. tables, rows,
    width: embedding tables of a recommendation network. prompt, generate: tokens of a request and
    tokens generated per step by LLM inference. operator, shape: of single-operator. graph: a step
    is an iteration of a compiled graph. preprocess: where a CNN's samples are prepared.
    """

    kind: ModelKind = "dense-transformer"
    data_type: DataType = "FLOAT16"
    layers: int = 4
    hidden: int = 2048
    heads: int = 16
    sequence: int = 2048
    vocabulary: int = 32_000
    expand: int = 40
    batch: int = 1
    microbatches: int = 1
    experts: int = 8
    top_k: int = 2
    image: int = 224
    channels: int = 64
    tables: int = 26
    rows: int = 100_000
    width: int = 64
    prompt: int = 512
    generate: int = 8
    operator: str = "MatMulV2"
    shape: tuple[int, ...] = (4096, 4096, 4096)
    graph: bool = False
    preprocess: Place = "host"


@dataclass(frozen=True, slots=True)
class Parallelism:
    """How ranks share the work. Data parallelism is what remains: ranks / (tensor x pipeline).

    expert: ranks that share the experts; it divides the data-parallel size.
    devices_per_process: devices that one process drives (one msprof database holds them all).
    """

    ranks: int = 1
    tensor: int = 1
    pipeline: int = 1
    expert: int = 1
    devices_per_process: int = 1

    @property
    def data(self) -> int:
        """Data-parallel size."""
        return self.ranks // (self.tensor * self.pipeline)


@dataclass(frozen=True, slots=True)
class Schedule:
    """torch_npu's schedule; the ``active`` steps of each of ``repeat`` rounds are captured.

    first: number of the first step of the program that the first round's wait begins at.
    """

    first: int = 0
    wait: int = 0
    warmup: int = 1
    active: int = 2
    repeat: int = 1

    def captured(self, round_: int = 0) -> range:
        """Numbers of the captured steps of a round, as the profiler counts them."""
        passed = self.wait + self.warmup
        begin = self.first + passed + round_ * (passed + self.active)
        return range(begin, begin + self.active)

    def round_of(self, step: int) -> int | None:
        """The round that captures the step of a number; None where none does."""
        round_ = (step - self.first) // (self.wait + self.warmup + self.active)
        return round_ if 0 <= round_ < self.repeat and step in self.captured(round_) else None


FaultKind = Literal[
    "slow-rank",
    "slow-link",
    "frequency-throttling",
    "host-bound-launch",
    "data-loading-stall",
    "memory-leak",
    "fragmentation",
    "ai-cpu-straggler",
    "gc-pause",
    "communication-retry",
    "lost-samples",
    "abnormal-end",
    "clock-skew",
    "lost-head",
    "lost-slice",
    "lost-device",
    "lost-steps",
    "lost-file",
    "lost-arrows",
    "raw-lost-slice",
    "raw-aged-head",
    "raw-torn-record",
    "raw-lost-side",
    "raw-wrong-clock",
    "job-lost-file",
    "job-lost-slice",
    "job-torn-record",
    "job-wrong-magic",
    "job-swapped-slices",
    "job-foreign-slice",
    "job-endless-task",
    "job-lost-ends",
    "job-lost-reductions",
    "job-wrong-tag",
]
LOSSES_OF_DEVICE: tuple[FaultKind, ...] = ("lost-head", "lost-slice", "lost-device")
"""Faults that lose what the device recorded."""
LOSSES_OF_HOST: tuple[FaultKind, ...] = ("lost-steps",)
"""Faults that lose what the framework recorded."""
LOSSES_OF_RECORDS = LOSSES_OF_DEVICE + LOSSES_OF_HOST
"""Faults that lose what was recorded, before anything is written."""
LOSSES_OF_SLICES: tuple[FaultKind, ...] = ("raw-lost-slice", "raw-aged-head", "raw-torn-record")
"""Faults that damage the records of raw files after these were written."""
LOSSES_OF_RAW: tuple[FaultKind, ...] = (*LOSSES_OF_SLICES, "raw-lost-side", "raw-wrong-clock")
"""Faults that damage raw files after these were written."""
LOSSES_OF_JOBS: tuple[FaultKind, ...] = (
    *("job-lost-file", "job-lost-slice", "job-torn-record", "job-wrong-magic"),
    *("job-swapped-slices", "job-foreign-slice", "job-endless-task", "job-lost-ends"),
    *("job-lost-reductions", "job-wrong-tag"),
)
"""Faults that damage the raw files of MindSpore's profiler after these were written."""
LOSSES = (*LOSSES_OF_RECORDS, "lost-file", "lost-arrows", *LOSSES_OF_RAW, *LOSSES_OF_JOBS)
"""Faults that lose data without which no profile is whole."""


@dataclass(frozen=True, slots=True)
class FaultChoice:
    """One injected fault; which fields a kind reads is in the schema.

    ranks: global ranks that it hits; empty means all. link: the two ranks of a slow link.
    steps: numbers of the first and the last step, as in profiles; None means all.
    factor: how many times slower, in thousandths (1500: half as slow again). frequency: MHz.
    milliseconds: length of a stall, a pause, a skew or a loss. megabytes: leaked per step, or kept
    from reuse. sampler: table whose samples are lost. file: kind of file, as the spec calls it.
    arrows: category of the flows that no timeline shows. raw: kind of raw file, as the spec calls
    it. slices: in how many slices it stands, at least. cut: where a record of it is torn. loader:
    operator of the data pipeline that a stall waits for.
    """

    kind: FaultKind
    ranks: tuple[int, ...] = ()
    link: tuple[int, int] | None = None
    steps: tuple[int, int] | None = None
    factor: int = 1500
    frequency: int = 800
    milliseconds: int = 20
    megabytes: int = 64
    sampler: str = "HBM"
    file: str = "step_trace_time"
    arrows: str = "HostToDevice"
    raw: str = "stars_soc"
    slices: int = 4
    cut: Cut = "middle"
    loader: Loader = "map"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One simulated run."""

    name: str = "unnamed"
    summary: str = ""
    hardware: HardwareChoice = field(default_factory=HardwareChoice)
    model: ModelChoice = field(default_factory=ModelChoice)
    parallelism: Parallelism = field(default_factory=Parallelism)
    schedule: Schedule = field(default_factory=Schedule)
    capture: Switches = field(default_factory=Switches)
    faults: tuple[FaultChoice, ...] = ()
