"""``who-reads`` says which modes of msprof-analyze fail, and which give a result.

The contracts were fitted to the same profile without each of its tables and columns alone, and with
each table emptied. ``HELD_BACK``, other recordings and real databases were compared afterwards.
Some 50 CPU seconds in all.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from analyze_in_process import Said, modes, run_modes
from consumer_scenarios import HEALTHY
from database_variants import Edit, emptied, no_column, no_table, renamed, run, variants
from slices import few

from ascend_conformance.consumers.answer import PartAnswer
from ascend_conformance.consumers.asking import who_reads
from ascend_conformance.schema import changes_between
from ascend_conformance.schema.hurting import WAYS, readers_hurt
from ascend_ref.states import State, find_state
from ascend_simulator.choices import ModelChoice, Parallelism, Scenario, Schedule
from ascend_simulator.run import write_run
from ascend_spec import consumer_catalog, load_spec

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
REAL = ("db/level0_rank0", "db/level1_rank0", "generations/db_910a_2024_level1_rank0")
SMALL = replace(
    HEALTHY,
    name="small",
    model=replace(
        HEALTHY.model, layers=2, hidden=64, heads=2, sequence=32, experts=2, microbatches=1
    ),
    parallelism=Parallelism(ranks=2, pipeline=2),
    schedule=Schedule(active=1),
)
CAPTURES: dict[str, Callable[[Scenario], Scenario]] = {
    "level 0": lambda one: replace(one, capture=replace(one.capture, level=0)),
    "level 1 without marks": lambda one: replace(
        one, capture=replace(one.capture, level=1, mstx=False)
    ),
    "no communication": lambda one: replace(
        one,
        model=ModelChoice(layers=2, hidden=64, heads=2, sequence=32),
        parallelism=Parallelism(),
    ),
}
"""Recordings other than that of the variants."""


IN_OTHERS = {"communication_time", "communication_matrix"}
"""Modes that do a part of what mode all does."""
BEYOND = {"other groups": {"communication_matrix_sum", "computational_op_masking"}}
"""By variant the modes of which the contract says too little: what stands inside JSON is not looked
into, so that they give no result where it names other groups."""
NEXT = (
    "revision/1.3.0-mine: "
    "{schema_version: 1.3.0, date: '2026-12-01', grade: inferred, summary: Less.}\n"
)
MARKS = 24
"""Marks and ranges of mstx that are kept; statistics of more take most of the time."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The profile of rank 0 of a small run of two stages of a pipeline."""
    folder = written(SMALL, tmp_path_factory.mktemp("small"))
    run(f"DELETE FROM MSTX_EVENTS WHERE rowid > {MARKS}")(folder / "ASCEND_PROFILER_OUTPUT")
    return folder


def written(scenario: Scenario, scratch: Path) -> Path:
    """The profile of rank 0 of a run."""
    found = write_run(scenario, 0, scratch / "run").folder
    return next(path.parent for path in found.glob("*/profiler_info_0.json"))


def agree(profile: Path, scratch: Path) -> list[tuple[str, bool, bool, Said]]:
    """The modes of which the tool shows something else than ``who-reads`` says."""
    (answer,) = who_reads([profile], ["msprof-analyze"])
    said = {part.part: part for part in answer.parts}
    found = run_modes(profile, scratch, [mode for mode in modes() if mode not in IN_OTHERS])
    parts = consumer_catalog().readers["msprof-analyze"].parts
    different = []
    for mode, one in found.items():
        error, gives = predicted([said[mode]])
        writes = {name for of in (mode, *parts[mode].made_of) for name in parts[mode].writes}
        writes |= {name for of in parts[mode].made_of for name in parts[of].writes}
        shown = bool(one.wrote & writes) if writes else gives
        if (error, gives) != (one.error, shown):
            different.append((mode, error, gives, one))
    return different


def predicted(answers: list[PartAnswer]) -> tuple[bool, bool]:
    """Whether an error is reported, and whether there is a result."""
    return (
        any(one.reports_an_error for one in answers),
        any(one.outcome in ("shows", "partly") for one in answers),
    )


