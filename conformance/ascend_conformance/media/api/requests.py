"""Requests as the probe sends them, in the words of the reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ascend_ref.db.display import clip, printable
from ascend_spec import api_catalog

SHOWN = 160
"""Characters of parameters that are shown."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    ``params`` name cards, processes, lanes and slices as the reference does. ``changed`` members of
    the message replace the right ones, those named in ``without`` are left out, and a ``text`` is
    sent instead of a message. A server may drop it where the reference drops it, too.
    """

    command: str
    params: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    text: str | None = None

    def message(self, number: int, params: Mapping[str, Any]) -> str:
        """What is sent; ``params`` as the server names things."""
        if self.text is not None:
            return self.text
        known = api_catalog().commands.get(self.command)
        message = {
            "id": number,
            "moduleName": known.module if known else "source",
            "type": "request",
            "command": self.command,
            "params": dict(params),
            **self.changed,
        }
        sent = {key: value for key, value in message.items() if key not in self.without}
        return json.dumps(sent, ensure_ascii=False)

    @property
    def shown(self) -> str:
        """What distinguishes the request from others, on one short line."""
        if self.text is not None:
            return clip(printable(self.text), SHOWN)
        parts: dict[str, Any] = {**self.params, **self.changed}
        text = json.dumps(parts, ensure_ascii=False)
        left_out = f" without {', '.join(self.without)}" if self.without else ""
        return clip(printable(f"{text}{left_out}"), SHOWN)
