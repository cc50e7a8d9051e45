"""A long check tells how far it is."""

from __future__ import annotations

from pathlib import Path

from ascend_conformance.check import check
from ascend_conformance.media.bin.selftest import clean_file


def test_each_block_is_told_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "visualize_data.bin"
    path.write_bytes(clean_file("mix"))
    told: list[tuple[int, int, str]] = []
    check([path], progress=lambda _: lambda done, total, what: told.append((done, total, what)))
    assert [what for _, _, what in told][:2] == ["source file", "source lines"]
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})
    assert {total for _, total, _ in told} == {path.stat().st_size}
