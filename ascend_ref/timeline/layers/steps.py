"""Step Trace: the iterations of each graph with their parts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref import arrays
from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.step_trace import (
    data_augmentation_starts,
    iteration_times,
    reduce_numbers,
)
from ascend_spec import text_catalog
from ascend_spec.timeline import Layer

from ..events import Events, Item, Values
from ..notation import instants, lengths, wholes
from ..rows import Fragment
from ..session import WHOLE, Session, total

LAYER = "Step Trace"
ITERATIONS, REDUCES, READINGS = "step_trace", "step_trace_reduce", "step_trace_get_next"
"""Extras of a recording."""
NANOSECONDS = "instantNsText"
"""Value type of instants that a writer leaves in ns."""
UNKNOWN = "N/A"


def steps(session: Session) -> Iterator[Item]:
    """Iterations, sums of gradients and readings of data."""
    layer = session.layer(LAYER)
    extras = session.recorded.extras
    if layer is None or not any(name in extras for name in (ITERATIONS, REDUCES, READINGS)):
        return
    found = _Steps(session, layer)
    yield from found.metadata()
    if ITERATIONS in extras:
        yield from found.iterations(extras[ITERATIONS])
    if REDUCES in extras:
        yield from found.reduces(extras[REDUCES])
    if READINGS in extras:
        yield from found.readings(extras[READINGS])


class _Steps:
    def __init__(self, session: Session, layer: Layer) -> None:
        self.session = session
        self.layer = layer
        self.style = session.style_of(layer)
        in_cpp = text_catalog().writers[self.style].engine == "cpp"
        self.engine: Engine = "cpp" if in_cpp else "python"
        pairs = [
            np.stack([integers(table["device"]), integers(table["model"])])
            for name in (ITERATIONS, REDUCES, READINGS)
            if (table := session.recorded.extras.get(name)) is not None
        ]
        found = np.unique(np.concatenate(pairs, axis=1), axis=1).T.tolist()
        self.graphs = [(device, model) for device, model in found]

    def metadata(self) -> Iterator[Item]:
        """Processes that the tasks have not named yet, and the thread of each graph."""
        named: set[int] = set()
        home = self.layer
        if self.session.file in WHOLE and self.layer.shown_in is not None:
            home = self.session.spec.layers[self.layer.shown_in]
            named = set(np.unique(self.session.work.device).tolist())
        pids: set[int] = set()
        for device in sorted({device for device, _ in self.graphs} - named):
            # In a file of the Python engine all devices are one process.
            if self.session.pid(home, device) not in pids:
                yield from self.session.process(home, device)
            pids.add(self.session.pid(home, device))
        for device, model in self.graphs:
            numbers = self._numbers(device, model)
            yield from self.session.thread(self.layer, "model", device, **numbers)

    def iterations(self, table: pa.Table) -> Iterator[Item]:
        """The iterations with forward and backward pass, refresh and wait for data."""
        for device in np.unique(integers(table["device"])).tolist():
            yield from self._iterations(table.filter(pc.equal(table["device"], device)))

    def _iterations(self, table: pa.Table) -> Iterator[Item]:
        start, end = integers(table["start"]), integers(table["end"])
        forward, backward = integers(table["fp_start"]), integers(table["bp_end"])
        number = integers(table["iteration"])
        bound = arrays.integers(iteration_times(start, forward, backward, end).bound, 0)
        args = {
            "Iteration ID": wholes(number),
            "FP Start": _known(forward),
            "BP End": _known(backward),
            "Iteration End": instants(end),
            "Iteration Time(us)": lengths(end - start),
            "FP_BP Time(us)": lengths(backward - forward),
            "Iteration Refresh(us)": lengths(end - backward),
            "Data_aug Bound(us)": lengths(bound),
        }
        every, known = np.ones(len(start), np.bool_), (forward > 0) & (backward > 0)
        middle = data_augmentation_starts(backward, end, bound, self.engine)
        for kind, rows, shown, first, last in (
            ("iteration", every, number, start, end),
            ("forward-backward", known, number, forward, backward),
            ("refresh", known, number, backward, end),
            ("data-wait-end", known, number - 1, forward, None),
            ("data-wait-start", known, number, middle, None),
        ):
            own = pa.array(rows)
            yield self._events(
                kind,
                table.filter(own),
                first[rows],
                None if last is None else last[rows],
                {
                    name: value if isinstance(value, str) else value.filter(own)
                    for name, value in args.items()
                },
                {"iterationId": wholes(shown[rows])},
            )

    def reduces(self, table: pa.Table) -> Iterator[Item]:
        """The sums of gradients."""
        device, start, end = (integers(table[name]) for name in ("device", "start", "end"))
        number = integers(table["iteration"])
        kinds = {arg.type for arg in self.layer.event("reduce").args_of(self.style)}
        shown = wholes if NANOSECONDS in kinds else instants
        count = reduce_numbers(device, integers(table["model"]), number, self.engine)
        args = {
            "Iteration ID": wholes(number),
            "Reduce Start {k}": shown(start),
            "Reduce End {k}": shown(end),
        }
        parts = {"iterationId": wholes(number), "k": wholes(count)}
        yield self._events("reduce", table, start, end, args, parts)

    def readings(self, table: pa.Table) -> Iterator[Item]:
        """The readings of data whose bounds are known."""
        known = pc.and_(pc.greater(table["start"], 0), pc.greater(table["end"], 0))
        table = table.filter(known)
        start, end = integers(table["start"]), integers(table["end"])
        args = {
            "GetNext Start": instants(start),
            "GetNext End": instants(end),
            "GetNext Time(us)": lengths(end - start),
        }
        yield self._events("get-next", table, start, end, args)

    def _events(
        self,
        kind: str,
        table: pa.Table,
        start: Integers,
        end: Integers | None,
        args: Values,
        parts: Values | None = None,
    ) -> Events:
        """The events of the rows of a table."""
        return Events(
            layer=self.layer,
            kind=self.layer.event(kind),
            start=start,
            device=integers(table["device"]),
            thread=self._threads(table),
            length=None if end is None else end - start,
            parts=parts or {},
            args=args,
        )

    def _threads(self, table: pa.Table) -> Integers:
        thread = self.session.thread_kind(self.layer, "model")
        parts = () if thread is None else thread.tid
        device, model = integers(table["device"]), integers(table["model"])
        found = np.zeros(table.num_rows, np.int64)
        for one, number in self.graphs:
            tid = total(parts, self._numbers(one, number))
            found[(device == one) & (model == number)] = tid
        return found

    def _numbers(self, device: int, model: int) -> dict[str, int]:
        """What the name and the numbers of a graph's thread are made of."""
        return {
            "modelId": model,
            "modelIndex": self.graphs.index((device, model)),
            "osPid": self.session.os_pid,
        }


def _known(moment: Integers) -> Fragment:
    """Instants, N/A where they are not known."""
    return pc.if_else(pa.array(moment > 0), instants(moment), UNKNOWN)
