"""What modules are given when the profiling is switched: packed, little-endian."""

from __future__ import annotations

from construct import Array, Bytes, Int16ul, Int32ul, Int64ul, Padding, Struct

DEVICES = 64
"""Most devices of a command."""
PATH = 1024
PARAMETERS = 4096
HOST = 64
"""The number of the host among devices; aclgrphProfCreateConfig appends it to the list."""

COMMAND = Struct(
    "profSwitch" / Int64ul,
    "profSwitchHi" / Int64ul,
    "devNums" / Int32ul,
    "devIdList" / Array(DEVICES, Int32ul),
    "modelId" / Int32ul,
    "type" / Int32ul,
    "cacheFlag" / Int32ul,
    "pathLen" / Int32ul,
    "storageLimit" / Int32ul,
    "profDataLen" / Int32ul,
    "path" / Bytes(PATH),
    "profData" / Bytes(PARAMETERS),
    Padding(4),
)
"""MsprofCommandHandle, 5424 bytes (ge-profiling 2)."""

STEP_INFO = Struct(
    "index_id" / Int64ul,
    "tag_id" / Int16ul,
    Padding(6),
    "stream" / Int64ul,
)
"""ProfStepInfoCmd, 24 bytes (ge-profiling 2)."""

GE_OPTIONS = Struct("jobId" / Bytes(2048), "options" / Bytes(2048))
"""MsprofGeOptions, 4096 bytes (ge-profiling 1.1)."""
