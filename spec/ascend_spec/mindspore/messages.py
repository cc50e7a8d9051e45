"""Messages of Protocol Buffers that MindSpore writes: what memory its graphs take.

As ``memory_profiling.proto`` of its profiler declares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["whole", "text", "message"]
"""A number, signed or not, a text in UTF-8, another message."""


ALWAYS, FROM_START, TO_END, BETWEEN = (
    "LifeLongGraphAll",
    "LifeLongGraphStart",
    "LifeLongGraphEnd",
    "LifeLongNone",
)
"""How long tensors live, as life_long says: all the time, from the first node on, to the last, or
from life_start to life_end.
"""


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a message. ``is_list``: it comes any number of times, numbers of it together."""

    number: int
    name: str
    form: Form
    summary: str
    is_list: bool = False
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """``members`` in the order of their numbers, in which they are written."""

    name: str
    members: tuple[Member, ...]


def _ids(number: int, name: str, of: str) -> Member:
    return Member(number, name, "whole", f"Tensors that are {of}, by their ids.", is_list=True)


NODE = Message(
    "NodeMemProto",
    (
        Member(1, "node_name", "text", "Name of the operator without its scope."),
        Member(2, "node_id", "whole", "Place in the order of execution."),
        _ids(3, "input_tensor_id", "its inputs"),
        _ids(4, "output_tensor_id", "its outputs"),
        _ids(5, "workspace_tensor_id", "its workspaces"),
    ),
)

TENSOR = Message(
    "TensorMemProto",
    (
        Member(1, "tensor_id", "whole", "Id."),
        Member(2, "size", "whole", "Bytes, aligned."),
        Member(3, "type", "text", "Kind of tensor, as Common."),
        Member(4, "life_start", "whole", "Id of the node at which it is given memory."),
        Member(5, "life_end", "whole", "Id of the node at which it gives it back."),
        Member(6, "life_long", "text", "Whether it lives from the first node, or to the last."),
    ),
)

GRAPH = Message(
    "GraphMemProto",
    (
        Member(1, "graph_id", "whole", "Number of the graph."),
        Member(2, "static_mem", "whole", "Bytes that it holds all the time."),
        Member(3, "node_mems", "message", "Operators.", is_list=True, message=NODE),
        Member(4, "tensor_mems", "message", "Tensors.", is_list=True, message=TENSOR),
        Member(5, "fp_start", "text", "Operator at the forward start."),
        Member(6, "bp_end", "text", "Operator at the backward end."),
    ),
)

MEMORY = Message(
    "MemoryProto",
    (
        Member(1, "graph_mem", "message", "Graphs.", is_list=True, message=GRAPH),
        Member(2, "total_mem", "whole", "Bytes of the device."),
    ),
)
