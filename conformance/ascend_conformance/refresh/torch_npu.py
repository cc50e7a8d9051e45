"""Ascend/pytorch: the tables of torch_npu's databases and the headers of its CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from . import python_constants
from .checkout import Checkout
from .stated import Stated, StatedColumn, StatedHeaders, StatedTable, Unreadable

SOURCE = "upstream-torch-npu"
FOLDER = "torch_npu/profiler/analysis"
TABLES_FILE = f"{FOLDER}/prof_common_func/_constant.py"
TABLES = "TableColumnsManager.TableColumns"
HEADERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "kernel_details": (
        "prof_common_func/_csv_headers.py",
        (
            "CsvHeaders.OP_SUMMARY_KERNEL_BASE_HEADERS",
            "CsvHeaders.OP_SUMMARY_SHAPE_HEADERS",
        ),
    ),
    "operator_details": (
        "prof_view/_operator_view_parser.py",
        ("OperatorViewParser.OPERATOR_HEADERS",),
    ),
    "operator_memory": ("prof_view/_memory_view_parser.py", ("MemoryViewParser.HEADERS_OPERATOR",)),
    "memory_record": ("prof_view/_memory_view_parser.py", ("MemoryViewParser.HEADERS_RECORD",)),
    "step_trace_time": (
        "prof_view/_trace_step_time_parser.py",
        ("TraceStepTimeParser.title",),
    ),
    "npu_module_mem": ("prof_bean/_npu_module_mem_bean.py", ("NpuModuleMemoryBean.SHOW_HEADERS",)),
}
"""By CSV file, where its headers stand: a file, and the constants that are written in a row."""

PARTLY = ("kernel_details",)
"""Files that have headers of op_summary besides."""


def recognises(checkout: Checkout) -> bool:
    """Whether the folder holds the sources of torch_npu."""
    return any(checkout.files(TABLES_FILE))


def read(checkout: Checkout) -> Stated:
    """What the sources state; raises :class:`Unreadable` where their form is another one."""
    return Stated(
        source=SOURCE,
        writer="torch_npu",
        carriers=("pytorch", "analysis"),
        output="pytorch",
        tables={table.name: table for table in _tables(checkout)},
        headers={one.name: one for one in _headers(checkout)},
    )


def _tables(checkout: Checkout) -> Iterator[StatedTable]:
    file = checkout.only(TABLES_FILE)
    found = _constants(checkout, TABLES_FILE)
    listed, line = found.get(TABLES, (None, 0))
    if not isinstance(listed, dict):
        raise Unreadable(f"{file}: no dictionary {TABLES}")
    for name, columns in listed.items():
        rows = columns if isinstance(columns, tuple) else ()
        stated = [
            StatedColumn(row[0], row[1])
            for row in rows
            if isinstance(row, tuple) and len(row) == 2 and all(isinstance(one, str) for one in row)
        ]
        if not isinstance(name, str) or not rows or len(stated) != len(rows):
            raise Unreadable(f"{file}:{line}: {name} is no list of columns with their types")
        yield StatedTable(name, tuple(stated), f"{checkout.name(file)}:{line}")


def _headers(checkout: Checkout) -> Iterator[StatedHeaders]:
    for name, (file, constants) in HEADERS.items():
        path = f"{FOLDER}/{file}"
        if not any(checkout.files(path)):
            continue
        found = _constants(checkout, path)
        stated = [found.get(one, (None, 0)) for one in constants]
        texts = [text for value, _ in stated if isinstance(value, tuple) for text in value]
        if texts and all(isinstance(text, str) for text in texts):
            where = f"{path}:{stated[0][1]}"
            yield StatedHeaders(name, tuple(map(str, texts)), where, whole=name not in PARTLY)


def _constants(checkout: Checkout, file: str) -> dict[str, tuple[object, int]]:
    path = checkout.only(file)
    try:
        return python_constants.constants(checkout.text(path), str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise Unreadable(f"{path}: no Python that can be read: {problem}") from None
