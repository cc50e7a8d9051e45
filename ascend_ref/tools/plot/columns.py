"""Arrow columns as numbers and as texts that are compared once each, and what they are read by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import Mask, integers, one_piece
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import groups

if TYPE_CHECKING:
    import duckdb

UNKNOWN: Final = ("", "N/A")


@dataclass(frozen=True)
class Columns:
    """Base of tables whose fields are columns of equal length."""

    def take(self, rows: Mask) -> Self:
        """The rows where a mask is true."""
        return replace(self, **{one.name: getattr(self, one.name)[rows] for one in fields(self)})


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of texts. codes: places in ``values``, -1 where there is none."""

    codes: Integers
    values: tuple[str, ...]

    def __getitem__(self, rows: npt.NDArray[Any]) -> Texts:
        """The texts of these rows, or where a mask is true."""
        return Texts(self.codes[rows], self.values)

    def at(self, rows: Integers) -> Texts:
        """The texts of these rows, none where the row is -1."""
        return Texts(np.append(self.codes, -1)[rows], self.values)

    def holds(self, condition: Callable[[str], bool]) -> Mask:
        """Where there is a text for which this is true; it is asked once for each text."""
        found = np.array([*map(condition, self.values), False], np.bool_)
        return found[self.codes]

    def numbers(self, number_of: Callable[[str], int], none: int) -> Integers:
        """A number for each text, and ``none`` where there is none."""
        found = np.array([*map(number_of, self.values), none], np.int64)
        return found[self.codes]

    def known(self) -> Mask:
        """Where there is a text that says something."""
        return self.holds(lambda text: text not in UNKNOWN)

    def or_else(self, other: Texts) -> Texts:
        """These texts where they say something, elsewhere those of ``other``."""
        further = np.where(other.codes < 0, -1, other.codes + len(self.values))
        return Texts(np.where(self.known(), self.codes, further), self.values + other.values)

    def renamed(self, name_of: Callable[[str], str]) -> Texts:
        """Each text as another one."""
        return Texts(self.codes, tuple(map(name_of, self.values)))


def texts(column: pa.ChunkedArray) -> Texts:
    """A column of strings, dictionary-encoded or not."""
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    whole = one_piece(column)
    values = tuple("" if text is None else text for text in whole.dictionary.to_pylist())
    return Texts(integers(whole.indices), values)


def pairs_of(first: Integers, second: Integers) -> tuple[list[tuple[int, int]], Integers]:
    """The pairs that occur, in order, and the place among them of each row."""
    row, group = groups(first, second)
    order = np.lexsort((second[row], first[row]))
    own = row[order]
    pairs = list(zip(first[own].tolist(), second[own].tolist(), strict=True))
    return pairs, np.argsort(order)[group]


@contextmanager
def connected() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that uses one core and shows nothing on the terminal."""
    import duckdb  # slow to import, and no database or help needs it

    with closing(duckdb.connect(config={"threads": 1})) as connection:
        connection.execute("SET enable_progress_bar = false")
        yield connection
