"""Single edits of the clean files, and what is found afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import handmade

from ascend_conformance.finding import Finding
from ascend_conformance.media.bin.judge import judge_content
from ascend_ref.bin import Block, canonical, parse, read_blocks, to_bytes


def changed(case: str, code: int, change: Callable[[Any], object]) -> bytes:
    """A clean file with one payload changed by a function."""
    return rewritten(handmade.device_file(case), {code: change})


def rewritten(content: bytes, changes: dict[int, Callable[[Any], object]]) -> bytes:
    """A file with the payloads of some block types changed, each by a function."""
    file = read_blocks(content, "file.bin")
    blocks = []
    for entry in file.entries:
        payload = bytes(file.payload(entry))
        if entry.type in changes:
            value = parse(payload)
            changes[entry.type](value)
            payload = canonical(value)
        path = file.path(entry) if entry.type == 0x01 else None
        blocks.append(Block(entry.type, payload, path, entry.version))
    return to_bytes(blocks)


def only(content: bytes, *codes: int) -> bytes:
    """The blocks of some types alone."""
    file = read_blocks(content, "file.bin")
    return to_bytes(
        Block(entry.type, file.payload(entry), version=entry.version)
        for entry in file.entries
        if entry.type in codes
    )


def found(content: bytes, rule: str) -> Finding:
    """The one finding of a rule."""
    findings = [one for one in judge_content(content, "x.bin").findings if one.rule == rule]
    assert len(findings) == 1, [one.rule for one in judge_content(content, "x.bin").findings]
    return findings[0]


def rules_of(content: bytes) -> set[str]:
    """The rules that have something to say of a file."""
    return {finding.rule for finding in judge_content(content, "x.bin").findings}
