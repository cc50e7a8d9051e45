"""Any input with a random change gets a verdict: no failure of the checker, no hang.

What is accepted without a word is classified; what a reader could have noticed is listed with its
reason. A slice runs by default, 100 inputs of each medium with ``make exhaustive``, 10,000 with
``make campaign``.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import mutants
import pytest
from mutants import UNDETECTABLE, mutant
from slices import marked, some

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport
from ascend_conformance.media.bin.selftest import PRESETS, clean_file
from ascend_conformance.options import Options
from ascend_ref.profile.export import export_database
from ascend_simulator.specimen import Shape, write_rank_folder
from ascend_spec import catalog

OLDEST = catalog().revisions[0].id
SMALL = Shape(ranks=1, operators=1, steps=1, level=1)
FEW = 12
EACH = 10_000
PARTS = 200
"""Into which the inputs of a medium are divided, so that several processes share them."""
OFTEN = 1
"""Parts that ``make exhaustive`` tries."""
LONGEST_S = 60
"""Of the processor for one folder of inputs, which takes some two seconds."""


@dataclass(frozen=True)
class Medium:
    """How to make the inputs of a medium: ``together`` so many in one folder, under ``names``."""

    names: Sequence[tuple[str, str]]
    together: int
    kind: Callable[[Path, Path], str]


def of_bytes(kind: Callable[[bytes, bytes], str]) -> Callable[[Path, Path], str]:
    return lambda before, after: kind(before.read_bytes(), after.read_bytes())


MEDIA: Mapping[str, Medium] = {
    "csv": Medium(
        [
            ("op_statistic.csv", "op_statistic_202501{:08}.csv"),
            ("api_statistic.csv", "api_statistic_202501{:08}.csv"),
            ("npu_module_mem.csv", "npu_module_mem_202501{:08}.csv"),
        ],
        60,
        of_bytes(mutants.of_sheet),
    ),
    "json": Medium(
        [
            ("communication.json", "communication_{}.json"),
            ("communication_matrix.json", "communication_matrix_{}.json"),
        ],
        60,
        of_bytes(mutants.of_json),
    ),
    "timeline": Medium([("short.json", "msprof_202501{:08}.json")], 60, of_bytes(mutants.of_json)),
    "database": Medium([("analysis.db", "analysis.db")], 1, mutants.of_database),
    "bin": Medium([("visualize_data.bin", "visualize_data.bin")], 1, of_bytes(mutants.of_blocks)),
}

FURTHER: Mapping[tuple[str, str], str] = {
    ("bin", "source"): "the source code of an operator is the user's own file",
}
"""Further kinds of accepted changes, by medium, each with the reason why they are accepted."""


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unchanged file of each name."""
    folder = tmp_path_factory.mktemp("originals")
    rank = write_rank_folder(folder, OLDEST, SMALL)
    (database,) = rank.rglob("ascend_pytorch_profiler_0.db")
    export_database(database, folder / "texts")
    for path in [*(folder / "texts").iterdir(), *rank.rglob("analysis.db")]:
        path.rename(folder / path.name)
    (folder / "visualize_data.bin").write_bytes(clean_file(next(iter(PRESETS))))
    events = json.loads((folder / "trace_view.json").read_text())
    heads = [one for one in events if one["ph"] == "M"]
    slices = [one for one in events if one["ph"] == "X" and "args" in one][:8]
    processes = {one["pid"] for one in slices}
    heads = [one for one in heads if one["pid"] in processes]
    (folder / "short.json").write_text(json.dumps(heads + slices))
    return folder


@contextmanager
def watched() -> Iterator[None]:
    """Ends what takes longer than any input may."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"longer than {LONGEST_S} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def judged(path: Path) -> tuple[FileReport, ...]:
    with watched():
        return check([path], Options(workers=1, max_examples=0)).files


def batch(
    medium: Medium, originals: Path, folder: Path, draws: Sequence[random.Random | None]
) -> dict[Path, Path]:
    """Inputs in a folder, changed where there is something to draw from, with their originals."""
    made = {}
    for number, draw in enumerate(draws):
        source, name = medium.names[number % len(medium.names)]
        path = folder / name.format(number)
        content = (originals / source).read_bytes()
        path.write_bytes(mutant(draw, content) if draw else content)
        made[path] = originals / source
    return made


def findings(reports: Sequence[FileReport], path: Path) -> set[str]:
    """The rules that found something in a file; a word where it could not be judged."""
    found = {one.rule for file in reports for one in file.findings if one.file == str(path)}
    return found | {"unreadable" for file in reports if file.file == str(path) and file.unreadable}


def accepted(
    name: str, originals: Path, folder: Path, numbers: range
) -> dict[tuple[str, str], int]:
    """The first input that was accepted, by medium and kind of change."""
    medium = MEDIA[name]
    found: dict[tuple[str, str], int] = {}
    clean = folder / "clean"
    clean.mkdir()
    copies = batch(medium, originals, clean, [None] * min(medium.together, 6))
    reports = judged(clean if medium.together > 1 else next(iter(copies)))
    usual = {rule for path in copies for rule in findings(reports, path)}
    for begin in range(numbers.start, numbers.stop, medium.together):
        place = folder / str(begin)
        place.mkdir()
        some = range(begin, min(begin + medium.together, numbers.stop))
        made = batch(medium, originals, place, [random.Random(f"{name} {one}") for one in some])
        reports = judged(place if medium.together > 1 else next(iter(made)))
        failed = [one for file in reports for one in file.findings if one.verdict == "failure"]
        assert failed == []
        for number, (path, original) in zip(some, made.items(), strict=True):
            if findings(reports, path) - usual:
                continue
            kind = medium.kind(original, path)
            # Of many files with one fault a finding names the first: those are judged alone.
            if kind in UNDETECTABLE or not _found_alone(path, original.name, usual):
                found.setdefault((name, kind), number)
    return found


def _found_alone(path: Path, name: str, usual: set[str]) -> bool:
    alone = path.parent / "alone" / name
    alone.parent.mkdir(exist_ok=True)
    shutil.copy(path, alone)
    return bool(findings(judged(alone), alone) - usual)


def unexplained(found: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    return {
        key: number
        for key, number in found.items()
        if key[1] not in UNDETECTABLE and key not in FURTHER
    }


@pytest.mark.parametrize("name", some(MEDIA, every=2))
def test_a_changed_input_gets_a_verdict(name: str, originals: Path, tmp_path: Path) -> None:
    assert unexplained(accepted(name, originals, tmp_path, range(FEW))) == {}


@pytest.mark.parametrize(
    "part",
    [
        marked(part, pytest.mark.exhaustive if part < OFTEN else pytest.mark.campaign)
        for part in range(PARTS)
    ],
)
@pytest.mark.parametrize("name", MEDIA)
def test_every_changed_input_gets_a_verdict(
    name: str, part: int, originals: Path, tmp_path: Path
) -> None:
    share = EACH // PARTS
    inputs = range(part * share, (part + 1) * share)
    assert unexplained(accepted(name, originals, tmp_path, inputs)) == {}
