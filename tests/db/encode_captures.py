"""Small random captures with something of everything, made event by event in plain Python."""

from __future__ import annotations

import random
from dataclasses import fields

import numpy as np

from ascend_ref.capture import (
    Activities,
    Batch,
    Capture,
    Collections,
    Collectives,
    Copies,
    Counters,
    Frames,
    Groups,
    HostCalls,
    KernelKinds,
    Kernels,
    Links,
    Marks,
    MemoryBlocks,
    MemoryTotals,
    Origin,
    Schedules,
    Steps,
    Switches,
    SystemCalls,
    Tasks,
    Texts,
    Transfers,
    WorkspaceEvents,
)
from ascend_ref.capture.model import FIRST_MARK_CONNECTION
from ascend_ref.derive.group_hash import group_hash
from ascend_spec import catalog

SESSION = 1_767_258_000_000_000_000
PID = 4_242
MAIN, BACKWARD, LAUNCHER = PID, PID + 11, PID + 7
KINDS = [
    ("aclnnMm_MatMulCommon_MatMulV2", "MatMulV2", "AI_CORE", "KERNEL_AICORE", 24),
    ("aclnnAdd_AddAiCore_Add", "Add", "AI_VECTOR_CORE", "KERNEL_AIVEC", 48),
    ("aclnnTopk_TopKAiCpu_TopK", "TopK", "AI_CPU", "KERNEL_AICPU", 0),
]
METRICS = ("aic_total_time", "aic_mac_time", "aic_mac_ratio", "aiv_total_time")
EVERYTHING = Switches(
    level=2,
    memory=True,
    stack=True,
    mstx=True,
    l2=True,
    gc=True,
    sys_hardware_mem=50,
    sys_io=50,
    sys_interconnection=50,
    host_sys=("cpu", "mem", "disk", "network", "osrt"),
)
SAMPLE_INTERVAL = 100_000


def columns(kind: type[Batch], rows: list[tuple[int, ...]]) -> Batch:
    table = np.array(rows, np.int64).reshape(len(rows), len(fields(kind)))
    return kind(*(np.ascontiguousarray(column) for column in table.T))


