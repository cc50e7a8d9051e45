"""The steps of a recording as MindSpore's analysis sees them: its own events on the host."""

from __future__ import annotations

import numpy as np

from ascend_ref.arrays import integers, one_piece
from ascend_ref.derive.mindspore_steps import STEP, Step, steps_in
from ascend_ref.derive.steps import Spans

from .model import Recorded


def steps_of(recorded: Recorded) -> list[Step]:
    """The steps in order; none where the framework was not recorded, or no schedule was set."""
    table = recorded.table("PYTORCH_API", ("name", "startNs", "endNs"))
    if not len(table):
        return []
    names = one_piece(table["name"])
    texts = names.dictionary.to_pylist()
    of_steps = np.array([text.startswith(STEP) for text in texts], np.bool_)
    rows = np.flatnonzero(of_steps[integers(names.indices)])
    events = Spans(integers(table["startNs"]), integers(table["endNs"])).at(rows)
    return steps_in([texts[place] for place in integers(names.indices)[rows].tolist()], events)
