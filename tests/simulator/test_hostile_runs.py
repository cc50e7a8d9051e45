"""Runs that cannot be finished, and disks that cannot take them: one line, and nothing is left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import click
import pytest
from slices import some

from ascend_ref.cli import main, shell
from ascend_ref.cli.guard import describe
from ascend_ref.execution import NoCluster, open_executor
from ascend_simulator import simulate
from ascend_simulator.scenario import ScenarioError, parse

FAULTS = "parallelism: {ranks: 2}\nmodel: {layers: 1, hidden: 64, heads: 1}\nfaults: "


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "model: {layers: 1, hidden: 65536, sequence: 1048576, batch: 65536}",
            "one FlashAttentionScoreGrad would take more than",
        ),
        ("model: {kind: cnn, image: 4096, channels: 4096, batch: 65536}", "one Conv2D would take"),
        (
            f"{FAULTS}[{', '.join(['{kind: gc-pause, milliseconds: 600000}'] * 4)}]",
            "the captured steps would take more than 1 h; expected a captured round of at most 1 h",
        ),
        (
            "schedule: {wait: 1000000, warmup: 1000000, active: 1, repeat: 6}\n"
            f"{FAULTS}[{{kind: gc-pause, milliseconds: 600000}}]",
            "schedule.repeat makes a round end after 2115; expected fewer rounds",
        ),
        (
            "model: {layers: 32, hidden: 12288, heads: 96}",
            "rank 0 needs 907.7 GiB of device memory; expected at most the 64 GiB of Ascend910B",
        ),
        (
            "hardware: {product: 200I-500-A2}\nmodel: {kind: cnn, batch: 1}\n"
            "capture: {aic_metrics: PipelineExecuteUtilization}",
            "capture.aic_metrics is PipelineExecuteUtilization; expected null or one of",
        ),
    ],
)
def test_what_no_machine_could_capture_is_refused(
    text: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In longer rounds counters, sums of times and the number of samples would overflow."""
    path = tmp_path / "long.yaml"
    path.write_text(f"name: long\n{text}", encoding="utf-8")
    assert main(["simulate", str(path), "-o", str(tmp_path / "o")]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"ascend-ref: error: long: {line}")
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == [path]


def test_python_is_told_the_same() -> None:
    with pytest.raises(ScenarioError, match=r"^unnamed: one Conv2D would take"):
        simulate(parse("model: {kind: cnn, image: 4096, channels: 4096, batch: 65536}"))


@pytest.mark.parametrize(
    "faults",
    [
        "[{kind: slow-rank, factor: 1000000}, {kind: slow-rank, ranks: [1], factor: 1001}]",
        "[{kind: slow-link, link: [0, 1], factor: 40000}, "
        "{kind: slow-link, link: [1, 0], steps: [1, 1], factor: 40000}]",
    ],
)
def test_faults_that_multiply_have_a_bound_together(faults: str) -> None:
    with pytest.raises(ScenarioError, match=r"faults\[.\]\.factor is .* more than 1000 times"):
        parse(f"{FAULTS}{faults}")


@pytest.mark.parametrize(
    "faults",
    [
        "[{kind: slow-rank, ranks: [0], factor: 1000000}, "
        "{kind: slow-rank, ranks: [1], factor: 1001}]",
        "[{kind: slow-rank, steps: [1, 1], factor: 1000000}, "
        "{kind: slow-rank, steps: [2, 2], factor: 1001}]",
        "[{kind: slow-rank, factor: 1000000}, {kind: host-bound-launch, factor: 1000000}]",
    ],
)
def test_faults_that_meet_nowhere_are_bounded_alone(faults: str) -> None:
    assert parse(f"{FAULTS}{faults}").faults


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("parallelism: {ranks: 010}", "parallelism.ranks is 010, which YAML reads as octal"),
        ("model: {layers: 1:30}", "model.layers is 1:30, which YAML reads as octal or as minutes"),
        ('name: "a\\n"', "name is the text 'a\\n'; expected a name of up to 64 letters"),
        (r'summary: "a\e[31m"', r"summary is the text 'a\x1b[31m'; expected a text of at most 200"),
    ],
)
def test_what_readers_understand_differently_is_refused(text: str, line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse(text, "my.yaml")
    assert str(caught.value).startswith(f"my.yaml:1: {line}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("workers", some(["1", "2"], every=2))
def test_a_full_disk_is_told_in_a_line(workers: str, tmp_path: Path) -> None:
    """Files may not grow beyond 300 kB, which SQLite tells as it tells a full disk."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    words = ["simulate", "dense-8", "--ranks", "2", "-o", str(tmp_path / "o")]
    words += ["--workers", workers]
    done = subprocess.run(
        [sys.executable, "-m", "ascend_ref", *words],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(".db: Input/output error\n")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_too_long_does_not_hide_the_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["simulate", "single-op", "-o", "b/" * 3000]) == 2
    assert capsys.readouterr().err.endswith("b: File name too long\n")
    assert describe(OSError(2, os.strerror(2), b"a")) == "a: No such file or directory"


@pytest.mark.parametrize("formats", ["", " , "])
def test_no_format_at_all_is_refused(
    formats: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["simulate", "single-op", "-o", str(tmp_path / "o"), "--as", formats]
    assert main(words) == 2
    assert "names nothing; expected some of pytorch-db, " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sign", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
    ids=["Ctrl-C", "end"],
)
def test_an_interrupt_while_compiled_modules_are_imported_is_not_lost(
    sign: signal.Signals,
    code: int,
    word: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They may swallow any exception that they meet, as pyarrow does."""

    class Swallowing:
        def load(self) -> click.Command:
            with suppress(BaseException):
                os.kill(os.getpid(), sign)
                time.sleep(0.1)
            return click.Command("swallow", callback=lambda: 0)

    monkeypatch.setattr(shell, "installed_verbs", lambda: {"swallow": Swallowing()})
    assert main(["swallow"]) == code
    assert capsys.readouterr().err == f"ascend-ref: {word}\n"


def test_an_encrypted_address_without_certificates_is_refused() -> None:
    with (
        pytest.raises(NoCluster, match=r"^dask: no scheduler answers at 'tls://127.0.0.1:1'"),
        open_executor(dask="tls://127.0.0.1:1"),
    ):
        pass
