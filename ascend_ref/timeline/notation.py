"""JSON values as fragments of rows, in the notation of a writer."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.decimals import Form, decimal_texts, shortest_texts

from .rows import Fragment

PLAIN_ASCII = r"[^ !#-\[\]-~]"
"""What Python's encoder escapes: all but printable ASCII without quote and backslash."""
PLAIN = r'[\x00-\x1f"\\]'
"""What every encoder must escape (RFC 8259, section 7)."""

SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n"}
SHORT_ESCAPES |= {"\r": "\\r", "\t": "\\t"}
CAPITAL_ESCAPES = str.maketrans(
    {chr(code): f"\\u{code:04X}" for code in range(0x20)} | SHORT_ESCAPES
)
"""As rapidjson writes them."""


@dataclass(frozen=True, slots=True)
class Notation:
    """How a writer puts down JSON. ascii: everything else is escaped, as Python does by default."""

    item: str
    key: str
    ascii: bool

    def string(self, text: str) -> str:
        """A text without its quotes."""
        if self.ascii:
            return json.dumps(text)[1:-1]
        return text.translate(CAPITAL_ESCAPES)

    def strings(self, texts: pa.Array) -> pa.Array:
        """Texts without their quotes; NULL stays NULL. Only what needs it is touched one by one."""
        if pa.types.is_dictionary(texts.type):
            inner = self.strings(texts.dictionary)
            return pa.DictionaryArray.from_arrays(texts.indices, inner, safe=False)
        escaped = pc.match_substring_regex(texts, PLAIN_ASCII if self.ascii else PLAIN)
        if not pc.any(escaped).as_py():
            return texts
        rewritten = [self.string(text) for text in texts.filter(escaped).to_pylist()]
        return pc.replace_with_mask(
            texts, escaped.fill_null(False), pa.array(rewritten, pa.string())
        )


def wholes(values: Integers) -> Fragment:
    """Whole numbers; one text where all are equal."""
    if len(values) and (values == values[0]).all():
        return str(values[0])
    return pa.array(values).cast(pa.string())


def instants(times: Integers) -> Fragment:
    """ns as us with 3 decimals, without quotes."""
    return decimal_texts(times, Form.FIXED)


def lengths(times: Integers) -> Fragment:
    """ns as the shortest text of the float of us that lies next to them."""
    return decimal_texts(times, Form.REPR)


def reals(values: Reals) -> Fragment:
    """Floats as the shortest texts that read back as the same; JSON has none for infinity and NaN.

    ``NaN`` and ``Infinity``, as Python writes them, are no JSON, so null stands for them.
    """
    finite = np.isfinite(values)
    if finite.all():
        return shortest_texts(values)
    return pc.if_else(pa.array(finite), shortest_texts(np.where(finite, values, 0.0)), "null")
