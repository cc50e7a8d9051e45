"""What is lost of a profile is found, with its cause; what is whole gets no such finding."""

from __future__ import annotations

import os
import random
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import losses
import pytest
from losses import Loss
from losses.model import Traceless
from profiles import real

from ascend_conformance.check import check
from ascend_conformance.discover import NothingToCheck, discover
from ascend_conformance.finding import Finding
from ascend_conformance.options import Options
from ascend_conformance.ruleset import LOSSES, Selection
from ascend_ref.cli import main
from ascend_spec import layout_catalog

ONE = Options(workers=1)
LOSS_RULES = Options(workers=1, selection=Selection((LOSSES,)))

RUNS = 5
"""Places at which the campaign tries each loss on each base: more than 500 in all."""
DRAWS = 12
"""Draws of such places: some are equal, and some leave no trace."""


class Base(NamedTuple):
    """A sound profile: a folder of real files, or a deliverable of a simulated run."""

    medium: str
    name: str
    only: str = "*"

    @property
    def is_real(self) -> bool:
        return "/" in self.name

    def copy(self, simulated: Path, into: Path) -> Path:
        """The files of the base, which may be changed."""
        source = real(f"../{self.name}") if self.is_real else simulated / self.name
        if self.only == "*":
            shutil.copytree(source, into)
        else:
            into.mkdir()
            for path in source.rglob(self.only):
                shutil.copyfile(path, into / path.name)
        for place, folders, names in os.walk(into):
            for name in (*folders, *names):
                (Path(place) / name).chmod(0o700)
        return into


