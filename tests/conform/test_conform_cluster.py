"""Analyses of all ranks: our own against numbers worked out by hand, its output broken, and
msprof-analyze.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import hand_made_ranks
import pytest
from slices import marked, some

from ascend_conformance.harness.case import Case
from ascend_conformance.harness.conform import conform
from ascend_conformance.harness.drawing import draw_cases
from ascend_conformance.harness.exporters import Function
from ascend_conformance.harness.limits import Limits
from ascend_conformance.harness.named import exporter_of
from ascend_conformance.harness.stages import STAGES
from ascend_conformance.harness.trial import Asked, try_folder
from ascend_ref.cluster import ranks_below, write_cluster_analysis
from ascend_ref.cluster.groups import Group, stages
from ascend_ref.cluster.steps import places_of
from ascend_ref.db.open import UnreadableDatabase
from ascend_simulator.choices import ModelChoice, Parallelism, Schedule
from ascend_simulator.scenario import Scenario, preset
from ascend_spec import cluster_catalog

STAGE = STAGES["ranks-to-cluster"]
TINY = ModelChoice(layers=2, hidden=64, heads=2, sequence=16, vocabulary=16, microbatches=2)
ONE_STEP = Schedule(warmup=0, active=1)
SMALL = Case(
    Scenario("small", model=TINY, schedule=ONE_STEP, parallelism=Parallelism(4, pipeline=2)),
    STAGE.name,
)
"""Two stages of two ranks."""
EIGHT = replace(
    SMALL,
    scenario=replace(SMALL.scenario, parallelism=Parallelism(8, tensor=2, pipeline=2)),
)

# --- our own analysis ---


def test_hand_made_ranks_give_the_numbers_of_the_paper(tmp_path: Path) -> None:
    path = write_cluster_analysis(hand_made_ranks.write(tmp_path / "ranks"), tmp_path)
    assert path == tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    assert hand_made_ranks.shown(path) == hand_made_ranks.TRUTH


def test_equal_ranks_give_equal_bytes(tmp_path: Path) -> None:
    ranks = hand_made_ranks.write(tmp_path / "ranks")
    first = write_cluster_analysis(ranks, tmp_path).read_bytes()
    assert write_cluster_analysis(ranks, tmp_path).read_bytes() == first


def test_two_databases_of_one_rank_are_refused(tmp_path: Path) -> None:
    ranks = hand_made_ranks.write(tmp_path)
    shutil.copytree(ranks / "rank4_ascend_pt", ranks / "rank4_again_ascend_pt")
    with pytest.raises(ValueError, match=r"rank 4, like .*; expected one of each rank"):
        ranks_below(ranks)


@pytest.mark.parametrize(
    "stated",
    [
        '{"10.0.0.5%eth0": {"group_name": "dp", "global_ranks": [4, 1e99, 99999999999999999999]}}',
        '{"10.0.0.5%eth0": {"group_name": "dp", "global_ranks": {"4": 9}}}',
        '{"10.0.0.5%eth0": {"group_name": "dp"}}',
    ],
)
def test_a_group_without_a_list_of_ranks_has_those_that_are_met(
    stated: str, tmp_path: Path
) -> None:
    ranks = hand_made_ranks.write(tmp_path / "ranks")
    for database in ranks.rglob("ascend_pytorch_profiler_*.db"):
        with closing(sqlite3.connect(database)) as connection, connection:
            change = "UPDATE META_DATA SET value = ? WHERE name = 'parallel_group_info'"
            connection.execute(change, (stated,))
    found = hand_made_ranks.shown(write_cluster_analysis(ranks, tmp_path))
    assert found["CommunicationGroupMapping"] == hand_made_ranks.TRUTH["CommunicationGroupMapping"]
    # Only rank 4 has a link to itself.
    assert {row[3:5] for row in found["ClusterCommunicationMatrix"]} == {(4, 4)}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "value",
    [9e999, b"\xff", *(marked(one, pytest.mark.campaign) for one in (None, 2**63 - 1, "x"))],
)
def test_any_value_is_analysed_or_refused(value: object, tmp_path: Path) -> None:
    ranks = hand_made_ranks.write(tmp_path / "ranks")
    analysis = next(ranks.glob("rank4*/*/analysis.db"))
    sound = analysis.read_bytes()
    for table, (columns, _) in hand_made_ranks.ANALYSES[4].items():
        for column in (one.split()[0] for one in columns.split(", ")):
            analysis.write_bytes(sound)
            with closing(sqlite3.connect(analysis)) as connection, connection:
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = 1", (value,))
            try:
                write_cluster_analysis(ranks, tmp_path)
            except UnreadableDatabase as problem:
                refused: str | None = str(problem)
            else:
                refused = None
            names = {one.name for one in STAGE.files(tmp_path / "cluster_analysis_output")}
            assert (refused and f"{table}.{column}" in refused) or table_of(table) in names


def table_of(source: str) -> str:
    """The first table that is computed from one of the ranks."""
    return next(name for name, one in cluster_catalog().tables.items() if source in one.of)


def group(kind: str, purpose: str, *ranks: int) -> Group:
    return Group(kind, f"{purpose}{ranks}", ranks, purpose=purpose)


PIPELINES = [group("p2p", "pp", 0, 2), group("p2p", "PP1", 1, 3)]
STAGES_OF: Mapping[str, tuple[list[Group], list[tuple[int, ...]]]] = {
    "no pipeline": ([group("collective", "dp", 0, 1), group("p2p", "ring", 0, 1)], []),
    "two stages": (
        [group("collective", "dp", 0, 1), group("collective", "dp", 2, 3), *PIPELINES],
        [(0, 1), (2, 3)],
    ),
    "the whole world is no stage": (
        [group("collective", "", 0, 1, 2, 3), group("collective", "dp", 2, 3), *PIPELINES],
        [(2, 3)],
    ),
    "groups in a chain are one stage": (
        [
            *(group("collective", "tp", *pair) for pair in ((0, 1), (4, 5), (1, 4))),
            *(group("p2p", "pp", first, first + 8) for first in range(8)),
        ],
        [(0, 1, 4, 5)],
    ),
}


@pytest.mark.parametrize("name", STAGES_OF)
def test_stages_are_what_collectives_connect(name: str) -> None:
    found, expected = STAGES_OF[name]
    assert stages(found) == expected


def test_ranks_have_a_place_where_the_sizes_fit() -> None:
    sizes = {"tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 2}
    whole = sizes | {"data_parallel_size": 2, "world_size": 8}
    found = places_of(whole, range(8))
    assert found[5] == ("0", "1", "1")
    assert found[3] == ("1", "0", "1")
    assert len(set(found.values())) == 8
    assert places_of(whole, [8]) == {8: ("NA", "NA", "NA")}
    for odd in (9, True, "8", 2**80, None):
        assert places_of(whole | {"world_size": odd}, range(8)) == {}
    assert places_of({}, [0]) == {}


# --- its output, broken ---


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small case, with our own analysis of it in ``reference``."""
    folder = tmp_path_factory.mktemp("cluster")
    STAGE.make(SMALL, folder, None)
    (folder / "reference").mkdir()
    STAGE.reference(folder / "input" / "ranks", folder / "reference")
    return folder


