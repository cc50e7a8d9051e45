"""Real ``visualize_data.bin`` files, read by nothing but struct and json."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

REAL = Path(__file__).parents[2] / "../shared/data/bin"
EPOCHS = {"base_info.bin": "E0", "mix.bin": "E2", "roofline_data.bin": "E2"}


def payloads(name: str) -> dict[int, Any]:
    """The JSON of each block, by type; the real files have one of each."""
    path = REAL / name
    if not path.is_file():
        pytest.skip("no real files in ../shared/data/bin")
    data, at, found = path.read_bytes(), 0, {}
    while at < len(data):
        size, kind, padding, _, _ = struct.unpack_from("<QBBBB", data, at)
        found[kind] = json.loads(data[at + 12 : at + 12 + size - padding])
        at += 12 + size
    return found
