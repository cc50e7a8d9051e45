"""``ascend-ref export`` writes what plain SQL finds in a database, and what its capture tells."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from slices import some

from ascend_conformance.harness.database_to_text import held
from ascend_ref.cli import main
from ascend_ref.profile import export
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "db"
OUTPUTS = {
    "pytorch": ("ascend_pytorch_profiler_*.db", ("pytorch-db", "pytorch-text")),
    "msprof": ("msprof_*.db", ("msprof-db", "csv", "timeline")),
}
EMPTY = 4294967295
"""Number of what has none."""

LAYERS = {
    "CANN": "SELECT startNs, endNs - startNs FROM CANN_API",
    "Ascend Hardware": f"""
        SELECT startNs, endNs - startNs FROM TASK WHERE contextId <> {EMPTY} OR NOT EXISTS (
            SELECT * FROM TASK part WHERE part.contextId <> {EMPTY}
            AND part.streamId = TASK.streamId AND part.taskId = TASK.taskId
        )""",
    "Communication": """
        SELECT startNs, endNs - startNs FROM COMMUNICATION_OP UNION ALL
        SELECT startNs, endNs - startNs FROM COMMUNICATION_TASK_INFO JOIN TASK USING (globalTaskId)
    """,
    "Python": """
        SELECT CAST(startNs AS INTEGER), CAST(endNs AS INTEGER) - CAST(startNs AS INTEGER)
        FROM PYTORCH_API""",
}
"""Slices of the layers of a timeline; the sub-tasks of an operator stand for it."""

Row = tuple[Any, ...]


def real(name: str) -> Path:
    """A real database; skips the test where it is not there."""
    folder = REAL / name
    if not folder.is_dir():
        pytest.skip(f"needs the real profiles of {REAL}")
    (path,) = folder.glob("ascend_pytorch_profiler_*.db")
    return path


def asked(database: Path, sql: str) -> list[Row]:
    address = f"{database.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        return connection.execute(sql).fetchall()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def exported(
    capsys: pytest.CaptureFixture[str], database: Path, folder: Path, *words: str
) -> list[str]:
    """Names of the files that were written, which are all that are in the folder."""
    assert main(["export", str(database), "-o", str(folder), *words]) == 0
    names = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert sorted(names) == sorted(path.name for path in folder.iterdir())
    return names


@pytest.mark.parametrize("name", ["level1_rank0", "level1_rank1", "level0_rank0"])
def test_kernels_of_a_real_database(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every operator with its name, start and length to the ns; and all of each kind."""
    database = real(name)
    files = exported(capsys, database, tmp_path / "out", "--as", "csv")
    rows = rows_of(tmp_path / "out" / "kernel_details.csv")
    found = Counter(
        (row["Name"], Decimal(row["Start Time(us)"]) * 1000, Decimal(row["Duration(us)"]) * 1000)
        for row in rows
    )
    kernels = asked(
        database,
        "SELECT s.value, startNs, endNs - startNs FROM COMPUTE_TASK_INFO c "
        "JOIN TASK USING (globalTaskId) JOIN STRING_IDS s ON s.id = c.name",
    )
    talks = asked(
        database,
        "SELECT s.value, startNs, endNs - startNs FROM COMMUNICATION_OP "
        "JOIN STRING_IDS s ON s.id = opName",
    )
    assert found == Counter([*kernels, *talks])
    if name == "level0_rank0":
        assert not {"api_statistic.csv", "op_statistic.csv"} & set(files)
        return
    statistic = rows_of(tmp_path / "out" / "op_statistic.csv")
    kinds = asked(
        database,
        "SELECT t.value, k.value, count(*), sum(endNs - startNs) FROM COMPUTE_TASK_INFO c "
        "JOIN TASK USING (globalTaskId) JOIN STRING_IDS t ON t.id = c.opType "
        "JOIN STRING_IDS k ON k.id = c.taskType GROUP BY 1, 2",
    )
    assert {
        (row["OP Type"], row["Core Type"]): (
            int(row["Count"]),
            Decimal(row["Total Time(us)"]) * 1000,
        )
        for row in statistic
    } == {(kind, core): (count, total) for kind, core, count, total in kinds}


