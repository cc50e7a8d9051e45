"""When the pipes of single cores worked, a trace of words for each core."""

from __future__ import annotations

from ascend_ref.capture import Capture

from ..fields import put
from ..instructions import EVENTS, FILE, KIND_SHIFT, core_words, traced_cores
from .tree import RawTree


def write_instructions(capture: Capture, tree: RawTree) -> None:
    """Write the files of each core."""
    facts = capture.origin.facts
    if facts is None or facts.frequency <= 0 or not tree.writes(FILE):
        return
    declaration = tree.declaration(FILE)
    for device in tree.devices:
        for own in traced_cores(capture, device):
            words = core_words(capture, own.rows, tree.side[device].device)
            rows = tree.rows(FILE, len(words.passed))
            rows["sysCnt"] = words.passed
            put(declaration, rows, "ctrlType", words.instruction >> KIND_SHIFT)
            put(declaration, rows, "events", words.instruction & EVENTS)
            tree.write(FILE, rows, device, group=own.group, core=own.core)
