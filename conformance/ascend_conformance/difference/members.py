"""Members of enums that have another name in another revision, brought to one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from ascend_ref.recorded.shape import Shape
from ascend_ref.recorded.tables import DatabaseFile
from ascend_spec import catalog

Names = Mapping[str, Mapping[str, str]]
"""By enum the names that members of the left side have on the right one."""


def renamed_members(left: Sequence[DatabaseFile], right: Sequence[DatabaseFile]) -> Names:
    """The members that the revisions of two sides call otherwise under the same number.

    A name that the other revision has for another number is none of them.
    """
    found: dict[str, dict[str, str]] = {}
    sides = [
        {one.carrier: catalog().at(one.revision, one.carrier) for one in some}
        for some in (left, right)
    ]
    for carrier in sides[0].keys() & sides[1].keys():
        ours, theirs = (side[carrier].enums for side in sides)
        for enum in ours.keys() & theirs.keys():
            for number in ours[enum].keys() & theirs[enum].keys():
                own, other = ours[enum][number], theirs[enum][number]
                is_free = own not in theirs[enum].values() and other not in ours[enum].values()
                if own != other and is_free:
                    found.setdefault(enum, {})[own] = other
    return found


def with_names(table: pa.Table, shape: Shape, names: Names) -> pa.Table:
    """A table whose references to enums have these names instead."""
    for name, column in shape.columns.items():
        known = names.get((column.text_reference or "").partition(".")[0])
        place = table.schema.get_field_index(name)
        if known and place >= 0 and pa.types.is_dictionary(table.schema.field(place).type):
            chunks = [_renamed(chunk, known) for chunk in table.column(place).chunks]
            cells = pa.chunked_array(chunks, table.schema.field(place).type)
            table = table.set_column(place, name, cells)
    return table


def _renamed(chunk: pa.DictionaryArray, known: Mapping[str, str]) -> pa.DictionaryArray:
    texts = [known.get(text, text) for text in chunk.dictionary.to_pylist()]
    dictionary = pa.array(texts, chunk.dictionary.type)
    return pa.DictionaryArray.from_arrays(chunk.indices, dictionary)
