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


def hccl_traces(seed: int) -> tuple[dict[str, bytes], str]:
    """Traces by their path below hccl_info, and step_trace_raw for their steps."""
    random = Random(seed)
    steps = random.choice([1, 2, 12])
    names = [f"Default/AllReduce-op{n}" for n in range(3)] + ["Default/AllGather-op7"]
    columns = [f"stream_{n % 2}_{n}_{name.split('/')[-1]}" for n, name in enumerate(names)]
    fixed = (
        "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
    )
    header = [fixed, *(f"{one},{one}_start_point,{one}_end_point" for one in columns)]
    lines = [",".join(header)]
    for n in range(steps):
        start = 100_000 + n * 10_000
        cells = [n + 1, start, start + 10_000, 10_000, start, start + 5, 0, 5, 9995]
        lines.append(",".join(map(str, [*cells, *[0] * 3 * len(columns)])))
    traces = {}
    for folder in random.sample(["allReduce_1_1", "allReduce_3_1", "allGather_2_1", "send_9_1"], 3):
        for n in range(random.choice([1, 3])):
            time = random.uniform(990 if seed % 5 == 0 else 1000, 1005 + 100 * steps)
            events = [_event(random, time) for _ in range(random.choice([1, 5, 40]))]
            events += [
                {**_event(random, time), "args": _args(random, task, "RDMA", (0, 1))}
                for _ in range(random.choice([0, 2]))
                for task in ("RDMASend", "RDMASend", "Notify Wait")
            ]
            document = {"device id": "0", "iteration": n + 1, "traceEvents": events}
            traces[f"{folder}/iter{n + 1}.trace"] = json.dumps(document, indent=4).encode()
    return traces, "\r\n".join([*lines, ""])


def _event(random: Random, time: float) -> dict[str, object]:
    task = random.choice(["Notify Wait", "Notify Record", "Reduce Inline", "Memcpy", "RDMASend"])
    ranks = random.choice([(0, 1), (1, 0), (0, 0xFFFFFFFF), (0xFFFFFFFF, 1)])
    return {
        **{"tid": random.choice([2, 3]), "pid": "0", "ts": round(time, 2), "ph": "X", "name": task},
        "dur": round(random.uniform(0.01, 3000), 2),
        "args": _args(random, task, random.choice(["SDMA", "SDMA", "LOCAL", "RDMA"]), ranks),
    }


def _args(random: Random, task: str, transport: str, ranks: tuple[int, int]) -> dict[str, object]:
    size = random.choice([None, "0x1000", hex(random.randrange(1, 1 << 30))])
    return {
        **{"task type": task, "transport type": transport, "size": size},
        **{"src rank": ranks[0], "dst rank": ranks[1]},
    }