class Scene:
    """Events of one rank in the order in which they are told; every method is one event."""

    def __init__(self, seed: int, switches: Switches, ranks: int, rank: int, device: int) -> None:
        self.random = random.Random(seed)
        self.switches, self.ranks, self.rank, self.device = switches, ranks, rank, device
        self.texts = Texts(["N/A"] if seed % 2 else [])
        self.rows: dict[type[Batch], list[tuple[int, ...]]] = {}
        self.now = SESSION + 1_000_000
        self.free = {0: self.now, 2: self.now, 4: self.now, 5: self.now}
        self.numbers = dict.fromkeys(self.free, 10)
        self.connection = 900
        self.link = self.mark_link = self.identity = self.operator = 0
        self.allocated = {"PTA": 1 << 30, "GE": 1 << 20}
        self.shape = self.texts.number("32,64;64")

    def add(self, kind: type[Batch], *row: int) -> int:
        rows = self.rows.setdefault(kind, [])
        rows.append(row)
        return len(rows) - 1

    def text(self, text: str) -> int:
        return self.texts.number(text)

    def pause(self, least: int = 10, most: int = 4_000) -> int:
        self.now += self.random.randint(least, most)
        return self.now

    def call(self, level: int, name: str, start: int, end: int, thread: int = LAUNCHER) -> int:
        self.connection += 1
        self.add(HostCalls, start, end, level, thread, self.connection, self.text(name))
        return self.connection

    def activity(
        self, kind: int, name: str, start: int, end: int, thread: int = MAIN, **more: int
    ) -> int:
        row = {
            "queue": 0, "sequence": -1, "forward_thread": 0, "data_types": -1,
            "shapes": -1, "stack": -1, "link": -1, **more,
        }  # fmt: skip
        return self.add(
            Activities, start, end, thread, kind, row["queue"], self.text(name), row["sequence"],
            row["forward_thread"], row["data_types"], row["shapes"], row["stack"], row["link"],
        )  # fmt: skip

    def task(
        self, stream: int, kind: str, length: int, connection: int, *, after: int = 0
    ) -> tuple[int, int, int]:
        start = max(self.free[stream], after) + 20
        self.free[stream] = start + length
        self.numbers[stream] += 1
        self.add(
            Tasks, start, start + length, self.device, stream, self.numbers[stream], -1, -1,
            connection, self.identity, self.text(kind),
        )  # fmt: skip
        self.identity += 1
        return self.identity - 1, start, start + length

    def subtask(self, stream: int, kind: str, span: tuple[int, int], context: int) -> int:
        self.add(
            Tasks, *span, self.device, stream, self.numbers[stream], context, -1, self.connection,
            self.identity, self.text(kind),
        )  # fmt: skip
        self.identity += 1
        return self.identity - 1

    def launch(self) -> int:
        """A launch behind the task queue, inside an operator of the framework."""
        start = self.pause()
        link, self.link = self.link, self.link + 1
        outer = self.activity(
            50001, "aten::mm", start, start + 30_000, sequence=self.link, link=-1,
            data_types=self.text("float;\r\nfloat"), shapes=self.text("32,64;\r\n64"),
            stack=self.random.randint(0, 3),
        )  # fmt: skip
        self.activity(50003, "torch/nn.py(3): forward", start, start + 31_000)
        self.activity(50002, "aclnnMm", start + 1_000, start + 2_000, queue=1, link=link)
        begin = start + 3_000
        self.activity(50002, "aclnnMm", begin, begin + 20_000, LAUNCHER, queue=2, link=link)
        self.call(20000, "aclnnMm", begin + 100, begin + 15_000)
        connection = self.call(10000, "launch", begin + 200, begin + 10_000)
        self.call(5000, "KernelLaunch", begin + 300, begin + 9_000)
        self.add(Links, outer, connection)
        self.now = start + 40_000
        return connection

    def compute(self) -> None:
        connection = self.launch()
        kind = self.random.randrange(len(KINDS))
        length = self.random.randint(2_000, 90_000)
        task, _, _ = self.task(2, KINDS[kind][3], length, connection, after=self.now)
        self.add(Kernels, task, kind)

    def copy(self) -> None:
        start = self.pause()
        connection = self.call(20000, "aclrtMemcpyAsync", start, start + 3_000)
        task, _, _ = self.task(2, "MEMCPY_ASYNC", 900, connection, after=start + 4_000)
        self.add(Copies, task, self.random.randint(1, 1 << 20), 1)
        self.now = start + 5_000

    def backward(self) -> None:
        link, self.link = self.link, self.link + 1
        start = self.pause()
        self.activity(50001, "aten::relu", start, start + 900, sequence=self.link, link=link)
        self.activity(
            50001, "ReluBackward0", start + 1_000, start + 2_000, BACKWARD, sequence=self.link,
            forward_thread=1, link=link,
        )  # fmt: skip
        self.now = start + 3_000

    def communicate(self, kind: str, step: int) -> None:
        connection = self.launch()
        group = 1 if kind in ("send", "receive") else 0
        name = f"hcom_{kind}__{group_hash(GROUPS[group])[-3:]}_{self.operator}_1"
        self.operator += 1
        row = self.add(
            Collectives, self.text(name), self.text(kind), self.text("MESH-RING"), group,
            connection, self.device, self.random.randint(1, 1 << 20), 4, 0, 0, step,
        )  # fmt: skip
        self.free[4] = max(self.free[4], self.now) + 20
        self.numbers[4] += 1
        moment = self.free[4] + 1_440
        parts = []
        for context, (what, plane) in enumerate(
            [("Memcpy", 0), ("Notify_Record", 1), ("Notify_Wait", 1), ("Reduce_Inline", 1),
             ("Notify_Wait", 0), ("Memcpy", 0)] + [("Memcpy", 1)] * self.random.randint(0, 2)
        ):  # fmt: skip
            length = self.random.randint(600, 30_000)
            parts.append((context, what, plane, moment, moment + length))
            moment += length + 20
        first = self.free[4]
        self.add(
            Tasks, first, moment + 300, self.device, 4, self.numbers[4], -1, -1, connection,
            self.identity, self.text("AI_CORE"),
        )  # fmt: skip
        self.identity += 1
        self.free[4] = moment + 300
        peer = (self.rank + 1) % self.ranks
        saved, self.connection = self.connection, connection
        for context, what, plane, start, end in parts:
            task = self.subtask(4, "SDMA", (start, end), context)
            moves = what in ("Memcpy", "Reduce_Inline")
            local = moves and (context == 0 or peer == self.rank)
            size = self.random.choice([4_096, 1 << 20, 40_000_000]) if moves else 0
            notify = ((peer if what == "Notify_Record" else self.rank) << 32) + 48
            self.add(
                Transfers, task, row, self.text(what), plane, -1 if moves else notify, self.rank,
                (-1 if context else self.rank) if local else peer, size,
                2 if what == "Notify_Wait" else 0,
                0 if local else self.random.choice([1, 4]) if moves else -1,
                4 if what == "Reduce_Inline" else -1, -1, int(plane == 0),
            )  # fmt: skip
        self.connection = saved

    def schedule(self) -> None:
        connection = self.launch()
        task, _, _ = self.task(5, "KERNEL_AICPU", 3_000, connection, after=self.now)
        name = self.text("allReduceAicpuKernel")
        self.add(Schedules, task, name, self.text("AI_CPU"), name)

    def marks(self) -> None:
        start = self.pause()
        self.add(Marks, start, start, 0, MAIN, self.text("epoch"), self.text("default"), -1)
        linked = self.mark_link
        self.mark_link += 1
        self.add(
            Marks,
            start + 10,
            start + 900,
            2,
            MAIN,
            self.text("数据 🚀"),
            self.text("Module"),
            linked,
        )
        self.task(2, "MsTx", 0, FIRST_MARK_CONNECTION + linked, after=start + 20)
        self.activity(50004, "mstx_range_op", start, start + 1_000)
        self.add(Collections, start + 2_000, start + 3_000, MAIN)
        self.add(SystemCalls, start + 2_000, start + 2_100, LAUNCHER, self.text("ioctl"))
        self.now = start + 4_000

    def memory(self) -> None:
        start, size = self.pause(), self.random.randint(1, 64) * 512
        stream = 897_461_056

        def held(component: str, change: int, time: int) -> tuple[int, int, int]:
            self.allocated[component] += change
            value = self.allocated[component]
            row = (value, 2 << 30, value if component == "PTA" else 0)
            self.add(
                MemoryTotals, self.text(component), time, *row,
                stream if component == "PTA" else -1, self.device,
            )  # fmt: skip
            return row

        before = held("PTA", size, start)
        kept = self.random.random() < 0.3
        after = (-1, -1, -1) if kept else held("PTA", -size, start + 900)
        self.add(
            MemoryBlocks, self.text("aten::mm"), size, start, -1 if kept else start + 900,
            -1 if kept else start + 950, *before, *after, stream, self.device,
        )  # fmt: skip
        for take, time in ((1, start + 1_000), (0, start + 1_500)):
            total = held("GE", size if take else -size, time)
            self.add(
                WorkspaceEvents, self.text("aclnnMm_MatMulCommon_MatMulV2"), 1 << 40, take, size,
                time, LAUNCHER, total[0], total[1], self.device,
            )  # fmt: skip
        self.add(MemoryTotals, self.text("WORKSPACE"), start + 1_600, 1, 2, 1, stream, self.device)
        self.add(MemoryTotals, self.text("APP"), start + 1_600, 1, 2, 1, -1, self.device)
        self.now = start + 2_000

    def step(self, number: int) -> None:
        begin = self.pause()
        self.now += 10
        for _ in range(self.random.randint(1, 6)):
            self.compute()
        self.copy()
        self.schedule()
        for kind in ("allReduce", "send", "receive") if self.ranks > 1 else ("allReduce",):
            self.communicate(kind, number)
        self.compute()
        self.backward()
        self.marks()
        self.memory()
        self.now = max(self.now, *self.free.values()) + 100
        self.add(Steps, number, begin, self.now)
        self.activity(50001, f"ProfilerStep#{number}", begin, self.now)
        self.now += 500