def test_calls_of_a_real_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = real("level1_rank1")
    exported(capsys, database, tmp_path / "out", "--as", "csv")
    found = {
        (row["Level"], row["API Name"]): (int(row["Count"]), Decimal(row["Time(us)"]) * 1000)
        for row in rows_of(tmp_path / "out" / "api_statistic.csv")
    }
    calls = asked(
        database,
        "SELECT e.name, s.value, count(*), sum(endNs - startNs) FROM CANN_API a "
        "JOIN ENUM_API_TYPE e ON e.id = a.type JOIN STRING_IDS s ON s.id = a.name GROUP BY 1, 2",
    )
    counted = Counter({name: count for _, name, count, _ in calls})
    assert Counter({name: count for (_, name), (count, _) in found.items()}) == counted
    times = {name: total for _, name, _, total in calls if counted[name]}
    assert {name: total for (_, name), (_, total) in found.items()} == times


def test_timeline_of_a_real_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = real("level1_rank1")
    assert exported(capsys, database, tmp_path / "out", "--as", "timeline") == ["trace_view.json"]
    events = json.loads((tmp_path / "out" / "trace_view.json").read_text(encoding="utf-8"))
    layers = {
        event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"
    }
    slices: dict[str, Counter[Row]] = {}
    for event in events:
        if event["ph"] == "X":
            start, length = Decimal(event["ts"]) * 1000, round(Decimal(str(event["dur"])) * 1000)
            slices.setdefault(layers[event["pid"]], Counter())[start, length] += 1
    for layer, sql in LAYERS.items():
        assert slices[layer] == Counter(asked(database, sql)), layer


