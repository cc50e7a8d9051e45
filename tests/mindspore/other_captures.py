"""Raw files of AI CPUs, the data pipeline and a GPU, made by a seed."""

from __future__ import annotations

import json
from random import Random

import numpy as np

from ascend_ref.raw.fields import opaque
from ascend_ref.raw.lines import Entry, encode_lines
from ascend_spec import mindspore_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.mindspore.records import AICPU


def aicpu_text(seed: int, is_counted: bool) -> bytes:
    """Kernels and threads, not all of which belong together."""
    random = Random(seed)
    prefix = "counted_" if is_counted else ""
    entries = []
    time = 2_298_200_409
    for number in range(random.choice([0, 1, 2, 8, 30])):
        kind = random.choice(["kernel", "kernel", "other_kernel"])
        length = random.choice([0, 7, 129, 10**6])
        name = random.choice(["InitData", "GetNext", "Default/x/TruncatedNormal-op0"])
        parts = {
            **{"tick": time, "name": name, "verb": random.choice(["tart", "start"])},
            **{"run_start": time, "run_end": time + length},
            **{"run_start_counter": time * 100 + 7, "run_end_counter": (time + length) * 100},
            **{"compute_start": time + 1, "memcpy_start": time + 2, "memcpy_end": time + 3},
        }
        time += length + 1000
        if random.random() < 0.9:
            end = random.choice([b"\0", b"\n\0"])
            entries.append(Entry(prefix + kind, parts, end=end))
        if random.random() < 0.9:
            entries.append(Entry("thread", _thread(random, number), end=b"\0"))
    return encode_lines(entries, mindspore_catalog().grammars["aicpu"])


def _thread(random: Random, number: int) -> dict[str, object]:
    ticks = ("submit_tick", "schedule_tick", "tick_before_run", "tick_after_run")
    return {
        **{"thread": f"{number % 20:2d}", "device": "0", "aicpu": " 1"},
        **dict.fromkeys(ticks, 38_753_260_078),
        **{"dispatch_time": random.randrange(2000), "total_time": random.randrange(10**7)},
        "rest": random.choice(["", ".", ". "]),
    }


def aicpu_records(seed: int) -> bytes:
    random = Random(seed)
    rows = np.zeros(random.choice([1, 2, 40]), dtype_of(AICPU))
    rows["magicNumber"], rows["dataTag"] = 0x5A5A, 60
    for row in rows:
        start = random.randrange(1 << 50)
        row["streamId"], row["taskId"] = random.randrange(40), random.choice([2, 4, 24_999, 25_000])
        row["run_start"], row["run_end"] = start, start + random.randrange(10**6)
        row["run_start_counter"] = start * 100 + random.randrange(100)
        row["run_end_counter"] = row["run_end"] * 100 + random.randrange(100)
        row["dispatch_time"], row["total_time"] = random.randrange(10**4), random.randrange(10**6)
    return opaque(rows).tobytes()


def fetches(seed: int) -> bytes:
    random = Random(seed)
    entries = []
    for _ in range(random.choice([0, 1, 9])):
        start = random.randrange(1 << 40)
        end, size = start + random.randrange(1000), random.randrange(100)
        parts = {"name": "GetNext_dequeue_wait", "start": start, "end": end, "size": size}
        entries.append(Entry(random.choice(["times_first", "size_first"]), parts, end=b"\0"))
    return encode_lines(entries, mindspore_catalog().grammars["aicpumi"])


def pipeline(seed: int) -> bytes:
    """A tree of operators, of which some have no queue."""
    random = Random(seed)
    count = random.choice([1, 2, 5, 12])
    parents = [random.randrange(number) for number in range(1, count)]
    operators = []
    for number in range(count):
        children = [one + 1 for one, parent in enumerate(parents) if parent == number]
        random.shuffle(children)
        size = [random.randrange(64) for _ in range(random.choice([1, 3, 10]))]
        queue = {"output_queue": {"size": size, "length": random.choice([1, 16, 64])}}
        operator = {
            "op_id": number,
            "op_type": random.choice(["Batch", "Map, Op", "TFReader"]),
            "num_workers": random.choice([1, 8]),
            "metrics": queue if random.random() < 0.6 else random.choice([None, {}]),
            "children": children or random.choice([None, []]),
        }
        operators.append(operator)
    random.shuffle(operators)
    return json.dumps({"sampling_interval": 10, "op_info": operators}).encode()


def gpu_operators(seed: int) -> bytes:
    random = Random(seed)
    steps = random.choice([1, 2, 5])
    names = ["Default/Conv2D-op1", "Gradients/Conv2DBackprop-op5", "Default/Assign-op9"]
    names += [f"Default/AllReduce-op{n}" for n in range(random.choice([0, 1, 3]))]
    entries = []
    for name in names:
        time = random.randrange(10**12)
        pairs = "".join(f"{time + n * 100},{time + n * 100 + 37} " for n in range(steps))
        entries.append(Entry("operator", {"operator": name, "pairs": pairs}))
    return encode_lines(entries, mindspore_catalog().grammars["gpu_step_trace"])


def gpu_steps(seed: int) -> bytes:
    random = Random(seed)
    count = random.choice([0, 1, 3])
    entries = []
    time = random.randrange(10**15)
    for _ in range(random.choice([1, 2, 6])):
        parts: dict[str, object] = {}
        for name in ("start", "fp", "bp", "end"):
            time += random.randrange(100_000)
            parts |= {name: f"Default/{name}-op1", f"{name}_time": time}
        times = [random.randrange(10**15) for _ in range(count)]
        parts["reductions"] = "".join(
            f" Default/x/AllReduce-op{n},{one},{one + 1234}" for n, one in enumerate(times)
        )
        entries.append(Entry("step", parts))
    return encode_lines(entries, mindspore_catalog().grammars["gpu_step_trace"])
