"""What a rank's tasks moved, for the samplers."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, Kernels, Tasks, Transfers

from ..samples.traffic import Flow, Traffic
from ..world.compiled import Compiled
from ..world.small_tasks import Arrivals, enum_ids

FLOWS = {"HCCS": "hccs", "SIO": "sio", "ROCE": "roce", "PCIE": "pcie"}
"""Flow of each link type."""
HOST_COPIES = ("host to device", "device to host")


def traffic(
    compiled: Compiled,
    tasks: Tasks,
    kernels: Kernels,
    copies: tuple[Integers, Integers, Integers],
    transfers: Transfers,
    arrivals: Arrivals,
) -> Traffic:
    """Flows of one rank.

    ``tasks`` stand at the places of their identities. ``copies``: task, size and operation of each
    copy (as in Copies).
    """
    links = enum_ids("ENUM_HCCL_LINK_TYPE")
    operations = enum_ids("ENUM_MEMCPY_OPERATION")
    read, written = compiled.kernel_column("read"), compiled.kernel_column("written")
    memory = [_flow(tasks, kernels.task, read[kernels.kind], written[kernels.kind])]
    local = transfers.take((transfers.link == links["ON_CHIP"]) & (transfers.size > 0))
    memory.append(_flow(tasks, local.task, local.size, local.size))
    task, size, operation = copies
    inside = ~np.isin(operation, [operations[name] for name in HOST_COPIES])
    memory.append(_flow(tasks, task[inside], size[inside], size[inside]))
    flows = {"memory": Flow.joined(memory)}
    for link, name in FLOWS.items():
        sent = transfers.take((transfers.link == links[link]) & (transfers.size > 0))
        came = arrivals.take(arrivals.link == links[link])
        flows[name] = Flow.joined(
            [
                _flow(tasks, sent.task, sent.size * 0, sent.size),
                Flow(came.start, came.end, came.size, came.size * 0),
            ]
        )
    to_device = operation == operations["host to device"]
    to_host = operation == operations["device to host"]
    moved = _flow(tasks, task, np.where(to_device, size, 0), np.where(to_host, size, 0)).take(
        ~inside
    )
    flows["pcie"] = Flow.joined([flows["pcie"], moved])
    return Traffic(**flows)


def _flow(tasks: Tasks, task: Integers, read: Integers, written: Integers) -> Flow:
    return Flow(tasks.start[task], tasks.end[task], read, written)
