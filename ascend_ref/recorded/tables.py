"""The tables of database files as those of a recording."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from itertools import islice
from pathlib import Path
from weakref import WeakValueDictionary

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import integers
from ascend_ref.db.detect import identify
from ascend_ref.db.introspect import describe, quote_identifier
from ascend_ref.db.open import ONCE_KIB, open_readonly, require_sound
from ascend_ref.db.reader import stream_columns, typed_columns
from ascend_ref.spill import Spill, spilled_table
from ascend_spec import catalog
from ascend_spec.db.model import STRINGS

from .model import TablesByColumn
from .shape import TEXT, Dictionary, Shape, shape_of, shaped, sources

INNER = "STRING_IDS"
"""Its texts stand in the columns themselves."""
TEXTS = ("id", "value")
INPUTS = frozenset({"inputShapes", "inputDtypes"})
"""Columns of PYTORCH_API that may stand in each other's place."""


class DatabaseFile:
    """A database that is sound and a profile. Raises :class:`UnreadableDatabase` for any other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(open_readonly(path, ONCE_KIB)) as connection:
            require_sound(connection, path)
            self._physical = describe(connection)
            identity = identify(self._physical, connection, path, catalog())
        self.carrier = identity.carrier
        self.revision = identity.revision.id
        self.rank_from_name = identity.rank_from_name
        self._schema = catalog().at(identity.revision.id, identity.carrier)
        self._dictionaries: dict[str, Dictionary] = {}

    def tables(self) -> Iterator[str]:
        """Tables of the spec that stand in the file as ordinary tables."""
        for name in catalog().tables:
            if name != INNER and self._physical.readable(name):
                yield name

    def holds(self, place: str) -> bool:
        """Whether ``TABLE.column`` can be read."""
        table, _, column = place.partition(".")
        return self._physical.readable(table, column) is not None

    def has_rows(self, table: str) -> bool:
        """Whether a table is there and has a row."""
        readable = self._physical.readable(table) is not None
        return readable and self.finds(f"SELECT 1 AS found FROM {quote_identifier(table)} LIMIT 1")

    def finds(self, query: str) -> bool:
        """Whether a SELECT of ours has a row."""
        return any(batch.num_rows for batch in stream_columns(self.path, query))

    def sources(self, shape: Shape, wanted: Collection[str]) -> Mapping[str, str]:
        """The columns of the file, by the newest names of those of the wanted that stand in it."""
        physical = self._physical.readable(shape.name)
        present = [column.name for column in physical.columns] if physical else []
        found = sources(shape, self._schema.tables.get(shape.name), present)
        may_differ = shape.name == "PYTORCH_API" and not INPUTS.isdisjoint(wanted)
        if may_differ and self._has_exchanged_inputs:
            shapes, types = found["inputShapes"], found["inputDtypes"]
            found = {**found, "inputShapes": types, "inputDtypes": shapes}
        return {name: own for name, own in found.items() if name in wanted}

    @cached_property
    def _has_exchanged_inputs(self) -> bool:
        """Whether shapes and data types of inputs stand in each other's columns (erratum E23)."""
        return self._has_letters("inputShapes") and not self._has_letters("inputDtypes")

    def _has_letters(self, column: str) -> bool:
        """Whether a column of PYTORCH_API refers to text with letters: shapes have none."""
        if not (self.holds(f"PYTORCH_API.{column}") and self._physical.readable(INNER, *TEXTS)):
            return False
        query = f"SELECT 1 AS found FROM {INNER} WHERE id IN (SELECT {column} FROM PYTORCH_API)"
        return self.finds(f"{query} AND value GLOB '*[a-zA-Z]*' LIMIT 1")

    def dictionary(self, reference: str) -> Dictionary:
        """The texts of STRINGS, or the names of an enum: what the file says, else its revision."""
        if reference not in self._dictionaries:
            self._dictionaries[reference] = self._texts_of(reference)
        return self._dictionaries[reference]

    def _texts_of(self, reference: str) -> Dictionary:
        if reference == STRINGS:
            return self._dictionary(INNER, "value")
        if self._physical.readable(reference):
            return self._dictionary(reference, "name")
        own, newest = (
            catalog().at(revision, "pytorch").enums
            for revision in (self._schema.revision.id, catalog().revisions[-1].id)
        )
        return Dictionary.of(own.get(reference) or newest[reference])

    def _dictionary(self, table: str, column: str) -> Dictionary:
        if self._physical.readable(table, "id", column) is None or not self.has_rows(table):
            return Dictionary.of({})
        kinds = {"id": pa.int64(), column: pa.string()}
        batches = typed_columns(self.path, table, kinds, lenient=True)
        ids, texts = pa.Table.from_batches(batches).combine_chunks().columns
        ids, texts = ids.chunk(0), texts.chunk(0)
        known = pc.and_(ids.is_valid(), texts.is_valid())
        return Dictionary(integers(ids.filter(known)), texts.filter(known).to_pylist())


