"""What a program passes with a mark of the step trace: the user data of aclrtProfTrace."""

from __future__ import annotations

from functools import partial

from construct import Int16ul, Int64ul

from ascend_spec.core.packed import field, record

_data = partial(field, source=("ge-profiling 3.3", "ge-profiling 5.9"), grade="observed")

TRACE_DATA = record(
    18,
    _data("id", Int64ul, "Number of the iteration."),
    _data("model_id", Int64ul, "Model; 4294967295 for steps of a framework."),
    _data("tag_id", Int16ul, "What was reached.", values="step_tags"),
)
"""The device makes a record of the kind 10 of them."""
