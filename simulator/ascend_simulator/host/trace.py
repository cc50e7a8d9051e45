"""The Python trace of the framework's main thread, and the call stacks of its operators."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from ..program.model import MODULE
from ..world.timeline import RankTimeline
from .calls import Thread, framework_thread
from .clock import (
    BUILT_IN,
    BUILT_IN_END,
    DEEPEST_FRAME,
    FRAME_PARTS,
    FUNCTION,
    FUNCTION_END,
    PARTS,
    TEST,
    TEST_END,
    Moment,
    beginning,
    ending,
)
from .operators import Row, Span, is_mark, spans, wrapping_function
from .script import HostScript

OUTERMOST = (
    "<string>(1): <module>",
    "torch/multiprocessing/spawn.py(74): _wrap",
    "main.py(282): main_worker",
    "main.py(375): train",
)
"""Frames that no step leaves, outermost first."""
BACKWARD_FRAMES = (
    "torch/_tensor.py(433): backward",
    "torch/autograd/__init__.py(149): backward",
    "<built-in method run_backward of torch._C._EngineBase object at 0xfffdc9a64890>",
)
"""Where the main thread waits while the backward thread works."""
START_FRAMES = (
    "torch_npu/profiler/profiler.py(241): step",
    "torch_npu/profiler/_profiler_action_controller.py(25): transit_action",
    "torch_npu/profiler/profiler_interface.py(84): start_trace",
)
STOP_FRAMES = (
    "torch_npu/profiler/profiler.py(231): step",
    "torch_npu/profiler/_profiler_action_controller.py(21): transit_action",
    "torch_npu/profiler/profiler_interface.py(87): stop_trace",
)
WRAPPED_CALL = "torch/nn/modules/module.py(1511): _wrapped_call_impl"
CALL = "torch/nn/modules/module.py(1520): _call_impl"
TRACING_STATE = "<built-in method _get_tracing_state of PyCapsule object at 0xfffdc9b38270>"
METHODS = frozenset(
    ("item", "to", "mul", "mul_", "add", "add_", "div", "eq", "sum", "topk", "reshape", "argmax")
)
"""ATen operators that are called as methods of a tensor."""
METHOD_NAME = "<built-in method {} of Tensor object at 0xfffc{:08x}>"
OVERRIDES = "<built-in function _has_torch_function_variadic>"
BUILT_IN_NAME = "<built-in method {} of type object at 0xffffb386cf10>"
LEAD_NS = 345_670
"""The outermost frame begins so long before the first step; it ends soon after the last one."""
TRAIL_NS = 54_320


def call_stack(path: Sequence[str]) -> list[str]:
    """The frames of the call stack of an operator below these modules, innermost first."""
    frames = list(OUTERMOST)
    for entry in path:
        frames += [WRAPPED_CALL, CALL] if entry.startswith(MODULE) else [entry]
    return frames[::-1]


def trace_rows(script: HostScript) -> list[Row]:
    """The frames that are entered and left within every step, enclosing ones first."""
    return _Tracer(script).rows()


class _Tracer:
    """Keeps the frames that are open while it goes from operator to operator."""

    def __init__(self, script: HostScript) -> None:
        self.script = script
        self.open: list[tuple[str, list[Row]]] = []
        self.depth = 0
        self.found: list[Row] = []

    def rows(self) -> list[Row]:
        previous: Span | None = None
        for span in spans(self.script):
            backward = framework_thread(self.script.program, span.first) == Thread.BACKWARD
            operator = self.script.program.operators[span.operator]
            path = BACKWARD_FRAMES if backward else operator.module
            kept = _shared([entry for entry, _ in self.open], path)
            if previous is not None:
                self._leave(kept, previous)
            for entry in path[kept:]:
                self._enter(entry, span)
            if not backward and "::" in operator.name and not is_mark(self.script, span):
                self._call(operator.name, span)
            previous = span
        if previous is not None:
            self._leave(0, previous)
        return self.found

    def _call(self, operator: str, span: Span) -> None:
        """The call into C++; where Python wraps it, that function, which looks for overrides."""
        space, _, name = operator.rpartition("::")
        first, last = span.first, span.last
        rows = [(BUILT_IN_NAME.format(name), BUILT_IN, ending(self.script, last, BUILT_IN_END))]
        if space == "aten" and name in METHODS:
            address = crc32(f"{name} {first.first}".encode())
            rows[0] = (METHOD_NAME.format(name, address), *rows[0][1:])
        for function in wrapping_function(operator):
            rows = [
                (function, FUNCTION, ending(self.script, last, FUNCTION_END)),
                (OVERRIDES, TEST, beginning(first, TEST_END)),
                *rows,
            ]
        for text, start, end in rows:
            self.found.append(Row(beginning(first, start), end, Thread.MAIN, text))

    def _leave(self, kept: int, last: Span) -> None:
        for _, rows in self.open[kept:][::-1]:
            for row in rows[::-1]:
                self.depth -= 1
                row.end = ending(self.script, last.last, PARTS - FRAME_PARTS * self._parts())
        del self.open[kept:]

    def _enter(self, entry: str, span: Span) -> None:
        outer = self._frame(entry, span)
        if not entry.startswith(MODULE):
            self.open.append((entry, [outer]))
            return
        call = self._frame(CALL, span)
        if self.depth < DEEPEST_FRAME:
            begin = FRAME_PARTS * self.depth
            inner = beginning(span.first, begin - FRAME_PARTS + 1), beginning(span.first, begin - 1)
            self.found.append(Row(*inner, Thread.MAIN, TRACING_STATE))
        self.open.append((entry, [outer, call]))

    def _frame(self, name: str, span: Span) -> Row:
        begin: Moment = beginning(span.first, FRAME_PARTS * self._parts())
        row = Row(begin, begin, Thread.MAIN, name)
        self.found.append(row)
        self.depth += 1
        return row

    def _parts(self) -> int:
        return min(self.depth, DEEPEST_FRAME)


def _shared(open_entries: Sequence[str], path: Sequence[str]) -> int:
    count = 0
    for first, second in zip(open_entries, path, strict=False):
        if first != second:
            break
        count += 1
    return count


def outer_frames(timeline: RankTimeline) -> tuple[list[tuple[str, int, int]], ...]:
    """Frames outside of the steps as (name, start, end): those before, and those after them.

    They shrink where the session leaves less room than real ones do.
    """
    first, last = int(timeline.step_starts[0]), int(timeline.step_ends[-1])
    lead = min(first - timeline.session[0], LEAD_NS)
    trail = min(timeline.session[1] - last, TRAIL_NS)
    whole = [
        (name, first - lead * (16 - depth) // 16, last + trail * (16 - depth) // 16)
        for depth, name in enumerate(OUTERMOST)
    ]
    start = [
        (name, first - lead * (11 - depth) // 16, first - lead * (2 + depth) // 16)
        for depth, name in enumerate(START_FRAMES)
    ]
    stop = [
        (name, last + trail * (2 + depth) // 16, last + trail * (11 - depth) // 16)
        for depth, name in enumerate(STOP_FRAMES)
    ]
    return whole + start, stop


def stack_numbers(rows: Sequence[Row]) -> dict[tuple[str, ...], int]:
    """A number for every call stack that the rows use, in order of first use; 0 is the step's."""
    numbers: dict[tuple[str, ...], int] = {(): 0}
    for row in rows:
        if row.stack is not None:
            numbers.setdefault(row.stack, len(numbers))
    return numbers
