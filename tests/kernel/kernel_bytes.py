"""A file taken apart by plain code, so that nothing of the writer is trusted."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ascend_ref.bin import to_bytes
from ascend_simulator.operator import KernelRun, simulate_kernel
from ascend_simulator.operator.scenario import KernelScenario, parse

PATH_SECTION = 4096
GIBI = 1 << 30


@dataclass(frozen=True)
class Plain:
    """One block. path: of type 0x01. version: byte 10."""

    type: int
    version: int
    path: str
    payload: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.payload)


@dataclass(frozen=True)
class Written:
    """A kernel that ran, and its file as bytes and as blocks."""

    run: KernelRun
    content: bytes
    blocks: Sequence[Plain]

    @property
    def truth(self) -> dict[str, Any]:
        return self.run.truth

    @property
    def types(self) -> list[int]:
        return [one.type for one in self.blocks]

    def block(self, code: int) -> Plain:
        return next(one for one in self.blocks if one.type == code)

    def json(self, code: int) -> Any:
        return self.block(code).json


def scenario(text: str) -> KernelScenario:
    return parse(f"name: test\n{text}")


@cache
def written(text: str, seed: int = 0) -> Written:
    """The file of the scenario in a YAML text."""
    run = simulate_kernel(scenario(text), seed)
    content = to_bytes(run.blocks())
    return Written(run, content, walk(content))


def walk(content: bytes) -> list[Plain]:
    """Header after header, as bin-blocks.md 1.1 states them."""
    found, at = [], 0
    while at < len(content):
        size, code, padding, version, filler = struct.unpack_from("<QBBBB", content, at)
        assert filler == 0x5A
        assert size % 4 == 0
        at += 12
        path = ""
        if code == 0x01:
            path = content[at : at + PATH_SECTION].split(b"\0")[0].decode()
            at += PATH_SECTION
        assert not any(content[at + size - padding : at + size])
        found.append(Plain(code, version, path, content[at : at + size - padding]))
        at += size
    assert at == len(content)
    return found


def tables(document: Any, block: int = 0) -> dict[str, dict[str, list[str]]]:
    """The tables of one block of 0x09: by name, their rows by name."""
    details = document["table_per_block"][block]["table_detail"]
    return {one["table_name"]: {row["name"]: row["value"] for row in one["row"]} for one in details}


VECTOR = "operator: {kind: gelu, shape: [300, 1000]}\ndevice: {block_dim: 5}"
ADD = "operator: {kind: add, shape: [90000]}\ndevice: {block_dim: 3}"
CUBE = "operator: {kind: matmul, shape: [300, 500, 700]}\ndevice: {block_dim: 3}"
MIX = (
    "operator: {kind: matmul-leakyrelu, shape: [256, 320, 512]}\n"
    "device: {block_dim: 2}\ntiling: {m: 64, n: 128}"
)
ATTENTION = "operator: {kind: flash-attention, shape: [1, 2, 128, 64]}\ndevice: {block_dim: 2}"
GATHER = (
    "operator: {kind: gather, shape: [500, 48, 900], data_type: float32}\n"
    "device: {chip: Ascend950PR_9599, block_dim: 2}"
)
UNIFIED = (
    "operator: {kind: matmul-leakyrelu, shape: [256, 320, 512]}\n"
    "device: {chip: Ascend310P3, block_dim: 2}"
)
NEAR = (
    "operator: {kind: matmul-leakyrelu, shape: [256, 320, 512]}\n"
    "device: {chip: Ascend950PR_9589, block_dim: 2}"
)
DEVICE = (VECTOR, ADD, CUBE, MIX, ATTENTION, GATHER, UNIFIED, NEAR)
SIMULATED = tuple(
    f"{text}\ncapture: {{mode: simulator}}"
    for text in (VECTOR, ADD, CUBE, MIX, ATTENTION, UNIFIED, NEAR)
)
EVERYTHING = tuple(f"{text}\ncapture: {{mode: everything, access_bytes: 128}}" for text in DEVICE)
