"""Relations are stated once, and judged alike in every medium that shows their columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import duckdb
import pyarrow as pa
import pytest
from relation_trials import Trial, database_of, opened, simulate
from slices import some

import ascend_conformance
from ascend_conformance.check import check
from ascend_conformance.engine.relations.binding import Unjudged, bind
from ascend_conformance.engine.relations.judge import Answer, ask, counted_together, groups
from ascend_conformance.engine.relations.looking import Looks
from ascend_conformance.engine.relations.media import MEDIA, judged_in
from ascend_conformance.engine.relations.rule import Relation, load_relations
from ascend_conformance.engine.relations.selftest import try_relations
from ascend_conformance.engine.relations.sql import lint, rows_query
from ascend_conformance.media import load_rules
from ascend_conformance.media.db.edits import EditableDatabase
from ascend_conformance.media.db.plan import Selection
from ascend_conformance.media.db.selftest import open_bench
from ascend_conformance.options import Options
from ascend_ref.cli import main
from ascend_spec import recording_catalog
from ascend_spec.recording import Medium

PACKAGE = Path(ascend_conformance.__file__).parent
DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
RELATIONS = load_relations()
ONLY = Options(selection=Selection(select=("REL",)))


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(tmp_path_factory.mktemp("relations"))


@pytest.fixture(scope="module", params=[one for one in MEDIA if one not in ("mindspore", "raw")])
def medium(request: pytest.FixtureRequest, profile: Path) -> Iterator[tuple[Medium, Trial]]:
    """Those of one profile; files of MindSpore and raw files have tests of their own."""
    with opened(profile, request.param) as trial:
        yield request.param, trial


def test_relations_are_rules() -> None:
    assert RELATIONS.items() <= load_rules().items()
    assert len({one.name for one in load_rules().values()}) == len(load_rules())


def test_sql_is_of_the_subset_that_both_engines_answer_alike() -> None:
    assert [line for one in RELATIONS.values() for line in lint(one)] == []


@pytest.mark.parametrize(
    "bad",
    [
        "a.size / 2 > 1",
        "a.name LIKE 'x%'",
        "max(a.size, 1) > 0",
        "EXISTS (SELECT 1)",
        'a."size" > 1',
        "iif(a.size, 1, 0)",
        "(SELECT sum(b.size) FROM allocation b) > 0",
        "a.size NOT IN (SELECT b.size FROM allocation b)",
        "a.size NOT IN (SELECT b.size FROM allocation b WHERE b.size > 0 UNION ALL "
        "SELECT min(c.size) FROM allocation c WHERE c.size IS NOT NULL)",
    ],
)
def test_sql_that_the_engines_answer_differently_is_refused(bad: str) -> None:
    relation = next(one for one in RELATIONS.values() if one.search.bad)
    assert list(lint(replace(relation, search=replace(relation.search, bad=bad))))


def test_an_annotation_on_another_thread_is_found_without_python_calls(profile: Path) -> None:
    """The least of no threads is NULL, and nothing was outside of threads and NULL."""
    relation = RELATIONS["REL412"]
    with opened(profile, "database") as trial:
        trial.execute(
            "DELETE FROM PYTORCH_API "
            "WHERE type = (SELECT id FROM ENUM_API_TYPE WHERE name = 'trace')"
        )
        assert not _found(trial, relation)
        with trial.changed(relation, *relation.search.edits):
            assert _found(trial, relation)


def _found(trial: Trial, relation: Relation) -> int:
    answer = trial.ask(relation)
    assert isinstance(answer, Answer)
    return answer.count


def test_what_relations_read_exists() -> None:
    for relation in RELATIONS.values():
        assert relation.search.reads, relation.id
        for entity, columns in relation.search.reads.items():
            assert columns <= recording_catalog().entities[entity].columns.keys(), relation.id
        assert relation.search.at.partition(".")[0] in relation.search.aliases, relation.id


def test_most_relations_are_judged_in_several_media() -> None:
    several = [one for one in RELATIONS.values() if len(judged_in(one)) > 1]
    assert len(RELATIONS) >= 60
    assert len(several) >= 40
    assert all(judged_in(one) for one in RELATIONS.values())


def test_the_command_lists_relations_with_their_media(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--relations"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "CANN_API" in lines["REL301"]
    assert "cann" in lines["REL301"]
    assert "kernel_details.csv" in lines["REL201"]


OF_MSPROF = {"CSV330"}
"""Relations on files that torch_npu does not write, tried on those of msprof (--self-test)."""


def test_a_break_wakes_its_relation_in_every_medium_that_shows_it(
    medium: tuple[Medium, Trial],
) -> None:
    """And the first bad row is a row that a clean recording does not condemn."""
    name, trial = medium
    judged: set[str] = set()
    for relation in RELATIONS.values():
        clean = trial.ask(relation)
        if isinstance(clean, Unjudged):
            continue
        assert clean.count == 0, f"{relation.id}: {clean.examples}"
        assert clean.population, relation.id
        with trial.changed(relation, *relation.search.edits) as done:
            assert not any(isinstance(one, Unjudged) for one in done), f"{relation.id}: {done}"
            found = trial.ask(relation)
            assert isinstance(found, Answer), relation.id
            assert found.count, f"{relation.id} is silent in the {name}"
        judged.add(relation.id)
    shown = {relation.id for relation in RELATIONS.values() if name in judged_in(relation)}
    assert judged == shown - OF_MSPROF, "the recording has rows for all that the spec says is shown"


@pytest.mark.exhaustive
def test_one_scan_counts_what_each_relation_counts_alone(medium: tuple[Medium, Trial]) -> None:
    """On the clean recording and on each broken one."""
    _, trial = medium
    together = [one for one in groups(RELATIONS.values(), trial.shown) if len(one) > 1]
    assert together
    for group in together:
        for place, relation in enumerate(group):
            for edits in ((), relation.search.edits):
                with trial.changed(relation, *edits):
                    alone = trial.ask(relation)
                    expected = (0, 0)
                    if isinstance(alone, Answer):
                        expected = (alone.population, alone.count)
                    counted = counted_together(group, trial.shown)[place]
                    assert (counted.population, counted.count) == expected, relation.id


def test_the_nearest_legal_case_does_not_wake_it(medium: tuple[Medium, Trial]) -> None:
    _, trial = medium
    for relation in RELATIONS.values():
        if not isinstance(trial.ask(relation), Unjudged):
            for keep in relation.search.legal:
                with trial.changed(relation, *keep) as done:
                    assert not any(isinstance(one, Unjudged) for one in done), relation.id
                    found = trial.ask(relation)
                    assert isinstance(found, Unjudged) or not found.count, relation.id


@pytest.mark.exhaustive
def test_both_engines_answer_alike(profile: Path) -> None:
    """The views of the database, decoded into DuckDB: equal populations, counts and places, on the
    clean recording and on each broken one.
    """
    with opened(profile, "database") as trial:
        assert isinstance(trial.shown, EditableDatabase)
        for relation in RELATIONS.values():
            if isinstance(trial.ask(relation), Unjudged) or _is_code(relation):
                continue
            assert _answers(trial, relation) == _answers(trial, relation, decoded=True), relation.id
            with trial.changed(relation, *relation.search.edits):
                plain = _answers(trial, relation)
                assert plain[1], relation.id
                assert plain == _answers(trial, relation, decoded=True), relation.id


def _is_code(relation: Relation) -> bool:
    """Whether one code walks over the rows, whatever engine gives them."""
    return relation.search.walk is not None and relation.search.walk.kind == "nested"


def _answers(trial: Trial, relation: Relation, decoded: bool = False) -> tuple[object, ...]:
    bound = bind(relation, trial.shown.views())
    assert not isinstance(bound, Unjudged)
    asked = "SELECT count(*), count(*) FILTER (WHERE bad), min(place) FILTER (WHERE bad) FROM "
    if not decoded:
        [row] = trial.shown.rows(f"{asked}({rows_query(relation, bound, 'sqlite')})")
        return tuple(row)
    with duckdb.connect() as connection:
        for entity, columns in relation.search.reads.items():
            names = sorted(columns)
            rows = list(trial.shown.rows(bound[entity].select(names)))
            texts = [recording_catalog().entities[entity].columns[name].is_text for name in names]
            types = [pa.int64(), *(pa.string() if one else pa.int64() for one in texts)]
            cells = zip(*rows, strict=True) if rows else [[] for _ in types]
            arrays = [pa.array(part, kind) for part, kind in zip(cells, types, strict=True)]
            connection.register(f"{entity}_rows", pa.table(arrays, names=["place", *names]))
        query = rows_query(relation, bound, "duckdb")
        for entity, columns in relation.search.reads.items():
            query = query.replace(bound[entity].select(columns), f"FROM {entity}_rows", 1)
        return connection.execute(f"{asked}({query})").fetchone() or ()


def test_only_relations_that_a_change_concerns_are_asked_and_nothing_is_missed() -> None:
    some = list(RELATIONS.values())[5::60]
    with open_bench("msprof") as bench:
        asked = try_relations(bench, some)
        assert asked.mutations
        assert try_relations(replace(bench, changed=lambda _: None), some) == asked


def test_a_change_concerns_what_reads_its_table(profile: Path) -> None:
    with opened(profile, "database") as trial:
        looks = Looks(trial.shown, RELATIONS.values())
        concerned = looks.concerned(RELATIONS.values(), trial.shown, {"OP_MEMORY"})
        assert RELATIONS["REL601"] in concerned
        assert RELATIONS["REL304"] not in concerned
        assert looks.concerned(RELATIONS.values(), trial.shown, None) == [*RELATIONS.values()]


def test_no_query_scans_inside_a_scan(profile: Path) -> None:
    """SQLite looks the inner side of a join up, in an index or one that it makes for the query."""
    with opened(profile, "database") as trial:
        for relation in RELATIONS.values():
            bound = bind(relation, trial.shown.views())
            if isinstance(bound, Unjudged) or _is_code(relation):
                continue
            plan = trial.shown.rows(f"EXPLAIN QUERY PLAN {rows_query(relation, bound, 'sqlite')}")
            loops: dict[int, list[str]] = {}
            for _, parent, _, detail in plan:
                tables = any(f"SCAN {one.name}" in detail for one in bound.values())
                if tables:
                    loops.setdefault(parent, []).append(detail)
            for scans in loops.values():
                assert len(scans) == 1, f"{relation.id}: {scans}"


@pytest.mark.parametrize("folder", some(["db", "text", "generations"], every=3))
def test_real_files_keep_every_relation(folder: str) -> None:
    if not DATA.exists():
        pytest.skip(f"needs the real profiles of {DATA}")
    report = check([DATA / folder], ONLY)
    assert [f"{one.rule} {one.message}" for one in report.findings] == []
    judged = sum(file.rules_run for file in report.files)
    assert judged > 50, "relations are judged in real files"


def test_findings_have_a_place(profile: Path, tmp_path: Path) -> None:
    """In a database the row of its table, in files the line and byte, under one id."""
    database = tmp_path / "ascend_pytorch_profiler_0.db"
    database.write_bytes(database_of(profile).read_bytes())
    connection = apsw.Connection(str(database))
    connection.execute("UPDATE OP_MEMORY SET size = size + 16 WHERE rowid = 3")
    connection.close()
    sheet = next(profile.rglob("operator_memory.csv"))
    lines = sheet.read_text("utf-8").splitlines(keepends=True)
    cells = lines[3].split(",")
    cells[1] = f"{float(cells[1]) + 0.015625}"
    (tmp_path / "operator_memory.csv").write_text(
        "".join([*lines[:3], ",".join(cells), *lines[4:]])
    )
    options = Options(selection=Selection(select=("REL601",)))
    [stored] = check([database], options).findings
    [printed] = check([tmp_path / "operator_memory.csv"], options).findings
    assert (stored.place, stored.first_rowid, stored.count) == ("OP_MEMORY.size", 3, 1)
    assert (printed.place, printed.line) == ("operator_memory.csv: Size(KB)", 4)
    assert stored.rule == printed.rule


def test_a_window_of_times_that_are_none_is_not_stated(profile: Path) -> None:
    """Where only relations are asked for, nothing has condemned such cells."""
    relation = RELATIONS["REL107"]
    with opened(profile, "database") as trial:
        trial.execute("DELETE FROM TASK WHERE rowid % 3 = 0")
        before = trial.ask(relation)
        trial.execute("UPDATE CANN_API SET startNs = 'soon' WHERE rowid % 2 = 0")
        after = trial.ask(relation)
    assert isinstance(before, Answer)
    assert isinstance(after, Answer)
    assert before.window["part"] == "middle"
    assert (after.count, after.window) == (before.count, {})


def test_a_relation_without_rows_is_skipped_with_the_reason(profile: Path) -> None:
    with opened(profile, "csv") as trial:
        unjudged = {
            relation.id: answer.reason
            for relation in RELATIONS.values()
            if isinstance(answer := ask(relation, trial.shown), Unjudged)
        }
    assert unjudged["REL301"] == "not applicable: nothing here shows host_call"
    assert unjudged["REL109"].startswith("not applicable: does not show task.connection")


@pytest.mark.exhaustive
def test_comparisons_of_codes_judge_as_those_of_texts(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every name and vocabulary as numbers, with a name that is missing, and in one scan."""
    missing = "UPDATE {} SET {} = 999999999 WHERE rowid = (SELECT max(rowid) - 3 FROM {})"
    lost = [
        missing.format(table, column, table)
        for table, column in [("PYTORCH_API", "name"), ("CANN_API", "type"), ("TASK", "taskType")]
    ]
    answers: dict[str, list[object]] = {}
    for number in (0, 1 << 40):
        monkeypatch.setattr("ascend_conformance.media.db.views.ROWS_PER_TEXT", number)
        with opened(profile, "database") as trial:
            for some in groups(RELATIONS.values(), trial.shown):
                for relation in some:
                    if isinstance(trial.ask(relation), Unjudged):
                        continue
                    for edits in ((), relation.search.edits):
                        with trial.changed(relation, *edits):
                            for statement in lost:
                                trial.execute(statement)
                            found = trial.ask(relation)
                            assert isinstance(found, Answer), relation.id
                            counted = (found.population, found.count)
                            one = counted_together(some, trial.shown)[some.index(relation)]
                            assert (one.population, one.count) == counted, relation.id
                            seen = (*counted, found.places, str(found.examples))
                            answers.setdefault(relation.id, []).append(seen)
    assert len(answers) > 40
    for name, found_by in answers.items():
        assert found_by[:2] == found_by[2:], name
