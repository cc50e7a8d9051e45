"""Numbers by which rows of one table differ in kind."""

from __future__ import annotations

OP, QUEUE, TRACE, MARK = 50001, 50002, 50003, 50004
"""ENUM_API_TYPE of the four kinds of framework activities."""

NODE, COMMUNICATION, RUNTIME = 10000, 5500, 5000
"""ENUM_API_TYPE of kernel launches, of communication and of the runtime's own calls."""

ENTERS, LEAVES = 1, 2
"""Activities.queue of an entry into the task queue and of an exit."""