GROUPS = ("10.0.0.5%eth0_60000_0_1767257999000000", "10.0.0.5%eth0_60001_0_1767257999000001")


def capture(
    seed: int = 0,
    *,
    switches: Switches = EVERYTHING,
    steps: int = 2,
    ranks: int = 2,
    rank: int = 0,
    device: int = 0,
    abnormal: bool = False,
) -> Capture:
    """A capture of one rank; equal arguments give equal captures."""
    scene = Scene(seed, switches, ranks, rank, device)
    scene.task(0, "PROFILING_ENABLE", 0, 100_000)
    for number in range(steps):
        scene.step(7 + number)
    scene.task(0, "PROFILING_DISABLE", 20, 100_000, after=scene.now)
    end = (max(scene.now, *scene.free.values()) // 1_000 + 5) * 1_000
    batches = {kind: columns(kind, rows) for kind, rows in scene.rows.items()}
    tasks = batches[Tasks]
    assert isinstance(tasks, Tasks)
    tasks = tasks.take(np.argsort(tasks.start, kind="stable"))
    calls = batches[HostCalls]
    activities = {kind: batches.get(kind, kind.empty()) for kind in scene.rows}
    kinds = [
        (scene.text(name), scene.text(op), scene.text(core), *_operands(scene), blocks, 0)
        for name, op, core, _, blocks in KINDS
    ]
    kernels = batches[Kernels]
    counted = kernels.task[np.array([row[-2] for row in kinds])[kernels.kind] > 0]
    texts = scene.texts
    return Capture(
        origin=Origin(
            rank=rank,
            ranks=ranks,
            devices=(device,),
            chip="Ascend910B",
            pid=PID,
            host_name="node-1",
            host_uid=3_538_958_389_648_580_163,
            start=SESSION,
            end=None if abnormal else end,
            metadata={"distributed_args": {"world_size": ranks, "rank": rank}},
        ),
        switches=switches,
        texts=texts,
        tasks=tasks,
        kernel_kinds=columns(KernelKinds, kinds),
        kernels=kernels,
        schedules=batches[Schedules],
        copies=batches[Copies],
        counters=Counters(METRICS, counted, _counted(tasks, counted, texts.number(KINDS[0][3]))),
        groups=columns(
            Groups,
            [
                (texts.number(GROUPS[0]), texts.number("default_group"), rank, 0, ranks),
                (texts.number(GROUPS[1]), texts.number("pp"), rank, 0, ranks),
            ],
        ),
        group_ranks=np.arange(ranks),
        collectives=batches[Collectives],
        transfers=batches[Transfers],
        calls=calls,
        activities=activities[Activities],
        links=batches[Links],
        frames=columns(
            Frames,
            [(s, d, texts.number(f"main.py({s}): f{d}")) for s in range(5) for d in range(2)],
        ),
        steps=batches[Steps],
        collections=batches[Collections],
        system_calls=batches[SystemCalls],
        marks=batches[Marks],
        memory_blocks=batches[MemoryBlocks],
        memory_totals=batches[MemoryTotals],
        workspace_events=batches[WorkspaceEvents],
        samples=samples(scene, end),
    )


def _operands(scene: Scene) -> tuple[int, ...]:
    unknown = scene.text("N/A")
    formats, types = scene.text("ND;ND"), scene.text("FLOAT;FLOAT")
    one = (scene.text("ND"), scene.text("FLOAT"), scene.text("32"))
    built = (unknown, scene.text("static"), scene.text("NO"))
    return (formats, types, scene.shape, *one, *built, unknown, unknown)


def _counted(tasks: Tasks, identities: np.ndarray, cube_kind: int) -> np.ndarray:
    rows = np.argsort(tasks.identity)[identities]
    length = (tasks.end - tasks.start)[rows].astype(float)
    cube = np.where(tasks.kind[rows] == cube_kind, 1.0, 0.0)
    return np.stack([length * cube, length * cube / 2, cube / 2, length * (1 - cube)], axis=1)


def samples(scene: Scene, end: int) -> dict[str, dict[str, np.ndarray]]:
    """Three samples of one unit in every sampled table, and of all modules."""
    newest = catalog().at(catalog().revisions[-1].id, "pytorch")
    times = SESSION + SAMPLE_INTERVAL * np.arange(1, 4)
    found: dict[str, dict[str, np.ndarray]] = {}
    for name, table in newest.tables.items():
        sampled = table.sample is not None or name == "SAMPLE_PMU_SUMMARY"
        if not sampled or name in ("NPU_OP_MEM", "MEMORY_RECORD"):
            continue
        units = sorted(newest.enums["ENUM_MODULE"]) if name == "NPU_MODULE_MEM" else [0]
        rows = len(times) * len(units)
        found[name] = {}
        for column in table.columns.values():
            values = np.full(rows, 2_000_000 if column.unit == "Byte/s" else 50)
            if column.name == table.sample:
                values = np.repeat(times, len(units))
            elif column.name == "deviceId":
                values = np.full(rows, scene.device)
            elif column.name == "moduleId":
                values = np.tile(units, len(times))
            elif "STRING_IDS.id" in column.references:
                text = column.members[0] if column.members else "QoS OTHERS"
                values = np.full(rows, scene.text(text))
            elif column.name in ("dieId", "funcId"):
                values = np.full(rows, -1 if column.none else 0)
            elif table.name == "NETDEV_STATS" and column.unit == "Byte":
                values = np.full(rows, 2_000_000 * SAMPLE_INTERVAL // 1_000_000_000)
            elif name == "SAMPLE_PMU_TIMELINE" and column.name == "usage":
                values = np.full(rows, 100_000.0 * 50 / (1_800 * SAMPLE_INTERVAL))
            elif column.name == "freq":
                values = np.full(rows, 1_800)
            found[name][column.name] = values
    return found
