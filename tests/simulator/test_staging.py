"""A folder appears complete or not at all, whenever the work on it ends."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ascend_ref.atomic import staged


def test_an_interrupt_as_soon_as_the_draft_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal that comes during ``mkdir`` is an exception right after it."""
    make = os.mkdir

    def interrupted(path: Path, mode: int = 0o777) -> None:
        make(path, mode)
        if Path(path).name.startswith("."):
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), staged(tmp_path / "o"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_in_nobodys_way(tmp_path: Path) -> None:
    """In a container every run may have the same process id."""
    (tmp_path / f".o.{os.getpid()}.partial").mkdir()
    with staged(tmp_path / "o") as first, staged(tmp_path / "p") as second:
        assert first.parent == second.parent == tmp_path
    assert (tmp_path / "o").is_dir()


def test_errors_name_the_target_and_not_the_hidden_folder(tmp_path: Path) -> None:
    for name, inner in (("o", "deep/file"), ("x" * 300, "")):
        with (
            pytest.raises(OSError, match=r"No such|too long") as caught,
            staged(tmp_path / name) as draft,
        ):
            (draft / inner).open("xb")
        assert Path(caught.value.filename) == tmp_path / name / inner
    with pytest.raises(OSError, match="No space") as caught, staged(tmp_path / "o"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert Path(caught.value.filename) == tmp_path / "o"
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as caught, staged(tmp_path / "file" / "o"):
        pass
    assert Path(caught.value.filename) == tmp_path / "file"
