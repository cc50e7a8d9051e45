"""Memory of compiled graphs."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import TOTAL, WHOLE_GRAPH, Records
from ascend_ref.derive.text_hash import NO_TEXT

from ..clocks import LIMIT
from ..graph_memory import KIND, TO_THE_END
from .nodes import text_numbers
from .session import Rows, Session
from .times import state_wrong


def read_graph_memory(session: Session, texts: Texts) -> Records:
    """The memory of operators in the order of the file."""
    rows = session.rows(session.host, KIND)
    if not len(rows) or session.host is None:
        return {}
    right = (rows["size"] >= 0) & (rows["lifeStart"] < LIMIT) & (rows["lifeEnd"] < LIMIT)
    wrong = int(np.sum(~right))
    state_wrong(
        *(session, session.host, KIND, wrong, len(rows), "have numbers that they cannot have")
    )
    rows = rows[right]
    end = rows["lifeEnd"].astype(np.int64)
    return {
        KIND: {
            "name": _texts(session, texts, rows["opName"], TOTAL),
            "model_name": _texts(session, texts, rows["dynOpName"], WHOLE_GRAPH),
            "size": rows["size"].astype(np.int64),
            "graph": rows["graphId"].astype(np.int64),
            "start": rows["lifeStart"].astype(np.int64),
            "end": np.where((end == TO_THE_END) | (end == TO_THE_END + 1), NONE, end),
        }
    }


def _texts(session: Session, texts: Texts, hashes: Rows, nothing: str) -> Integers:
    """The texts of hashes, and what stands for none."""
    named = (hashes != 0) & (hashes != NO_TEXT)
    found = np.full(len(hashes), texts.number(nothing))
    found[named] = text_numbers(session, texts, hashes[named])
    return found
