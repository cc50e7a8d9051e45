"""How many rows of what a capture makes."""

from __future__ import annotations

from collections import Counter

from ascend_ref.capture import Capture
from ascend_ref.db.encode.collection import collected, collects
from ascend_ref.derive.transit import operators_of
from ascend_spec import catalog


def rows_of(capture: Capture) -> Counter[str]:
    """Rows by the name of the table, or of the record where only text deliverables show it.

    Of tables that the capture's switches collect and its product has, at the newest revision.
    """
    shown = collected(capture)
    operators = operators_of(shown)
    bounded = operators.number_of[shown.transfers.collective] >= 0
    found = Counter(
        {
            "TASK": len(shown.tasks),
            "COMPUTE_TASK_INFO": len(shown.kernels),
            "COMMUNICATION_SCHEDULE_TASK_INFO": len(shown.schedules),
            "MEMCPY_INFO": len(shown.copies),
            "COMMUNICATION_OP": len(operators),
            "COMMUNICATION_TASK_INFO": int(bounded.sum()),
            "TASK_PMU_INFO": shown.counters.values.size,
            "STEP_TIME": len(shown.steps),
            "PYTORCH_API": len(shown.activities),
            "PYTORCH_CALLCHAINS": len(shown.frames),
        }
    )
    for name in [*found]:
        table = catalog().tables[name]
        made = collects(table, shown.switches) and shown.origin.family in table.products
        found[name] *= made
    for name, columns in (*shown.samples.items(), *shown.records.items()):
        found[name] = len(next(iter(columns.values())))
    return found