@pytest.mark.parametrize(("name", "edit"), few(list(variants()), every=24))
def test_a_variant(name: str, edit: Edit, small: Path, tmp_path: Path) -> None:
    rank = tmp_path / "profile" / small.name
    shutil.copytree(small, rank)
    edit(rank / "ASCEND_PROFILER_OUTPUT")
    different = agree(tmp_path / "profile", tmp_path)
    assert [one for one in different if one[0] not in BEYOND.get(name, set())] == []
    assert {one[0] for one in different} == BEYOND.get(name, set())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("change", "edit"),
    few(
        [
            ("column/COMMUNICATION_OP.opName", no_column("COMMUNICATION_OP", "opName")),
            ("column/TASK.streamId", renamed("TASK", "streamId", "stream")),
            ("table/CANN_API", no_table("CANN_API")),
        ],
        every=3,
    ),
)
def test_a_change_of_the_schema_hurts_those_that_fail_after_it(
    change: str, edit: Edit, small: Path, tmp_path: Path
) -> None:
    """``diff spec --consumers`` names them: the same contracts, asked before there is a file."""
    draft = tmp_path / "mine.yaml"
    draft.write_text(f"{change}: {{until: '2026-12-01'}}\n{NEXT}", encoding="utf-8")
    old, new = find_state("1.2.0-2026-07"), State(load_spec(draft), "mine")
    lines = [one for hurt in readers_hurt(old, new, changes_between(old, new)) for one in hurt]
    (line,) = (one for one in lines if one.startswith("msprof-analyze "))
    hurt = {
        name
        for group in line.partition(": ")[2].split("; ")
        if group.endswith(f"({WAYS['fails']})") or group.endswith(f"({WAYS['complains']})")
        for name in group.partition(" (")[0].split(", ")
    }
    rank = tmp_path / "profile" / small.name
    shutil.copytree(small, rank)
    parts = consumer_catalog().readers["msprof-analyze"].parts
    alone = [one for one in modes() if one not in IN_OTHERS and not parts[one].made_of]
    before = run_modes(tmp_path / "profile", tmp_path, alone)
    well = [one for one in alone if not before[one].error]
    edit(rank / "ASCEND_PROFILER_OUTPUT")
    after = run_modes(tmp_path / "profile", tmp_path, well)
    failing = {one for one in well if after[one].error}
    assert hurt.intersection(well) == failing != set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CAPTURES)
def test_another_recording(name: str, tmp_path: Path) -> None:
    rank = written(CAPTURES[name](SMALL), tmp_path)
    shutil.copytree(rank, tmp_path / "profile" / rank.name)
    assert agree(tmp_path / "profile", tmp_path) == []


@pytest.mark.exhaustive
def test_of_several_ranks_those_that_are_whole_give_a_result(tmp_path: Path) -> None:
    """Rank 1 has no calls of CANN; where the table is empty that is no error then."""
    scenario = replace(SMALL, capture=replace(SMALL.capture, mstx=False))
    profile = write_run(scenario, 0, tmp_path / "run").folder
    (output,) = (path.parent for path in profile.rglob("ascend_pytorch_profiler_1.db"))
    wanted = ("cann_api_sum", "hccl_sum", "compute_op_sum")
    for edit, error in ((emptied("CANN_API"), False), (no_table("CANN_API"), True)):
        edit(output)
        (answer,) = who_reads([profile], ["msprof-analyze"])
        found = run_modes(profile, tmp_path, wanted)
        for mode in wanted:
            said = predicted([one for one in answer.parts if one.part == mode])
            assert said == (found[mode].error, bool(found[mode].wrote)), mode
        assert found["cann_api_sum"].error == error


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", REAL)
def test_a_real_database(name: str, tmp_path: Path) -> None:
    if not (DATA / name).is_dir():
        pytest.skip(f"needs the real databases of {DATA}")
    output = tmp_path / "profile" / "rank_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    for path in (DATA / name).iterdir():
        shutil.copy(path, output if path.suffix == ".db" else output.parent)
    assert agree(tmp_path / "profile", tmp_path) == []
