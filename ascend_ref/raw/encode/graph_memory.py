"""Memory of compiled graphs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import TOTAL, WHOLE_GRAPH

from ..graph_memory import KIND, TO_THE_END
from .tree import RawTree


def write_graph_memory(capture: Capture, tree: RawTree) -> None:
    """Write the memory of all operators in the order of the recording."""
    table = capture.records.get(KIND)
    if table is None or not tree.writes(KIND):
        return
    rows = tree.rows(KIND, len(table["size"]))
    rows["timeStamp"] = tree.host.host.ticks(np.array([capture.origin.start], np.int64))
    rows["size"] = table["size"]
    rows["opName"] = _hashes(capture, tree, table["name"], TOTAL)
    rows["dynOpName"] = _hashes(capture, tree, table["model_name"], WHOLE_GRAPH)
    rows["graphId"], rows["lifeStart"] = table["graph"], table["start"]
    rows["lifeEnd"] = np.where(table["end"] == NONE, TO_THE_END, table["end"])
    whole = rows["opName"] == 0
    for graph in np.unique(table["graph"]).tolist():
        own = table["graph"] == graph
        rows["totalAllocateMemory"][own] = table["size"][own & whole].sum()
    tree.add(KIND, rows)


def _hashes(
    capture: Capture, tree: RawTree, names: Integers, nothing: str
) -> npt.NDArray[np.uint64]:
    """The hashes of texts, 0 for the one that stands for none."""
    texts = capture.texts
    named = np.array([texts.all[one] != nothing for one in names.tolist()], np.bool_)
    found = np.zeros(len(names), np.uint64)
    found[named] = tree.hashes(texts, names[named])
    return found
