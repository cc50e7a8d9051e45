"""Captures on disk, and what plain SQL says of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref.capture import Capture
from ascend_ref.db.encode import encode
from ascend_ref.db.writer import write_database
from ascend_spec import catalog
from ascend_spec.db.model import Carrier

REVISIONS = [revision.id for revision in catalog().revisions]
NEWEST = REVISIONS[-1]


def plain(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, list[Any]]]:
    """Encoded tables as lists."""
    return {
        table: {
            name: values.to_pylist()
            if isinstance(values, pa.Array)
            else np.asarray(values).tolist()
            for name, values in columns.items()
        }
        for table, columns in tables.items()
    }


def encoded(
    capture: Capture, revision: str = NEWEST, carrier: Carrier = "pytorch"
) -> dict[str, dict[str, list[Any]]]:
    return plain(encode(capture, catalog().at(revision, carrier)))


def texts(tables: Mapping[str, Mapping[str, list[Any]]], table: str, column: str) -> list[Any]:
    """A column of ids as texts; ids without one, and NULL, stay."""
    known = dict(zip(*tables["STRING_IDS"].values(), strict=True))
    return [known.get(value, value) for value in tables[table][column]]


def write(path: Path, capture: Capture, revision: str, carrier: Carrier) -> None:
    schema = catalog().at(revision, carrier)
    write_database(path, schema, encode(capture, schema))


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        yield connection
