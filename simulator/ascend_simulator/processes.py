"""What the processes of a simulated run write, each of them on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ascend_ref.capture import Capture
from ascend_ref.execution import Executor
from ascend_ref.profile import write_msprof_profile, write_pytorch_profile

from .choices import Scenario
from .formats import Place
from .loss import Loss, ends_of_lost_arrows, lose, lost_arrows
from .mindspore.folders import pipeline_of, write_folder
from .mindspore.jobs import WrittenJob, write_jobs
from .session.setting import setting
from .session.simulate import recorded
from .truth import RankTotals, rank_totals
from .truth.faults import COSTLY, extra_time
from .truth.timelines import timeline_totals
from .world.disturbance import Disturbances
from .world.rank import RankMeetings

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the number of units done, the number of all, and what they are."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a rank adds to the truth. costs: ns by the places of the faults that cost it time.

    losses, arrows: by the places of the faults that lose data of it, or so many ends of arrows.
    """

    totals: RankTotals
    costs: Mapping[int, int]
    losses: Mapping[int, Loss]
    arrows: Mapping[int, int]


def record(
    scenario: Scenario, seed: int, rank: int, meetings: RankMeetings
) -> tuple[Capture, Account]:
    """What the profiler of a rank recorded, and its account."""
    made, kernel_steps = recorded(scenario, seed, rank, meetings)
    costs = {
        place: extra_time(scenario, seed, rank, place)
        for place, fault in enumerate(scenario.faults)
        if fault.kind in COSTLY
    }
    disturbances = setting(scenario, seed).disturbances
    left, losses = lose(made, disturbances)
    arrows = ends_of_lost_arrows(disturbances, rank, lambda: timeline_totals(left).flows)
    return left, Account(rank_totals(made, kernel_steps), costs, losses, arrows)


@dataclass(frozen=True, slots=True)
class Job:
    """What the processes of a round have in common."""

    scenario: Scenario
    seed: int
    places: tuple[Place, ...]
    revision: str
    writer: str | None
    day: str
    viewer: str


_Process: TypeAlias = Sequence[tuple[int, RankMeetings]]
"""One process of the simulated run, the unit of work: its ranks, and their meetings."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What raw files do not hold, a phrase each, and the jobs of MindSpore's profiler."""

    not_held: list[str] = field(default_factory=list)
    jobs: list[WrittenJob] = field(default_factory=list)


Written: TypeAlias = tuple[list[list[tuple[list[int], Path]]], list[Account], Noted]
"""The profiles that a process wrote in each place, each with its ranks, what these add to the
truth, and what else is known of them."""


def write_processes(
    meetings: Sequence[RankMeetings], job: Job, executor: Executor, progress: Progress | None
) -> Iterator[Written]:
    """What each process of a round writes, in their order; ``meetings`` of all ranks."""
    together = job.scenario.parallelism.devices_per_process
    ranks = list(enumerate(meetings))
    items = [ranks[first : first + together] for first in range(0, len(ranks), together)]
    with closing(executor.map(_write_process, job, items)) as results:
        for done, result in enumerate(results, start=1):
            if progress:
                progress(done * together, len(ranks), "ranks written")
            yield result


def _write_process(job: Job, process: _Process) -> Written:
    made = [record(job.scenario, job.seed, *one) for one in process]
    captures = [one for one, _ in made]
    disturbances = setting(job.scenario, job.seed).disturbances
    noted = Noted()
    paths = [list(_profiles(place, captures, job, disturbances, noted)) for place in job.places]
    return paths, [account for _, account in made], noted


def _profiles(
    place: Place,
    captures: Sequence[Capture],
    job: Job,
    disturbances: Disturbances,
    noted: Noted,
) -> Iterator[tuple[list[int], Path]]:
    """What was written, with its ranks; ``noted`` takes what else is known of it.

    A worker that was lost may have written it before, as completely.
    """
    more, not_held = (job.revision, place.forms), noted.not_held
    pipeline = pipeline_of(job.scenario, disturbances, job.seed)
    together = [captures] if place.output == "msprof" else [[one] for one in captures]
    for some in together:
        ranks = [one.origin.rank for one in some]
        lost = lost_arrows(disturbances, ranks)
        try:
            if place.output == "mindspore-jobs":
                asked = job.scenario, job.seed, job.day, place.forms
                jobs = list(write_jobs(place.folder, some[0], *asked, not_held))
                noted.jobs.extend(jobs)
                yield from ((ranks, one.path) for one in jobs)
            elif place.output == "msprof":
                yield (
                    ranks,
                    write_msprof_profile(place.folder, some, *more, lost, job.writer, not_held),
                )
            elif place.output == "mindspore":
                yield ranks, write_folder(place.folder, some[0], *more, lost, job.viewer, pipeline)
            else:
                yield ranks, write_pytorch_profile(place.folder, some[0], *more, lost, not_held)
        except FileExistsError as error:
            yield ranks, Path(error.filename)
