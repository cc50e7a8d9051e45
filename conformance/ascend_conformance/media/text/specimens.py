"""Clean folders of every writer, as the simulator and our writers make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ascend_ref.capture import Capture
from ascend_ref.documents import write_documents
from ascend_ref.profile import (
    write_msprof_profile,
    write_pytorch_profile,
)
from ascend_ref.profile.readme import README, readme
from ascend_ref.recorded import Output, from_captures
from ascend_ref.text import write_csv_files
from ascend_ref.timeline import write_timeline
from ascend_simulator.choices import FaultChoice, ProductName, Scenario
from ascend_simulator.mindspore.folders import pipeline_of, write_folder
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override, preset
from ascend_simulator.world.disturbance import Disturbances
from ascend_spec import catalog, per_spec, text_catalog

from ...engine.candidate import Listing
from .deliverables import Deliverable, companions, deliverables_in

ANALYSES = ("analysis.db", "communication_analyzer.db")
"""Databases next to those of the profilers."""
STAMP = "20260721120000"
"""Time in the names of files."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A clean folder: what was simulated, and who wrote it. It shows rank 0 of the ``ranks``.

    ``product``, ``counters``: in the place of those of the scenario. ``tried``: how the ids of the
    rules begin that are tried; none: all are.
    """

    scenario: str
    output: Output
    writer: str
    ranks: int = 1
    steps: int = 1
    faults: tuple[FaultChoice, ...] = ()
    product: ProductName | None = None
    counters: str | None = None
    tried: tuple[str, ...] = ()


PAUSED = (FaultChoice("gc-pause"),)
"""Python's garbage collector runs for nothing else."""

WHOLE: Mapping[str, Subject] = {
    "python": Subject("text-museum", "msprof", "python", ranks=2, steps=2),
    "cpp": Subject("text-museum", "msprof", "cpp", ranks=2, steps=2),
    "adapter": Subject("observed-everything", "pytorch", "adapter"),
    "adapter-pipeline": Subject("dense-pipeline", "pytorch", "adapter", ranks=8),
    "adapter-museum": Subject("text-museum", "pytorch", "adapter", faults=PAUSED),
    "mindspore": Subject("observed-everything", "mindspore", "viewer", steps=2),
    "python-edge": Subject("edge-310b", "msprof", "python"),
}
"""Folders on which all rules are tried, those with the most files first."""

COUNTED: Mapping[tuple[str, ProductName], tuple[str, ...]] = {
    ("cpp", "A2"): ("PipeUtilization", "ArithmeticUtilization", "ResourceConflictRatio"),
    ("adapter", "A2"): ("ArithmeticUtilization", "ResourceConflictRatio"),
    ("python", "200I-500-A2"): (
        "ArithmeticUtilization",
        "ResourceConflictRatio",
        "PipelineExecuteUtilization",
    ),
    ("adapter", "200I-500-A2"): (
        "PipeUtilization",
        "ArithmeticUtilization",
        "ResourceConflictRatio",
    ),
}
"""Groups of counters with columns of their own that the other folders have not, one group a
capture. The adapter does not offer
PipelineExecuteUtilization."""
OF_COUNTERS = ("CSV24", "XLR113", "XLR115", "XLR116", "XLR117", "XLR119")
"""Rules about counters."""


def _counted() -> Iterator[tuple[str, Subject]]:
    """Small folders of counters."""
    for (writer, product), groups in COUNTED.items():
        output = text_catalog().writers[writer].output
        for group in groups:
            chosen = Subject("edge-310b", output, writer, product=product, counters=group)
            yield f"{writer}-{product}-{group}", replace(chosen, tried=OF_COUNTERS)


PIPELINE = Subject("data-bound", "mindspore", "viewer", ranks=2, tried=("DOC262", "DOC267"))
"""The folder with files of the data pipeline, and of communication in MindSpore."""

SUBJECTS: Mapping[str, Subject] = {**WHOLE, "mindspore-pipeline": PIPELINE, **dict(_counted())}
"""By name."""


@per_spec
def _capture(subject: Subject) -> Capture:
    chosen = _scenario(subject)
    return simulate(replace(chosen, faults=subject.faults or _own_faults(chosen))).capture(0)


def _own_faults(chosen: Scenario) -> tuple[FaultChoice, ...]:
    """Those of a scenario that is about its data pipeline; of others no fault is simulated."""
    return chosen.faults if pipeline_of(chosen, Disturbances.of(chosen), 0) else ()


def _scenario(subject: Subject) -> Scenario:
    chosen = override(preset(subject.scenario), ranks=subject.ranks, steps=subject.steps)
    if subject.product is not None:
        chosen = replace(chosen, hardware=replace(chosen.hardware, product=subject.product))
    if subject.counters is not None:
        chosen = replace(chosen, capture=replace(chosen.capture, aic_metrics=subject.counters))
    return chosen


def write_specimen(name: str, folder: Path) -> tuple[tuple[Deliverable, ...], Path]:
    """The deliverables of a clean folder, and the database next to them. ``KeyError``."""
    subject = SUBJECTS[name]
    capture = _capture(subject)
    newest = catalog().revisions[-1].id
    if subject.output == "mindspore":
        chosen = _scenario(subject)
        pipeline = pipeline_of(chosen, Disturbances.of(chosen), 0)
        made = ("text", "db"), (), subject.writer, pipeline
        profile = write_folder(folder, capture, newest, *made)
    elif subject.output == "pytorch":
        profile = write_pytorch_profile(folder, capture, newest)
    else:
        profile = write_msprof_profile(folder, [capture], newest)
    (database,) = [path for path in sorted(profile.rglob("*.db")) if path.name not in ANALYSES]
    target = database.parent
    if subject.output == "msprof":
        target = target / "mindstudio_profiler_output"
        target.mkdir(exist_ok=True)
    if subject.output == "mindspore":
        listing = Listing(target)
        return (*deliverables_in(listing), *companions(listing)), database
    recorded = from_captures([capture], subject.output)
    written = [
        *write_csv_files(recorded, target, writer=subject.writer, timestamp=STAMP),
        *write_timeline(recorded, target, writer=subject.writer, timestamp=STAMP),
    ]
    if subject.output == "msprof":
        (target / README).write_text(readme(written), encoding="utf-8")
    write_documents(recorded, target)
    listing = Listing(target)
    return (*deliverables_in(listing), *companions(listing)), database
