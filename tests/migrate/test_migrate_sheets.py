"""CSV files from one writer to another, against what that one writes, and there and back."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from plain_rounds import DATA
from slices import marked

from ascend_ref.cli import main
from ascend_ref.migrate.account import Account
from ascend_ref.migrate.profile import migrate_profile
from ascend_ref.profile.export import export_database
from ascend_ref.states import Target
from ascend_ref.text.rows import CsvRows
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

WAYS = (
    ("pytorch-db", "adapter", "adapter-2025-12"),
    ("pytorch-db", "adapter-2025-12", "adapter"),
    ("pytorch-db", "adapter", "adapter-2026-08"),
    ("msprof-db", "cpp", "cpp-2025"),
    ("msprof-db", "python-2025", "python"),
)
REAL = (
    ("text/pytorch_level1_rank0", "adapter", "adapter-2025-01"),
    ("generations/text_llm_2025_level2_rank0", "adapter", "adapter-2025-12"),
)


DERIVED = ("operator_details", "step_trace_time")
"""Files of figures that generations make of the same recording in ways of their own, for they read
other timelines and follow other arrows. A migration keeps what was measured."""


def migrate(source: Path, writer: str, out: Path) -> Account:
    return migrate_profile(source, [Target("writer", writer)], out)


def sheets(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in sorted(folder.rglob("*.csv"))}


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    scenario = override(preset("dense-8"), ranks=2, steps=1)
    kinds = ("pytorch-db", "msprof-db")
    run = write_run(scenario, 0, tmp_path_factory.mktemp("sheets") / "run", kinds).folder
    names = {"pytorch-db": "ascend_pytorch_profiler_0.db", "msprof-db": "msprof_*.db"}
    return {kind: sorted(run.rglob(name))[0] for kind, name in names.items()}


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [*WAYS[2:4], *(marked(one, pytest.mark.exhaustive) for one in (*WAYS[:2], *WAYS[4:]))],
)
def test_a_sheet_becomes_what_its_new_writer_writes(
    databases: dict[str, Path], tmp_path: Path, kind: str, old: str, new: str
) -> None:
    """Byte for byte, of the same recording, but in columns that appear."""
    made = {}
    for writer in (old, new):
        export_database(databases[kind], tmp_path / writer, ["csv"], writer)
        made[writer] = sheets(tmp_path / writer)
    account = migrate(tmp_path / old, new, tmp_path / "out")
    found = sheets(tmp_path / "out")
    migrated = {Path(one.file).name: one for one in account.files if one.fate == "migrated"}
    assert migrated.keys() & made[new].keys()
    for name, one in migrated.items():
        appearing = {
            entry.place.partition(": ")[2] for entry in one.entries if entry.effect == "defaulted"
        }
        is_derived = name.startswith(DERIVED)
        if not (appearing or is_derived or one.lost):
            assert found[name].read_bytes() == made[new][name].read_bytes(), name
            continue
        expected, actual = cells(made[new][name]), cells(found[name])
        assert list(actual) == list(expected), name
        unlike = {column for column in expected if actual[column] != expected[column]}
        assert is_derived or unlike <= appearing, name


def cells(path: Path) -> dict[str, list[str]]:
    """The cells of each column, of those of one name one after the other."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    found: dict[str, list[str]] = {}
    for place, name in enumerate(header):
        found.setdefault(name, []).extend(row[place] for row in rows)
    return found


@pytest.mark.parametrize(
    ("folder", "new", "old"), [REAL[0], marked(REAL[1], pytest.mark.exhaustive)]
)
def test_real_sheets_come_back_but_for_what_is_stated(
    folder: str, new: str, old: str, tmp_path: Path
) -> None:
    source = DATA / folder
    if not source.is_dir():
        pytest.skip(f"needs the real profiles of {DATA}")
    there = migrate(source, new, tmp_path / "there")
    again = migrate(tmp_path / "there" / source.name, old, tmp_path / "back")
    assert {one.before for one in there.files if one.fate == "migrated"} == {old}
    lost: Counter[str] = Counter()
    for account in (there, again):
        for one in account.files:
            for entry in one.entries if one.file.endswith(".csv") else ():
                lost[entry.place] += entry.count if entry.effect == "lost" else 0
    before, after = sheets(source), sheets(tmp_path / "back")
    found: Counter[str] = Counter()
    for name, path in before.items():
        was, now = cells(path), cells(after[name])
        assert list(was) == list(now), name
        for column, own in was.items():
            pairs = zip(own, now[column], strict=True)
            found[f"{name}: {column}"] += sum(one != other for one, other in pairs)
    assert +found == +lost


def test_what_no_writer_wrote_and_what_is_broken_is_copied_and_stated(
    databases: dict[str, Path], tmp_path: Path
) -> None:
    export_database(databases["pytorch-db"], tmp_path / "run", ["csv"], "adapter")
    strange, broken = tmp_path / "run" / "op_statistic.csv", tmp_path / "run" / "kernel_details.csv"
    strange.write_text("Device_id,Colour\n0,red\n")
    content = broken.read_bytes()
    broken.write_bytes(content + b'1,2,"3\r\n')
    account = migrate(tmp_path / "run", "adapter-2025-12", tmp_path / "out")
    files = {one.file: one for one in account.files}
    assert files["op_statistic.csv"].fate == "copied"
    assert "no generation of adapter-2025-12" in files["op_statistic.csv"].why
    assert files["kernel_details.csv"].fate == "refused"
    assert (tmp_path / "out/run/kernel_details.csv").read_bytes() == broken.read_bytes()
    assert not account.is_whole


def test_cells_come_with_their_quotes(tmp_path: Path) -> None:
    """Joined again they are the line that they were."""
    pieces = ("", "a", '"', ",", "\n", "\r\n", "\t", "\x01\x02", "é", '""')
    rows = [[one, f"x{other}", one + other] for one in pieces for other in pieces]
    path = tmp_path / "some.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c"], *rows])
    found = CsvRows(path, verbatim=True)
    lines = [
        ",".join(row)
        for batch in found.batches()
        for row in zip(*(batch.column(name).to_pylist() for name in "012"), strict=True)
    ]
    assert not found.faults
    assert "a,b,c\r\n" + "".join(f"{line}\r\n" for line in lines) == path.read_bytes().decode()


def test_several_states_are_asked_for_at_once(
    databases: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    export_database(databases["msprof-db"], folder, ["csv"], "cpp")
    (folder / databases["msprof-db"].name).write_bytes(databases["msprof-db"].read_bytes())
    out = str(tmp_path / "out")
    to = ["--to", "1.2.0-2025-12", "--to", "cpp-2025"]
    assert main(["migrate", str(folder), *to, "-o", out, "--json"]) in (0, 1)
    account = json.loads(capsys.readouterr().out)
    assert account["targets"] == ["1.2.0-2025-12", "cpp-2025"]
    assert {one["after"] for one in account["files"] if one["fate"] == "migrated"} == {
        "1.2.0-2025-12",
        "cpp-2025",
    }
    assert main(["migrate", str(folder), "--to", "1.0.0", "--to", "1.2.0", "-o", out]) == 2
    assert "two states of one kind" in capsys.readouterr().err