Break = Callable[[Path], object]


def sql(*statements: str) -> Break:
    """An analysis that goes on to run statements, each of which changes rows."""

    def run(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            for one in statements:
                changed = database.execute(one).rowcount
                assert changed or not one.startswith(("UPDATE", "DELETE", "INSERT")), one

    return run


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def exporter(prepared: Path, spoil: Break) -> Function:
    def run(source: Path, target: Path) -> None:
        shutil.copytree(prepared / "reference", target, dirs_exist_ok=True)
        spoil(target / cluster_catalog().database.folder / cluster_catalog().database.file)

    return Function("broken", run)


def found_in(prepared: Path, place: Path, spoil: Break) -> set[tuple[str, str, str]]:
    for part in ("input", "expected"):
        (place / part).symlink_to(prepared / part)
    return set(try_folder(exporter(prepared, spoil), STAGE, SMALL, place, Asked()).signatures)


TOTALS = "hccl_op_name = 'Total Op Info'"
BREAKS: Mapping[str, tuple[Break, set[tuple[str, str, str]]]] = {
    "nothing": (lambda _: None, set()),
    "values within the tolerance of sums": (
        sql("UPDATE ClusterCommunicationTime SET elapsed_time = elapsed_time * (1 + 1e-11)"),
        set(),
    ),
    "another order of rows, and numbers as text": (
        sql(
            "CREATE TABLE old AS SELECT * FROM ClusterStepTraceTime ORDER BY random()",
            "DELETE FROM ClusterStepTraceTime",
            "INSERT INTO ClusterStepTraceTime SELECT * FROM old",
            "ALTER TABLE HostInfo RENAME TO more",
            "CREATE TABLE hostinfo AS SELECT hostUid, hostName FROM more",
        ),
        set(),
    ),
    "the last rank is forgotten": (
        sql("DELETE FROM ClusterStepTraceTime WHERE type = 'rank' AND \"index\" = '3'"),
        {("ClusterStepTraceTime", "CFM207", "ClusterStepTraceTime")},
    ),
    "a stage has the sum of its ranks, not the longest": (
        sql("UPDATE ClusterStepTraceTime SET computing = 2 * computing WHERE type = 'stage'"),
        {("ClusterStepTraceTime", "CFM206", "ClusterStepTraceTime.computing")},
    ),
    "pipeline and data index exchanged": (
        sql("UPDATE ClusterStepTraceTime SET dp_index = pp_index, pp_index = dp_index"),
        {
            ("ClusterStepTraceTime", "CFM206", "ClusterStepTraceTime.dp_index"),
            ("ClusterStepTraceTime", "CFM206", "ClusterStepTraceTime.pp_index"),
        },
    ),
    "ratios of elapsed time": (
        sql(
            "UPDATE ClusterCommunicationTime SET wait_time_ratio = wait_time / elapsed_time "
            f"WHERE {TOTALS}"
        ),
        {("ClusterCommunicationTime", "CFM206", "ClusterCommunicationTime.wait_time_ratio")},
    ),
    "no totals": (
        sql(f"DELETE FROM ClusterCommunicationTime WHERE {TOTALS}"),
        {("ClusterCommunicationTime", "CFM207", "ClusterCommunicationTime")},
    ),
    "starts in ms": (
        sql("UPDATE ClusterCommunicationTime SET start_timestamp = start_timestamp / 1000"),
        {("ClusterCommunicationTime", "CFM206", "ClusterCommunicationTime.start_timestamp")},
    ),
    "starts a microsecond late": (
        sql("UPDATE ClusterCommunicationTime SET start_timestamp = start_timestamp + 1"),
        {("ClusterCommunicationTime", "CFM206", "ClusterCommunicationTime.start_timestamp")},
    ),
    "size of a link once for every packet size": (
        sql(
            f"UPDATE ClusterCommunicationBandwidth SET transit_size = 2 * transit_size "
            f"WHERE {TOTALS} AND band_type = 'HCCS'"
        ),
        {("ClusterCommunicationBandwidth", "CFM206", "ClusterCommunicationBandwidth.transit_size")},
    ),
    "without the sums of links": (
        sql("DELETE FROM ClusterCommunicationBandwidth WHERE band_type = 'SDMA'"),
        {("ClusterCommunicationBandwidth", "CFM207", "ClusterCommunicationBandwidth")},
    ),
    "ranks of the group, not of the cluster": (
        sql("UPDATE ClusterCommunicationMatrix SET dst_rank = 0 WHERE dst_rank = 2"),
        {
            ("ClusterCommunicationMatrix", "CFM207", "ClusterCommunicationMatrix"),
            ("ClusterCommunicationMatrix", "CFM208", "ClusterCommunicationMatrix"),
        },
    ),
    "rates in MB/s": (
        sql("UPDATE ClusterCommunicationMatrix SET bandwidth = bandwidth * 1000"),
        {("ClusterCommunicationMatrix", "CFM206", "ClusterCommunicationMatrix.bandwidth")},
    ),
    "rows twice": (
        sql(
            "INSERT INTO ClusterCommunicationMatrix SELECT * FROM ClusterCommunicationMatrix "
            "WHERE rowid = 1"
        ),
        {("ClusterCommunicationMatrix", "CFM208", "ClusterCommunicationMatrix")},
    ),
    "groups as they are met, not as they are stated": (
        sql("UPDATE CommunicationGroupMapping SET rank_set = '(0)' WHERE type = 'p2p'"),
        {("CommunicationGroupMapping", "CFM206", "CommunicationGroupMapping.rank_set")},
    ),
    "groups without purpose": (
        sql("UPDATE CommunicationGroupMapping SET pg_name = NULL"),
        {("CommunicationGroupMapping", "CFM206", "CommunicationGroupMapping.pg_name")},
    ),
    "a host of another name": (
        sql("UPDATE HostInfo SET hostName = hostName || '.local'"),
        {("HostInfo", "CFM206", "HostInfo.hostName")},
    ),
    "a folder of another profile": (
        sql("UPDATE RankDeviceMap SET profilePath = '/elsewhere' WHERE rankId = 1"),
        {("RankDeviceMap", "CFM206", "RankDeviceMap.profilePath")},
    ),
    "the rank among what is said of all": (
        sql("UPDATE ClusterBaseInfo SET value = json_set(value, '$.rank', 0)"),
        {("ClusterBaseInfo", "CFM206", "ClusterBaseInfo.value")},
    ),
    "no table": (
        sql("DROP TABLE ClusterBaseInfo"),
        {("ClusterBaseInfo", "CFM201", "ClusterBaseInfo")},
    ),
    "no column": (
        sql("ALTER TABLE ClusterStepTraceTime DROP COLUMN preparing"),
        {("ClusterStepTraceTime", "CFM204", "ClusterStepTraceTime.preparing")},
    ),
    "a column of its own": (
        sql("ALTER TABLE HostInfo ADD COLUMN row"),
        {("HostInfo", "CFM205", "HostInfo.row")},
    ),
    "words for numbers": (
        sql("UPDATE ClusterCommunicationTime SET idle_time = 'none' WHERE rank_id = 0"),
        {("ClusterCommunicationTime", "CFM203", "ClusterCommunicationTime")},
    ),
    "infinite rates": (
        sql("UPDATE ClusterCommunicationMatrix SET bandwidth = 9e999 WHERE rowid < 3"),
        {("ClusterCommunicationMatrix", "CFM206", "ClusterCommunicationMatrix.bandwidth")},
    ),
    "half a file": (cut, {("cluster_analysis.db", "CFM203", "cluster_analysis.db")}),
    "no file": (Path.unlink, {("run", "CFM106", "")}),
}


@pytest.mark.parametrize("name", some(BREAKS, every=9))
def test_a_break_is_found_in_its_table(name: str, prepared: Path, tmp_path: Path) -> None:
    spoil, expected = BREAKS[name]
    assert found_in(prepared, tmp_path, spoil) == expected


def test_the_case_has_every_table(prepared: Path) -> None:
    expected = {one.name for one in STAGE.files(prepared / "expected")}
    assert expected == set(cluster_catalog().tables)


def test_a_break_is_shrunk() -> None:
    def run(source: Path, target: Path) -> None:
        path = write_cluster_analysis(source, target)
        sql("UPDATE ClusterStepTraceTime SET bubble = 1 + bubble")(path)

    outcome = conform(Function("broken", run), STAGE, [SMALL])
    (shown,) = outcome.shown
    assert shown.failure.finding.place == "ClusterStepTraceTime.bubble"
    assert shown.tried.operators <= 2


# --- drawn cases, and msprof-analyze ---


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [2])
def test_our_own_analysis_is_what_was_recorded(count: int) -> None:
    cases = draw_cases(STAGE, count, 0)
    outcome = conform(Function("reference", STAGE.reference), STAGE, cases)
    assert [one.failure.finding for one in outcome.shown] == []
    assert outcome.cases == len(cases) >= min(count, 20)  # fewer where no more of them are small
    assert all(case.scenario.parallelism.ranks > 1 for case in cases)
    assert {"ClusterStepTraceTime", "ClusterCommunicationMatrix"} <= outcome.features.keys()


