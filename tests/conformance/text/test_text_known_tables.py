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

    def look_up() -> tuple[str, ...]:
        known.forget("raw.made")  # as another thread defines it
        return ("old",)

    assert known.columns("raw.made", look_up) == ("old",)
    assert known.columns("raw.made", lambda: ("new",)) == ("new",)
    assert known.columns("raw.made", lambda: ("newer",)) == ("new",)
