"""The functions of ge/ge_prof.h written by hand from ge-profiling 2, with flaws to choose.

Nothing of the spec or the model is used. Answers messages of exchange/life-cycle-protocol. Shortest
sequences are found by trying all of them, breadth first, on a sound and a flawed one side by side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

FAILED = 405091711
WRONG = set("\n\f\r\b\t\v\x7f\"'\\%><|&$;`")
OUTSIDE = ~0x4000_000C_0100_FBFF
AI_CPU_MODEL = 1 << 62

FLAWS = (
    "flag kept",
    "flag kept, silent",
    "codes unfolded",
    "stop by device",
    "long path",
    "finalize collects",
    "nothing implied",
    "other bits start",
)


class Plain:
    """One process. ``flaw``: one of :data:`FLAWS`."""

    def __init__(self, flaw: str = "", reading: str = "strict") -> None:
        self.flaw, self.reading = flaw, reading
        self.mode, self.devices, self.metrics = "OFF", 2, [0, 1, 2, 3, 4, 5, 6]
        self.configs: dict[int, tuple[list[int], int, int]] = {}
        self.running: dict[int, int] = {}
        self.started = False

    def __call__(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to a message."""
        name = message["call"].removeprefix("aclgrphProf").lower()
        answer = {"returns": getattr(self, name)(**message["arguments"])}
        if "silent" not in self.flaw:
            answer["collecting"] = {str(one): hex(self.running[one]) for one in self.running}
        return answer

    def start(self, profiler_config: int | None = None, **given: Any) -> int:
        if profiler_config is None:  # the start of a sequence
            self.mode, self.devices = given["mode"], given["devices"]
            self.metrics = given["metrics"]
            return 0
        devices, metrics, bits = self.configs[profiler_config]
        if bits & OUTSIDE or self.mode in ("CMD", "SUBSCRIBE"):
            return FAILED
        if self.mode == "OFF":
            if self.reading == "strict":
                return FAILED
            self.mode = "API_CTRL"
        if self.flaw.startswith("flag kept") and self.started and not self.running:
            return 0
        if self.flaw != "other bits start" and set(self.running.values()) - {bits}:
            return FAILED
        if set(devices) - set(self.running) and bits & 4 and metrics not in self.metrics:
            return FAILED
        self.started = True
        self.running |= dict.fromkeys(devices, bits)
        return 0

    def stop(self, profiler_config: int) -> int:
        devices, _, bits = self.configs[profiler_config]
        if self.mode == "OFF" and self.reading == "lenient":
            return 0
        if bits & OUTSIDE or self.mode != "API_CTRL" or set(self.running.values()) - {bits}:
            return FAILED
        if self.flaw == "stop by device":
            self.running = {one: of for one, of in self.running.items() if one not in devices}
        else:
            self.running = {}
        self.started = False
        return 0

    def finalize(self) -> int:
        if self.mode == "OFF" and self.reading == "lenient":
            return 0
        if self.mode != "API_CTRL":
            return {"OFF": 100043, "CMD": 100042, "SUBSCRIBE": 148047}[self.mode]
        self.mode = "OFF"
        if self.flaw != "finalize collects":
            self.running = {}
        return 0

    def init(self, profiler_path: str | None, length: int) -> int:
        most = 4096 if self.flaw == "long path" else 4095
        if profiler_path is None or not 1 <= length <= most:
            return FAILED
        if len(profiler_path.encode()) != length:
            return FAILED
        if self.mode == "API_CTRL" and self.flaw == "codes unfolded":
            return 100002
        if self.mode != "OFF" or WRONG & set(profiler_path):
            return FAILED
        self.mode = "API_CTRL"
        return 0

    def createconfig(
        self,
        config: int,
        deviceid_list: list[int] | None,
        device_nums: int,
        aicore_metrics: int,
        aicore_events: None,
        data_type_config: str,
    ) -> str | None:
        assert aicore_events is None
        if deviceid_list is None or not 1 <= device_nums <= min(64, self.devices):
            return None
        devices = deviceid_list[:device_nums]
        if max(devices) >= self.devices or len(set(devices)) < len(devices):
            return None
        bits = int(data_type_config, 16)
        made = bits | AI_CPU_MODEL
        if self.flaw != "nothing implied":
            if bits & 0x2:
                made |= 0x800
            if bits & 0x6000:
                made |= 0x802
            if bits & 0x8000:
                made |= 0x2802
        self.configs[config] = (devices, aicore_metrics, made)
        return "config"

    def destroyconfig(self, profiler_config: int | None) -> int:
        if profiler_config is None:
            return FAILED
        del self.configs[profiler_config]
        return 0

    def key(self) -> object:
        """What decides all further answers."""
        return (
            self.mode,
            self.started,
            tuple(sorted(self.running.items())),
            tuple(sorted((one, (*made[0], -1, *made[1:])) for one, made in self.configs.items())),
        )


def create(config: int, devices: Sequence[int], bits: int, metrics: int = 0) -> dict[str, Any]:
    """A call of aclgrphProfCreateConfig."""
    given = {"config": config, "deviceid_list": list(devices), "device_nums": len(devices)}
    given |= {"aicore_metrics": metrics, "aicore_events": None, "data_type_config": hex(bits)}
    return {"call": "aclgrphProfCreateConfig", "arguments": given}


def init(path: str = "data") -> dict[str, Any]:
    """A call of aclgrphProfInit."""
    given = {"profiler_path": path, "length": len(path)}
    return {"call": "aclgrphProfInit", "arguments": given}


def call(name: str, config: int | None = None) -> dict[str, Any]:
    """A call of another function."""
    given = {} if name == "Finalize" else {"profiler_config": config}
    return {"call": f"aclgrphProf{name}", "arguments": given}


ALPHABET = [
    init(),
    init("a" * 4095),
    init("a" * 4096),
    init("a;b"),
    *(create(one, devices, bits) for one in (1, 2) for devices, bits in (([0], 0x800), ([1], 0x2))),
    *(create(one, [1], 0x800) for one in (1, 2)),
    create(1, [0, 1], 0x800),
    create(1, [0], 0x404),
    create(1, [0], 0x804, 7),
    *(call(name, one) for name in ("Start", "Stop", "DestroyConfig") for one in (1, 2)),
    call("Finalize"),
    call("DestroyConfig"),
]


def shortest(flawed: Plain, sound: Plain, most: int = 9) -> list[list[dict[str, Any]]]:
    """Every shortest sequence of the alphabet to which the two do not answer alike.

    States that were seen before at the same or a smaller depth are not gone into again, so that of
    sequences through the same states the first one stands for all.
    """
    queue = deque([(flawed, sound, list[dict[str, Any]]())])
    seen = {(flawed.key(), sound.key())}
    found: list[list[dict[str, Any]]] = []
    while queue:
        one, other, calls = queue.popleft()
        if len(calls) == most or (found and len(calls) >= len(found[0])):
            break
        for step in ALPHABET:
            if not _is_defined(other, step):
                continue
            left, right = deepcopy(one), deepcopy(other)
            answers = left(step), right(step)
            if answers[0]["returns"] != answers[1]["returns"] or _differ(*answers):
                found.append([*calls, step])
                continue
            key = (left.key(), right.key())
            if key not in seen:
                seen.add(key)
                queue.append((left, right, [*calls, step]))
    return found


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return "collecting" in one and one["collecting"] != other["collecting"]


def _is_defined(plain: Plain, step: Mapping[str, Any]) -> bool:
    given = step["arguments"]
    if "config" in given:
        return given["config"] not in plain.configs
    return given.get("profiler_config") in (None, *plain.configs)
