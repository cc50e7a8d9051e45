"""The simulation in three steps: each rank's meetings, all ranks together, each rank in full.

The first and the last are independent for every rank, so they can run anywhere; the one between is
cheap. ``setting`` is made again wherever a job runs: a job is a scenario, a seed and a rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ascend_ref.capture import (
    Capture,
    Collectives,
    Copies,
    Counters,
    DeviceFacts,
    Groups,
    Integers,
    Kernels,
    Origin,
    Tasks,
    Texts,
    Transfers,
)
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE

from ..choices import Scenario
from ..documents.text import ScenarioError
from ..host import HostIds, HostRecords, allocations, record_host
from ..memory.record import record_memory
from ..program.counters import metric_names, metric_values
from ..program.model import Annotate, Dimension
from ..program.parallel import sequence_parallel
from ..records import RecordScene, records_of
from ..records.collectives import with_units
from ..samples import record_host_samples, record_samples
from ..samples.traffic import Peers, traffic, with_ports
from ..world.communication import Communication, Expansion
from ..world.compiled import Compiled
from ..world.coupled import Coupling, Summary, summarize
from ..world.device import device_records, profiling_tasks
from ..world.layout import PURPOSES
from ..world.rank import RankMeetings, closed, device_times, host_times
from ..world.small_tasks import Arrivals
from ..world.streams import communication_streams, unique_numbers
from ..world.timeline import Connections, RankTimeline, Scene
from .setting import FIRST_SESSION_NS, Setting, setting

BEFORE_STEPS_NS = 150_000_000
AFTER_STEPS_NS = 60_000_000
"""How long the session lasts before the first and after the last step (db-schema.md 7.2)."""
GIBI = 1 << 30
FIRST_MODEL = 1
OUTSIDE_GRAPHS = ("MsTx", "PROFILING_ENABLE", "PROFILING_DISABLE")
"""Types of tasks that belong to no graph."""
FIRST_PROCESS = 3_217_657
LAUNCH_THREAD = 3_538
"""Number of the queue's consumer above that of its process (db-schema.md 7.6)."""


def summary_of(scenario: Scenario, seed: int, rank: int) -> Summary:
    """First step, for each rank: what the pass over all ranks needs of it."""
    world = setting(scenario, seed)
    return summarize(world.of(rank), world.clocks(rank))


def couple(
    scenario: Scenario, seed: int, summaries: Sequence[Summary], start: int = FIRST_SESSION_NS
) -> list[RankMeetings]:
    """Second step: when every rank meets others. ``start``: Unix ns at which the session begins.

    A rank whose clock runs ahead records later times of the same events.
    """
    world = setting(scenario, seed)
    first = start + BEFORE_STEPS_NS
    found = Coupling(world.compiled, summaries, world.network, first)
    by_stage = found.run()
    meetings = []
    for rank in range(scenario.parallelism.ranks):
        stage = world.layout.stage(rank)
        place = rank - stage * world.layout.ranks_per_stage
        own = RankMeetings.of(by_stage[stage], world.compiled[stage], place)
        meetings.append(own.ahead(world.disturbances.skew(rank)))
    return meetings


def recorded(
    scenario: Scenario, seed: int, rank: int, meetings: RankMeetings
) -> tuple[Capture, Integers]:
    """Third step, for each rank: everything that its profiler records.

    The second value is the number of the step that each row of Kernels ran in. Raises
    :class:`ScenarioError` where the rank's device has too little memory.
    """
    return _Recording(setting(scenario, seed), rank, meetings).recorded()


