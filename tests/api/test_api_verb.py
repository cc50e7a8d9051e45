"""``ascend-ref serve`` at the command line."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

import click
import pytest
from api_files import json_block, request, trace_block
from started_command import SECONDS, started
from websockets.sync.client import connect

from ascend_ref.bin import to_bytes
from ascend_ref.cli.guard import CommandError
from ascend_ref.tools.serve.verb import serve


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "visualize_data.bin"
    event = {"ph": "X", "name": "n", "pid": "p", "tid": "t", "ts": 5, "dur": 1}
    path.write_bytes(to_bytes([json_block(0x05, {"name": "n"}), trace_block([event])]))
    return path


def run(*words: object) -> object:
    with click.Context(serve):
        return serve.main([str(word) for word in words], standalone_mode=False)


def test_the_address_is_printed_and_the_first_client_ends_it(file: Path) -> None:
    with started("serve", file, "--port", 0, "--once", "--baseline", file) as (process, address):
        assert address.startswith("ws://127.0.0.1:")
        with connect(address) as client:
            params = {"path": [str(file)], "projectName": "p", "projectAction": 1}
            client.send(json.dumps(request("import/action", **params)))
            answer = json.loads(client.recv(SECONDS))
        assert answer["body"]["result"][0]["rankId"] == os.path.realpath(file)
        out, err = process.communicate(timeout=SECONDS)
        assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize(
    ("number", "code", "told"),
    [
        (signal.SIGINT, 130, "ascend-ref: interrupted\n"),
        (signal.SIGTERM, 143, "ascend-ref: terminated\n"),
    ],
)
def test_a_signal_ends_it_in_one_line_also_with_a_client(
    file: Path, number: signal.Signals, code: int, told: str
) -> None:
    with started("serve", file, "--port", 0) as (process, address), connect(address) as client:
        client.send(json.dumps(request("source/details/roofline")))
        assert client.recv(SECONDS)
        process.send_signal(number)
        _, err = process.communicate(timeout=SECONDS)
        assert (process.returncode, err) == (code, told)


@pytest.mark.parametrize("host", ["192.0.2.1", "::", "example.org"])
def test_other_machines_are_let_in_only_when_asked_for(file: Path, host: str) -> None:
    with pytest.raises(click.UsageError, match="--allow-remote"):
        run(file, "--host", host, "--port", 0)


def test_a_file_that_is_none_is_told_in_one_line(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"not a block file")
    for words in ([other], [tmp_path / "missing"], [tmp_path], [file, "--baseline", other]):
        with pytest.raises(CommandError) as problem:
            run(*words, "--port", 0)
        assert "\n" not in str(problem.value)


def test_a_port_that_is_taken_is_told_in_one_line(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError) as problem:
            run(file, "--port", port)
    told = f"cannot listen at 127.0.0.1, port {port}: address already in use"
    assert str(problem.value).lower() == told


@pytest.mark.parametrize(
    "origin",
    ["viewer.example", "https://viewer.example/", "https://Viewer.example", "*", "https://"],
)
def test_an_origin_that_no_page_has_is_refused(file: Path, origin: str) -> None:
    with pytest.raises(click.BadParameter, match=r"as https://viewer\.example:8443"):
        serve.make_context("serve", [str(file), "--allow-origin", origin])


def test_an_address_that_cannot_be_told_is_not_blamed_on_the_network(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(_text: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(click, "echo", closed)
    with pytest.raises(BrokenPipeError):
        run(file, "--port", 0)


@pytest.mark.parametrize("port", [-1, 65536, "x"])
def test_a_port_is_a_number_of_16_bits(file: Path, port: object) -> None:
    with pytest.raises(click.BadParameter):
        run(file, "--port", port)
