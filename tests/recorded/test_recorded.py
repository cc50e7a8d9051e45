"""A capture and the database written from it are one recording; real databases give plain rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from slices import some

from ascend_ref.capture import Capture
from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.profile import write_msprof_profile, write_pytorch_profile
from ascend_ref.recorded import Output, Recorded, from_captures, from_database
from ascend_ref.text.write import write_csv_files
from ascend_simulator.cli.presets import named
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override
from ascend_spec import catalog

NEWEST = catalog().revisions[-1].id
DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "db"


def capture_of(preset: str) -> Capture:
    return simulate(override(named(preset), ranks=1, steps=1, level=None)).capture(0)


def as_databases_hold(capture: Capture) -> Capture:
    """With the rates of QoS that 32 bits of Byte/s hold (erratum E36)."""
    rates = capture.samples.get("QOS")
    if rates is None:
        return capture
    kept = {**rates, "bandwidth": rates["bandwidth"] % (1 << 32)}
    return replace(capture, samples={**capture.samples, "QOS": kept})


@pytest.mark.parametrize(
    ("preset", "output"),
    some([("observed-everything", "pytorch"), ("single-op", "msprof")], every=3),
)
@pytest.mark.parametrize("revision", ["1.0.0-2024-10", "1.2.0-2025-12", NEWEST])
def test_capture_and_database_are_one_recording_at_every_revision(
    preset: str, output: Output, revision: str, tmp_path: Path
) -> None:
    capture = as_databases_hold(capture_of(preset))
    if output == "pytorch":
        folder = write_pytorch_profile(tmp_path, capture, revision)
    else:
        folder = write_msprof_profile(tmp_path, [capture], revision)
    (path,) = [one for one in folder.rglob("*.db") if one.name != "analysis.db"]
    direct, read = from_captures([capture], output, revision), from_database(path)
    assert read.output == output
    assert read.switches.level == direct.switches.level
    for fact in ("start", "end", "family", "chip", "pid", "host_name", "rank", "devices", "facts"):
        assert getattr(read.origin, fact) == getattr(direct.origin, fact), fact
    for name, table in direct.tables.items():
        assert read.table(name).schema == table.schema, name
        assert plain(read, name) == plain(direct, name), name


def plain(recorded: Recorded, name: str) -> dict[str, list[object]]:
    table = recorded.table(name)
    return {column: table[column].to_pylist() for column in table.column_names}


def test_old_columns_come_under_their_newest_names_with_texts() -> None:
    path = DATA / "level1_rank1" / "ascend_pytorch_profiler_1.db"
    if not path.is_file():
        pytest.skip(f"needs the real profiles of {DATA}")
    recorded = from_database(path)
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        kernels = db.execute(
            "SELECT n.value, c.globalTaskId, c.blockDim, c.mixBlockDim, t.value "
            "FROM COMPUTE_TASK_INFO c JOIN STRING_IDS n ON n.id = c.name "
            "JOIN STRING_IDS t ON t.id = c.taskType ORDER BY c.rowid"
        ).fetchall()
        calls = db.execute(
            "SELECT CAST(startNs AS INTEGER), e.name FROM PYTORCH_API p "
            "JOIN ENUM_API_TYPE e ON e.id = p.type ORDER BY p.rowid"
        ).fetchall()
    table = recorded.table("COMPUTE_TASK_INFO")
    columns = ("name", "globalTaskId", "blockNum", "mixBlockNum", "taskType")
    assert list(zip(*(table[name].to_pylist() for name in columns), strict=True)) == kernels
    assert table["gridDim"].null_count == table["blockDim"].null_count == len(kernels)
    activities = recorded.table("PYTORCH_API")
    assert [(row["startNs"], row["type"]) for row in activities.to_pylist()] == calls
    origin = recorded.origin
    assert (origin.rank, origin.family, recorded.switches.level) == (1, "A2", 1)


def test_unknown_ids_stay_as_numbers_and_wrong_cells_are_refused(tmp_path: Path) -> None:
    folder = write_msprof_profile(tmp_path, [capture_of("single-op")], NEWEST)
    (path,) = folder.glob("*.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE TASK SET taskType = 99999999 WHERE rowid = 1")
        db.execute(
            "UPDATE CANN_API SET type = 4711 WHERE rowid = (SELECT min(rowid) FROM CANN_API)"
        )
        db.execute(
            "UPDATE CANN_API SET startNs = 'soon' WHERE rowid = (SELECT max(rowid) FROM CANN_API)"
        )
    recorded = from_database(path)
    assert recorded.table("TASK")["taskType"][0].as_py() == "99999999"
    with pytest.raises(UnreadableDatabase, match=r"CANN_API\.startNs holds other values"):
        recorded.table("CANN_API")
    lenient = from_database(path, lenient=True).table("CANN_API")
    assert lenient["type"][0].as_py() == "4711"
    assert lenient["startNs"][-1].as_py() is None
    assert lenient["startNs"].null_count == 1


def test_a_table_is_read_once_while_it_is_in_use(tmp_path: Path) -> None:
    folder = write_msprof_profile(tmp_path, [capture_of("single-op")], NEWEST)
    (path,) = folder.glob("*.db")
    recorded = from_database(path)
    table = recorded.table("TASK")
    path.unlink()
    assert recorded.table("TASK") is table
    assert "CANN_API" in recorded.tables
    assert "LLC" not in recorded.tables
    with pytest.raises(UnreadableDatabase):
        recorded.table("CANN_API")


def test_columns_are_those_of_the_whole_table(tmp_path: Path) -> None:
    capture = capture_of("single-op")
    (path,) = write_msprof_profile(tmp_path, [capture], "1.0.0-2024-10").glob("*.db")
    for recorded in (from_database(path), from_captures([capture], "msprof", "1.0.0-2024-10")):
        part = recorded.table("TASK", ("endNs", "taskType", "startNs"))
        assert part.column_names == ["startNs", "endNs", "taskType"]
        assert part.equals(recorded.table("TASK").select(part.column_names))
        # Of the shape of a grid nothing is stated at this revision.
        absent = recorded.table("COMPUTE_TASK_INFO", ("gridDim",))
        assert absent["gridDim"].null_count == len(absent) == len(capture.kernels) > 0
        assert recorded.table("NIC", ("deviceId",)).schema.names == ["deviceId"]
        for name in ("TASK", "NIC"):
            with pytest.raises(KeyError, match=f"{name} has no column 'nothing'"):
                recorded.table(name, ("deviceId", "nothing"))


def test_columns_in_use_are_not_read_again(tmp_path: Path) -> None:
    (path,) = write_msprof_profile(tmp_path, [capture_of("single-op")], NEWEST).glob("*.db")
    recorded = from_database(path)
    times = recorded.table("TASK", ("startNs", "endNs"))
    kinds = recorded.table("TASK", ("taskType", "endNs"))
    path.unlink()
    assert recorded.table("TASK", ("startNs", "taskType")).columns == [
        times["startNs"],
        kinds["taskType"],
    ]
    with pytest.raises(UnreadableDatabase):
        recorded.table("TASK", ("startNs", "deviceId"))


@pytest.mark.parametrize(
    ("name", "others"),
    [
        (
            "api_statistic",
            ("COMPUTE_TASK_INFO", "PYTORCH_API", "TASK.startNs", "CANN_API.globalTid"),
        ),
        ("op_statistic", ("CANN_API", "PYTORCH_API", "TASK_PMU_INFO", "TASK.connectionId")),
        ("kernel_details", ("PYTORCH_API.callchainId", "MEMCPY_INFO", "OVERLAP_ANALYSIS")),
        ("operator_memory", ("CANN_API", "PYTORCH_API", "COMMUNICATION_OP", "TASK.startNs")),
    ],
)
def test_a_file_reads_no_more_than_it_needs(
    name: str, others: tuple[str, ...], tmp_path: Path
) -> None:
    """What others need holds values that no reader takes; the file is the same all the same."""
    capture = capture_of("observed-everything")
    (path,) = write_pytorch_profile(tmp_path, capture, NEWEST).rglob("ascend_pytorch_*.db")
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
    write_csv_files(from_database(path), before, files=[name])
    with closing(sqlite3.connect(path)) as db, db:
        for other in others:
            table, _, column = other.partition(".")
            columns = [one[1] for one in db.execute(f"PRAGMA table_info({table})") if not one[5]]
            for one in [column] if column else columns:
                db.execute(f"UPDATE {table} SET {one} = x'00'")
    write_csv_files(from_database(path), after, files=[name])
    (made,) = after.iterdir()
    assert made.read_bytes() == (before / made.name).read_bytes()
    with pytest.raises(UnreadableDatabase, match="holds other values"):
        from_database(path).table(others[0].partition(".")[0])


@pytest.mark.parametrize(
    "damage", ["DELETE FROM STRING_IDS", "ALTER TABLE STRING_IDS RENAME COLUMN value TO text"]
)
def test_without_texts_the_ids_stay(damage: str, tmp_path: Path) -> None:
    folder = write_msprof_profile(tmp_path, [capture_of("single-op")], NEWEST)
    (path,) = folder.glob("*.db")
    with closing(sqlite3.connect(path)) as db, db:
        (expected,) = zip(*db.execute("SELECT taskType FROM TASK ORDER BY rowid"), strict=True)
        db.execute(damage)
    assert from_database(path).table("TASK")["taskType"].to_pylist() == list(map(str, expected))


def test_a_table_whose_columns_nobody_knows_has_no_rows(tmp_path: Path) -> None:
    (path,) = write_msprof_profile(tmp_path, [capture_of("single-op")], NEWEST).glob("*.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE NPU_INFO")
        db.execute("CREATE TABLE NPU_INFO (strange)")
        db.execute("INSERT INTO NPU_INFO VALUES (1)")
    assert from_database(path).table("NPU_INFO").num_rows == 0


def test_no_profile_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"nothing")
    with pytest.raises(UnreadableDatabase):
        from_database(tmp_path / "x.db")


def test_a_table_without_rows_has_its_columns() -> None:
    recorded = from_captures([capture_of("single-op")], "msprof")
    table = recorded.table("NIC")
    assert isinstance(table, pa.Table)
    assert table.num_rows == 0
    assert "timestampNs" in table.column_names
    with pytest.raises(KeyError, match="NOTHING"):
        recorded.table("NOTHING")
