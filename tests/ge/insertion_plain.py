"""The insertion of tasks written from its description alone: slow, and nothing of ours is used.

Works on the document that goes in. Description: ge-profiling 3.2, with the errata G80 (nodes that
have tasks are candidates) and G90; for the documented reading seed-003 4.2 and the errata.
"""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
Task = tuple[str, int, int, bool]
"""Place, id of the node, number, notify; ("own", id, 0, False) for the tasks of the node itself."""

FP_TYPES = ["Data", "RefData", "AippData", "AnnData", "GetNext", "IteratorV2"]
GN_TYPES = ["GetNext", "DynamicGetNext", "DynamicGetNextV2", "IteratorV2"]
AR_TYPES = ["HcomAllReduce", "HorovodAllreduce"]
FLOW = ["FlowCtrl_LoopCond_ASSIGNADD", "FlowCtrl_LoopCond_ASSIGN"]


class Plain:
    """Questions to a document, each answered by going through all of it."""

    def __init__(self, document: Row) -> None:
        self.document = document

    def graphs(self) -> list[tuple[str | None, list[Row]]]:
        subs = self.document.get("subgraphs", [])
        return [(None, self.document["nodes"])] + [(one["name"], one["nodes"]) for one in subs]

    def all_nodes(self) -> list[Row]:
        nodes = [node for _, nodes in self.graphs() for node in nodes]
        return sorted(nodes, key=lambda node: node["id"])

    def node(self, number: int) -> Row:
        (found,) = [node for node in self.all_nodes() if node["id"] == number]
        return found

    def graph_of(self, node: Row) -> str | None:
        for name, nodes in self.graphs():
            if any(one["id"] == node["id"] for one in nodes):
                return name
        raise AssertionError

    def sub(self, name: str) -> list[Row]:
        return next(nodes for one, nodes in self.graphs() if one == name)

    def is_root(self, node: Row) -> bool:
        return self.graph_of(node) is None and "parent" not in self.document

    def consumers(self, node: Row) -> list[tuple[Row, int]]:
        """Of output 0, with the number of the input."""
        return [
            (other, place)
            for other in self.all_nodes()
            for place, edge in enumerate(other.get("inputs", []))
            if edge is not None and edge[0] == node["id"] and edge[1] == 0
        ]

    def inputs(self, node: Row) -> list[Row]:
        """By data and by control."""
        numbers = [edge[0] for edge in node.get("inputs", []) if edge is not None]
        return [self.node(number) for number in numbers + node.get("control", [])]


def attribute(node: Row, name: str) -> Any:
    return node.get("attributes", {}).get(name)


def notask(node: Row) -> bool:
    return attribute(node, "_no_task") is True or node["kernel_lib"] == ""


def gn(node: Row) -> bool:
    return node["type"] in GN_TYPES or node.get("original_type", "") in GN_TYPES


def ar(node: Row) -> bool:
    return node["type"] in AR_TYPES


def fp_type(node: Row) -> bool:
    return node["type"] in FP_TYPES or node.get("original_type", "") in FP_TYPES


def match(node: Row, name: str) -> bool:
    return node["name"] == name or name in node.get("origin_op_names", [])


def nodes_below(plain: Plain, node: Row) -> list[Row]:
    found = []
    for name in node.get("subgraphs", []):
        for inner in plain.sub(name):
            found += [inner, *nodes_below(plain, inner)]
    return found


def inner_of_whole(plain: Plain) -> list[int]:
    return [
        inner["id"]
        for node in plain.all_nodes()
        if "_ffts_plus_sub_graph" in node.get("attributes", {})
        for inner in nodes_below(plain, node)
    ]


def candidates(plain: Plain) -> list[Row]:
    inner = inner_of_whole(plain)
    return [node for node in plain.all_nodes() if not notask(node) and node["id"] not in inner]


# --- points, as observed --------------------------------------------------------------------------


def forward(plain: Plain, nodes: list[Row]) -> int:
    starts = [node for node in nodes if fp_type(node)]
    if not starts:
        return 0
    best: list[int] = []
    for consumer, place in plain.consumers(starts[0]):
        if notask(consumer):
            continue
        stack = [consumer]
        while stack:
            top = stack.pop()
            for name in top.get("subgraphs", []):
                for data in plain.sub(name):
                    if data["type"] == "Data" and data.get("parent_input", -1) == place:
                        for inner, _ in plain.consumers(data):
                            if not notask(inner):
                                best.append(inner["id"])
                                if inner.get("subgraphs"):
                                    stack.append(inner)
        if not consumer.get("subgraphs"):
            best.append(consumer["id"])
    return min(best) if best else 0


