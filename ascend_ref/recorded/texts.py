"""From ids to the texts that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture.batch import Integers

from .shape import TEXT

Mask = npt.NDArray[np.bool_]


class Dictionary:
    """The texts of ids. An id without text stands for itself, as decimal text: nothing is lost."""

    def __init__(self, ids: Integers, texts: Sequence[str]) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids = ids[order]
        self._texts = [texts[place] for place in order.tolist()]

    @classmethod
    def of(cls, members: Mapping[int, str]) -> Dictionary:
        """The members of an enum."""
        return cls(np.array(list(members), np.int64), list(members.values()))

    def column(self, ids: Integers, present: Mask | None = None) -> pa.DictionaryArray:
        """A text column; NULL where not ``present``. Its dictionary holds what occurs, by id."""
        count = len(self._ids)
        place = np.searchsorted(self._ids, ids)
        known = place < count
        known[known] = self._ids[place[known]] == ids[known]
        strangers, number = np.unique(ids[~known], return_inverse=True)
        place[~known] = count + number
        used = np.zeros(count + len(strangers), np.bool_)
        used[place if present is None else place[present]] = True
        indices = (np.cumsum(used, dtype=np.int32) - 1)[place]
        texts = [
            self._texts[one] if one < count else str(strangers[one - count])
            for one in np.flatnonzero(used).tolist()
        ]
        return pa.DictionaryArray.from_arrays(
            pa.array(indices, pa.int32(), mask=None if present is None else ~present),
            pa.array(texts, pa.string()),
        )


def own_texts(column: pa.Array) -> pa.DictionaryArray:
    """A column that holds its texts itself."""
    return column.cast(pa.string()).dictionary_encode().cast(TEXT)
