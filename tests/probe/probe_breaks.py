"""What the rules' documents call a break, done to the messages of a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from probe_servers import Change, Message, Sent


def tokens_of(pointer: str) -> list[str | int]:
    parts = pointer.split("/")[1:]
    return [int(part) if part.isdecimal() else unescaped(part) for part in parts]


def unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def column_of(pointer: str) -> str:
    """The column of a place, spelled out here once more: indices are ``*``."""
    return "/".join("*" if part.isdecimal() else part for part in pointer.split("/"))


def edit(message: Message, pointer: str, act: Callable[[Any, Any], None]) -> None:
    """``act`` on the container and key that a pointer leads to."""
    *above, last = tokens_of(pointer)
    container: Any = message
    for token in above:
        container = container[token]
    act(container, last)


def unwrapped(value: Any) -> Any:
    """A body without compare, baseline and diff, and without what came with them."""
    if isinstance(value, dict):
        inner = value.get("compare", value)
        return {
            key: unwrapped(member)
            for key, member in inner.items()
            if key not in ("deviceId", "pid", "requestSuffix", "bandwidthSuffix")
        }
    return [unwrapped(element) for element in value] if isinstance(value, list) else value


def changed(message: Message, document: Mapping[str, Any]) -> Iterable[Sent]:
    """What is sent instead of one message that a break is about."""
    if document.get("silent"):
        return []
    if document.get("close"):
        return [None]
    if document.get("twice"):
        return [message, message]
    if "also" in document:
        text = document["also"]
        return [text.encode() if document.get("binary") else text, message]
    if "double" in document:
        key = json.dumps(tokens_of(document["double"])[-1])
        found: list[Any] = []
        edit(message, document["double"], lambda container, name: found.append(container[name]))
        member = f"{key}: {json.dumps(found[0])}"
        return [json.dumps(message).replace(member, f"{key}: null, {member}", 1)]
    if "set" in document:

        def put(container: Any, key: Any) -> None:
            value = document["to"]
            if isinstance(value, str) and "{value}" in value:
                value = value.replace("{value}", container[key])
            container[key] = value

        edit(message, document["set"], put)
    elif "remove" in document:
        edit(message, document["remove"], lambda container, key: container.__delitem__(key))
    elif "append" in document:
        edit(
            message,
            document["append"],
            lambda container, key: container[key].append(document["value"]),
        )
    elif "unwrap" in document:
        edit(
            message,
            document["unwrap"],
            lambda container, key: container.__setitem__(key, unwrapped(container[key])),
        )
    else:
        raise AssertionError(document)
    return [message]


def breaking(document: Mapping[str, Any]) -> Change:
    """The server that a rule's document describes.

    A command is broken in those of its answers that have result true, or with ``refused`` in the
    others; a pointer that one of these does not have leaves it alone.
    """

    def change(_request: Message, message: Message) -> Iterable[Sent]:
        if "event" in document:
            concerned = message.get("event") == document["event"]
        else:
            concerned = message.get("command") == document.get("command")
            concerned = concerned and message["result"] is not document.get("refused", False)
        if not concerned:
            return [message]
        try:
            return changed(message, document)
        except (KeyError, IndexError):
            return [message]

    return change
