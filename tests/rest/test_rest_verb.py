"""``ascend-ref serve DIR`` at the command line."""

from __future__ import annotations

import signal
import socket
import sys
from pathlib import Path

import pytest
from rest_files import SECONDS, Client, write_files
from started_command import started

from ascend_ref.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path / "job/profiler")
    return tmp_path


@pytest.mark.parametrize(
    ("number", "code", "line"),
    [
        (signal.SIGINT, 130, "ascend-ref: interrupted\n"),
        (signal.SIGTERM, 143, "ascend-ref: terminated\n"),
    ],
)
def test_m9_a_folder_is_served_until_a_signal_comes(
    folder: Path, number: signal.Signals, code: int, line: str
) -> None:
    with started("serve", folder, "--port", 0) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        client = Client(address)
        assert client.ask("devices", train_id="job", profile="profiler")[0] == 200
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as waiting:
            waiting.sendall(b"POST /v1/mindinsight/profile/ops/search HTTP/1.1\r\n")
            process.send_signal(number)
            out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, err) == (code, "", line)


def test_m9_an_address_of_the_sixth_version_is_printed_in_brackets(folder: Path) -> None:
    if not socket.has_ipv6:
        pytest.skip("needs IPv6")
    with started("serve", folder, "--port", 0, "--host", "::1") as (_, address):
        if not address:
            pytest.skip("needs IPv6 on this machine")
        assert address.startswith("http://[::1]:")
        assert Client(address).send("GET", "/openapi.json")[0] == 200


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["serve", *map(str, words)]) == 2
    return capsys.readouterr().err


def test_m9_what_cannot_be_served_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no intermediate file of MindSpore's profiler in it" in refused(capsys, empty)
    assert "--baseline and --once are for a FILE" in refused(capsys, folder, "--once")
    assert "add --allow-remote" in refused(capsys, folder, "--host", "0.0.0.0")  # noqa: S104
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen at 127.0.0.1, port {port}: Address already in use" in refused(
            capsys, folder, "--port", port
        )
    assert "cannot listen at no.such.host.invalid" in refused(
        capsys, folder, "--host", "no.such.host.invalid", "--allow-remote"
    )


def test_m9_the_extra_is_named_where_it_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "ascend_ref.tools.serve.rest.app", raising=False)
    assert "pip install 'ascend-ref[serve]'" in refused(capsys, folder)
