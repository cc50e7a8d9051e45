"""Everything about a run that no clock changes: machine, programs, groups, network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..choices import Scenario
from ..hardware import machine
from ..hardware.model import Machine
from ..host import HostScript
from ..program import build
from ..program.model import Dimension
from ..world.clocks import RankClocks, clocks
from ..world.compiled import Compiled
from ..world.disturbance import Disturbances
from ..world.launches import Launches
from ..world.layout import Layout, group_names
from ..world.network import Network

FIRST_SESSION_NS = 1_767_258_000_000_000_000
"""2026-01-01 17:00:00 in the zone of the simulated hosts (UTC+8)."""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What all ranks share; cheap to make, so that each worker makes its own.

    scripts, compiled: one per pipeline stage. group_names: by (dimension, global ranks).
    """

    scenario: Scenario
    seed: int
    machine: Machine
    layout: Layout
    scripts: tuple[HostScript, ...]
    compiled: tuple[Compiled, ...]
    network: Network
    disturbances: Disturbances
    group_names: dict[tuple[Dimension, tuple[int, ...]], str]

    def of(self, rank: int) -> Compiled:
        """The program of a rank."""
        return self.compiled[self.layout.stage(rank)]

    def device(self, rank: int) -> int:
        """Number of a rank's device on its host."""
        return rank % self.machine.devices_per_host

    def clocks(self, rank: int, disturbances: Disturbances | None = None) -> RankClocks:
        """The lengths of a rank, under the run's disturbances or others."""
        return clocks(
            self.of(rank),
            rank,
            self.seed,
            self.machine.chip.frequency,
            disturbances or self.disturbances,
            self.layout.tokens(rank),
        )

    def dimensions(self, rank: int) -> list[Dimension]:
        """The groups that a rank communicates in, the group of all ranks first."""
        used = {item.dimension: None for _, item in self.of(rank).collectives}
        return list(dict.fromkeys(["world", *used]))


@lru_cache(maxsize=4)
def setting(scenario: Scenario, seed: int) -> Setting:
    """The setting of a scenario. Raises ``ValueError`` where programs cannot be built."""
    layout = Layout(scenario.parallelism)
    machine_ = machine(scenario.hardware)
    programs = [
        build(scenario.model, machine_, scenario.parallelism, stage)
        for stage in range(scenario.parallelism.pipeline)
    ]
    disturbances = Disturbances.of(scenario)
    ranks = scenario.parallelism.ranks
    collectives = [program.collectives for program in programs]
    network = Network(
        machine=machine_,
        layout=layout,
        algorithm=scenario.hardware.algorithm,
        seed=seed,
        disturbances=disturbances,
        collectives=tuple(collectives[layout.stage(rank)] for rank in range(ranks)),
    )
    launches = Launches(network).of
    scripts = tuple(HostScript(program, machine_.chip, launches) for program in programs)
    compiled = tuple(
        Compiled(program, script.plan, scenario.hardware.kernel_gap)
        for program, script in zip(programs, scripts, strict=True)
    )
    used: dict[Dimension, None] = {"world": None}
    for stage in compiled:
        used |= {item.dimension: None for _, item in stage.collectives}
    names = group_names(layout, used, FIRST_SESSION_NS // 1000 - 60_000_000)
    return Setting(
        scenario, seed, machine_, layout, scripts, compiled, network, disturbances, names
    )
