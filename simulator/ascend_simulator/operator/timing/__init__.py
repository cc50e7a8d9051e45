"""When each step of a kernel runs."""

from .memory import Traffic, step_cycles, traffic
from .scoreboard import Timing, schedule

__all__ = ["Timing", "Traffic", "schedule", "step_cycles", "traffic"]
