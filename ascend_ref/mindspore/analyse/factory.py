"""Analysers by name, and one query of any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ascend_ref.cli.suggest import unknown
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Analyser
from ascend_spec.mindspore.requests import LAST_VIEWED

from .advice import answer_advice
from .cluster import answer_cluster_steps
from .communication import answer_communication, load_links, wanted_links
from .condition import Condition, WrongCondition, read_condition
from .dynamic import KINDS, TABLE, load_step
from .exported import answer_exported
from .files import Folder
from .flops import answer_flops, load_sums
from .memory import answer_memory, load_peaks
from .operators import load_details, load_kernel_types, load_kernels, load_rows
from .parallel import answer_parallel
from .pipeline import outside_thresholds
from .query import Narrow, Rows, answer_rows
from .queues import answer_queues
from .steps import answer_steps
from .timeline import answer_timeline
from .utilization import answer_utilization

Loader: TypeAlias = Callable[[Folder, Analyser, str], Rows]

LOADERS: Mapping[str, Loader] = {
    "aicore_detail": load_details,
    "aicpu_type": load_kernel_types,
    "aicpu_detail": load_kernels,
    "cluster_memory": load_peaks,
    "cluster_flops": load_sums,
}
"""Analysers of rows that are not those of one file."""

LATE: Mapping[str, Callable[[Folder, Analyser, str, Condition], Rows]] = {
    **dict.fromkeys(KINDS, load_step),
    "cluster_link": load_links,
}
"""Analysers of rows that hang on the query."""

NARROW: Mapping[str, Narrow] = {
    "minddata_pipeline": outside_thresholds,
    "cluster_link": wanted_links,
}

DOCUMENTS: Mapping[str, Callable[[Folder, Condition], dict[str, Any]]] = {
    "step_trace": answer_steps,
    "minddata": lambda folder, _: answer_queues(folder),
    "minddata_cpu_utilization": answer_utilization,
    "timeline": answer_timeline,
    "msprof_timeline": answer_exported,
    "dynamic_shape": lambda folder, _: folder.document(TABLE) or {},
    "flops": answer_flops,
    "memory_usage": answer_memory,
    "parallel": lambda folder, _: answer_parallel(folder),
    "msadvisor": lambda folder, _: answer_advice(folder),
}

OF_RANKS: Mapping[str, Callable[[Folder, Analyser, str, Condition], dict[str, Any]]] = {
    "cluster_step_trace": answer_cluster_steps,
    "cluster_hccl": answer_communication,
}
"""Analysers whose documents hold an object for each row."""


class NoAnalyser(LookupError):
    """There is no analyser of a name, or it cannot be asked."""


def find_analyser(name: str) -> Analyser:
    """The analyser of a name. Raises :class:`NoAnalyser`."""
    known = mindspore_catalog().analysers
    if name not in known:
        raise NoAnalyser(unknown("analyser", name, known))
    found = known[name]
    if found.answer == "undescribed":
        raise NoAnalyser(f"{name}: cannot be asked. {found.reason}")
    return found


@dataclass(frozen=True, slots=True)
class Loaded:
    """What an analyser has loaded of a folder; any number of queries can be asked."""

    folder: Folder
    analyser: Analyser
    day: str
    rows: Rows | None

    def query(self, asked: Any = None) -> dict[str, Any]:
        """The answer to a condition as the viewer takes it. Raises :class:`WrongCondition`."""
        condition = read_condition(asked, self.analyser)
        name = self.analyser.analyser
        if name in OF_RANKS:
            return OF_RANKS[name](self.folder, self.analyser, self.day, condition)
        if name in DOCUMENTS:
            if condition.filters or condition.sort or condition.page:
                raise WrongCondition(f"{name} has no rows to filter, sort or page", "body-type")
            return DOCUMENTS[name](self.folder, condition)
        rows = self.rows
        if rows is None:
            rows = LATE[name](self.folder, self.analyser, self.day, condition)
        return answer_rows(rows, condition, NARROW.get(name))


def load_analyser(name: str, folder: Folder, generation: str = LAST_VIEWED) -> Loaded:
    """An analyser of a folder. generation: whose names of columns answers have, or a day.

    Raises :class:`NoAnalyser`, ``KeyError`` for an unknown generation, ``OSError``.
    """
    analyser = find_analyser(name)
    day = mindspore_catalog().day_of(generation)
    rows = None
    if analyser.answer == "rows" and name not in LATE:
        rows = LOADERS.get(name, load_rows)(folder, analyser, day)
    return Loaded(folder, analyser, day, rows)
