"""Calls and what they return as lines of JSON, as exchange/life-cycle-protocol describes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast, get_args

import jsonschema_rs

from ascend_ref.cli.guard import one_line
from ascend_spec import per_spec
from ascend_spec.exchange import exchange_schema
from ascend_spec.ge import Reading

from .calls import Call, CreateConfig, DestroyConfig, Finalize, Init, Start, Stop
from .model import Environment, LifeCycle, Profiling, Returned, Rules, UndefinedCall

PROTOCOL = "ascend-ref-life-cycle/1"
LONGEST = 1 << 20
"""Bytes of a line."""
SHOWN = 80
"""Bytes of a wrong line that are shown."""


class WrongLine(ValueError):
    """A line that is no message; the text says why, and what is expected."""


def start_message(environment: Environment, reading: Reading) -> dict[str, Any]:
    """The first message of a sequence of calls."""
    return {
        "call": "start",
        "arguments": {
            "protocol": PROTOCOL,
            "reading": reading,
            "mode": environment.mode,
            "devices": environment.devices,
            "metrics": list(environment.metrics),
        },
    }


def message_of(call: Call) -> dict[str, Any]:
    """A call as a message."""
    arguments: dict[str, Any] = {}
    match call:
        case Init():
            arguments = {"profiler_path": call.path, "length": call.length}
        case CreateConfig():
            arguments = {
                "config": call.config,
                "deviceid_list": None if call.devices is None else list(call.devices),
                "device_nums": call.device_nums,
                "aicore_metrics": call.metrics,
                "aicore_events": None,
                "data_type_config": hex(call.types),
            }
        case Start() | Stop() | DestroyConfig():
            arguments = {"profiler_config": call.config}
    return {"call": call.function, "arguments": arguments}


def call_of(message: Mapping[str, Any]) -> Call:
    """The call of a message that the protocol allows, other than start."""
    name, given = message["call"], message["arguments"]
    if name == Init.function:
        return Init(given["profiler_path"], given["length"])
    if name == CreateConfig.function:
        devices = given["deviceid_list"]
        return CreateConfig(
            given["config"],
            None if devices is None else tuple(devices),
            given["device_nums"],
            given["aicore_metrics"],
            int(given["data_type_config"], 16),
        )
    if name == Finalize.function:
        return Finalize()
    config = given["profiler_config"]
    if name == DestroyConfig.function:
        return DestroyConfig(config)
    return Start(config) if name == Start.function else Stop(config)


def answer_of(returned: Returned, after: Profiling) -> dict[str, Any]:
    """The answer to a call."""
    return {"returns": returned.returns, "collecting": collecting_message(after.collecting)}


def collecting_message(collecting: Mapping[int, int]) -> dict[str, str]:
    """What is collected, as answers have it."""
    return {str(device): hex(collecting[device]) for device in sorted(collecting)}


def read_message(line: bytes, forms: Sequence[str]) -> dict[str, Any]:
    """A line as one of the forms of the protocol. Raises :class:`WrongLine`."""
    if len(line) > LONGEST:
        raise WrongLine(f"it has more than {LONGEST} bytes")
    shown = one_line(line[:SHOWN].decode(errors="replace"))
    try:
        message = json.loads(line, object_pairs_hook=_once, parse_constant=_refuse)
    except WrongLine:
        raise
    except (ValueError, RecursionError):
        raise WrongLine(f"{shown!r} is no JSON; expected {_expectation(forms)}") from None
    if not _judge(tuple(forms)).is_valid(message):
        raise WrongLine(f"{shown!r} is no message of the protocol; expected {_expectation(forms)}")
    return cast(dict[str, Any], message)


def _expectation(forms: Sequence[str]) -> str:
    return "a call" if forms is REQUESTS else f"an answer, {' or '.join(forms)}"


@per_spec
def _judge(forms: tuple[str, ...]) -> jsonschema_rs.Validator:
    schema = exchange_schema("life-cycle-protocol")
    schema["anyOf"] = [{"$ref": f"#/$defs/{one}"} for one in forms]
    return jsonschema_rs.validator_for(schema)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise WrongLine("a key stands twice; expected each once")
    return found


def _refuse(name: str) -> Any:
    raise WrongLine(f"it has {name}, which is no JSON; expected a number")


REQUESTS = ("start", *(one.function for one in get_args(Call)))


def answers(lines: Iterable[bytes], rules: Rules, *, has_reading: bool) -> Iterator[str]:
    """The model as an implementation: an answer for each line.

    ``has_reading``: the reading is that of ``rules``, whatever the first line has. Empty lines are
    left out. Raises :class:`WrongLine` with the number of the line.
    """
    machine = LifeCycle(rules=rules)
    profiling = machine.begin()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            message = read_message(line, REQUESTS)
            if message["call"] == "start":
                machine = _start(message["arguments"], rules, has_reading=has_reading)
                profiling = machine.begin()
                answer: dict[str, Any] = {"returns": 0, "collecting": {}}
            else:
                profiling, returned = machine.respond(profiling, call_of(message))
                answer = answer_of(returned, profiling)
        except (WrongLine, UndefinedCall) as problem:
            raise WrongLine(f"line {number}: {problem}") from None
        yield json.dumps(answer)


def _start(given: Mapping[str, Any], rules: Rules, *, has_reading: bool) -> LifeCycle:
    environment = Environment(given["mode"], given["devices"], tuple(given["metrics"]))
    reading = rules.reading if has_reading else given["reading"]
    return LifeCycle(environment, Rules(reading, rules.start_flag))
