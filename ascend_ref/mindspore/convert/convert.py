"""From a folder of an older generation to a recording of each of its devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ascend_ref.capture import Capture
from ascend_ref.capture.model import NONE
from ascend_ref.raw.damage import Unreadable
from ascend_ref.spill import Spill
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Generation

from ..analyse.files import Folder, devices_in
from ..folder import RawCapture, find_captures
from ..generation import Written, find_generation, generation_of
from ..parse.framework import framework_of
from ..parse.operator import Framework
from ..parse.run import Run
from .clock import TICK, unknown_zero, zero_of
from .found import Found
from .intermediate import (
    cpu_runs_in,
    fetches_in,
    first_tick,
    iterations_in,
    operators_in,
    runs_in,
)
from .operators import operators_of
from .raw_runs import cpu_runs_of, runs_of
from .raw_steps import fetches_of, iterations_of
from .recording import capture_of
