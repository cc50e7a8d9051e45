"""Every command about an open file, as a function from a question to its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from . import timeline as lanes
from .answer import Answer, Body, Params
from .base_info import base_info
from .blocks import Blocks
from .compute_load import compute_load
from .core_load import core_load
from .instructions import instructions
from .memory_graph import memory_graph
from .memory_table import memory_table
from .roofline import roofline
from .source_lines import lines, lines_of_old_files
from .stalls import stall_reasons

CACHELINES_TYPE = 0x0E


@dataclass(frozen=True, slots=True)
class Question:
    """What a command is answered from.

    ``params`` are the parameters that count, see :mod:`.params`; ``baseline`` is
    there where it is asked for and set.
    """

    blocks: Blocks
    params: Params
    baseline: Blocks | None
    timeline: Callable[[], lanes.Timeline]
    payloads: Sequence[memoryview]
    origin: int


def _code_file(asked: Question) -> Body:
    return {"fileContent": asked.blocks.source_text(asked.params["sourceName"])}


def _api_line(asked: Question) -> Body:
    return lines_of_old_files(asked.blocks, asked.params["sourceName"], asked.params["coreName"])


def _api_line_dynamic(asked: Question) -> Body:
    return lines(asked.blocks, asked.params["sourceName"], asked.params["coreName"])


def _api_instructions(asked: Question) -> Body:
    return {"instructions": asked.blocks.raw_instructions()}


def _api_instructions_dynamic(asked: Question) -> Body:
    return instructions(asked.blocks, asked.params["coreName"])


def _base_info(asked: Question) -> Answer:
    return base_info(asked.blocks, asked.baseline)


def _compute_load(asked: Question) -> Answer:
    return compute_load(asked.blocks, asked.baseline)


def _memory_graph(asked: Question) -> Answer:
    return memory_graph(asked.blocks, asked.params["blockId"], asked.baseline)


def _memory_table(asked: Question) -> Answer:
    is_compared = asked.params["isCompared"]
    return memory_table(asked.blocks, asked.params["blockId"], asked.baseline, compared=is_compared)


def _core_load(asked: Question) -> Answer:
    return core_load(asked.blocks, asked.baseline)


def _roofline(asked: Question) -> Body:
    return roofline(asked.blocks)


def _cachelines(asked: Question) -> Body:
    records = asked.blocks.native(CACHELINES_TYPE)
    return records if isinstance(records, dict) else {}


def _stall_reasons(asked: Question) -> Body:
    return stall_reasons(asked.blocks, asked.baseline)


def _summary(asked: Question) -> Body:
    window = asked.params["startTime"], asked.params["endTime"]
    return lanes.summary(asked.timeline(), asked.params["processId"], *window, asked.origin)


def _traces(asked: Question) -> Body:
    params = asked.params
    return lanes.thread_traces(
        asked.timeline(),
        params["processId"],
        params["threadIdList"] or [params["threadId"]],
        params["startTime"],
        params["endTime"],
        asked.origin,
        hide_flags=params["isHideFlagEvents"],
    )


def _flows(asked: Question) -> Body:
    """``isSimulation`` is not asked: the lanes of a bin file always are those of a kernel."""
    return lanes.flows(asked.timeline(), asked.params["id"], asked.origin)


def _detail(asked: Question) -> Body:
    return lanes.thread_detail(asked.timeline(), asked.payloads, asked.params["id"])


def _counter(asked: Question) -> Body:
    params = asked.params
    window = params["startTime"], params["endTime"]
    named = params["pid"], params["threadName"]
    return lanes.counter(asked.timeline(), asked.payloads, *named, *window, asked.origin)


COMMANDS: Mapping[str, Callable[[Question], Answer | Body]] = {
    "unit/threadTracesSummary": _summary,
    "unit/threadTraces": _traces,
    "unit/flows": _flows,
    "unit/threadDetail": _detail,
    "unit/counter": _counter,
    "source/code/file": _code_file,
    "source/api/line": _api_line,
    "source/api/line/dynamic": _api_line_dynamic,
    "source/api/instructions": _api_instructions,
    "source/api/instructions/dynamic": _api_instructions_dynamic,
    "source/details/baseInfo": _base_info,
    "source/details/computeworkload": _compute_load,
    "source/details/memoryGraph": _memory_graph,
    "source/details/memoryTable": _memory_table,
    "source/details/interCoreLoadAnalysis": _core_load,
    "source/details/roofline": _roofline,
    "source/cache/cachelineRecords": _cachelines,
    "source/queryTopWarpStallReason": _stall_reasons,
}
"""Commands about an open file. The others of the spec open or close something."""
