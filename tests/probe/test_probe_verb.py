"""``ascend-ref probe`` at the command line, also against ``ascend-ref serve``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from probe_breaks import breaking
from probe_files import handmade
from probe_servers import listening, reference
from websockets.sync.server import ServerConnection

from ascend_conformance.cli.probe import probe
from ascend_conformance.report import report_schema
from ascend_ref.cli.guard import CommandError

SECONDS = 30
PROGRAM = """
import sys
from ascend_ref.cli.guard import guarded
from {module} import {verb} as verb

def run():
    with verb.make_context("{verb}", sys.argv[1:]) as context:
        return verb.invoke(context) or 0

sys.exit(guarded("ascend-ref", run))
"""
SERVE = PROGRAM.format(module="ascend_ref.tools.serve.verb", verb="serve")
PROBE = PROGRAM.format(module="ascend_conformance.cli.probe", verb="probe")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return handmade(tmp_path_factory.mktemp("probed"))


def run(*words: object) -> object:
    with click.Context(probe):
        return probe.main([str(word) for word in words], standalone_mode=False)


@contextmanager
def process(program: str, *words: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    command = [sys.executable, "-c", program, *map(str, words)]
    with subprocess.Popen(command, text=True, **piped) as started:
        try:
            yield started
        finally:
            if started.poll() is None:
                started.kill()


def test_serve_and_probe_in_two_processes_agree(file: Path) -> None:
    with process(SERVE, file, "--port", 0, "--once") as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        with process(PROBE, address, "--file", file) as client:
            out, err = client.communicate(timeout=SECONDS)
        assert (client.returncode, err) == (0, "")
        assert out.startswith("conforms: no violation, no advice, no note\n")
        assert address in out
        server.communicate(timeout=SECONDS)
        assert server.returncode == 0


def test_a_violation_is_told_and_ends_with_1(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"command": "source/details/roofline", "set": "/body/soc", "to": "Ascend310P"}
    with reference(file) as server:
        server.change = breaking(document)
        assert run(server.address, "--file", file) == 1
        told = capsys.readouterr()
        assert told.err == ""
        for part in ("API004", "source/details/roofline: /body/soc", "Ascend310P", "Ascend910B4"):
            assert part in told.out
        assert run(server.address, "--file", file, "--format", "json") == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, report_schema())
    (judged,) = document["files"]
    assert judged["seen"]["revision"] == "upstream"
    (finding,) = judged["findings"]
    assert (finding["table"], finding["column"]) == ("source/details/roofline", "/body/soc")
    assert finding["pointer"] == "/body/soc"


def test_advice_alone_ends_with_0(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with reference(file) as server:
        server.change = breaking(
            {"command": "source/details/baseInfo", "set": "/body/compare/x", "to": 1}
        )
        assert run(server.address, "--file", file, "--commands", "source/details/baseInfo") == 0
    assert "API011" in capsys.readouterr().out


def test_only_the_commands_that_are_asked_for_are_sent(file: Path) -> None:
    sent: list[str] = []
    with reference(file) as server:
        server.heard = lambda text: sent.append(text) or text
        assert run(server.address, "--file", file, "--commands", "unit/flows,source/api/*") == 0
    names = {json.loads(text)["command"] for text in sent}
    assert names == {
        "import/action",
        "unit/flows",
        "unit/threadTraces",
        "source/api/line",
        "source/api/line/dynamic",
        "source/api/instructions",
        "source/api/instructions/dynamic",
    }


def test_a_command_that_does_not_exist_is_refused(file: Path) -> None:
    with pytest.raises(click.UsageError, match=r"did you mean source/details/roofline"):
        run("ws://127.0.0.1:9", "--file", file, "--commands", "source/details/rofline")


def test_without_server_or_file_one_line_says_so(file: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"ws://127.0.0.1:9: .*expected a server of WebSockets"):
        run("ws://user:secret@127.0.0.1:9", "--file", file)
    with pytest.raises(CommandError, match=r"nothing.bin: No such file"):
        run("ws://127.0.0.1:9", "--file", tmp_path / "nothing.bin")


def silent(client: ServerConnection) -> None:
    for _ in client:
        pass


def test_an_interrupt_ends_it_at_once_with_one_line(file: Path) -> None:
    began: list[ServerConnection] = []

    def attend(client: ServerConnection) -> None:
        client.recv()
        began.append(client)
        os.kill(running.pid, signal.SIGINT)
        silent(client)

    with listening(attend) as address:
        with process(PROBE, address, "--file", file, "--timeout", 600) as running:
            out, err = running.communicate(timeout=SECONDS)
        assert (running.returncode, out, err) == (130, "", "ascend-ref: interrupted\n")
    assert began


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_progress_is_shown_on_a_terminal_only(file: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    shown = b""
    with (
        reference(file) as server,
        process(PROBE, server.address, "--file", file, stderr=theirs) as running,
    ):
        os.close(theirs)
        with suppress(OSError):  # the terminal ends with the process
            while part := os.read(ours, 4096):
                shown += part
        out, _ = running.communicate(timeout=SECONDS)
    os.close(ours)
    assert running.returncode == 0
    assert out.startswith("conforms: ")
    assert b"connecting" in shown
