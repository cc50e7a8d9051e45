"""What defects are put into: real and simulated profiles, as each medium alone and together."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from damaged_profiles import Bin, Database, Folder, Timeline
from exporter_defects import Medium

from ascend_simulator import write_run
from ascend_simulator.operator.run import write_kernel
from ascend_simulator.operator.scenario import preset as kernel_preset
from ascend_simulator.scenario import override, preset

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
OUTPUT = "ASCEND_PROFILER_OUTPUT"


@dataclass(frozen=True)
class Base:
    """A profile, or one medium of it.

    media: what can be changed in it; source: the files, below ``REAL``, or a preset and formats;
    keep: which of the files, by pattern.
    """

    media: tuple[Medium, ...]
    source: str
    keep: tuple[str, ...] = ("*",)
    formats: tuple[str, ...] = ()
    ranks: int = 0
    revision: str | None = None

    @property
    def is_real(self) -> bool:
        return not self.formats


TEXTS = ("*.csv", "communication*.json", "profiler_*.json")
BASES: Mapping[str, Base] = {
    "db-level1": Base(("database",), "db/level1_rank1", ("ascend_pytorch_*.db",)),
    "db-level0": Base(("database",), "db/level0_rank0", ("ascend_pytorch_*.db",)),
    "db-910a": Base(
        ("database",), "generations/db_910a_2024_level1_rank0", ("ascend_pytorch_*.db",)
    ),
    "db-simulated": Base(("database",), "dense-8", ("ascend_pytorch_*.db",), ("pytorch-db",)),
    "db-msprof": Base(("database",), "observed-everything", ("msprof_*.db",), ("msprof-db",)),
    "db-pair": Base(("analysis",), "db/level1_rank1"),
    "db-pair-simulated": Base(("analysis",), "dense-pipeline", ("*.db",), ("pytorch-db",), 4),
    "csv-level1": Base(("csv", "document"), "text/pytorch_level1_rank0", TEXTS),
    "csv-llm": Base(("document",), "generations/text_llm_2025_level2_rank0", TEXTS),
    "csv-910a": Base(("csv", "document"), "generations/text_910a_2024_level1_rank0", TEXTS),
    "csv-msprof": Base(("csv",), "text-museum", ("*.csv",), ("csv",)),
    "csv-simulated": Base(("csv", "document"), "observed-everything", TEXTS, ("pytorch-text",)),
    "timeline-level1": Base(("timeline",), "text/pytorch_level1_rank0", ("trace_view.json",)),
    "timeline-910a": Base(
        ("timeline",), "generations/text_910a_2024_level1_rank0", ("trace_view.json",)
    ),
    "timeline-msprof": Base(("timeline",), "dense-8", ("msprof_*.json",), ("timeline",)),
    "timeline-simulated": Base(("timeline",), "dense-8", ("trace_view.json",), ("pytorch-text",)),
    "bin-mix": Base(("bin",), "bin/mix.bin"),
    "bin-roofline": Base(("bin",), "bin/roofline_data.bin"),
    "bin-memory": Base(("bin",), "generations/memory_data.bin"),
    "bin-base": Base(("bin",), "bin/base_info.bin"),
    "bin-device": Base(("bin",), "matmul-leakyrelu", formats=("bin",)),
    "bin-950": Base(("bin",), "950-mix", formats=("bin",)),
    "bin-simulator": Base(("bin",), "simulated-mix", formats=("bin",)),
    "ranks-db": Base(("ranks",), "dense-8", ("*.db", "profiler_*.json"), ("pytorch-db",), 4),
    "ranks-text": Base(("ranks",), "observed-everything", TEXTS, ("pytorch-text",)),
    "ranks-timeline": Base(
        ("ranks",), "dense-8", ("trace_view.json", "profiler_*.json"), ("pytorch-text",), 2
    ),
    "ranks-level1": Base(("ranks",), "db", ("level1_rank[01]/*",)),
}


@cache
def _simulated(name: str, formats: tuple[str, ...], ranks: int, root: Path) -> Path:
    target = root / "-".join((name, *formats, str(ranks)))
    if formats == ("bin",):
        return target / write_kernel(kernel_preset(name), target).file.name
    scenario = override(preset(name), steps=2)
    if name.startswith("dense"):
        scenario = replace(scenario, model=replace(scenario.model, layers=4))
        count = ranks or scenario.parallelism.tensor * scenario.parallelism.pipeline
        scenario = override(scenario, ranks=count)
    write_run(scenario, 0, target, formats)
    return target


def sources(base: Base, root: Path) -> Path | None:
    """Where the files of a base stand; nothing where the real ones are absent."""
    if base.is_real:
        path = REAL / base.source
        return path if path.exists() else None
    return _simulated(base.source, base.formats, base.ranks, root)


def copy(base: Base, source: Path, target: Path) -> Path:
    """A copy to damage. Of one simulated profile only the first is taken unless ranks matter."""
    if source.is_file():
        target.mkdir()
        return Path(shutil.copyfile(source, target / source.name))
    several = base.is_real or "ranks" in base.media
    inside = source if several else sorted(one for one in source.iterdir() if one.is_dir())[0]
    for path in _kept(base, inside):
        place = target / path.relative_to(inside)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        place.chmod(0o644)
    return target


def _kept(base: Base, folder: Path) -> Iterator[Path]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files:
        skipped = "PROF_" in str(path.relative_to(folder)) and not path.name.startswith(
            ("msprof", "op_", "task_", "api_", "step_")
        )
        if any(path.match(one) for one in base.keep) and (not skipped or "csv" in base.media):
            yield path


def handles(medium: Medium, path: Path) -> Callable[[], Database | Folder | Timeline | Bin]:
    """What a defect of the medium gets."""
    if medium == "database":
        return lambda: Database(next(path.rglob("*.db")))
    if medium == "timeline":
        return lambda: Timeline(next(path.rglob("*.json")))
    if medium == "bin":
        return lambda: Bin(path)
    return lambda: Folder(path)
