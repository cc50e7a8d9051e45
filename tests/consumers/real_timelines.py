"""Real timelines that viewers are shown."""

from pathlib import Path

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
REAL = (
    "text/pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT/trace_view.json",
    "text/mindspore_legacy/msprof_0_2_1.json",
    "text/mindspore_legacy/step_trace_0_2_1.json",
    "generations/text_910a_2024_level1_rank0/ASCEND_PROFILER_OUTPUT/trace_view.json",
)