@pytest.mark.campaign
def test_our_own_analysis_is_what_was_recorded_in_many_cases() -> None:
    test_our_own_analysis_is_what_was_recorded(32)


def differences_of_msprof_analyze(cases: list[Case]) -> list[object]:
    tool = exporter_of("msprof-analyze", STAGE.name, Limits(600), STAGE.reference)
    outcome = conform(tool, STAGE, cases, most=0)
    assert outcome.cases == len(cases)
    assert "ClusterCommunicationMatrix" in outcome.features
    return [one.failure.finding for one in outcome.shown]


@pytest.mark.campaign
def test_msprof_analyze_agrees_on_eight_ranks() -> None:
    assert differences_of_msprof_analyze([EIGHT]) == []


@pytest.mark.parametrize(
    "name",
    [
        marked("dense-pipeline", pytest.mark.exhaustive),
        *(marked(one, pytest.mark.campaign) for one in ("dense-8", "moe-8", "cnn-910b")),
    ],
)
def test_msprof_analyze_agrees_on_presets(name: str) -> None:
    assert differences_of_msprof_analyze([Case(preset(name), STAGE.name)]) == []


@pytest.mark.campaign
def test_msprof_analyze_agrees_on_drawn_cases() -> None:
    assert differences_of_msprof_analyze(draw_cases(STAGE, 6, 1)) == []


