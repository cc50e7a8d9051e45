"""A record whose time no clock shows is stated, of whatever kind it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hostile_trees import copy, tree
from slices import some

from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.layout import layout_of
from ascend_spec import raw_catalog
from ascend_spec.core.packed import Field, dtype_of

OF_HOST = ("timeStamp", "beginTime", "endTime")
"""Times of the host's records, whose clock is the same in all of them."""
UNREAD = ("CONTEXT_PMU startTime", "BLOCK_PMU startTime", "MSPROFTX timeStamp")
"""Of counters the end shows whose they are, of marks the times in their stamp count."""
WIDTH = 8
"""Bytes of a time; those of 4 show nothing that no clock does."""
SOME = ("observed-everything", "document", "cnn-910a")


def records_with_times(name: str) -> Iterator[tuple[Path, str, int, int, str]]:
    """File, kind, the byte of a record, that of the time in it, and how both are called."""
    (found,) = read_raw(tree(name))
    for context in found.contexts:
        for kind, slices in context.folder.files.items():
            file = raw_catalog().files[kind]
            if not file.members:
                continue
            layout = layout_of(file, context.side.chip, context.side.settings)
            content = slices[0].path.read_bytes()
            rows = np.frombuffer(content, np.uint8).reshape(-1, layout.size)
            for member, mask in zip(layout.members, layout.split(rows), strict=True):
                declaration = layout.declaration(member)
                fields = dtype_of(declaration).fields or {}
                path = slices[0].path.relative_to(tree(name))
                at = int(np.argmax(mask)) * layout.size
                for one in declaration.subcons if mask.any() else ():
                    clock = isinstance(one, Field) and one.facts.clock
                    kept, place = fields.get(one.name, (None, 0))[:2]
                    called = f"{member.record} {one.name}"
                    is_time = clock or one.name in OF_HOST
                    if is_time and kept.itemsize == WIDTH and called not in UNREAD:
                        yield path, kind, at, place, called


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", some(SOME, every=3))
def test_a_time_that_no_clock_shows_is_stated(tmp_path: Path, name: str) -> None:
    assert read_raw(tree(name))[0].damage == []
    silent = []
    tried = set()
    for path, kind, record, field, called in records_with_times(name):
        folder = copy(name, tmp_path / tree(name).name)
        content = bytearray((folder / path).read_bytes())
        content[record + field : record + field + WIDTH] = (1 << 63).to_bytes(WIDTH, "little")
        (folder / path).write_bytes(content)
        (found,) = read_raw(folder)
        tried.add(kind)
        if not found.damage:
            silent.append(called)
    assert len(tried) > 5
    assert silent == []
