"""A headless Chromium that opens files and states what it was asked for and what went wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

PATIENCE = 60.0
"""Seconds in which a machine that has other work starts the browser, or shows a page."""

OPTIONS = (
    "--headless",
    "--no-sandbox",  # CI runs as root, for whom Chromium has no sandbox
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-extensions",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
)


class Tab:
    """One page after another, by the DevTools protocol.

    ``requested`` are the addresses that the pages asked for, ``errors`` what scripts threw, what
    the console states as an error, and what the policy of a page refused.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._last = 0
        self._loaded = False
        self.requested: list[str] = []
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """The answer to a command; what happens meanwhile is noted."""
        self._last += 1
        call = {"id": self._last, "method": method, "params": parameters}
        self._connection.send(json.dumps(call))
        while True:
            message = json.loads(self._connection.recv(timeout=PATIENCE))
            if message.get("id") == self._last:
                assert "error" not in message, message
                answer: dict[str, Any] = message["result"]
                return answer
            self._note(message)

    def _note(self, message: Mapping[str, Any]) -> None:
        given = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.requested.append(given["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(str(given["exceptionDetails"]))
            case "Log.entryAdded" if given["entry"]["level"] in {"error", "warning"}:
                self.errors.append(given["entry"]["text"])
            case "Runtime.consoleAPICalled" if given["type"] in {"error", "warning", "assert"}:
                self.errors.append(str(given["args"]))

    def open(self, page: Path, fragment: str = "") -> None:
        """Show a file, and wait until it has loaded."""
        self._load("about:blank")  # else another fragment of a page does not load it again
        self._load(page.resolve().as_uri() + fragment)

    def _load(self, address: str) -> None:
        self._loaded = False
        self.ask("Page.navigate", url=address)
        end = time.monotonic() + PATIENCE
        while not self._loaded and time.monotonic() < end:
            self.ask("Runtime.evaluate", expression="0")
            time.sleep(0.02)
        assert self._loaded, f"{address} has not loaded"

    def value(self, expression: str) -> Any:
        """What a JavaScript expression is on the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """What an expression is as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while not (found := self.value(expression)):
            assert time.monotonic() < end, f"{expression} has not become true"
            time.sleep(0.05)
        return found

    def text(self) -> str:
        """The text that is shown, also where scripts are off."""
        tree = self.ask("Accessibility.getFullAXTree")["nodes"]
        names = (one.get("name", {}).get("value", "") for one in tree if not one["ignored"])
        return "\n".join(map(str, names))

    def press(self, key: str) -> None:
        """A key goes down and up."""
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        down = {"key": key, "code": key, "windowsVirtualKeyCode": code, **text}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **down)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **down)

    def prefers(self, scheme: str) -> None:
        """Show pages as to somebody who prefers ``light`` or ``dark``."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def picture(self, width: int, height: int) -> bytes:
        """The PNG of what is in a window of this size, in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        return b64decode(self.ask("Page.captureScreenshot", format="png")["data"])


@contextmanager
def new_tab() -> Iterator[Tab]:
    """A browser of its own; the test is skipped where none is installed."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed, so pages are not seen")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        command = [chromium, *OPTIONS, f"--user-data-dir={home}", "about:blank"]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            with connect(_address(Path(home), process), max_size=None, compression=None) as browser:
                yield Tab(browser)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _address(home: Path, process: subprocess.Popen[bytes]) -> str:
    """Where the first page of a browser that starts is spoken to."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            port, path = (home / "DevToolsActivePort").read_text(encoding="utf-8").splitlines()
            with connect(f"ws://127.0.0.1:{port}{path}", max_size=None) as whole:
                whole.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
                targets = json.loads(whole.recv(timeout=PATIENCE))["result"]["targetInfos"]
                page = next(one["targetId"] for one in targets if one["type"] == "page")
                return f"ws://127.0.0.1:{port}/devtools/page/{page}"
        except (OSError, ValueError, StopIteration, WebSocketException):
            time.sleep(0.05)
    raise AssertionError("Chromium has not started")