def found_of_msprof_analyze(ranks: Path, place: Path) -> set[tuple[str, str, int]]:
    """What it makes otherwise of ranks than our own analysis: kind, column, and how often."""
    for name in ("expected", "actual"):
        (place / name).mkdir()
    write_cluster_analysis(ranks, place / "expected")
    tool = exporter_of("msprof-analyze", STAGE.name, Limits(600), STAGE.reference)
    assert tool.export(ranks, place / "actual").how == "done"
    left, right = (STAGE.files(place / name) for name in ("expected", "actual"))
    found = STAGE.differences(left, right, None, ("the truth", tool.name))
    return {(one.what, f"{one.place}.{one.column}", one.count) for one in found}


INFINITE = ("value", "ClusterCommunicationMatrix.bandwidth", 1)
"""The total of a link on which no time passed; in the row of a kind it writes 0."""


@pytest.mark.campaign
def test_msprof_analyze_agrees_with_the_paper_but_for_one_infinity(tmp_path: Path) -> None:
    ranks = hand_made_ranks.write(tmp_path / "ranks")
    assert found_of_msprof_analyze(ranks, tmp_path) == {INFINITE}


@pytest.mark.campaign
def test_msprof_analyze_counts_twice_in_a_group_of_both_kinds(tmp_path: Path) -> None:
    """It looks up the ranks of a group by its name alone, under which it has two sets of ranks."""
    analyses = hand_made_ranks.with_both_kinds()
    ranks = hand_made_ranks.write(tmp_path / "ranks", analyses, stated=False)
    doubled = {  # 2 times 0 is no difference
        ("ClusterCommunicationTime.elapsed_time", 2),
        ("ClusterCommunicationTime.transit_time", 1),
        ("ClusterCommunicationTime.wait_time", 2),
        ("ClusterCommunicationTime.synchronization_time", 2),
        ("ClusterCommunicationTime.idle_time", 1),
        ("ClusterCommunicationBandwidth.count", 2),
        ("ClusterCommunicationBandwidth.total_duration", 2),
    }
    expected = {("value", *one) for one in doubled}
    assert found_of_msprof_analyze(ranks, tmp_path) == expected | {INFINITE}
