"""The documents of the structural rules, their pages, and the facts that they stand on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import duckdb
import pytest

from ascend_conformance.check import check
from ascend_conformance.media import load_rules
from ascend_conformance.media.text.checks import NAMES, reads
from ascend_conformance.media.text.database import Facts, fact_tables, open_facts
from ascend_conformance.media.text.loadcsv import PLACE, make_views
from ascend_conformance.media.text.queries import lacking
from ascend_conformance.media.text.rules import TextInstance, TextRule, instances, load_text_rules
from ascend_conformance.pages import rule_page
from ascend_spec import catalog, text_catalog

PACKAGE = files("ascend_conformance")
STRUCTURAL = [rule for rule in load_text_rules().values() if rule.search.check]
ORDER = ("documented", "observed", "inferred")


def test_rules_are_among_all_rules() -> None:
    assert load_text_rules().items() <= load_rules().items()
    assert len({rule.name for rule in load_rules().values()}) == len(load_rules())


def test_every_check_has_a_rule_and_every_rule_a_check() -> None:
    assert {rule.search.check for rule in STRUCTURAL} == NAMES
    assert {schema for one in NAMES for schema in reads(one)} == {"raw", "unit", "doc", "trace"}


@pytest.mark.parametrize("rule", STRUCTURAL, ids=lambda rule: rule.id)
def test_grade_source_erratum_and_page(rule: TextRule) -> None:
    grades = {catalog().documents.sources[source.split(" ")[0]].grade for source in rule.source}
    assert rule.grade == min(grades, key=ORDER.index)
    assert not (rule.verdict == "violation" and rule.grade == "inferred")
    assert rule.erratum is None or rule.erratum in text_catalog().errata
    page = rule_page(rule)
    for part in (rule.summary, rule.why, rule.fix, rule.example, "How it is found"):
        assert part in page
    for writer in (*rule.search.writers, *rule.search.not_writers):
        assert writer in text_catalog().writers


def test_documented_tables_are_those_that_stand_there() -> None:
    views = {
        f"{schema}.{name}"
        for schema, tables in fact_tables().items()
        for name, table in tables.items()
        if table["summary"].startswith("View ")
    }
    with open_facts() as facts:
        found = documented(facts)
    assert found == {
        (f"{schema}.{name}", tuple(table["columns"]))
        for schema, tables in fact_tables().items()
        for name, table in tables.items()
        if f"{schema}.{name}" not in views
    }


def documented(facts: Facts) -> set[tuple[str, tuple[str, ...]]]:
    return {(table, facts.columns(table)) for table in facts.tables()}


def test_facts_reach_neither_files_nor_settings() -> None:
    with open_facts() as facts:
        facts.settle()
        for statement in (
            "SELECT * FROM read_csv('/etc/hostname')",
            "COPY (SELECT 1) TO 'x.csv'",
            "INSTALL httpfs",
            "SET memory_limit = '8GB'",
            "ATTACH 'x.db'",
        ):
            with pytest.raises(Exception, match=r"(?i)disabled|locked|permission|configuration"):
                facts.connection.execute(statement)


QUOTED = re.compile(r"'(?:[^']|'')*'")
READ = re.compile(r"\b(?:csv|raw)\.([a-z_0-9]+)")
TABLE = re.compile(r"\b((?:trace|csv|raw|doc|db|unit)\.[a-z_0-9]+)")


def test_rules_need_the_tables_that_they_read_and_that_not_every_folder_has() -> None:
    """Where one of them is absent, the rule is skipped, and no query fails."""
    always = {f"{schema}.{name}" for schema, tables in fact_tables().items() for name in tables}
    unstated = {
        (rule.id, instance.at): read
        for rule in load_text_rules().values()
        for instance in instances(rule)
        if (read := set(TABLE.findall(QUOTED.sub("", instance.query))) - always - stated(instance))
    }
    assert unstated == {}


def stated(instance: TextInstance) -> set[str]:
    return {".".join(need.split(".")[:2]) for need in instance.needs}


def test_a_header_that_lacks_a_column_fails_no_rule(tmp_path: Path) -> None:
    """CSV284 reads Core Type next to the column that it is for."""
    path = tmp_path / "op_statistic.csv"
    titles = "Device_id,OP Type,Core Tyre,Count,Total Time(us),Min Time(us),Avg Time(us)"
    path.write_text(f"{titles},Max Time(us),Ratio(%)\n0,Add,AI_CORE,1,5.0,5.0,5.0,5.0,100.0\n")
    found = check([path]).findings
    assert [one.message for one in found if one.verdict == "failure"] == []
    assert "CSV011" in {one.rule for one in found}


def test_what_is_shown_next_to_a_bad_cell_is_not_needed(tmp_path: Path) -> None:
    path = tmp_path / "step_trace_time.csv"
    titles = "Device_id,Stepp,Computing,Communication(Not Overlapped),Overlapped,Communication"
    path.write_text(f"{titles},Free,Stage,Bubble\n0,1,5.0,1.0,1.0,7.0,1.0,7.0,0.0\n")
    assert "CSV320" in {one.rule for one in check([path]).findings}


@pytest.mark.exhaustive
def test_queries_are_asked_of_files_without_any_column_that_they_do_not_need() -> None:
    failing: set[tuple[str, str, str]] = set()
    writers = {name: next(iter(file.writers)) for name, file in text_catalog().csv.items()}
    with open_facts() as facts:
        for name, file in text_catalog().csv.items():
            texts = {one.name.lower(): one.name for one in file.columns if "{" not in one.name}
            columns = ", ".join(f'"{one}" VARCHAR' for one in texts.values())
            place = ", ".join(f'"{one}" BIGINT' for one in PLACE)
            facts.rows(f"CREATE TABLE raw.{name} ({place}, {columns})")
        make_views(facts, writers)
        tables = facts.tables()
        every = [one for rule in load_text_rules().values() for one in instances(rule)]
        asked = [one for one in every if _is_answered(facts, one)]
        assert len(asked) > 400
        for one in asked:
            for file in {name for name in READ.findall(one.query) if name in writers}:
                for column in sorted(tables[f"csv.{file}"].difference(PLACE)):
                    own = {f"{schema}.{file}" for schema in ("csv", "raw")}
                    fewer = {
                        table: columns - {column} if table in own else columns
                        for table, columns in tables.items()
                    }
                    if f'"{column}"' not in one.query or lacking(fewer, one):
                        continue
                    with without(facts, file, column, writers[file]):
                        if not _is_answered(facts, one.showing(fewer.get(one.at, ()))):
                            failing.add((one.rule.id, one.at, column))
    assert failing == set()


def _is_answered(facts: Facts, instance: TextInstance) -> bool:
    try:
        facts.rows(f"EXPLAIN {instance.query}")
    except duckdb.Error:
        return False
    return True


@contextmanager
def without(facts: Facts, file: str, column: str, writer: str) -> Iterator[None]:
    """The tables of a CSV file without a column, for as long as the block lasts."""
    with facts.undone():
        facts.rows(f"DROP VIEW csv.{file}")
        facts.rows(f'ALTER TABLE raw.{file} RENAME "{column}" TO "no {column}"')
        make_views(Facts(facts.connection), {file: writer})
        yield
