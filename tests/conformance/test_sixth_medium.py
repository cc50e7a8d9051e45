"""A medium that the product does not know: the entity tables as Parquet files.

It supplies views, and a way to change them; every relation is judged in it, breaks itself in it and
has its page, without a change of any file of the product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from relation_trials import opened, simulate

from ascend_conformance.engine.relations.binding import Unjudged
from ascend_conformance.engine.relations.edits import change
from ascend_conformance.engine.relations.judge import Answer, ask
from ascend_conformance.engine.relations.rule import load_relations
from ascend_conformance.engine.relations.views import Dialect, Part, View
from ascend_conformance.pages import rule_page
from ascend_spec import recording_catalog


class ShownByParquet:
    """A folder of Parquet files, one for each entity, read into tables that may be changed."""

    dialect: Dialect = "duckdb"

    def __init__(self, folder: Path) -> None:
        self.connection = duckdb.connect()
        self._views: list[View] = []
        for path in sorted(folder.glob("*.parquet")):
            name = path.stem
            self.connection.execute(f"CREATE TABLE shown_{name} AS FROM '{path}'")
            shown = [one for one in pq.read_schema(path).names if one != "place"]
            columns = {one: f'shown_{name}."{one}"' for one in shown}
            part = Part(f"shown_{name}", f"shown_{name}.place", columns)
            self._views.append(View(name, path.name, "parquet", (part,), "parquet"))

    def views(self) -> Sequence[View]:
        return self._views

    def rows(self, query: str) -> Iterable[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def values(self, query: str, columns: int, rows: int) -> Sequence[tuple[Any, ...]]:
        return self.connection.execute(query).fetchmany(rows)

    def write(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            statement = f'UPDATE shown_{view.entity} SET "{name}" = ? WHERE place = ?'
            self.connection.execute(statement, [value, place])

    def drop(self, view: View, place: int) -> None:
        self.connection.execute(f"DELETE FROM shown_{view.entity} WHERE place = ?", [place])

    def repeat(self, view: View, place: int) -> None:
        table = f"shown_{view.entity}"
        self.connection.execute(
            f"INSERT INTO {table} SELECT * REPLACE ((SELECT max(place) + 1 FROM {table}) AS place) "
            f"FROM {table} WHERE place = {place}"
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The entities of a simulated recording, as its database shows them."""
    place = tmp_path_factory.mktemp("parquet")
    with opened(simulate(place), "database") as trial:
        for view in trial.shown.views():
            names = [one for one in sorted(view.columns) if one != "length"]
            rows = list(trial.shown.rows(view.select(names)))
            columns = recording_catalog().entities[view.entity].columns
            types = [pa.string() if columns[one].is_text else pa.int64() for one in names]
            cells = zip(*rows, strict=True)
            arrays = [pa.array(next(cells), pa.int64())]
            arrays += [_array(part, kind) for part, kind in zip(cells, types, strict=True)]
            table = pa.table(arrays, names=["place", *names])
            pq.write_table(table, place / f"{view.entity}.parquet")
    return place


def _array(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if any(isinstance(one, float) for one in cells):
        return pa.array(cells, pa.float64())
    return pa.array(cells, kind)


@pytest.fixture
def shown(folder: Path) -> Iterator[ShownByParquet]:
    parquet = ShownByParquet(folder)
    yield parquet
    parquet.connection.close()


def test_a_new_medium_gets_its_checks(shown: ShownByParquet) -> None:
    answers = [
        ask(relation, shown) for relation in load_relations().values() if not relation.search.media
    ]
    judged = [one for one in answers if isinstance(one, Answer)]
    assert [one.relation.id for one in judged if one.count] == []
    assert len(judged) >= 60
    reasons = {one.reason for one in answers if isinstance(one, Unjudged)}
    assert all(one.startswith(("not applicable", "nothing to judge")) for one in reasons)


def test_a_new_medium_gets_its_self_test(shown: ShownByParquet) -> None:
    """Each relation that is judged wakes for its own break, stated on entities."""
    broken = 0
    for relation in load_relations().values():
        if relation.search.media or isinstance(ask(relation, shown), Unjudged):
            continue
        shown.connection.execute("BEGIN")
        done = [change(relation, edit, shown) for edit in relation.search.edits]
        found = ask(relation, shown)
        shown.connection.execute("ROLLBACK")
        assert not any(isinstance(one, Unjudged) for one in done), relation.id
        assert isinstance(found, Answer), relation.id
        assert found.count, relation.id
        assert found.view.name.endswith(".parquet")
        broken += 1
    assert broken >= 60


def test_a_new_medium_gets_its_pages() -> None:
    relation = load_relations()["REL304"]
    text = rule_page(relation)
    assert "host_call.start" in text
    assert "How the self-test breaks it" in text
