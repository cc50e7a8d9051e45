"""Columns of equal length that describe one kind of thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, Self, TypeAlias, get_type_hints

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = npt.NDArray[np.int64]
Reals: TypeAlias = npt.NDArray[np.float64]

TextNumbers: TypeAlias = Annotated[Integers, "texts"]
TaskNumbers: TypeAlias = Annotated[Integers, "tasks"]
Connections: TypeAlias = Annotated[Integers, "connections"]
"""Columns of numbers that mean something in their own capture alone, marked by what they count."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Base of the tables of a capture: every field of a subclass is one int64 or float64 column."""

    def __post_init__(self) -> None:
        """Refuse columns of unequal length: ``ValueError`` naming both."""
        lengths = {name: len(column) for name, column in self.columns()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise ValueError(f"{type(self).__name__}: columns of unequal length: {listed}")

    def __len__(self) -> int:
        return len(next(self.columns())[1])

    def columns(self) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        """Names and values of the columns, in order of declaration."""
        for field in fields(self):
            yield field.name, getattr(self, field.name)

    def take(self, rows: npt.NDArray[Any]) -> Self:
        """The rows at these places, or where a mask is true."""
        places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return type(self)(**{name: column.take(places) for name, column in self.columns()})

    @classmethod
    @cache
    def counted(cls) -> Mapping[str, str]:
        """What the marked columns count, by their names."""
        hints = get_type_hints(cls, include_extras=True).items()
        return {name: hint.__metadata__[0] for name, hint in hints if hasattr(hint, "__metadata__")}

    @classmethod
    def empty(cls) -> Self:
        """No rows."""
        return cls(**{field.name: np.empty(0, np.int64) for field in fields(cls)})

    @classmethod
    def filled(cls, rows: int, **columns: Integers | int) -> Self:
        """So many rows. One value stands in all of them and takes no memory: it is read-only.

        Columns that are left out do not apply.
        """
        every = {field.name: -1 for field in fields(cls)} | columns
        return cls(
            **{
                name: values
                if isinstance(values, np.ndarray)
                else np.broadcast_to(np.int64(values), (rows,))
                for name, values in every.items()
            }
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts, one part after the other."""
        if not parts:
            return cls.empty()
        names = [field.name for field in fields(cls)]
        return cls(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        )
