"""Clean folders of every writer, as the simulator and our writers make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ascend_ref.capture import Capture
from ascend_ref.documents import write_documents
from ascend_ref.profile import write_msprof_profile, write_pytorch_profile
from ascend_ref.recorded import Output, from_captures
from ascend_ref.text import write_csv_files
from ascend_ref.timeline import write_timeline
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override, preset
from ascend_spec import catalog

from .deliverables import Deliverable, beside, deliverables_of

STAMP = "20260721120000"
"""Time in the names of files."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A clean folder: what was simulated, and who wrote it. It shows rank 0 of the ``ranks``."""

    scenario: str
    output: Output
    writer: str
    ranks: int = 1
    steps: int = 1


SUBJECTS: Mapping[str, Subject] = {
    "adapter": Subject("observed-everything", "pytorch", "adapter"),
    "adapter-museum": Subject("text-museum", "pytorch", "adapter"),
    "adapter-pipeline": Subject("dense-pipeline", "pytorch", "adapter", ranks=8),
    "python": Subject("text-museum", "msprof", "python", ranks=2, steps=2),
    "python-edge": Subject("edge-310b", "msprof", "python"),
    "cpp": Subject("text-museum", "msprof", "cpp", ranks=2, steps=2),
}
"""By name."""


@cache
def _capture(subject: Subject) -> Capture:
    chosen = override(preset(subject.scenario), ranks=subject.ranks, steps=subject.steps)
    return simulate(chosen).capture(0)


def write_specimen(name: str, folder: Path) -> tuple[tuple[Deliverable, ...], Path]:
    """The deliverables of a clean folder, and the database beside them. ``KeyError``."""
    subject = SUBJECTS[name]
    capture = _capture(subject)
    newest = catalog().revisions[-1].id
    if subject.output == "pytorch":
        profile = write_pytorch_profile(folder, capture, newest)
    else:
        profile = write_msprof_profile(folder, [capture], newest)
    (database,) = [path for path in sorted(profile.rglob("*.db")) if path.name != "analysis.db"]
    target = database.parent
    if subject.output == "msprof":
        target = target / "mindstudio_profiler_output"
        target.mkdir(exist_ok=True)
    recorded = from_captures([capture], subject.output)
    write_csv_files(recorded, target, writer=subject.writer, timestamp=STAMP)
    write_timeline(recorded, target, writer=subject.writer, timestamp=STAMP)
    write_documents(recorded, target)
    found = deliverables_of(path for path in target.iterdir() if path.is_file())
    return (*found, *beside(target)), database
