"""A capture as a ``PROF_*`` folder of raw files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ascend_ref.capture import Capture, Switches

from ..caches import cache_settings
from ..iterations import Points
from ..machine import chip_of
from ..marks import is_mark
from ..moments import MOMENTS, Moments
from ..pipes import pipe_settings
from ..processors import processor_settings
from ..switches import stated_switches
from .aicpu import write_aicpu
from .amounts import amount_settings
from .caches import write_caches
from .calls import HostTicks, write_calls
from .ccu import write_units
from .communication import write_communication
from .copies import write_copies
from .cores import write_cores
from .counters import counter_settings, write_counters
from .engines import write_engines
from .fusion import write_fusions
from .graph_memory import write_graph_memory
from .host import host_machine, host_settings
from .instructions import write_instructions
from .iterations import write_iterations
from .kernels import write_kernels
from .marks import write_device_marks, write_marks
from .pipes import write_pipes
from .processors import write_processors
from .samples import write_samples
from .side import write_side_files
from .system_calls import write_system_calls
from .system_load import device_processors, write_system_load
from .tasks import write_tasks
from .tracks import launching_calls, place_tracks
from .traffic import traffic_settings
from .tree import SLICE, RawTree
from .voltages import write_voltages
from .workspace import write_workspace


def write_raw(
    folder: Path,
    capture: Capture,
    moments: Moments = MOMENTS,
    slice_size: int = SLICE,
    points: Mapping[int, Points] | None = None,
) -> list[str]:
    """Write the raw files of the host and of all devices of a capture into an empty folder.

    slice_size: most bytes of a file of records. points: of iterations by device, as a device noted
    them at Unix ns, the lane being the stream; by default those that make up the records.

    Returns what no raw file holds, a sentence each. Raises ``ValueError`` for a machine that raw
    files cannot describe, ``OSError``.
    """
    samples: dict[int | None, dict[str, Any]] = {
        None: sample_of(capture.switches) | host_settings(capture)
    }
    samples |= {device: _device_sample(capture) for device in capture.origin.devices}
    side = write_side_files(
        folder,
        capture.origin,
        samples,
        moments,
        host_machine(capture),
        device_processors(capture),
    )
    tree = RawTree(folder, chip_of(capture.origin), side, slice_size)
    write_marks(capture, tree)
    write_workspace(capture, tree)
    write_samples(capture, tree)
    write_system_calls(capture, tree)
    write_system_load(capture, tree)
    write_engines(capture, tree)
    write_processors(capture, tree)
    write_pipes(capture, tree)
    write_instructions(capture, tree)
    write_voltages(capture, tree)
    for device in tree.devices:
        write_device_marks(capture, tree, device)
        write_iterations(capture, tree, device, (points or {}).get(device))
    capture = replace(capture, tasks=capture.tasks.take(~is_mark(capture)))
    ticks = HostTicks(capture, tree.host.host)
    within = launching_calls(capture, ticks)
    tracks = place_tracks(capture, tree, ticks, within)
    items = np.zeros(len(capture.calls), np.uint64)
    lost = write_communication(capture, tree, ticks, tracks, items)
    lost += write_kernels(capture, tree, ticks, items)
    lost += write_tasks(capture, tree, ticks, tracks)
    lost += write_copies(capture, tree, tracks)
    write_counters(capture, tree)
    write_cores(capture, tree)
    write_caches(capture, tree)
    write_units(capture, tree, tracks)
    write_aicpu(capture, tree)
    write_graph_memory(capture, tree)
    write_fusions(capture, tree, ticks)
    write_calls(capture, tree, ticks, items)
    tree.finish()
    return lost


def sample_of(switches: Switches) -> dict[str, Any]:
    """``sample.json`` of the host, as far as switches decide it."""
    return {
        **stated_switches(switches),
        "ai_core_profiling_mode": switches.aic_mode,
        "llc_profiling": "",
        "profLevel": f"l{switches.level}",
    }


def _device_sample(capture: Capture) -> dict[str, Any]:
    return {
        **sample_of(capture.switches),
        **traffic_settings(capture),
        **amount_settings(capture),
        **counter_settings(capture),
        **cache_settings(capture),
        **processor_settings(capture),
        **pipe_settings(capture),
        "aicore_sampling_interval": 10,
        "aiv_profiling": sample_of(capture.switches)["ai_core_profiling"],
        "aiv_profiling_mode": capture.switches.aic_mode,
        "aiv_sampling_interval": 10,
    }