class FileTables(TablesByColumn):
    """The tables that have rows; each look-up reads columns anew, unless they are still in use."""

    def __init__(
        self, output: str, files: Sequence[DatabaseFile], spill: Spill, lenient: bool
    ) -> None:
        self._output = output
        self._spill = spill
        self._lenient = lenient
        homes = {name: file for file in reversed(files) for name in file.tables()}
        self._homes = {name: homes[name] for name in sorted(homes) if homes[name].has_rows(name)}
        self._used: WeakValueDictionary[tuple[str, ...], pa.Table] = WeakValueDictionary()
        """By the name of their table and those of their columns."""

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._homes:
            raise KeyError(name)
        return self.part(name, shape_of(self._output, name).schema.names)

    def part(self, name: str, columns: Collection[str]) -> pa.Table:
        """As they stand in the file; those that it does not have are NULL."""
        every = shape_of(self._output, name).schema
        wanted = pa.schema([field for field in every if field.name in columns])
        found = self._used.get((name, *wanted.names))
        if found is None:
            found = self._used[name, *wanted.names] = self._put_together(name, wanted)
        return found

    def _put_together(self, name: str, wanted: pa.Schema) -> pa.Table:
        """Columns that are in use with others, and those that are not."""
        known: dict[str, pa.ChunkedArray] = {}
        for (own, *columns), table in list(self._used.items()):
            if own == name:
                known.update((one, table[one]) for one in columns if one in wanted.names)
        missing = pa.schema([field for field in wanted if field.name not in known])
        if len(missing):
            known.update(zip(missing.names, self._read(name, missing).columns, strict=True))
        return pa.Table.from_arrays([known[one] for one in wanted.names], schema=wanted)

    def present(self, name: str) -> frozenset[str]:
        """The columns of a table that its file has, by their newest names."""
        shape = shape_of(self._output, name)
        return frozenset(self._homes[name].sources(shape, shape.columns))

    def path_of(self, name: str) -> Path:
        """The file that a table stands in."""
        return self._homes[name].path

    def head(self, name: str, column: str) -> pa.ChunkedArray:
        """A column of the first rows of a table."""
        field = shape_of(self._output, name).schema.field(column)
        return self._read(name, pa.schema([field]), batches=1).column(0)

    def _read(self, name: str, schema: pa.Schema, batches: int | None = None) -> pa.Table:
        file, shape = self._homes[name], shape_of(self._output, name)
        sources = file.sources(shape, schema.names)
        kinds = {
            sources[field.name]: _stored_type(shape, field)
            for field in schema
            if field.name in sources
        }
        if not kinds:
            others = file.sources(shape, shape.columns)
            if not others:
                return schema.empty_table()
            # Any other column shows how many rows there are.
            kinds[next(iter(others.values()))] = pa.string()
        read = typed_columns(file.path, name, kinds, lenient=self._lenient or not sources)
        return spilled_table(
            self._spill,
            schema,
            (
                shaped(
                    shape,
                    schema,
                    batch.num_rows,
                    {name: batch.column(own) for name, own in sources.items()},
                    file.dictionary,
                )
                for batch in islice(read, batches)
            ),
        )


def _stored_type(shape: Shape, field: pa.Field) -> pa.DataType:
    """The type of a column's cells in the file: ids stand there for texts of other tables."""
    if field.name in shape.references:
        return pa.int64()
    return pa.string() if field.type == TEXT else field.type