class _Recording:
    """One rank's session, while it is written down."""

    def __init__(self, world: Setting, rank: int, meetings: RankMeetings) -> None:
        self.world = world
        self.rank = rank
        self.meetings = meetings
        self.compiled: Compiled = world.of(rank)
        self.device = world.device(rank)
        self.texts = Texts()
        self.clocks = world.clocks(rank)
        self.host = host_times(self.clocks, meetings)
        self.times = device_times(self.compiled, self.clocks, self.host, meetings)
        self.places = np.array([place for place, _ in self.compiled.collectives], np.int64)
        self.timeline = self._timeline()
        self.scene = Scene(world.scenario, world.seed, world.machine, self.timeline, self.texts)

    def _timeline(self) -> RankTimeline:
        schedule, meetings = self.world.scenario.schedule, self.meetings
        start, end = self.times.start.copy(), self.times.end.copy()
        start[:, self.places], end[:, self.places] = meetings.ready, meetings.ended
        first = int(meetings.step_starts[0]) - BEFORE_STEPS_NS
        last = max(int(meetings.step_ends[-1]), int(end.max())) + AFTER_STEPS_NS
        chip = self.world.machine.chip
        variant = self.clocks.kind - self.compiled.first_kind
        return RankTimeline(
            rank=self.rank,
            stage=self.world.layout.stage(self.rank),
            device=self.device,
            program=self.compiled.program,
            plan=self.compiled.plan,
            session=(first // 1000 * 1000, -(-last // 1000) * 1000),
            step_numbers=np.array(schedule.captured(), np.int64),
            step_starts=meetings.step_starts,
            step_ends=meetings.step_ends,
            host=self.host,
            variant=np.where(self.clocks.kind >= 0, variant, 0),
            start=start,
            end=end,
            frequency=self.world.disturbances.frequency(self.rank, chip.frequency),
        )

    def recorded(self) -> tuple[Capture, Integers]:
        """The tables of the rank's session, and the step of each kernel."""
        world, timeline = self.world, self.timeline
        scene = self.scene
        switches = world.scenario.capture
        groups, group_ranks, rows, names = self._groups()
        host = record_host(world.scripts[timeline.stage], scene, self._host_ids(names))
        device = device_records(
            self.compiled,
            self.clocks.kind,
            self.times,
            self._compute_connections(host),
            self.device,
            self.texts,
            switches.mstx,
        )
        expansion = Expansion(world.network, self.compiled, self.rank, self.device, self.texts)
        own = Connections(*(column[:, self.places] for column in host.connections))
        found = Communication([], Transfers.empty(), Arrivals.empty())
        if len(self.places):
            seen, ended = (
                self.host.seen[:, self.places],
                closed(self.compiled, self.host, self.meetings),
            )
            found = expansion.expand(self.meetings, seen, ended, own)
        bounds = Tasks.empty()
        if switches.level and world.machine.chip.ffts:  # db-schema.md 6, I17b and I37
            moments = (timeline.session[0] + 6_000_000, int(timeline.step_ends[-1]) + 400_000)
            bounds = profiling_tasks(moments, host.profiling_connection, self.device, self.texts)
        tasks = Tasks.joined([device.tasks, *found.tasks, bounds])
        tasks = replace(tasks, identity=np.arange(len(tasks)))
        if world.machine.chip.unique_tasks:
            tasks = replace(tasks, number=unique_numbers(tasks.start))
        if self.model != NONE:
            tasks = self._of_model(tasks, device.copies)
        memory = record_memory(
            scene, self.process + LAUNCH_THREAD, allocations(world.scripts[timeline.stage])
        )
        self._demand_room(memory.footprint.highest)
        transfers = replace(found.transfers, task=found.transfers.task + len(device.tasks))
        moved = traffic(
            self.compiled, tasks, device.kernels, device.copies, transfers, found.arrivals
        )
        collectives = expansion.collectives(own.launch, timeline.step_numbers, rows, names)
        peers = self._peers(transfers, collectives, groups, group_ranks)
        moved = with_ports(moved, tasks, transfers, found.arrivals, peers)
        samples = {
            **record_samples(scene, moved, memory.footprint),
            **record_host_samples(scene),
        }
        capture = Capture(
            origin=self._origin(),
            switches=switches,
            texts=self.texts,
            tasks=tasks.take(np.argsort(tasks.start, kind="stable")),
            kernel_kinds=device.kernel_kinds,
            kernels=device.kernels,
            copies=device.copies,
            counters=self._counters(device.kernels, device.kernel_run),
            groups=groups,
            group_ranks=group_ranks,
            collectives=collectives,
            transfers=transfers,
            calls=host.calls,
            activities=host.activities,
            links=host.links,
            frames=host.frames,
            steps=host.steps,
            collections=host.collections,
            system_calls=host.system_calls,
            marks=host.marks,
            memory_blocks=memory.blocks,
            memory_totals=memory.totals,
            workspace_events=memory.workspaces,
            samples=samples,
        )
        records = records_of(
            RecordScene(
                **vars(scene),
                footprint=memory.footprint,
                traffic=moved,
                compiled=self.compiled,
                capture=capture,
                model=self.model,
            )
        )
        capture = with_units(replace(capture, records=records))
        steps = timeline.step_numbers[device.kernel_run // self.clocks.kind.shape[1]]
        return capture, steps

    @property
    def model(self) -> int:
        """Id of the graph that every step runs, counted in its process; NONE without one."""
        scenario = self.world.scenario
        if not scenario.model.graph:
            return NONE
        return FIRST_MODEL + self.rank % scenario.parallelism.devices_per_process

    def _of_model(self, tasks: Tasks, copies: Copies) -> Tasks:
        """The tasks with the graph's id, but for copies, marks and the profiler's own."""
        outside = self.texts.numbers(OUTSIDE_GRAPHS)
        of_graph = ~np.isin(tasks.kind, outside)
        of_graph[copies.task] = False
        return replace(tasks, model=np.where(of_graph, self.model, NONE))

    def _demand_room(self, needed: int) -> None:
        chip = self.world.machine.chip
        if needed > chip.memory:
            raise ScenarioError(
                f"{self.world.scenario.name}: rank {self.rank} needs {needed / GIBI:,.1f} GiB of "
                f"device memory; expected at most the {chip.memory / GIBI:.0f} GiB of {chip.name}: "
                "a smaller model or batch, more tensor or pipeline ranks, or a milder leak"
            )

    def _peers(
        self, transfers: Transfers, collectives: Collectives, groups: Groups, ranks: Integers
    ) -> Peers:
        devices = self.world.machine.devices_per_host
        group = collectives.group[transfers.collective]
        found = ranks[groups.first[group] + np.maximum(transfers.target, 0)] % devices
        return Peers(self.device, devices, found)

    @property
    def process(self) -> int:
        """Id of the rank's process."""
        return FIRST_PROCESS + self.rank

    def _host_ids(self, names: Mapping[Dimension, str]) -> HostIds:
        streams = communication_streams(self.compiled).tolist()
        communication = {
            place: (names[item.dimension], stream)
            for (place, item), stream in zip(self.compiled.collectives, streams, strict=True)
        }
        return HostIds(self.process, communication=communication)

    def _compute_connections(self, host: HostRecords) -> Integers:
        """The compute stream only records a collective's event; marks have ids of their own."""
        connections = host.connections.launch.copy()
        connections[:, self.places] = host.connections.record[:, self.places]
        marks = np.array(
            [
                place
                for place, item in enumerate(self.compiled.program.items)
                if isinstance(item, Annotate) and item.on_device
            ],
            np.int64,
        )
        links = np.arange(len(connections) * len(marks)).reshape(len(connections), -1)
        connections[:, marks] = FIRST_MARK_CONNECTION + links
        return connections

    def _groups(
        self,
    ) -> tuple[Groups, Integers, dict[Dimension, int], dict[Dimension, str]]:
        """Groups of the rank, their ranks, and by dimension the row and the name."""
        layout, dimensions = self.world.layout, self.world.dimensions(self.rank)
        members = [layout.group_of(self.rank, dimension) for dimension in dimensions]
        names = [
            self.world.group_names[dimension, tuple(ranks.tolist())]
            for dimension, ranks in zip(dimensions, members, strict=True)
        ]
        sizes = np.array([len(ranks) for ranks in members], np.int64)
        groups = Groups(
            name=self.texts.numbers(names),
            purpose=self.texts.numbers(PURPOSES[dimension] for dimension in dimensions),
            rank=np.array([np.flatnonzero(ranks == self.rank)[0] for ranks in members], np.int64),
            first=np.cumsum(sizes) - sizes,
            size=sizes,
        )
        rows = {dimension: row for row, dimension in enumerate(dimensions)}
        return groups, np.concatenate(members), rows, dict(zip(dimensions, names, strict=True))

    def _counters(self, kernels: Kernels, run: Integers) -> Counters:
        """Counters of the kernels on cores; the AI CPU and the DSA have none (4.12)."""
        switches, chip = self.world.scenario.capture, self.world.machine.chip
        if not switches.aic_metrics or switches.aic_mode != "task-based" or not switches.level:
            return Counters.empty()
        counted = np.array([bool(kernel.blocks) for kernel in self.compiled.kinds], bool)
        chosen = np.flatnonzero(counted[kernels.kind]) if len(kernels) else kernels.kind
        frequency = self.timeline.frequency[run[chosen] // self.clocks.kind.shape[1]]
        values = metric_values(
            self.compiled.kinds,
            kernels.kind[chosen],
            self.clocks.length.reshape(-1)[run[chosen]],
            frequency,
            switches.aic_metrics,
            chip,
        )
        return Counters(metric_names(switches.aic_metrics, chip), kernels.task[chosen], values)

    def _origin(self) -> Origin:
        world, parallelism = self.world, self.world.scenario.parallelism
        chip = world.machine.chip
        start, end = self.timeline.session
        host_name, host_uid = self.scene.names.host(self.rank // world.machine.devices_per_host)
        metadata: dict[str, object] = {
            "distributed_args": {
                "tensor_model_parallel_size": parallelism.tensor,
                "pipeline_model_parallel_size": parallelism.pipeline,
                "data_parallel_size": parallelism.data,
                "context_parallel_size": 1,
                "expert_model_parallel_size": parallelism.expert,
                "sequence_parallel": sequence_parallel(world.scenario.model, parallelism),
                "rank": self.rank,
                "world_size": parallelism.ranks,
            }
        }
        if parallelism.pipeline > 1:
            microbatches = world.scenario.model.microbatches
            metadata["pp_info"] = {"pp_type": "1f1b", "microbatch_num": microbatches}
        return Origin(
            rank=self.rank,
            ranks=parallelism.ranks,
            devices=(self.device,),
            chip=chip.name,
            pid=self.process,
            host_name=host_name,
            host_uid=host_uid,
            start=start,
            end=None if world.disturbances.ends_abnormally(self.rank) else end,
            metadata=metadata,
            facts=DeviceFacts(
                cube_cores=chip.cube_cores,
                vector_cores=chip.vector_cores,
                ai_cpu_cores=chip.ai_cpu_cores,
                frequency=chip.frequency,
            ),
            family=chip.product,
        )
