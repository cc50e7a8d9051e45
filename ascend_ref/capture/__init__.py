"""The Capture: what one rank's profiler saw, as columns; every deliverable is an encoding of it."""

from __future__ import annotations

from .batch import Batch as Batch
from .batch import Integers as Integers
from .batch import Reals as Reals
from .model import Activities as Activities
from .model import Capture as Capture
from .model import Collections as Collections
from .model import Collectives as Collectives
from .model import Copies as Copies
from .model import Counters as Counters
from .model import DeviceFacts as DeviceFacts
from .model import Frames as Frames
from .model import Groups as Groups
from .model import HostCalls as HostCalls
from .model import KernelKinds as KernelKinds
from .model import Kernels as Kernels
from .model import Links as Links
from .model import Marks as Marks
from .model import MemoryBlocks as MemoryBlocks
from .model import MemoryTotals as MemoryTotals
from .model import Origin as Origin
from .model import Schedules as Schedules
from .model import Steps as Steps
from .model import SystemCalls as SystemCalls
from .model import Tasks as Tasks
from .model import Transfers as Transfers
from .model import WorkspaceEvents as WorkspaceEvents
from .records import RECORDS as RECORDS
from .records import Records as Records
from .switches import Switches as Switches
from .texts import Texts as Texts
