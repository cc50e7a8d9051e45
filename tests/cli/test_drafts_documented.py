"""What docs/drafts.md prints is what happens: its drafts, its commands and their output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ascend_ref.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "drafts.md"


@pytest.mark.exhaustive
def test_what_the_page_prints_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blocks of YAML are the files that they name; each line behind ``$`` prints what follows, of
    which … stands for further lines.
    """
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```(yaml|console)\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert {language for language, _ in blocks} == {"yaml", "console"}
    for language, block in blocks:
        if language == "yaml":
            name = block.split()[1]
            Path(name).write_text(block, encoding="utf-8")
            continue
        for part in block.removeprefix("$ ").split("\n$ "):
            command, _, expected = part.partition("\n")
            main(shlex.split(command)[1:])
            printed = capsys.readouterr()
            text = (printed.out + printed.err).strip()
            first, rest, _ = expected.strip().partition("\n…")
            assert text.startswith(f"{first}\n") if rest else text == first, (command, text)
