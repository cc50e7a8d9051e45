"""The columns of tables are looked up once, until somebody changes a table."""

from __future__ import annotations

from ascend_conformance.media.text.database import KnownTables, open_facts


def test_columns_are_those_of_the_table_as_it_is_now() -> None:
    with open_facts() as facts:
        facts.settle()
        assert facts.columns("raw.made") == ()
        facts.define("raw.made", "CREATE TABLE raw.made (one INTEGER)")
        assert facts.columns("raw.made") == ("one",)
        with facts.undone():
            facts.define("raw.made", "ALTER TABLE raw.made ADD COLUMN other INTEGER")
            assert facts.columns("raw.made") == ("one", "other")
        assert facts.columns("raw.made") == ("one",)
        with facts.another() as elsewhere:
            assert elsewhere.columns("raw.made") == ("one",)
            elsewhere.define("raw.made", "DROP TABLE raw.made")
        assert facts.columns("raw.made") == ()


def test_what_is_defined_during_a_look_up_is_looked_up_again() -> None:
    known = KnownTables()

    def look_up() -> dict[str, str]:
        known.forget("raw.made")  # as another thread defines it
        return {"old": "INTEGER"}

    assert known.columns("raw.made", look_up) == {"old": "INTEGER"}
    assert known.columns("raw.made", lambda: {"new": "BIGINT"}) == {"new": "BIGINT"}
    assert known.columns("raw.made", lambda: {"newer": "BIGINT"}) == {"new": "BIGINT"}


def test_types_are_those_that_duckdb_describes() -> None:
    with open_facts() as facts:
        facts.settle()
        facts.define("raw.made", "CREATE TABLE raw.made (one INTEGER, other DECIMAL(9, 2))")
        facts.define("raw.seen", "CREATE VIEW raw.seen AS SELECT one, [other] AS all FROM raw.made")
        for table in ("raw.made", "raw.seen"):
            described = {str(row[0]): str(row[1]) for row in facts.rows(f"DESCRIBE {table}")}
            assert facts.types(table) == described
        facts.define("raw.made", "ALTER TABLE raw.made ALTER one TYPE VARCHAR")
        assert facts.types("raw.made")["one"] == "VARCHAR"
