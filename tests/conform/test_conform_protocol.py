"""Exporters that are long-lived processes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_conform import STAGE, TINY

from ascend_conformance.harness.limits import Limits
from ascend_conformance.harness.named import exporter_of
from ascend_conformance.harness.trial import Tried, try_case

EXAMPLES = Path(__file__).parents[2] / "examples"
COPY = (
    "import sys; from pathlib import Path; "
    "from ascend_conformance.harness.database_to_text import reference; "
    "reference(Path(sys.argv[1]), Path(sys.argv[2]))"
)
COMMAND = f'{sys.executable} -c "{COPY}" {{in}} {{out}}'


def tried(command: str, seconds: float = 60.0) -> Tried:
    exporter = exporter_of(f"jsonl:{command}", STAGE.name, Limits(seconds), STAGE.reference)
    try:
        return try_case(exporter, STAGE, TINY)
    finally:
        exporter.close()


def test_python_client_exports() -> None:
    found = tried(f"{sys.executable} {EXAMPLES / 'exporter.py'} {COMMAND}")
    assert found.result.how == "done", found.result
    assert found.failures == ()


@pytest.mark.exhaustive
def test_cpp_client_exports(tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program = tmp_path / "exporter"
    source = EXAMPLES / "exporter.cpp"
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Werror", "-o", program, source], check=True)
    found = tried(f"{program} {COMMAND}")
    assert found.result.how == "done", found.result
    assert found.failures == ()


@pytest.mark.parametrize("name", ["exporter.py", "exporter.cpp"])
def test_clients_are_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text().splitlines()) < 150


TALKS = {
    "other number": ("print(json.dumps({'seq': 7, 'is': 'result'}), flush=True)", "broken"),
    "no JSON": ("print('hello', flush=True)", "broken"),
    "other kind": ("print(json.dumps({'seq': n, 'is': 'done'}), flush=True)", "broken"),
    "request": ("print(line, end='', flush=True)", "broken"),
    "end": ("sys.exit(0)", "broken"),
    "silence": ("pass", "hung"),
    "error": ("say({'is': 'error', 'message': 'no'} if n > 1 else {'is': 'result'})", "refused"),
    "skipped": ("say({'is': 'skipped', 'reason': 'no'} if n > 1 else {'is': 'result'})", "skipped"),
}


@pytest.mark.parametrize("talk", TALKS)
def test_what_a_process_answers_is_a_result(talk: str, tmp_path: Path) -> None:
    answer, how = TALKS[talk]
    script = tmp_path / "exporter.py"
    script.write_text(
        "import json, sys\n"
        "def say(answer): print(json.dumps({'seq': n, **answer}), flush=True)\n"
        "for n, line in enumerate(sys.stdin, start=1):\n"
        f"    {answer}\n"
    )
    assert tried(f"{sys.executable} {script}", 1.0).result.how == how
