"""Blocks 0x03 and 0x04 made by hand, and what is asked of them."""

from __future__ import annotations

from typing import Any

from api_files import body, json_block

from ascend_ref.tools.serve import Answers

CORES = ["core0.cubecore0", "core0.veccore0"]
DECLARED = {"Address Range": 0, "Line": 1, "Cycles": 1, "L2Cache Hit Rate": 4, "Note": 3}


def lines_block(lines: list[object], declared: object = None, source: str = "/a.cpp") -> Any:
    document: dict[str, object] = {"Files": [{"Source": source, "Lines": lines}]}
    if declared is not None:
        document["Files Dtype"] = {"Lines": declared}
    return json_block(0x03, document)


def instructions_block(listed: list[object], declared: object = None, cores: object = None) -> Any:
    document: dict[str, object] = {"Cores": CORES if cores is None else cores}
    document["Instructions"] = listed
    if declared is not None:
        document["Instructions Dtype"] = {"Instructions": declared}
    return json_block(0x04, document, version=0)


def lines_of(asked: Answers, core: str, source: str = "/a.cpp") -> Any:
    return body(asked, "source/api/line/dynamic", sourceName=source, coreName=core)


def instructions_of(asked: Answers, core: str = "") -> Any:
    return body(asked, "source/api/instructions/dynamic", coreName=core)
