"""From a scenario and a seed to captures in memory, or to profiles with their truth on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ascend_ref.atomic import staged
from ascend_ref.capture import Capture, Switches
from ascend_ref.capture.merge import merged
from ascend_ref.capture.metric_groups import aic_metrics
from ascend_ref.capture.switches import ONLY_BY_CANN
from ascend_ref.execution import Executor, InProcess
from ascend_ref.raw.tree import DATA, HOST
from ascend_ref.raw.view import raw_view
from ascend_spec import catalog, mindspore_catalog

from .choices import (
    LOSSES_OF_JOBS,
    LOSSES_OF_RAW,
    LOSSES_OF_RECORDS,
    FaultChoice,
    Scenario,
)
from .documents.text import ScenarioError
from .draws import Draws
from .formats import FORMATS, OF_FRAMEWORKS, places_of
from .hardware.model import machine
from .loss import (
    RawDamage,
    damage_raw,
    lose,
    lose_files,
)
from .mindspore.damage import JobDamage
from .mindspore.folders import require_database, viewer_on
from .mindspore.jobs import first_day, of_mindspore
from .processes import Account, Job, Progress, record, write_processes
from .scenario import validate
from .scenario.collected import idle_switches
from .session.setting import FIRST_SESSION_NS, setting
from .session.simulate import (
    AFTER_STEPS_NS,
    BEFORE_STEPS_NS,
    couple,
    recorded,
    summary_of,
)
from .truth import fault_truths
from .truth.faults import COSTLY, Effect
from .world.rank import RankMeetings

TRUTH = "truth.json"
TRUTH_FORMAT = "ascend-ref-truth/1"
SEEDS = 1 << 63
NEXT_ROUND = 1 << 64
"""Between what two rounds draw from; seeds lie below."""
LONGEST_NS = 3_600 * 10**9
"""Of a captured round: within it no counter and no sum of times overflows."""
LATEST_NS = 1 << 62
"""Unix ns before which the last round ends: in the year 2116."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What the ranks of one round share: with it every rank can be simulated by itself, anywhere.

    scenario: of this round, whose schedule has no further one. seed: that of the run, and as many
    times NEXT_ROUND as rounds went before. meetings: of each rank with others.
    """

    scenario: Scenario
    seed: int
    meetings: tuple[RankMeetings, ...]

    @property
    def end(self) -> int:
        """Unix ns at which the last session ends, about."""
        return max(int(one.step_ends[-1]) for one in self.meetings) + AFTER_STEPS_NS

    @property
    def step_length(self) -> int:
        """ns of the longest rank's mean step."""
        spans = (int(one.step_ends[-1] - one.step_starts[0]) for one in self.meetings)
        return max(spans) // self.scenario.schedule.active


@dataclass(frozen=True, slots=True)
class Simulation:
    """A simulated run, whose captures are made when they are asked for.

    rounds: one for each repetition of the schedule.
    """

    rounds: tuple[Shared, ...]

    def capture(self, rank: int, round_: int = 0) -> Capture:
        """What the profiler of one rank records."""
        return capture(self.rounds[round_], rank)

    def captures(self, round_: int = 0) -> Iterator[Capture]:
        """Those of all ranks, in order."""
        shared = self.rounds[round_]
        return (capture(shared, rank) for rank in range(len(shared.meetings)))

    def truth(self, round_: int = 0) -> dict[str, Any]:
        """The truth of a round, as truth.json holds it but for lost files: none was written."""
        shared = self.rounds[round_]
        scenario, seed = shared.scenario, shared.seed
        every = enumerate(shared.meetings)
        return truth(shared, [record(scenario, seed, *one)[1] for one in every], {}, {}, {})


@dataclass(frozen=True, slots=True)
class Run:
    """What was written. profiles: folders, in the order of rounds, outputs and processes.

    lost: what raw files do not hold of what was simulated, a phrase each.
    """

    folder: Path
    profiles: tuple[Path, ...]
    truths: tuple[Path, ...]
    lost: tuple[str, ...] = ()


