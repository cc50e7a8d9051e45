"""Exported files appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ascend_ref.atomic import write_atomically


def test_a_file_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_atomically(tmp_path / "spec.h", "größe\n")
    assert [path.name for path in tmp_path.iterdir()] == ["spec.h"]
    assert (tmp_path / "spec.h").read_bytes() == "größe\n".encode()


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "spec.h"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_of_an_existing_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "spec.h"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "spec.h"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(path, "text")
    assert caught.value.filename == str(path)


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_atomically(Path(os.devnull), "text")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_what_another_process_left_is_in_nobody_s_way(tmp_path: Path) -> None:
    """Two containers may share a folder and number their processes alike."""
    stale = tmp_path / f".spec.h.{os.getpid()}.partial"
    stale.write_text("left", encoding="utf-8")
    write_atomically(tmp_path / "spec.h", "new")
    assert (tmp_path / "spec.h").read_text(encoding="utf-8") == "new"
    assert stale.read_text(encoding="utf-8") == "left"
