"""Raw files as captures."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ascend_ref.capture import Capture, Texts
from ascend_ref.spill import Spill
from ascend_spec import catalog

from ..ccu import TABLE as CCU
from ..context import Context
from ..damage import Damage
from ..samples import HOST_TABLES
from ..system_calls import SWITCH
from ..vocabulary import level
from .aicpu import read_aicpu
from .caches import read_caches
from .calls import read_calls
from .ccu import read_units, units_table
from .chip_links import read_chip_links
from .communication import read_communication
from .copies import read_copies
from .cores import read_cores
from .counters import read_counters
from .engines import read_engines
from .fusion import read_fusions
from .graph_memory import read_graph_memory
from .host import read_host
from .instructions import read_instructions
from .iterations import read_iterations
from .kernels import read_kernels
from .launches import read_launches
from .logs import read_runs
from .marks import read_marks
from .names import state_unnamed
from .nodes import read_nodes
from .origin import Level, read_origin, read_switches
from .origins import Origins
from .pipes import read_pipes, stated_period
from .processors import read_processors
from .samples import read_samples
from .session import Session, open_session
from .system_calls import read_system_calls
from .system_load import read_system_load
from .tasks import join_tasks
from .voltages import read_voltages
from .workspace import read_workspace


@dataclass(frozen=True)
class RawCapture:
    """What the raw files of one process hold, and what of them cannot be read.

    folder: ``PROF_*``. contexts: its folders of host and devices, with what was read of them.
    spill: holds the long columns of the capture. origins: which records its rows were read from,
    where somebody asked for that.
    """

    folder: Path
    capture: Capture
    damage: list[Damage]
    contexts: tuple[Context, ...] = ()
    spill: Spill = field(default_factory=Spill)
    origins: Origins | None = None


def read_raw(path: Path) -> list[RawCapture]:
    """The captures of the ``PROF_*`` folders below a path, or of that folder itself.

    Raises :class:`Unreadable` where there are no raw files, or nothing states when they were taken.
    """
    return [_read(one) for one in open_session(path)]


def read_prof(path: Path, *, with_origins: bool = False) -> RawCapture:
    """The capture of one ``PROF_*``; those that lie deeper in it are left out.

    Raises as :func:`read_raw`.
    """
    session = open_session(path)[0]
    session.origins = Origins() if with_origins else None
    return _read(session)


def _read(session: Session) -> RawCapture:
    capture = _capture(session)
    return RawCapture(
        session.folder,
        capture,
        session.damage,
        session.contexts,
        session.spill,
        session.origins,
    )


def _capture(session: Session) -> Capture:
    origin = read_origin(session)
    chip = next((one.side.chip for one in session.contexts if one.side.chip is not None), None)
    texts = Texts()
    calls = read_calls(session, texts)
    launches = read_launches(session, calls, chip)
    runs = read_runs(session)
    launched = join_tasks(session, runs, launches, calls, chip, texts)
    marks, launched = read_marks(session, launched, texts)
    nodes = read_nodes(session, calls, texts)
    computed = read_kernels(session, calls, launches, launched, nodes, texts)
    communicated = read_communication(session, calls, launches, launched, nodes, texts)
    events = read_workspace(session, texts)
    of_units = read_units(session, launched.tasks, texts)
    state_unnamed(session)
    of_host, records = read_host(session)
    of_system = read_system_calls(session, origin, texts)
    samples = {**read_samples(session, origin, texts), **of_host}
    units = units_table(session, of_units, launched.tasks, texts)
    if units:
        samples[CCU] = units
    caches = read_caches(session, launched, computed)
    of_ai_cpu = read_aicpu(session, launched, computed, texts)
    of_processors = read_processors(session, texts)
    of_pipes = read_pipes(session, texts)
    traced = read_instructions(session, origin, texts)
    periods = [stated_period(one) for one in session.devices.values() if traced or of_pipes]
    of_links = read_chip_links(session)
    on = {switch for table in samples for switch in catalog().tables[table].switches}
    collected: Level = 1 if nodes.recorded else 0
    if (calls.table.level == level("RUNTIME")).any():
        collected = 2
    switches = replace(
        read_switches(session, collected),
        mstx=len(marks) > 0,
        memory=len(events) > 0,
        sys_hardware_mem=int("sys-hardware-mem" in on),
        sys_io=int("sys-io" in on),
        host_sys=(
            *(one for one, table in HOST_TABLES.items() if table in of_host),
            *((SWITCH,) if len(of_system) else ()),
        ),
        sys_interconnection=int("sys-interconnection" in on or len(of_links) > 0),
        l2="l2_cache" in caches,
        soc_pmu="soc_pmu" in caches,
        aicpu=len(of_ai_cpu) > 0,
        sys_cpu=int(len(of_processors) > 0),
        instr=max(periods, default=0),
    )
    return Capture(
        origin=origin,
        switches=switches,
        texts=texts,
        tasks=launched.tasks,
        kernel_kinds=computed.kinds,
        kernels=computed.kernels,
        counters=read_counters(session, origin, switches, launched.tasks, computed, samples),
        copies=read_copies(session, launches, launched),
        groups=communicated.groups,
        group_ranks=communicated.group_ranks,
        collectives=communicated.collectives,
        transfers=communicated.transfers,
        calls=calls.table,
        system_calls=of_system,
        marks=marks,
        workspace_events=events,
        samples={**samples, **read_cores(session, origin, switches, texts)},
        records={
            **records,
            **caches,
            **of_ai_cpu,
            **read_graph_memory(session, texts),
            **read_fusions(session, calls, texts),
            **read_system_load(session, texts),
            **read_engines(session, texts),
            **of_processors,
            **of_pipes,
            **traced,
            **of_units,
            **of_links,
            **read_voltages(session, origin, texts),
            **read_iterations(session),
        },
    )