def simulate(scenario: Scenario, seed: int = 0) -> Simulation:
    """Simulate a scenario. Raises :class:`ScenarioError` for an impossible one."""
    return Simulation(tuple(_rounds(_accepted(scenario, seed), seed)))


def prepare(scenario: Scenario, seed: int, start: int = FIRST_SESSION_NS) -> Shared:
    """The pass over all ranks of one round. ``start``: Unix ns at which its sessions begin.

    Raises :class:`ScenarioError` for a round that lasts too long.
    """
    kernels = [kernel for one in setting(scenario, seed).compiled for kernel in one.kinds]
    slowest = max(kernels, key=lambda kernel: kernel.duration, default=None)
    if slowest and slowest.duration > LONGEST_NS:
        raise _too_long(scenario, slowest.duration, f"one {slowest.op_type}")
    summaries = [summary_of(scenario, seed, rank) for rank in range(scenario.parallelism.ranks)]
    shared = Shared(scenario, seed, tuple(couple(scenario, seed, summaries, start)))
    lengths = [int(one.step_ends[-1]) - int(one.step_starts[0]) for one in shared.meetings]
    longest = max(lengths)
    if not 0 <= min(lengths) <= longest <= LONGEST_NS:
        raise _too_long(scenario, longest, "the captured steps")
    if shared.end > LATEST_NS:
        raise ScenarioError(
            f"{scenario.name}: schedule.repeat makes a round end after 2115; expected fewer "
            "rounds, or fewer steps of wait and warmup"
        )
    return shared


def _require_switches_of_framework(scenario: Scenario, name: str) -> None:
    own, usual = scenario.capture, Switches()
    for field in ONLY_BY_CANN:
        if getattr(own, field) != getattr(usual, field):
            value, expected = (json.dumps(getattr(one, field)) for one in (own, usual))
            raise ScenarioError(
                f"{scenario.name}: capture.{field} is {value}; expected {expected} for the format "
                f"{name}: the framework's profiler sets it"
            )


def _too_long(scenario: Scenario, length: int, what: str) -> ScenarioError:
    hours = f"more than {length // LONGEST_NS:,} h" if length > 0 else "centuries"
    return ScenarioError(
        f"{scenario.name}: {what} would take {hours}; expected a captured round of at most 1 h: "
        "a smaller model, fewer steps or milder faults"
    )


def capture(shared: Shared, rank: int) -> Capture:
    """What the profiler of one rank records, less what is lost of it."""
    scenario, seed = shared.scenario, shared.seed
    made, _ = recorded(scenario, seed, rank, shared.meetings[rank])
    return lose(made, setting(scenario, seed).disturbances)[0]


def truth(
    shared: Shared,
    accounts: Sequence[Account],
    files: Mapping[int, Sequence[str]],
    damages: Mapping[int, Sequence[RawDamage]],
    damaged: Mapping[int, Sequence[JobDamage]],
) -> dict[str, Any]:
    """The document of truth.json.

    accounts: of all ranks, in order. files, damages, damaged: what each fault took that loses files
    or damages raw ones or those of jobs, by its place.
    """
    scenario = shared.scenario
    chip = machine(scenario.hardware).chip
    totals = [account.totals for account in accounts]
    measured: dict[int, Effect] = {}
    for place, fault in enumerate(scenario.faults):
        if fault.kind in COSTLY:
            measured[place] = {"extra_ns": sum(account.costs[place] for account in accounts)}
        elif fault.kind in LOSSES_OF_RECORDS:
            losses = [account.losses[place] for account in accounts if place in account.losses]
            measured[place] = {"losses": losses}
        elif fault.kind == "lost-arrows":
            measured[place] = {"ends": sum(account.arrows.get(place, 0) for account in accounts)}
        elif fault.kind == "lost-file":
            measured[place] = {"paths": files.get(place, ())}
        elif fault.kind in LOSSES_OF_RAW:
            measured[place] = {"damages": damages.get(place, ())}
        elif fault.kind in LOSSES_OF_JOBS:
            measured[place] = {"damages": damaged.get(place, ())}
    faults = fault_truths(scenario, totals, measured, chip.frequency)
    return {
        "format": TRUTH_FORMAT,
        "scenario": scenario.name,
        "seed": shared.seed % NEXT_ROUND,
        "product": chip.name,
        "idle_switches": list(idle_switches(scenario)),
        "ranks": len(totals),
        "faults": [asdict(fault) for fault in faults],
        "totals": [asdict(one) for one in totals],
    }


