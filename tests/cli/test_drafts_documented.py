"""What pages print on drafts and other states is what happens: files, commands, their output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ascend_ref.cli import main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", ["drafts.md", "check.md"])
def test_what_the_page_prints_is_printed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blocks of YAML are the files that they name; each line behind ``$`` prints what follows, of
    which … stands for further lines.
    """
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```(yaml|console)\n(.*?)^```",
        (DOCS / page).read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert {language for language, _ in blocks} == {"yaml", "console"}
    for language, block in blocks:
        if language == "yaml":
            name = block.split()[1]
            Path(name).write_text(block, encoding="utf-8")
            continue
        for part in block.removeprefix("$ ").split("\n$ "):
            command, _, expected = part.partition("\n")
            main(shlex.split(command, comments=True)[1:])
            printed = capsys.readouterr()
            text = (printed.out + printed.err).strip()
            parts = map(re.escape, re.split(r"^…$", expected.strip(), flags=re.MULTILINE))
            assert re.fullmatch(".*".join(parts), text, re.DOTALL), (command, text)
