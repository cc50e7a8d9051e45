"""The analysers of runs with dynamic shapes on a GPU: operators and kernels of one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_spec.mindspore import Analyser

from .cells import ObjectColumn
from .condition import Condition
from .files import Folder
from .query import Rows
from .ranks import mapping

TABLE = "dynamic_shape_info"
KINDS = {"gpu_op_type_info": "operator", "gpu_cuda_type_info": "kernel"}
"""The part of the file that an analyser shows; that with ``_type`` has its types."""

FIRST_TYPES = 3
AVERAGE = 2
"""Place of the average time among the numbers of a type."""


def load_step(folder: Folder, analyser: Analyser, day: str, condition: Condition) -> Rows:
    """The rows of the step that is asked for, the first by default."""
    kind = KINDS[analyser.analyser]
    document = folder.document(TABLE)
    step = condition.switch("step_filter")[0]
    listed = _part(document, kind).get(step)
    items = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    shown = analyser.columns_on(day)
    columns = {one.name: ObjectColumn([item.get(one.takes[0]) for item in items]) for one in shown}
    types = _part(document, f"{kind}_type") if items else {}
    of_step = types.get(step)
    names = list(of_step) if isinstance(of_step, Mapping) else []
    wanted = condition.switch("dispaly_op_type") or names[:FIRST_TYPES]
    by_type = {name: [_average(one, name) for one in types.values()] for name in wanted}
    more = {"all_type": names, "filter_type": by_type if items else {}}
    return Rows(analyser, day, shown, columns, more)


def _part(document: Any, name: str) -> Mapping[str, Any]:
    return mapping(mapping(document).get(name))


def _average(of_step: Any, name: str) -> Any:
    numbers = of_step.get(name) if isinstance(of_step, Mapping) else None
    return numbers[AVERAGE] if isinstance(numbers, list) and len(numbers) > AVERAGE else 0
