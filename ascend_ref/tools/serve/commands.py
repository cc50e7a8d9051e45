"""Every command about an open file, as a function from a question to its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import details, lanes
from .answer import Answer, Body
from .core_load import core_load
from .hot_spots import instructions, lines, lines_of_old_files
from .question import Question

CACHELINES_TYPE = 0x0E


def _code_file(asked: Question) -> Body:
    return {"fileContent": asked.blocks.source_text(asked.params["sourceName"])}


def _api_instructions(asked: Question) -> Body:
    return {"instructions": asked.blocks.raw_instructions()}


def _cachelines(asked: Question) -> Body:
    records = asked.blocks.native(CACHELINES_TYPE)
    return records if isinstance(records, dict) else {}


COMMANDS: Mapping[str, Callable[[Question], Answer | Body]] = {
    "unit/threadTracesSummary": lanes.summary,
    "unit/threadTraces": lanes.thread_traces,
    "unit/flows": lanes.flows,
    "unit/threadDetail": lanes.thread_detail,
    "unit/counter": lanes.counter,
    "source/code/file": _code_file,
    "source/api/line": lines_of_old_files,
    "source/api/line/dynamic": lines,
    "source/api/instructions": _api_instructions,
    "source/api/instructions/dynamic": instructions,
    "source/details/baseInfo": details.base_info,
    "source/details/computeworkload": details.compute_load,
    "source/details/memoryGraph": details.memory_graph,
    "source/details/memoryTable": details.memory_table,
    "source/details/interCoreLoadAnalysis": core_load,
    "source/details/roofline": details.roofline,
    "source/cache/cachelineRecords": _cachelines,
    "source/queryTopWarpStallReason": details.stall_reasons,
}
"""Commands about an open file. The others of the spec open or close something."""
