"""Keys that an object of a JSON text has more than once."""

from __future__ import annotations

import json

import pytest

from ascend_ref.json_keys import ObjectReader


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1, "b": {"a": 2}}', []),
        ('[{"a": 1}, {"a": 1}]', []),
        ('{"a": 1, "a": 1}', [("a",)]),
        ('{"a": 1, "b": 2, "a": 3, "b": 4, "a": 5}', [("a",), ("b",)]),
        ('{"a": 1, "\\u0061": 2}', [("a",)]),
        ('{"x": [0, {"a": {}, "a": {"c": 1, "c": 2}}]}', [("x", 1, "a"), ("x", 1, "a", "c")]),
    ],
)
def test_doubled_keys_are_found_where_they_stand(
    text: str, found: list[tuple[str | int, ...]]
) -> None:
    reader = ObjectReader()
    value = json.loads(text, object_pairs_hook=reader)
    assert list(reader.doubled_keys(value)) == found
    assert value == json.loads(text)