def writable(
    scenario: Scenario, seed: int, formats: Sequence[str], generation: str | None = None
) -> tuple[Scenario, str, str]:
    """The run that :func:`write_run` writes in these formats, the day of MindSpore's files and the
    writer of its folders; arguments as there.

    Raises :class:`ScenarioError` where a format cannot hold the run, ``KeyError`` for an unknown
    format or generation.
    """
    if any(FORMATS[name].output == "mindspore-jobs" for name in formats):
        scenario = of_mindspore(scenario)
    accepted = _accepted(scenario, seed)
    day = first_day(formats) if generation is None else mindspore_catalog().day_of(generation)
    viewer = viewer_on(day)
    if "mindspore-db" in formats:
        require_database(accepted.name, viewer)
    for name in formats:
        output = FORMATS[name].output  # no KeyError halfway
        group = accepted.capture.aic_metrics
        if output in OF_FRAMEWORKS and group not in aic_metrics():
            known = ", ".join(other for other in aic_metrics() if other)
            raise ScenarioError(
                f"{accepted.name}: capture.aic_metrics is {group}; "
                f"expected null or one of {known} for the format {name}: "
                "the framework's profiler has no other"
            )
        if output != "msprof":
            _require_switches_of_framework(accepted, name)
        if output != "pytorch" and not accepted.capture.npu:
            raise ScenarioError(
                f"{accepted.name}: capture.npu is false; expected true for the format {name}, "
                "which holds what the device's profiler records"
            )
    return accepted, day, viewer


def write_run(
    scenario: Scenario,
    seed: int,
    out: Path,
    formats: Sequence[str] = ("pytorch-db",),
    revision: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    writer: str | None = None,
    generation: str | None = None,
) -> Run:
    """Simulate a scenario and write its profiles and truth.json into the new folder ``out``.

    formats: names of :data:`FORMATS`. Those of one exporter share the folders of its profiles;
    profiles of several exporters, and several rounds, stand in folders of their own. revision: of
    the schema, the newest by default. writer: the generation of exporters that writes the texts of
    CANN's profiler, by default the current one. generation: of MindSpore's profiler, or a day
    (ISO), by default :func:`first_day`; its folders are today's for a day before there were any.
    Where it writes a job, the run is one of a compiled graph, in all formats. The executor does not
    change a byte. ``out`` appears complete or not at all. Raises :class:`ScenarioError`,
    ``FileExistsError`` where ``out`` exists, ``KeyError`` for an unknown format, revision or
    generation, ``OSError``.
    """
    accepted, day, viewer = writable(scenario, seed, formats, generation)
    chosen = catalog().revision(revision).id if revision else catalog().revisions[-1].id
    runner = executor or InProcess()
    profiles: list[Path] = []
    truths: list[Path] = []
    lost_of_raw: dict[str, None] = {}
    with staged(out) as draft:
        for number, shared in enumerate(_rounds(accepted, seed)):
            folder = draft / f"round_{number}" if accepted.schedule.repeat > 1 else draft
            places = places_of(folder, formats)
            job = Job(shared.scenario, shared.seed, places, chosen, writer, day, viewer)
            for place in job.places:
                place.folder.mkdir(parents=True, exist_ok=True)
            parts, accounts, notes = zip(
                *write_processes(shared.meetings, job, runner, progress), strict=True
            )
            lost_of_raw |= dict.fromkeys(chain.from_iterable(one.not_held for one in notes))
            made = [*chain.from_iterable(chain.from_iterable(zip(*parts, strict=True)))]
            profiles += (profile for _, profile in made)
            lost = lose_files(setting(shared.scenario, shared.seed).disturbances, made)
            files = {
                place: [path.relative_to(folder).as_posix() for path in gone]
                for place, gone in lost.items()
            }
            damages = _damage_raw(shared, job, made, folder)
            jobs = [*chain.from_iterable(one.jobs for one in notes)]
            damaged = {
                place: [*chain.from_iterable(one.damages_of(place, folder) for one in jobs)]
                for place, _ in enumerate(shared.scenario.faults)
            }
            every = list(chain.from_iterable(accounts))
            document = truth(shared, every, files, damages, damaged)
            if jobs:
                document["jobs"] = [one.truth(folder) for one in jobs]
            truths.append(folder / TRUTH)
            truths[-1].write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return Run(
        out,
        tuple(out / path.relative_to(draft) for path in profiles),
        tuple(out / path.relative_to(draft) for path in truths),
        tuple(lost_of_raw),
    )


