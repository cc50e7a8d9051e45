"""Operators that the graph engine fused, and the names of models."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, Texts
from ascend_ref.capture.records import Records

from ..clocks import LIMIT
from ..damage import Damage
from ..fusion import KIND, MODELS, PARTS, RECORD, SEPARATOR, most_parts, sizes
from ..vocabulary import level
from .calls import Calls
from .nodes import moments, text_numbers
from .session import Rows, Session
from .times import state_wrong


def read_fusions(session: Session, calls: Calls, texts: Texts) -> Records:
    """The fused operators of models in the order of the file.

    The model is what the call worked on that a record lies in; its name has the last record of a
    name in a call of that model. Those without both are damage: exporters pass them over
    (upstream-msprof ModelGear, NodeGear).
    """
    rows = session.rows(session.host, KIND)
    if not len(rows) or session.host is None:
        return {}
    right = (rows["fusionOpNum"] >= 1) & (rows["fusionOpNum"] <= most_parts())
    right &= np.logical_and.reduce([rows[one] < LIMIT // len(sizes()) for one in sizes().values()])
    state_wrong(
        *(session, session.host, KIND, int(np.sum(~right)), len(rows)),
        "have numbers that they cannot have",
    )
    rows = rows[right]
    named = session.rows(session.host, MODELS)
    names = text_numbers(session, texts, named["modelName"])
    name_of = dict(zip(_models(calls, named).tolist(), names.tolist(), strict=True))
    model = _models(calls, rows)
    known = np.array([one >= 0 and one in name_of for one in model.tolist()], np.bool_)
    if not known.all():
        text = (
            f"{KIND}: {int(np.sum(~known)):,} records lie in no call of a model with a name, "
            "so nobody knows whose they are"
        )
        session.damage.append(Damage(session.host.folder.path, text, kind=KIND))
    rows, model = rows[known], model[known]
    if not len(rows):
        return {}
    return {
        RECORD: {
            "model_name": np.array([name_of[one] for one in model.tolist()], np.int64),
            "model": model,
            "name": text_numbers(session, texts, rows["opName"]),
            "originals": _originals(session, texts, rows),
            **{column: rows[field].astype(np.int64) for column, field in sizes().items()},
        }
    }


def _models(calls: Calls, rows: Rows) -> Integers:
    """The models of the calls that records lie in, NONE in none."""
    thread = rows["threadId"].astype(np.int64)
    within = calls.holding(thread, moments(rows["timeStamp"]))
    return calls.items(calls.tree.up_to(within, level("MODEL")))


def _originals(session: Session, texts: Texts, rows: Rows) -> Integers:
    numbers = text_numbers(session, texts, rows[PARTS].reshape(-1))
    every = texts.all
    parts = numbers.reshape(-1, most_parts()).tolist()
    counts = rows["fusionOpNum"].tolist()
    return texts.numbers(
        SEPARATOR.join(every[one] for one in own[:count])
        for own, count in zip(parts, counts, strict=True)
    )