def global_step(plain: Plain, node: Row) -> bool:
    if node["name"] == "ge_global_step":
        return True
    return any(
        inner["name"] == "ge_global_step"
        for name in node.get("subgraphs", [])
        for inner in plain.sub(name)
    )


def backward(plain: Plain, nodes: list[Row]) -> int:
    anchor = None
    for node in nodes:
        if ar(node):
            anchor = node
        if node["type"] == "NetOutput" and plain.is_root(node) and anchor is None:
            anchor = node
    if anchor is None:
        return 0
    best: list[int] = []
    for source in plain.inputs(anchor):
        if global_step(plain, source) or notask(source):
            continue
        stack = [source]
        while stack:
            top = stack.pop()
            outputs = [
                next(node for node in plain.sub(name) if node["type"] == "NetOutput")
                for name in top.get("subgraphs", [])
                if any(node["type"] == "NetOutput" for node in plain.sub(name))
            ]
            for inner in plain.inputs(outputs[0]) if outputs else []:
                if not global_step(plain, inner) and not notask(inner):
                    best.append(inner["id"])
                    if inner.get("subgraphs"):
                        stack.append(inner)
        if not source.get("subgraphs") and source.get("stream", 0) == anchor.get("stream", 0):
            best.append(source["id"])
    return max(best) if best else 0


def find_observed(plain: Plain, nodes: list[Row], fp: str, bp: str) -> Row:
    points: Row = {"fp": 0, "bp": 0, "ends": [], "ars": [], "gns": []}
    document = plain.document
    if document.get("parent", {}).get("dynamic"):
        return points
    points["gns"] = [node["id"] for node in nodes if gn(node)]
    points["ars"] = [node["id"] for node in nodes if ar(node)]
    if fp == "":
        points["fp"] = forward(plain, nodes)
    else:
        points["fp"] = ([node["id"] for node in nodes if match(node, fp)] or [0])[0]
    if bp == "":
        points["bp"] = backward(plain, nodes)
    else:
        points["bp"] = ([node["id"] for node in nodes if match(node, bp)] or [0])[-1]
    for node in nodes:
        if document.get("need_iteration"):
            ends = node["name"] in FLOW
        elif bp == "":
            ends = node["type"] == "NetOutput" and plain.is_root(node)
        else:
            ends = node["name"] == "Node_Output"
        if ends:
            points["ends"].append(node["id"])
    return points


# --- tasks, as observed ---------------------------------------------------------------------------


def before(node: Row, points: Row, marks: Row) -> list[Task]:
    made: list[Task] = []
    number = node["id"]
    has_fp, has_bp = marks["_fp_profiling_task"], marks["_bp_profiling_task"]
    if (points["bp"] == 0 or not points["ends"]) and not (has_fp or has_bp):
        return made
    if points["fp"] == number or has_fp:
        made.append(("before", number, 2, False))
    if ar(node):
        if has_bp:
            made.append(("before", number, marks["_profiling_log_id"], False))
        elif number in points["ars"]:
            made.append(("before", number, 10000 + 2 * points["ars"].index(number), False))
    if gn(node):
        listed = number in points["gns"]
        log = 20000 + 2 * points["gns"].index(number) if listed else -1
        made.append(("before", number, log, False))
    return made


def after(node: Row, points: Row, marks: Row) -> list[Task]:
    made: list[Task] = []
    number = node["id"]
    has_bp, has_end = marks["_bp_profiling_task"], marks["_end_profiling_task"]
    if not points["ends"] and not (has_bp or has_end):
        return made
    if points["bp"] == number or (has_bp and not ar(node)):
        made.append(("after", number, 3, False))
    if number in points["ends"] or has_end:
        made.append(("after", number, 4, True))
    if ar(node):
        if has_bp:
            made.append(("after", number, marks["_profiling_log_id"] + 1, False))
        elif number in points["ars"]:
            made.append(("after", number, 10001 + 2 * points["ars"].index(number), False))
    if gn(node):
        listed = number in points["gns"]
        log = 20001 + 2 * points["gns"].index(number) if listed else -1
        made.append(("after", number, log, False))
    return made


BOOLS = ["_fp_profiling_task", "_bp_profiling_task", "_end_profiling_task"]


def own_marks(node: Row, missing: int | None = 0xFFFF) -> Row:
    marks = {name: attribute(node, name) is True for name in BOOLS}
    number = attribute(node, "_profiling_log_id")
    return {**marks, "_profiling_log_id": missing if number is None else number}