REAL_BASES = (
    Base("database", "db/level0_rank0"),
    Base("database", "db/level1_rank0"),
    Base("database", "db/level1_rank1", "ascend*.db"),
    Base("database", "generations/db_910a_2024_level1_rank0"),
    Base("text", "text/pytorch_level1_rank0"),
    Base("text", "generations/text_910a_2024_level1_rank0"),
    Base("timeline", "text/pytorch_level1_rank0", "trace_view.json"),
    Base("timeline", "generations/text_910a_2024_level1_rank0", "trace_view.json"),
)
SIMULATED = (
    Base("database", "pytorch-db"),
    Base("database", "msprof-db"),
    Base("text", "pytorch-text"),
    Base("timeline", "pytorch-text", "trace_view.json"),
    Base("text", "csv"),
    Base("timeline", "timeline"),
)
RUN = """
model: {kind: dense-transformer, layers: 1}
parallelism: {ranks: 1}
schedule: {active: 3}
capture: {level: 1, memory: true, sys_hardware_mem: 50}
"""
WAYS = {"database": losses.DATABASE, "text": losses.TEXT, "timeline": losses.TIMELINE}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three ranks and steps as databases, and of one rank in each other form."""
    folder = tmp_path_factory.mktemp("simulated")
    scenario = folder.with_name(f"{folder.name}.yaml")
    for name in dict.fromkeys(base.name for base in SIMULATED):
        ranks = 3 if name == "pytorch-db" else 1
        scenario.write_text(RUN.replace("ranks: 1", f"ranks: {ranks}"))
        run = ["simulate", str(scenario), "--as", name, "-o", str(folder / name)]
        assert main(run) == 0
    return folder


def found_in(folder: Path) -> dict[tuple[str, str, str], Finding]:
    findings = check([folder], ONE).findings
    return {(one.rule, Path(one.file).name, one.place): one for one in findings}


def lose(base: Base, loss: Loss, seed: str, simulated: Path, scratch: Path) -> str | None:
    """Take something from a copy of the base; what is gone, or ``None`` where there is none."""
    copy = base.copy(simulated, scratch / "copy")
    return loss.take(copy, random.Random(seed))


@pytest.mark.parametrize("name", ["first_tasks", "last_tasks", "tasks_of_a_stream"])
def test_lost_tasks_are_found_with_their_cause(name: str, tmp_path: Path):
    (loss,) = (one for one in losses.DATABASE if one.name == name)
    base = REAL_BASES[1]
    gone = lose(base, loss, name, tmp_path, tmp_path)
    named = [
        one for one in check([tmp_path / "copy"], LOSS_RULES).findings if "lost" in one.context
    ]
    assert any(one.context["lost"] == "tasks" for one in named), gone
    assert all("likely cause: " in one.message for one in named)


def test_lost_launches_say_which_part_of_the_window(tmp_path: Path):
    """The first tasks by start are those of the first launches."""
    (loss,) = (one for one in losses.DATABASE if one.name == "first_tasks")
    lose(REAL_BASES[0], loss, "a", tmp_path, tmp_path)
    report = check([tmp_path / "copy"], LOSS_RULES)
    (found,) = (one for one in report.findings if one.rule == "REL107")
    assert found.context["part"] == "head"
    assert found.context["stage"] == "recording"


def losses_in(*folders: Path) -> list[str]:
    """The findings of loss, where every file was judged."""
    report = check(folders, LOSS_RULES)
    assert report.files
    assert [one.file for one in report.files if not one.is_judged] == []
    return [f"{one.rule} {one.file}: {one.message}" for one in report.findings]


@pytest.mark.exhaustive
def test_no_loss_is_found_on_real_files():
    assert losses_in(*(real(f"../{name}") for name in ("db", "text", "generations"))) == []


@pytest.mark.exhaustive
def test_no_loss_is_found_on_simulated_files(simulated: Path):
    assert losses_in(simulated) == []


def test_raw_data_are_named_with_the_command_that_analyses_them(tmp_path: Path):
    raw = tmp_path / "node_7_ascend_pt"
    (raw / "FRAMEWORK").mkdir(parents=True)
    (raw / "PROF_000001_X" / "device_0").mkdir(parents=True)
    with pytest.raises(NothingToCheck, match=r"never analysed; run torch_npu\..*analyse\("):
        discover(tmp_path)
    output = raw / layout_catalog().folder("pytorch", "output")
    output.mkdir()
    with pytest.raises(NothingToCheck) as refused:
        discover(tmp_path)
    assert "never analysed" not in str(refused.value)


class Tried(NamedTuple):
    """Losses of one base: how many, and in words those unseen, or without their cause."""

    medium: str
    total: int
    silent: list[str]
    wrong: list[str]


def tried(base: Base, simulated: Path, scratch: Path) -> Tried:
    """Every loss of the medium, some times each at other places of a base."""
    scratch.mkdir()
    before = found_in(base.copy(simulated, scratch / "clean"))
    result = Tried(base.medium, 0, [], [])
    for loss in WAYS[base.medium]:
        done: set[str] = set()
        for run in range(DRAWS):
            gone = lose(base, loss, f"{base.name} {loss.name} {run}", simulated, scratch)
            if gone is not None and gone not in done and len(done) < RUNS:
                done.add(gone)
                result = _noted(result, base, loss, gone, before, scratch / "copy")
            shutil.rmtree(scratch / "copy")
    return result


def _noted(
    result: Tried,
    base: Base,
    loss: Loss,
    gone: str,
    before: dict[tuple[str, str, str], Finding],
    copy: Path,
) -> Tried:
    after = found_in(copy) if any_left(copy) else {}
    new = [one for key, one in after.items() if key not in before or before[key].count < one.count]
    what = f"{base.medium} {base.name} {loss.name}: {gone}"
    if not new:
        result.silent.append(f"{what} (no trace)" if isinstance(gone, Traceless) else what)
    elif not any(one.context.get("lost") in loss.causes for one in new):
        result.wrong.append(f"{what}: {sorted({one.rule for one in new})}")
    return result._replace(total=result.total + 1)


@pytest.mark.campaign
def test_random_losses_are_found(simulated: Path, tmp_path: Path):
    """Of more than 500 losses 95 % are found, and the cause of 90 % is right.

    Those of which no trace is known count as well.
    """
    bases = (*REAL_BASES, *SIMULATED)
    for base in REAL_BASES:
        real(f"../{base.name}")
    with ProcessPoolExecutor(2) as pool:
        places = [tmp_path / str(number) for number in range(len(bases))]
        results = [*pool.map(tried, bases, [simulated] * len(bases), places)]
    for medium in WAYS:
        own = [one for one in results if one.medium == medium]
        print(
            f"{medium}: {sum(one.total for one in own)} losses, "
            f"{sum(len(one.silent) for one in own)} silent, "
            f"{sum(len(one.wrong) for one in own)} without their cause"
        )
    silent = [words for one in results for words in one.silent]
    wrong = [words for one in results for words in one.wrong]
    print("\n".join(["silent:", *silent, "without their cause:", *wrong]))
    total = sum(one.total for one in results)
    assert total >= 500
    assert len(silent) <= 0.05 * total
    assert len(silent) + len(wrong) <= 0.1 * total


def any_left(folder: Path) -> bool:
    try:
        return bool(discover(folder))
    except NothingToCheck:
        return False