def _damage_raw(
    shared: Shared, job: Job, made: Sequence[tuple[list[int], Path]], folder: Path
) -> dict[int, list[RawDamage]]:
    """Apply the faults of raw files to the written profiles; what each did, by its place.

    Paths are as seen from ``folder``.
    """
    faults = [
        (place, one)
        for place, one in enumerate(shared.scenario.faults)
        if one.kind in LOSSES_OF_RAW
    ]
    if not faults or not any("raw" in one.forms for one in job.places):
        return {}
    disturbances = setting(shared.scenario, shared.seed).disturbances
    found: dict[int, list[RawDamage]] = {place: [] for place, _ in faults}
    for ranks, written in made:
        profile = _raw_folder(written)
        if profile is None:
            continue
        captures = [capture(shared, rank) for rank in ranks]
        held = raw_view(merged(captures)).capture
        for place, fault in faults:
            hit = {*disturbances.ranks_of(fault)}.intersection(ranks)
            if not hit:
                continue
            devices = {
                one
                for rank, own in zip(ranks, captures, strict=True)
                if rank in hit
                for one in own.origin.devices
            }
            draws = Draws(shared.seed, "raw", place, ranks[0])
            for one in damage_raw(profile, held, fault, devices, draws):
                below = profile.relative_to(folder)
                known = None if one.reported_in is None else (below / one.reported_in).as_posix()
                path = (below / one.path).as_posix()
                found[place].append(replace(one, path=path, reported_in=known))
    return found


def _accepted(scenario: Scenario, seed: int) -> Scenario:
    if not 0 <= seed < SEEDS:
        raise ScenarioError(f"seed is {seed}; expected an integer from 0 to {SEEDS - 1}")
    return validate(scenario, scenario.name)


def _rounds(scenario: Scenario, seed: int) -> Iterator[Shared]:
    """Round after round; the steps between them pass, but leave no trace."""
    schedule, start = scenario.schedule, FIRST_SESSION_NS
    length = schedule.wait + schedule.warmup + schedule.active
    for number in range(schedule.repeat):
        once = replace(schedule, first=schedule.first + number * length, repeat=1)
        own = replace(scenario, schedule=once, faults=_faults_of(scenario, number))
        shared = prepare(own, seed + number * NEXT_ROUND, start)
        yield shared
        passing = (schedule.wait + schedule.warmup) * shared.step_length
        start = -(-(shared.end + passing + BEFORE_STEPS_NS) // 1000) * 1000


def _faults_of(scenario: Scenario, round_: int) -> tuple[FaultChoice, ...]:
    """The faults that hit a step of a round."""
    captured = scenario.schedule.captured(round_)
    first, last = captured[0], captured[-1]
    return tuple(
        fault
        for fault in scenario.faults
        if fault.steps is None or (fault.steps[0] <= last and first <= fault.steps[1])
    )


def _raw_folder(profile: Path) -> Path | None:
    """The folder of the raw files of host and devices: a profile, or one in it."""
    places = (profile, *sorted(profile.glob("PROF_*")))
    return next((one for one in places if (one / HOST / DATA).is_dir()), None)