def marks_of_dynamic(node: Row, points: Row, missing: int | None = 0xFFFF) -> Row:
    """What the compiler sets on a node of a root with unknown shapes."""
    marks = own_marks(node, missing)
    number = node["id"]
    marks["_fp_profiling_task"] |= number == points["fp"]
    marks["_bp_profiling_task"] |= number == points["bp"] or number in points["ars"]
    marks["_end_profiling_task"] |= number in points["ends"]
    if number in points["ars"]:
        marks["_profiling_log_id"] = 10000 + 2 * points["ars"].index(number)
    if number in points["gns"]:
        marks["_profiling_log_id"] = 20000 + 2 * points["gns"].index(number)
    return marks


def v2_before(node: Row, marks: Row) -> list[Task]:
    made: list[Task] = []
    if marks["_fp_profiling_task"]:
        made.append(("before", node["id"], 2, False))
    if marks["_profiling_log_id"] is not None:
        made.append(("before", node["id"], marks["_profiling_log_id"], False))
    return made


def v2_after(node: Row, marks: Row) -> list[Task]:
    made: list[Task] = []
    if marks["_bp_profiling_task"] and not ar(node):
        made.append(("after", node["id"], 3, False))
    if marks["_profiling_log_id"] is not None:
        made.append(("after", node["id"], marks["_profiling_log_id"] + 1, False))
    return made


def observed(document: Row, fp: str = "", bp: str = "", executor: str = "") -> list[Task]:
    """The whole list, in order."""
    plain = Plain(document)
    nodes = candidates(plain)
    points = find_observed(plain, nodes, fp, bp)
    dynamic = document.get("dynamic", False)
    executor = executor or ("v2" if dynamic else "static")
    nothing: Row = {"fp": 0, "bp": 0, "ends": [], "ars": [], "gns": []}

    def around(node: Row) -> tuple[list[Task], list[Task]]:
        if executor == "v2":
            marks = marks_of_dynamic(node, points, None) if dynamic else own_marks(node, None)
            return v2_before(node, marks), v2_after(node, marks)
        if dynamic:
            marks = marks_of_dynamic(node, points)
            return before(node, nothing, marks), after(node, nothing, marks)
        return before(node, points, own_marks(node)), after(node, points, own_marks(node))

    tasks: list[Task] = []
    for node in nodes:
        tasks += around(node)[0]
        if "_ffts_plus_sub_graph" in node.get("attributes", {}):
            for inner in sorted(nodes_below(plain, node), key=lambda one: one["id"]):
                if not notask(inner):
                    first, last = around(inner)
                    tasks += [*first, ("own", inner["id"], 0, False), *last]
        tasks.append(("own", node["id"], 0, False))
        tasks += around(node)[1]
    return tasks


# --- as documented --------------------------------------------------------------------------------


def documented(document: Row, fp: str = "", bp: str = "") -> list[Task]:
    """By chapter 4.2: the points themselves, and each start has its end."""
    plain = Plain(document)
    nodes = plain.all_nodes()
    firsts = [
        node["id"]
        for node in nodes
        if (match(node, fp) if fp else node["type"] in ["Data", "GetNext", "IteratorV2"])
    ]
    ars = [node["id"] for node in nodes if ar(node)]
    gns = [node["id"] for node in nodes if gn(node)]
    outputs = [node["id"] for node in nodes if node["type"] == "NetOutput" and plain.is_root(node)]
    lasts = [node["id"] for node in nodes if match(node, bp)] if bp else (ars or outputs)
    ends = [node["id"] for node in nodes if node["name"] in FLOW] or outputs
    tasks: list[Task] = []
    for node in nodes:
        number, marks = node["id"], own_marks(node)
        if firsts[:1] == [number] or marks["_fp_profiling_task"]:
            tasks.append(("before", number, 2, False))
        if number in ars and ars.index(number) < 5000:
            tasks.append(("before", number, 10000 + 2 * ars.index(number), False))
        if number in gns and gns.index(number) < 5000:
            tasks.append(("before", number, 20000 + 2 * gns.index(number), False))
        if not notask(node):
            tasks.append(("own", number, 0, False))
        if lasts[-1:] == [number] or (marks["_bp_profiling_task"] and not ar(node)):
            tasks.append(("after", number, 3, False))
        if number in ends or marks["_end_profiling_task"]:
            tasks.append(("after", number, 4, True))
        if number in ars and ars.index(number) < 5000:
            tasks.append(("after", number, 10001 + 2 * ars.index(number), False))
        if number in gns and gns.index(number) < 5000:
            tasks.append(("after", number, 20001 + 2 * gns.index(number), False))
    return tasks
