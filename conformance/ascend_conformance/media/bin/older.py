"""A clean file of an older epoch, by hand; those of the newest are simulated."""

from __future__ import annotations

from ascend_ref.bin import Block, canonical, to_bytes
from ascend_spec.core import packaged

OLDER = "older"
EPOCH = "E1"


def older_file() -> bytes:
    """A vector operator as the exporter of :data:`EPOCH` wrote it."""
    payloads = packaged(__package__, "older.yaml")
    return to_bytes(Block(code, canonical(payload)) for code, payload in payloads.items())
