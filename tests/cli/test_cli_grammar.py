"""The verbs agree: one option has one name and one meaning, and nothing is replaced unasked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from ascend_ref.cli import main
from ascend_ref.cli.outputs import refuse_existing, room_for
from ascend_ref.cli.reference import commands

COMMANDS = dict(commands())
REPORTERS = {
    "ascend-ref check",
    "ascend-ref conform",
    "ascend-ref diff spec",
    "ascend-ref ge conform-life-cycle",
    "ascend-ref probe",
    "ascend-ref spec refresh",
}
WRITERS = (
    *("decode", "encode", "export", "fixtures build", "ge run", "ge trace", "kernel", "migrate"),
    *("plot", "shrink", "simulate", "spec export", "spec overlay", "specimen"),
)
LISTS = (
    ["scenarios"],
    ["scenarios", "--of", "kernel"],
    ["rules", "DB4"],
    ["spec", "list"],
    ["spec", "list", "tables"],
    ["fixtures", "list"],
    ["fixtures", "list", "--axes"],
    ["fixtures", "matrix"],
)


def options(path: str) -> dict[str, click.Option]:
    return {
        name: parameter
        for parameter in COMMANDS[path].params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
    }


@pytest.mark.parametrize("verb", WRITERS)
def test_every_verb_that_writes_takes_output_and_force(verb: str) -> None:
    found = options(f"ascend-ref {verb}")
    assert found["-o"] is found["--output"]
    assert found["--force"].is_flag


def test_no_verb_spells_an_output_or_a_deliverable_otherwise() -> None:
    for path in COMMANDS:
        assert not {"--out", "--list"} & options(path).keys(), path
        to = options(path).get("--to")
        assert to is None or to.metavar == "REVISION", path
        assert ("--format" in options(path)) == (path in REPORTERS), path


def test_every_verb_that_works_on_many_items_takes_workers() -> None:
    found = {
        one.removeprefix("ascend-ref "): options(one)["--workers"]
        for one in COMMANDS
        if "--workers" in options(one)
    }
    several = {"fixtures build", "fixtures verify"}
    assert found.keys() == {"check", "export", "simulate", *several}
    for option in found.values():
        assert isinstance(option.type, click.IntRange)
        assert (option.type.min, option.type.max) == (1, 64)


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_every_list_is_there_for_programs(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert all(isinstance(row, dict) for row in rows)


def test_a_list_in_a_pipe_is_never_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["scenarios"]) == 0
    assert "observed-everything " in capsys.readouterr().out


def test_the_summaries_of_the_verbs_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "..." not in shown.partition("Commands:")[2]
    for path, command in COMMANDS.items():
        if path.count(" ") == 1:
            first = re.split(r"(?<=\.)\s", " ".join((command.help or "").split()))[0]
            assert first.rstrip(".") in shown, path


# --- existing output ------------------------------------------------------------------------------


def test_a_file_that_exists_is_refused_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.sql"
    refuse_existing(path, force=False)
    path.write_text("", encoding="utf-8")
    with pytest.raises(click.UsageError, match="exists already; --force replaces it"):
        refuse_existing(path, force=False)
    refuse_existing(path, force=True)
    refuse_existing(Path("/dev/null"), force=False)


def test_a_forced_folder_is_replaced_only_when_all_went_well(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "old").touch()
    with pytest.raises(FileNotFoundError), room_for(folder, force=True):
        (folder / "new").touch()  # the old folder is out of the way
    assert [one.name for one in folder.iterdir()] == ["old"]
    with room_for(folder, force=True):
        folder.mkdir()
        (folder / "new").touch()
    assert [one.name for one in folder.iterdir()] == ["new"]
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_the_current_folder_a_file_and_a_link_are_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    link = tmp_path / "link"
    link.symlink_to(inner)
    file = tmp_path / "file"
    file.touch()
    for place, reason in (
        (Path("."), "holds the current folder"),
        (tmp_path, "holds the current folder"),
        (link, "is no folder"),
        (file, "is no folder"),
    ):
        with pytest.raises(click.UsageError, match=reason), room_for(place, force=True):
            pytest.fail("nothing may be written")
    assert inner.is_dir()


@pytest.mark.parametrize("form", ["json-schema", "ddl"])
def test_an_export_does_not_replace_a_file_unasked(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "profile.h"
    path.write_text("mine", encoding="utf-8")
    words = ["spec", "export", "msprof", "--as", form, "-o", str(path)]
    assert main(words) == 2
    assert f"{path} exists already; --force replaces it" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "mine"
    assert main([*words, "--force"]) == 0
    assert path.read_text(encoding="utf-8") != "mine"


# --- names of rules -------------------------------------------------------------------------------


def test_rules_are_chosen_in_any_capitals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "db40", "--verdict", "advice", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert all(row["rule"].startswith("DB40") and row["verdict"] == "advice" for row in rows)


@pytest.mark.parametrize(
    "verb", [["rules"], ["check", ".", "--select"], ["check", ".", "--ignore"]]
)
def test_a_rule_that_is_misspelled_gets_a_suggestion(
    verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verb, "DB4O1"]) == 2
    assert "unknown rule 'DB4O1'; did you mean " in capsys.readouterr().err


# --- completion -----------------------------------------------------------------------------------


def completed(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """What bash offers for the last of the words."""
    monkeypatch.setenv("_ASCEND_REF_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    main([])
    return [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ascend-ref simulate dense-p", ["dense-pipeline"]),
        ("ascend-ref kernel vector", ["vector-add"]),
        ("ascend-ref scenarios museu", ["museum"]),
        ("ascend-ref spec show table/TASK_", ["table/TASK_PMU_INFO"]),
        ("ascend-ref spec show TASK_P", ["TASK_PMU_INFO"]),
        ("ascend-ref spec list add", ["additions"]),
        ("ascend-ref explain rule/DB401", ["rule/DB401"]),
        ("ascend-ref rules db401", ["DB401"]),
        ("ascend-ref check x --select DB401,db40", [f"DB401,DB40{n}" for n in range(1, 10)]),
    ],
)
def test_a_shell_completes_names(
    words: str,
    offered: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = completed(words, monkeypatch, capsys)
    assert found == offered or set(found) <= set(offered)
    assert found
