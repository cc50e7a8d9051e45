"""Messages around parameters and bodies (bin-blocks.md 7.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ascend_spec import api_catalog

from .answer import Answer, Body
from .values import is_integer

FRAMING = ("Content-Length:", "\r\n\r\n")
"""Texts by which the viewer's server separates messages; a message that holds one is lost."""

COUNTER = range(1 << 32)


@dataclass(frozen=True, slots=True)
class Request:
    """A request that can be answered."""

    id: int
    module: str
    command: str
    params: dict[str, Any]
    project: str
    callback: int | None


def read_request(message: str) -> Request | None:
    """The request in a message; ``None`` for what the viewer's server drops without an answer.

    That is: no JSON object, a member missing or null, another type than request, ``params`` that is
    no object, and a command that the module does not have. An id that is no unsigned number of 32
    bits counts as 0.
    """
    if any(mark in message for mark in FRAMING):
        return None
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("id") is None or value.get("type") != "request":
        return None
    command, params = value.get("command"), value.get("params")
    known = api_catalog().commands.get(command) if isinstance(command, str) else None
    if known is None or known.module != value.get("moduleName") or not isinstance(params, dict):
        return None
    project, callback = value.get("projectName"), value.get("resultCallbackId")
    return Request(
        id=value["id"] if is_integer(value["id"], COUNTER) else 0,
        module=known.module,
        command=known.name,
        params=params,
        project=project if isinstance(project, str) else "",
        callback=callback if is_integer(callback) else None,
    )


def response(number: int, request: Request, answer: Answer) -> Body:
    """The message that answers a request."""
    return {
        "type": "response",
        "id": number,
        "requestId": request.id,
        "result": answer.result,
        "command": request.command,
        "moduleName": request.module,
        **(
            {"error": {"code": answer.error.code, "message": answer.error.message}}
            if answer.error
            else {}
        ),
        **({} if request.callback is None else {"resultCallbackId": request.callback}),
        "body": answer.body,
    }


def event(number: int, name: str, body: Body) -> Body:
    """The message of an event."""
    module = api_catalog().events[name].module
    return {"type": "event", "id": number, "event": name, "moduleName": module, "body": body}


def encoded(message: Body) -> str:
    """A message as it is sent: no spaces, characters as they are, halves of characters escaped."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode() if not text.isascii() else text