def test_shapes_of_a_real_database_have_no_letters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its columns of shapes and types are exchanged (erratum E23); both exports show them right."""
    exported(capsys, real("level1_rank1"), tmp_path / "out")
    events = json.loads((tmp_path / "out" / "trace_view.json").read_text(encoding="utf-8"))
    drawn = {
        event["args"]["Input Dims"] for event in events if "Input Dims" in event.get("args", {})
    }
    types = {
        event["args"]["Input type"] for event in events if "Input type" in event.get("args", {})
    }
    listed = {row["Input Shapes"] for row in rows_of(tmp_path / "out" / "operator_details.csv")}
    assert "32,3,224,224" in "".join(listed)
    assert not any(letter.isalpha() for text in drawn | listed for letter in text)
    assert {text.replace("\r", "") for text in drawn} == {
        text.replace("\r", "") for text in listed - {""}
    } | {""}
    assert any("float" in text for text in types)


def test_exchanged_shapes_and_types_give_the_same_bytes(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(capsys, database, tmp_path / "right")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "UPDATE PYTORCH_API SET inputShapes = inputDtypes, inputDtypes = inputShapes"
        )
    files = exported(capsys, database, tmp_path / "exchanged")
    for name in files:
        right, exchanged = (tmp_path / folder / name for folder in ("right", "exchanged"))
        assert right.read_bytes() == exchanged.read_bytes(), name


ONLY_RECORDS = {
    "l2_cache",
    "host_cpu_usage",
    "host_mem_usage",
    "host_network_usage",
}
"""Files of what no table holds: hits of the cache; how many processors, how much memory and how
fast a network card the host has.
"""


def kind_of(name: str) -> str:
    """The name of a file without the time in it."""
    return name.partition(".")[0].removesuffix("_20260101170000")


def as_databases_hold(content: bytes) -> bytes:
    """A timeline with the rates of QoS that 32 bits of Byte/s hold (erratum E36), and without the
    links between chips, of which no table knows.
    """
    links = re.search(rb'"pid": ?(\d+)[^{}]*\{"name": ?"Stars Chip Trans"\}', content)
    if links is not None:
        own = rb', ?\{[^{}]*"pid": ?' + links[1] + rb"\b[^{}]*\{[^{}]*\}[^{}]*\}"
        content = re.sub(own, b"", content)
    return re.sub(
        rb'("name": ?"QoS [^{]*"args": ?\{"value": ?)(\d+)',
        lambda found: found[1] + str(int(found[2]) % 4096).encode(),
        content,
    )


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    "name", some(["observed-everything", "cnn-910a", "recommendation"], every=3)
)
def test_a_database_and_its_capture_give_the_same_bytes(
    name: str, output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pattern, formats = OUTPUTS[output]
    scenario = held(override(preset(name), ranks=2, steps=1))
    run = write_run(scenario, 0, tmp_path / "run", formats)
    database = sorted(run.folder.rglob(pattern))[0]
    from_capture = database.parent
    if output == "msprof":
        from_capture /= "mindstudio_profiler_output"
    direct = {
        path.name: as_databases_hold(path.read_bytes())
        for path in from_capture.iterdir()
        if path.suffix in {".csv", ".json"}
    }
    files = exported(capsys, database, tmp_path / "out")
    assert {kind_of(name) for name in direct.keys() - {*files}} <= ONLY_RECORDS
    assert files
    differ = [one for one in files if direct[one] != (tmp_path / "out" / one).read_bytes()]
    assert differ == []


def test_iterations_of_graphs_stand_in_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are all that the timeline of a database lacks, but for links between chips."""
    museum = override(preset("text-museum"), ranks=1, steps=1)
    scenario = replace(museum, capture=replace(museum.capture, sys_interconnection=0))
    run = write_run(scenario, 0, tmp_path / "run", OUTPUTS["pytorch"][1])
    (database,) = run.folder.rglob("ascend_pytorch_profiler_*.db")
    exported(capsys, database, tmp_path / "out", "--as", "timeline")
    direct, read = (
        Counter(map(json.dumps, json.loads((folder / "trace_view.json").read_text())))
        for folder in (database.parent, tmp_path / "out")
    )
    assert read < direct
    lost = [json.loads(text) for text in direct - read]
    names = [event["args"]["name"] for event in lost if event["name"] == "thread_name"]
    assert names
    assert all(name.startswith("Step Trace(Model ID:") for name in names)
    assert len({(event["pid"], event["tid"]) for event in lost}) == len(names)


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one line that says why."""
    assert main(["export", *map(str, words)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    return line


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """That of a small run."""
    run = write_run(preset("single-op"), 0, tmp_path / "run", ("pytorch-db",))
    (path,) = run.folder.rglob("ascend_pytorch_profiler_*.db")
    return path


def test_a_folder_that_exists_is_left_alone(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    line = refused(capsys, database, "-o", out)
    assert f"{out} exists already; --force replaces it" in line
    assert list(out.iterdir()) == []


def test_a_folder_is_searched_for_its_databases(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = exported(capsys, database, tmp_path / "one", "--as", "csv")
    assert exported(capsys, database.parent, tmp_path / "same", "--as", "csv") == alone
    both = tmp_path / "both"
    for rank in (0, 1):
        place = both / f"rank{rank}"
        place.mkdir(parents=True)
        (place / database.name).write_bytes(database.read_bytes())
    assert main(["export", str(both), "--as", "csv", "-o", str(tmp_path / "out")]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    folders = {path.parent.relative_to(tmp_path / "out") for path in written}
    assert folders == {Path(f"rank{rank}") / database.stem for rank in (0, 1)}
    assert len(written) == 2 * len(list((tmp_path / "out" / "rank0" / database.stem).iterdir()))


def test_what_is_no_database_of_a_profiler(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "notes.db"
    text.write_text("no database\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    for path, told in {
        text: "expected a SQLite database",
        tmp_path / "absent.db": "no such file",
        empty: "no database in this folder; expected ascend_pytorch_profiler_*.db or msprof_*.db",
        database.with_name("analysis.db"): "expected the profiler's next to it",
    }.items():
        line = refused(capsys, path, "-o", tmp_path / "out")
        assert str(path) in line
        assert told in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--as", "cvs"), "unknown deliverable 'cvs'; did you mean csv?"),
        (("--as", ","), "names nothing; expected some of db, csv, timeline, documents"),
        (("--writer", "adaptor"), "expected one of adapter, "),
        (("--writer", "cpp"), "writer: 'cpp'; expected one of adapter, "),
        (("--writer", "adapter-2023"), "whose files can be read only; expected one of adapter, "),
        (("--writer", "adapter-2025-12", "--as", "timeline"), "expected one of adapter, "),
    ],
)
def test_unknown_words(
    words: tuple[str, str],
    told: str,
    database: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert told in refused(capsys, database, "-o", tmp_path / "out", *words)
    assert not (tmp_path / "out").exists()


def test_a_database_that_is_cut_off(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = database.read_bytes()
    database.write_bytes(content[: len(content) // 2])
    before = sorted(tmp_path.iterdir())
    assert str(database) in refused(capsys, database, "-o", tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("UPDATE TASK SET startNs = 'abc'", 2),
        ("UPDATE PYTORCH_API SET endNs = '99999999999999999999999'", 2),
        ("UPDATE TASK SET startNs = 9223372036854775807", 0),
        ("UPDATE COMPUTE_TASK_INFO SET name = 999999", 0),
        ("UPDATE STRING_IDS SET value = 'a' || char(0, 10, 13) || '\"<b>,'", 0),
        ("UPDATE STRING_IDS SET value = x'fffe00'", 0),
        ("DROP TABLE TASK", 0),
    ],
)
def test_a_hostile_database(
    change: str, code: int, database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is written so that everyone can read it, or refused in one line."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(change)
    before = sorted(tmp_path.iterdir())
    out = tmp_path / "out"
    assert main(["export", str(database), "-o", str(out)]) == code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == (1 if code else 0), lines
    if code:
        assert sorted(tmp_path.iterdir()) == before
        return
    for path in out.iterdir():
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        else:
            with path.open(newline="", encoding="utf-8") as file:
                assert len({len(row) for row in csv.reader(file)}) == 1, path.name


LOST = {
    "adapter": (),
    "adapter-2025-12": ("no timeline (its form is not known)", "ACC_PMU", "MSTX_EVENTS"),
    "adapter-2025-01": ("MSTX_EVENTS", "HOST_MEM_USAGE"),
}
"""What no file of a writer shows of a capture with every switch on, as far as its files are known:
marks, load of the host, and all that stands in timelines alone where there is none."""


@pytest.mark.parametrize("writer", LOST)
def test_what_an_older_writer_does_not_show_is_one_line(
    writer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = override(preset("observed-everything"), ranks=1, steps=1)
    run = write_run(scenario, 0, tmp_path / "run", ("pytorch-db",))
    (database,) = run.folder.rglob("ascend_pytorch_profiler_*.db")
    assert main(["export", str(database), "-o", str(tmp_path / "out"), "--writer", writer]) == 0
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert len(lines) == bool(LOST[writer])
    assert all(part in lines[0] for part in LOST[writer])
    assert ("trace_view.json" in printed.out) == (writer != "adapter-2025-12")
    for table in "TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_OP", "MEMORY_RECORD":
        assert not any(f" {table}" in line for line in lines)


def test_an_interrupt_leaves_nothing(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[list[Path]] = []

    def interrupted(recorded: Any, folder: Path, writer: str | None) -> list[Path]:
        written.append(list(folder.iterdir()))
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "WRITERS", {**export.WRITERS, "documents": interrupted})
    before = sorted(tmp_path.iterdir())
    assert main(["export", str(database), "-o", str(tmp_path / "out")]) == 130
    assert written[0]
    assert sorted(tmp_path.iterdir()) == before
