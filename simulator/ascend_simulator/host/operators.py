"""PYTORCH_API rows of one step of a script: operators, and what enters and leaves the queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..program.framework import NODES
from ..program.model import Annotate, Operator, Prepare, Synchronize
from .calls import CallScript, Thread, fetches, framework_thread, passage_moments
from .clock import (
    LEAF_END,
    LEAVES,
    MARKED_NODE_CALL,
    NODE,
    NODE_CALL,
    NODE_CALL_END,
    NODE_END,
    OPERATOR,
    OPERATOR_END,
    OUTPUTS,
    OUTPUTS_END,
    PARTS,
    SCALAR,
    SCALAR_END,
    Anchor,
    Moment,
    beginning,
    ending,
    preparing,
    slots,
)
from .script import HostScript, Run
from .templates import Passage

MOST_OUTPUTS = 16
ENTER_NS = {Thread.MAIN: 10_000, Thread.BACKWARD: 2_300}
"""How long the framework takes at most to put an entry into the queue."""
AWAKE_NS = 2_100
WITHOUT_OPERANDS = ("item", "_local_scalar_dense", "result_type")
VIEWS = frozenset(("aten::t", "aten::transpose", "aten::as_strided"))
"""They turn the second operand."""
FUNCTION_NAME = "torch/nn/functional.py({}): {}"
FUNCTIONS = {
    "relu_": (1460, "relu"),
    "dropout": (1249, "dropout"),
    "max_pool2d": (769, "_max_pool2d"),
    "adaptive_avg_pool2d": (1214, "adaptive_avg_pool2d"),
    "log_softmax": (1907, "log_softmax"),
    "nll_loss_nd": (2963, "cross_entropy"),
    "embedding": (2175, "embedding"),
    "binary_cross_entropy": (3089, "binary_cross_entropy"),
}
"""ATen operators that Python wraps, with line and name (of fixtures-2025-01 where they occur)."""
OPERATOR_CALL = "torch/_ops.py(692): __call__"
MARKS = "mstx"
"""Space of the operators that set marks: not called through ``torch.ops``."""
NODE_CALL_NAME = "autograd::engine::evaluate_function: {}"


@dataclass(slots=True)
class Row:
    """A row of every step. sequence: place in the autograd sequence of the step, -1 without one.

    link: place of the queue entry, or of the pair of operators, in the step; -1 without one.
    launches: consumer rows of the launches that it connects to. stack: path of the call stack.
    mark: recorded only together with mstx.
    """

    start: Moment
    end: Moment
    thread: Thread
    name: str
    sequence: int = -1
    forward_thread: int = 0
    data_types: str = ""
    shapes: str = ""
    link: int = -1
    launches: tuple[int, ...] = ()
    stack: tuple[str, ...] | None = None
    mark: bool = False


@dataclass(frozen=True, slots=True)
class Allocation:
    """When an operator takes memory, and as whose it counts: the innermost operator around it.

    moments: of its tensors, in their order, and of one block more.
    """

    name: str
    moments: tuple[Moment, ...]


@dataclass(slots=True)
class Rows:
    """The rows of a step: what enters the queue, what leaves it, operators (enclosing first).

    allocations: by operator; those without launches have none.
    """

    enqueue: list[Row] = field(default_factory=list)
    dequeue: list[Row] = field(default_factory=list)
    operators: list[Row] = field(default_factory=list)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    pairs: int = 0


@dataclass(slots=True)
class Span:
    """The runs of one operator, with their places among the script's runs."""

    operator: int
    runs: list[tuple[int, Run]]

    @property
    def first(self) -> Run:
        """The first run."""
        return self.runs[0][1]

    @property
    def last(self) -> Run:
        """The last run."""
        return self.runs[-1][1]


def spans(script: HostScript) -> list[Span]:
    """The operators of a step in the order in which they run."""
    numbered = enumerate(script.runs)
    return [
        Span(operator, list(runs))
        for operator, runs in groupby(numbered, key=lambda found: found[1].operator)
    ]


def node_of(script: HostScript, span: Span) -> int | None:
    """The forward operator whose backward node an operator belongs to."""
    operator = script.program.operators[span.operator]
    return operator.forward if operator.thread == "backward" else None


def is_mark(script: HostScript, span: Span) -> bool:
    """Whether an operator does nothing but set marks."""
    return all(isinstance(script.program.items[run.first], Annotate) for _, run in span.runs)


def wrapping_function(operator: str) -> tuple[str, ...]:
    """The frame of the Python function around an operator, where it has one."""
    space, _, name = operator.rpartition("::")
    if space in ("", MARKS) or (space == "aten" and name not in FUNCTIONS):
        return ()
    return (FUNCTION_NAME.format(*FUNCTIONS[name]) if space == "aten" else OPERATOR_CALL,)


