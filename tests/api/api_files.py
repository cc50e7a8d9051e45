"""Files to ask: real ones and small ones made by hand; answers are held to their schemas."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ascend_ref.bin import Block, canonical, to_bytes
from ascend_ref.tools.serve import Answer, Answers, Session
from ascend_spec import api_catalog

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "bin"
PLACE = Path("/runs/today/op/visualize_data.bin")
BASELINE = Path("/runs/before/op/old.bin")

Message = dict[str, Any]


def real(name: str) -> Path:
    path = REAL / name
    if not path.exists():
        pytest.skip("needs the real files in ../shared/data/bin")
    return path.resolve()


def json_block(code: int, value: object, version: int = 0x5A) -> Block:
    return Block(code, canonical(value), version=version)


def text_block(code: int, text: str) -> Block:
    """A block of JSON text as it stands, for numbers and errors that nobody would write."""
    return Block(code, text.encode())


def source_block(path: str, text: str) -> Block:
    return Block(0x01, text.encode(), path=path.encode())


def trace_block(events: Iterable[object]) -> Block:
    return json_block(
        0x02, {"profilingType": "op", "schemaVersion": 1, "traceEvents": list(events)}
    )


def content(*blocks: Block) -> memoryview:
    return memoryview(to_bytes(blocks))


def answers(*blocks: Block, place: Path = PLACE) -> Answers:
    return Answers(content(*blocks), place)


@cache
def validator(command: str) -> Draft202012Validator:
    return Draft202012Validator(api_catalog().schema(api_catalog().commands[command].body))


@cache
def message_validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(api_catalog().schema(kind))


@cache
def event_validator(event: str) -> Draft202012Validator:
    return Draft202012Validator(api_catalog().schema(api_catalog().events[event].body))


def ask(asked: Answers, command: str, baseline: Answers | None = None, **params: object) -> Answer:
    """The answer to a command, its body held to the schema, also that of a refusal."""
    answer = asked.answer(command, params, baseline=baseline)
    validator(command).validate(answer.body)
    return answer


def body(asked: Answers, command: str, baseline: Answers | None = None, **params: object) -> Any:
    answer = ask(asked, command, baseline, **params)
    assert answer.result
    assert answer.error is None
    return answer.body


def request(command: str, number: int = 7, **params: object) -> Message:
    return {
        "id": number,
        "type": "request",
        "moduleName": api_catalog().commands[command].module,
        "command": command,
        "params": params,
    }


def check_message(message: Message) -> Message:
    """The message, held to the schemas of the envelope and of what is in it."""
    kind = message["type"]
    message_validator(kind).validate(message)
    if kind == "response":
        validator(message["command"]).validate(message["body"])
    else:
        event_validator(message["event"]).validate(message["body"])
    return message


def send(session: Session, command: str, **params: object) -> list[Message]:
    """All messages that a request leads to."""
    message = json.dumps(request(command, **params))
    return [check_message(answer) for answer in session.handle(message)]


def opened(*blocks: Block, baseline: Answers | None = None) -> Session:
    """A session in which the file was imported."""
    session = Session(answers(*blocks), baseline)
    send(session, "import/action", path=[str(PLACE)], projectName="p", projectAction=1)
    return session


def compared(command: str, code: int, file: object, baseline: object, **params: object) -> Any:
    beside = answers(json_block(code, baseline), place=BASELINE)
    return body(answers(json_block(code, file)), command, beside, isCompared=True, **params)
