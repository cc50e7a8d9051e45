"""What a search does for each file does not grow with the number of files; counted, not timed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ascend_conformance.discover import discover
from ascend_spec.core.names import NameForm

FEW, MANY = 40, 160


def databases(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"ascend_pytorch_profiler_{number}.db").write_bytes(b"xx")


def sheets(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"op_statistic_{20250101000000 + number}.csv").write_bytes(b"xx")


def others(folder: Path, count: int) -> None:
    (folder / "analysis.db").write_bytes(b"xx")
    for number in range(count):
        (folder / f"note_{number}.txt").touch()


def ranks(folder: Path, count: int) -> None:
    """Folders of texts side by side, with databases next to them."""
    databases(folder, count)
    for number in range(count):
        sheets_of = folder / f"rank_{number}"
        sheets_of.mkdir()
        sheets(sheets_of, 1)


def work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a search lists, looks at a file and compares a name with a form, by these."""
    calls: Counter[str] = Counter()

    def counted(owner: Any, name: str, weight: Callable[[Any], int] = lambda _: 1) -> None:
        plain = getattr(owner, name)

        def call(*arguments: Any, **options: Any) -> Any:
            result = plain(*arguments, **options)
            calls[name] += weight(result)
            return result

        monkeypatch.setattr(owner, name, call)

    counted(os, "listdir", len)
    counted(os, "stat")
    counted(NameForm, "named")
    discover(folder)
    monkeypatch.undo()
    return calls


@pytest.mark.parametrize("fill", [databases, sheets, others, ranks])
def test_a_search_is_linear(
    fill: Callable[[Path, int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for count in (FEW, MANY):
        folder = tmp_path / str(count)
        folder.mkdir()
        fill(folder, count)
        found[count] = work(folder, monkeypatch)
    assert found[FEW].keys() == {"listdir", "stat", "named"}
    for what, calls in found[FEW].items():
        assert found[MANY][what] <= calls * MANY / FEW + 50, what


def test_a_name_of_no_profile_is_compared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others(tmp_path, FEW)
    few = work(tmp_path, monkeypatch)
    assert few["named"]
    others(tmp_path, MANY)
    assert work(tmp_path, monkeypatch)["named"] == few["named"]