def node_name(forward: Operator) -> str:
    """``aten::relu_`` runs backward in the node ``ReluBackward0``."""
    if forward.name in NODES:
        return NODES[forward.name]
    words = forward.name.rpartition("::")[2].strip("_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "Backward0"


def operands_of(name: str, operator: Operator) -> tuple[str, str]:
    """Types and shapes that an operator around or inside of another one is shown with."""
    types, shapes = operator.data_types.split(";"), operator.shapes.split(";")
    if name.startswith(("aten::empty", "autograd::")) or name.endswith(WITHOUT_OPERANDS):
        return "", ""
    if name in VIEWS:
        return types[:2][-1], shapes[:2][-1]
    return operator.data_types, operator.shapes


def operator_rows(script: HostScript, calls: CallScript) -> Rows:
    """The rows of every step of a script, ProfilerStep apart."""
    return _Builder(script, calls).build()


class _Builder:
    def __init__(self, script: HostScript, calls: CallScript) -> None:
        self.script = script
        self.calls = calls
        self.rows = Rows()
        self.forward_rows: dict[int, Row] = {}
        self.backward_rows: dict[int, Row] = {}

    def build(self) -> Rows:
        for forward, group in groupby(
            spans(self.script), key=lambda span: node_of(self.script, span)
        ):
            found = list(group)
            if forward is None:
                for span in found:
                    self._operator(span)
            else:
                self._node(forward, found)
        self._pair()
        return self.rows

    def _pair(self) -> None:
        """Forward and backward share a number, in the order in which the forward ones ran."""
        for operator, row in self.forward_rows.items():
            partner = self.backward_rows.get(operator)
            if partner is not None:
                row.link = partner.link = self.rows.pairs
                self.rows.pairs += 1

    def _node(self, forward: int, group: Sequence[Span]) -> None:
        operators = self.script.program.operators
        first, last = group[0].first, group[-1].last
        of_work = [span for span in group if not is_mark(self.script, span)]
        operator = operators[(of_work or group)[0].operator]
        name = node_name(operators[forward])
        call = MARKED_NODE_CALL if is_mark(self.script, group[0]) else NODE_CALL
        self.rows.operators.append(
            Row(
                beginning(first, call),
                ending(self.script, last, NODE_CALL_END),
                Thread.BACKWARD,
                NODE_CALL_NAME.format(name),
            )
        )
        node = Row(
            beginning(first, NODE),
            ending(self.script, last, NODE_END),
            Thread.BACKWARD,
            name,
            sequence=operator.sequence,
            forward_thread=1,
            data_types=operator.data_types.partition(";")[0],
            shapes=operator.shapes.partition(";")[0],
        )
        self.rows.operators.append(node)
        self.backward_rows.setdefault(forward, node)
        for span in group:
            self._operator(span, node=node)

    def _operator(self, span: Span, node: Row | None = None) -> None:
        operator = self.script.program.operators[span.operator]
        outer: Row | None = None
        if not is_mark(self.script, span) and (node is None or operator.name != node.name):
            outer = self._tree(operator, span, inside=node is not None)
        allocating = next((run for _, run in span.runs if self._launches(run)), None)
        around = outer or node
        for place, run in span.runs:
            item = self.script.program.items[run.first]
            if run is allocating and around is not None:
                self._outputs(span.operator, run, around)
            if run.passage is not None:
                self._entries(operator, place, run, run.passage, outer)
            elif isinstance(item, Synchronize) and outer is not None and fetches(self.script, run):
                self._scalar(run, outer)

    def _tree(self, operator: Operator, span: Span, *, inside: bool) -> Row:
        """The rows of an operator; returns the innermost one around what it calls.

        Those that are over before it calls anything share the time until then evenly.
        """
        tree = operator.inner or ((0, operator.name), (1, ""))
        until = OUTPUTS if operator.tensors else LEAVES
        moments = 2 * len(tree) - 2 - tree[-1][0]
        passed = 0

        item = self.script.program.items[span.first.first]

        def moment() -> Moment:
            part = OPERATOR + (until - OPERATOR) * passed // moments
            if isinstance(item, Prepare) and not span.first.share:
                return preparing(span.first, item, part)
            return beginning(span.first, part)

        around: list[Row] = []
        for depth, name in tree:
            while len(around) > depth:
                around.pop().end = moment()
                passed += 1
            if not name:
                break
            row = self._row(operator, span, name, moment())
            row.data_types, row.shapes = operands_of(name, operator)
            if name == operator.name:
                self._own(row, operator, span, inside=inside)
            around.append(row)
            passed += 1
        for depth, row in enumerate(around):
            row.end = ending(self.script, span.last, OPERATOR_END - depth)
        return around[-1]

    def _row(self, operator: Operator, span: Span, name: str, start: Moment) -> Row:
        thread = framework_thread(self.script.program, span.first)
        stack = self._stack(operator, thread)
        row = Row(start, start, thread, name, stack=stack)
        self.rows.operators.append(row)
        return row

    @staticmethod
    def _stack(operator: Operator, thread: Thread) -> tuple[str, ...] | None:
        """The path of the call stack; only the main thread has one."""
        if thread != Thread.MAIN:
            return None
        return *operator.module, *wrapping_function(operator.name)

    def _own(self, row: Row, operator: Operator, span: Span, *, inside: bool) -> None:
        """What only the operator's own row shows: its place in the autograd sequence."""
        if not inside:
            row.sequence = operator.sequence
            if operator.forward is None:
                self.forward_rows.setdefault(span.operator, row)
            else:
                row.forward_thread = 1
                self.backward_rows.setdefault(operator.forward, row)

    def _launches(self, run: Run) -> bool:
        """Whether a run is more than a mark on the device."""
        mark = isinstance(self.script.program.items[run.first], Annotate)
        return run.passage is not None and not mark

    def _outputs(self, place: int, run: Run, around: Row) -> None:
        """The framework allocates what the operator writes, each tensor in an event of its own.

        What comes after the first tensors of a long list it takes without events.
        """
        tensors = len(self.script.program.operators[place].tensors)
        count = min(tensors, MOST_OUTPUTS)
        room = OUTPUTS_END - OUTPUTS
        moments = []
        for number in range(count):
            begin = OUTPUTS + room * number // count
            length = room // (count + 1)
            row = Row(
                beginning(run, begin),
                beginning(run, begin + length),
                around.thread,
                "empty_tensor",
                stack=around.stack,
            )
            self.rows.operators.append(row)
            moments.append(beginning(run, begin + length * 3 // 4))
        more = 1 + tensors - count
        room = LEAVES - OUTPUTS_END
        moments += [beginning(run, OUTPUTS_END + room * number // more) for number in range(more)]
        self.rows.allocations[place] = Allocation(around.name, tuple(moments))

    def _scalar(self, run: Run, outer: Row) -> None:
        if outer.name != "aten::_local_scalar_dense":
            row = Row(
                beginning(run, SCALAR),
                ending(self.script, run, SCALAR_END),
                outer.thread,
                "aten::_local_scalar_dense",
                stack=outer.stack,
            )
            self.rows.operators.append(row)

    def _entries(
        self, operator: Operator, place: int, run: Run, work: Passage, outer: Row | None
    ) -> None:
        """One leaf for each entry of the queue; the last entry ends when the run is handed over."""
        thread = framework_thread(self.script.program, run)
        mark = isinstance(self.script.program.items[run.first], Annotate)
        entries = work.entries
        consumed = passage_moments(
            run.first, work.ends, ((entry.start, entry.end) for entry in entries)
        )
        first_call = self.calls.first[place]
        for number, (entry, (start, end), moments) in enumerate(
            zip(entries, slots(len(entries)), consumed, strict=True)
        ):
            link = len(self.rows.enqueue)
            final = number == len(entries) - 1
            part = (end - start) // 16
            launches = tuple(first_call + launch for launch in entry.launches)
            if outer is not None and outer.name == entry.name:
                outer.launches += launches
            else:
                leaf = Row(
                    beginning(run, start + part),
                    ending(self.script, run, LEAF_END) if final else beginning(run, end - part),
                    thread,
                    entry.name,
                    launches=launches,
                    stack=self._stack(operator, thread),
                    mark=mark,
                )
                self.rows.operators.append(leaf)
            entering = self._entering(run, start, end, thread, final=final)
            self.rows.enqueue.append(Row(*entering, thread, entry.name, link=link, mark=mark))
            leaving = moments if not final else (moments[0], Moment(Anchor.DONE, run.last))
            self.rows.dequeue.append(
                Row(*leaving, Thread.CONSUMER, entry.name, link=link, mark=mark)
            )

    @staticmethod
    def _entering(
        run: Run, start: int, end: int, thread: Thread, *, final: bool
    ) -> tuple[Moment, Moment]:
        """It is over a little before the consumer, which has to wake up, can take the entry."""
        before = run.share - run.after
        part = (end - start) // 16
        finish = before * (end - 2 * part) // PARTS
        if final:
            finish = before - min(before // 32, AWAKE_NS)
        begin = max(before * (start + 8 * part) // PARTS, finish - ENTER_NS[thread])
        return Moment(Anchor.BEGIN, run.first, begin), Moment(Anchor.BEGIN, run.first, finish)
