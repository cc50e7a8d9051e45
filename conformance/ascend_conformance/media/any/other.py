"""Files that are no profile, but that users take for one: what they are, and what helps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ascend_ref.sniff import SQLITE_HEADER, first_bytes
from ascend_spec.core import parse

HEAD = 1 << 16
"""Bytes that show what a file is."""


def other_file(path: Path, *, databases: bool = True) -> str | None:
    """What a file is and what helps, in words; ``None`` for what is not known, and for databases
    where they are left out.

    Never waits, never fails.
    """
    head = first_bytes(path, HEAD) or b""
    if head.startswith(SQLITE_HEADER) and not databases:
        return None
    found = next((one for one in _kinds() if _is(one, head, path.name)), None)
    return None if found is None else f"{found['what']}; {found['help']}"


def _is(kind: Mapping[str, Any], head: bytes, name: str) -> bool:
    return (
        head.startswith(bytes.fromhex(kind["starts"]))
        and all(text.encode() in head for text in kind.get("holds", ()))
        and ("named" not in kind or re.fullmatch(kind["named"], name) is not None)
    )


@cache
def _kinds() -> Sequence[Mapping[str, Any]]:
    text = files(__package__).joinpath("other_files.yaml").read_text(encoding="utf-8")
    kinds: Sequence[Mapping[str, Any]] = parse(text)
    return kinds
