"""``ascend-ref kernel`` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from kernel_bytes import walk

from ascend_ref.cli import main
from ascend_simulator.operator import simulate_kernel, write_kernel
from ascend_simulator.operator.blocks.file import File
from ascend_simulator.operator.scenario import kernel_schema, parse, preset, preset_names
from ascend_simulator.operator.truth import truth_schema

SMALL = "name: small\noperator: {kind: add, shape: [5000]}\ndevice: {block_dim: 2}\n"


def run(*words: str) -> int:
    return main(["kernel", *words])


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_a_file_and_its_truth_are_written(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("small.yaml", "-o", "new/run", "--seed", "3") == 0
    told, errors = capsys.readouterr()
    assert errors == ""
    content = (document.parent / "new/run/visualize_data.bin").read_bytes()
    blocks = walk(content)
    assert told == (
        f"new/run/visualize_data.bin: {len(blocks)} blocks, {len(content):,} Byte; "
        "what is true of it in new/run/truth.json\n"
    )
    truth = json.loads((document.parent / "new/run/truth.json").read_text(encoding="utf-8"))
    Draft202012Validator(truth_schema()).validate(truth)
    assert truth == simulate_kernel(parse(SMALL), 3).truth
    assert sorted(path.name for path in (document.parent / "new").iterdir()) == ["run"]


def test_options_replace_what_the_scenario_says(document: Path) -> None:
    words = ["--mode", "simulator", "--chip", "Ascend910B1", "--block-dim", "3"]
    assert run("./small.yaml", *words) == 0
    truth = json.loads((document.parent / "small/truth.json").read_text(encoding="utf-8"))
    assert (truth["mode"], truth["chip"], truth["blocks"]) == ("simulator", "Ascend910B1", 3)


def test_the_same_words_give_the_same_bytes(document: Path) -> None:
    for name in ("a", "b"):
        assert run("vector-add", "-o", name) == 0
    folder = document.parent
    for name in ("visualize_data.bin", "truth.json"):
        assert (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes()


def test_presets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "--of", "kernel"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == preset_names()


def test_the_schemas_and_a_scenario_are_printed(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_kernels = ["scenarios", "--of", "kernel"]
    assert main([*of_kernels, "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == kernel_schema().value
    assert main([*of_kernels, "--truth-schema"]) == 0
    assert json.loads(capsys.readouterr().out) == truth_schema()
    assert main(["scenarios", "softmax", "--yaml"]) == 0
    assert parse(capsys.readouterr().out) == preset("softmax")
    assert main([*of_kernels, str(document), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "small"
    assert main(["scenarios", "softmax"]) == 0
    assert "operator.kind" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "Missing argument 'PRESET|FILE'"),
        (["vector-ad"], "did you mean vector-add?"),
        (["absent.yaml"], "absent.yaml"),
        (["softmax", "--chip", "Ascend910B9"], "softmax with --chip Ascend910B9: device.chip is"),
        (["softmax", "--mode", "devise"], "capture.mode is the text 'devise'; expected one of"),
        (["softmax", "--block-dim", "0"], "device.block_dim is 0; expected an integer from 1"),
        (["softmax", "--block-dim", "x"], "--block-dim"),
        (["softmax", "--seed", "-1"], "--seed"),
        (["softmax", "--seed", str(1 << 63)], "seed is 9223372036854775808; expected an integer"),
        (["flash-attention", "--chip", "Ascend310P3"], "operator.kind is flash-attention"),
    ],
)
def test_errors_are_one_line(
    document: Path, capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert run(*words) == 2
    told, errors = capsys.readouterr()
    assert told == ""
    assert line in errors
    assert errors.count("\n") == 1
    assert list(document.parent.iterdir()) == [document]


def test_what_exists_is_left_alone(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (document.parent / "small").mkdir()
    assert run("small.yaml") == 2
    assert "small exists already" in capsys.readouterr().err
    assert list((document.parent / "small").iterdir()) == []


def test_a_run_that_fails_leaves_nothing(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: File) -> Callable[[], None]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(File, "blocks", failing)
    with pytest.raises(OSError, match="No space"):
        write_kernel(parse(SMALL), document.parent / "out")
    assert list(document.parent.iterdir()) == [document]
