"""Opening, closing and comparing; requests that are refused or dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from api_files import (
    BASELINE,
    PLACE,
    Message,
    answers,
    json_block,
    opened,
    request,
    send,
    source_block,
    text_block,
    trace_block,
)

from ascend_ref.tools.serve import Session

FILE = (
    json_block(0x05, {"name": "n"}),
    source_block("/a.cpp", "x"),
    json_block(0x04, {"Cores": ["c"]}, version=0),
)
EVENT = {"ph": "X", "name": "n", "pid": "p", "tid": "t", "ts": 5, "dur": 1}


def imported(session: Session, *paths: object, **more: object) -> list[Message]:
    params = {"projectName": "p", "projectAction": 1, **more}
    return send(session, "import/action", path=list(paths), **params)


def names(messages: list[Message]) -> list[str]:
    return [message.get("event", message.get("command")) for message in messages]


def error(message: Message) -> object:
    return message["result"], message.get("error", {}).get("code")


# --- import --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [str(PLACE), PLACE.name])
def test_the_served_file_is_opened_by_path_or_name(path: str) -> None:
    session = Session(answers(*FILE, trace_block([EVENT])))
    messages = imported(session, path)
    assert names(messages) == [
        "import/action",
        "parse/progress",
        "parse/success",
        "parse/unitCompleted",
    ]
    told = messages[0]["body"]
    assert told["coreList"] == ["c"]
    assert told["sourceList"] == ["/a.cpp"]
    assert told["instrVersion"] == 0
    assert told["result"][0]["cardPath"] == "Directory: today"
    assert told["result"][0]["dbPath"] == "/runs/today/op/visualize_data_mindstudio_insight_data.db"
    assert told["children"][0]["children"][0]["rankId"] == str(PLACE)
    progress = messages[1]["body"]
    assert progress["parsedSize"] == progress["totalSize"] > 0
    assert progress["progress"] == 99
    success = messages[2]["body"]
    assert (success["startTime"], success["maxTimeStamp"], success["offset"]) == ("5000", 1000, 0)
    assert success["startTimeUpdated"] is True
    assert success["unit"]["metadata"]["cardId"] == str(PLACE)
    assert messages[3]["body"]["unitName"] == "CONNECTION_CATEGORY"


def test_a_file_without_a_timeline_has_no_origin_of_times() -> None:
    _, success, _ = imported(Session(answers(*FILE)), str(PLACE))
    assert success["body"]["startTime"] == str((1 << 64) - 1)
    assert success["body"]["startTimeUpdated"] is False


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/etc/passwd", 4103),
        ("../op/visualize_data.bin", 4103),
        (f"{PLACE.parent}/../op/{PLACE.name}", 4103),
        (f"{PLACE}\0", 4103),
        ("", 4103),
        (5, 4103),
        (str(BASELINE), 4103),
    ],
)
def test_any_other_path_is_refused_without_looking(path: object, code: int) -> None:
    session = Session(answers(*FILE))
    (answer,) = imported(session, path)
    assert error(answer) == (False, code)
    assert str(path) not in json.dumps(answer["error"]) or path in ("", 5)
    assert answer["body"]["result"] == []
    (both,) = imported(session, str(PLACE), path)
    assert error(both) == (False, code)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"path": [str(PLACE)]}, 1101),  # as the documents print it
        ({"path": [str(PLACE)], "projectName": "", "projectAction": 1}, 1101),
        ({"path": [str(PLACE)], "projectName": "p"}, 1101),
        ({"path": [str(PLACE)], "projectName": "p", "projectAction": 2}, 1101),
        ({"path": [str(PLACE)], "projectName": "p", "projectAction": "1"}, 1101),
        ({"path": [str(PLACE)], "projectName": "p", "projectAction": True}, 1101),
        ({"path": [], "projectName": "p", "projectAction": 1}, 4101),
        ({"path": str(PLACE), "projectName": "p", "projectAction": 1}, 4101),
        ({"projectName": "p", "projectAction": 1}, 4101),
        ({"projectName": "p", "projectAction": 0}, 2101),  # which nobody imported
    ],
)
def test_an_import_that_lacks_something_is_refused(params: dict[str, Any], code: int) -> None:
    (answer,) = send(Session(answers(*FILE)), "import/action", **params)
    assert error(answer) == (False, code)


@pytest.mark.parametrize("action", [3, -1, 99])
def test_an_unknown_action_gets_no_answer(action: int) -> None:
    assert imported(Session(answers(*FILE)), str(PLACE), projectAction=action) == []


def test_a_project_can_be_shown_again() -> None:
    session = opened(*FILE)
    messages = send(session, "import/action", projectName="p", projectAction=0)
    assert names(messages) == ["import/action", "parse/success", "parse/unitCompleted"]
    (answer,) = send(session, "import/action", projectName="q", projectAction=0)
    assert error(answer) == (False, 2101)


def test_a_file_that_is_not_taken_fails_in_an_event_first() -> None:
    session = Session(answers(json_block(0x04, {"Cores": ["c"]}, version=0)))
    event, answer = imported(session, str(PLACE))
    assert event["event"] == "parse/fail"
    assert event["body"]["rankId"] == ""
    assert error(answer) == (True, None)
    assert answer["body"]["isBinary"] is False
    assert answer["body"]["result"] == []


def test_a_timeline_that_cannot_be_read_fails_in_an_event() -> None:
    session = Session(answers(*FILE, text_block(0x02, "{")))
    answer, event = imported(session, str(PLACE))
    assert answer["body"]["isBinary"] is True
    assert event["event"] == "parse/fail"
    assert event["body"]["rankId"] == str(PLACE)
    assert "byte 1" in event["body"]["error"]


# --- cards ---------------------------------------------------------------------------------------


def traces(session: Session, card: object, end: int = 900) -> Message:
    params = {"cardId": card, "processId": "p", "threadId": "t", "startTime": 0, "endTime": end}
    (answer,) = send(session, "unit/threadTraces", **params)
    return answer


@pytest.mark.parametrize("card", ["", "other", None, 5, PLACE.name])
def test_another_card_has_no_timeline(card: object) -> None:
    session = opened(*FILE, trace_block([EVENT]))
    assert error(traces(session, card)) == (False, 3001)
    assert error(traces(session, str(PLACE))) == (True, None)


def test_before_import_and_after_reset_nothing_is_open() -> None:
    session = Session(answers(*FILE, trace_block([EVENT])))
    for _ in range(2):
        assert error(traces(session, str(PLACE))) == (False, 3001)
        (text,) = send(session, "source/code/file", sourceName="/a.cpp")
        assert text["body"] == {"fileContent": ""}
        (load,) = send(session, "source/details/computeworkload")
        assert error(load) == (False, None)
        imported(session, str(PLACE))
        assert traces(session, str(PLACE))["body"]["data"]
        (done,) = send(session, "remote/reset")
        assert (done["result"], done["body"]) == (True, {})


def test_details_of_a_slice_ask_for_no_card() -> None:
    session = opened(*FILE, trace_block([EVENT]))
    (told,) = send(session, "unit/threadDetail", id="1")
    assert told["body"]["data"]["title"] == "n"


# --- baseline ------------------------------------------------------------------------------------


def later(start: float) -> Any:
    return answers(
        json_block(0x05, {"name": "old"}), trace_block([{**EVENT, "ts": start}]), place=BASELINE
    )


def name_of_baseline(session: Session) -> str:
    (told,) = send(session, "source/details/baseInfo", isCompared=True)
    return str(told["body"]["baseline"]["name"])


def test_a_baseline_counts_once_it_is_set_and_until_it_is_cancelled() -> None:
    session = opened(*FILE, trace_block([EVENT]), baseline=later(3))
    assert name_of_baseline(session) == ""
    messages = send(session, "global/setBaseline", projectName="q", filePath=str(BASELINE))
    assert names(messages) == [
        "global/setBaseline",
        "parse/progress",
        "parse/success",
        "parse/unitCompleted",
        "allPagesSuccess",
    ]
    card = f"Baseline_{BASELINE}"
    told = messages[0]["body"]
    assert (told["rankId"], told["errorMessage"]) == (card, "")
    assert told["cardName"] == f"Baseline_{card}"
    assert name_of_baseline(session) == "old"
    assert error(traces(session, card)) == (True, None)
    (done,) = send(session, "global/cancelBaseline", projectName="q")
    assert done["body"] == {}
    assert name_of_baseline(session) == ""
    assert error(traces(session, card)) == (False, 3001)


def test_a_card_chooses_no_file_outside_the_timeline() -> None:
    session = opened(*FILE, baseline=later(3))
    send(session, "global/setBaseline", projectName="q")
    for card in (str(PLACE), f"Baseline_{BASELINE}"):
        (answer,) = send(session, "source/details/baseInfo", cardId=card, rankId=card)
        assert answer["body"]["compare"]["name"] == "n"


def test_times_count_from_the_first_card_until_the_next_import() -> None:
    session = opened(*FILE, trace_block([EVENT]), baseline=later(3))
    assert traces(session, str(PLACE))["body"]["data"][0][0]["startTime"] == 0
    *_, success, _, done = send(session, "global/setBaseline", projectName="q")
    assert success["body"]["startTime"] == done["body"]["minTime"] == "3000"
    assert success["body"]["offset"] == 0
    offsets = {one["cardId"]: one["offset"] for one in done["body"]["cardOffsets"]}
    assert offsets == {str(PLACE): 2000, f"Baseline_{BASELINE}": 0}
    assert traces(session, str(PLACE), 5000)["body"]["data"][0][0]["startTime"] == 2000
    send(session, "global/cancelBaseline")
    assert traces(session, str(PLACE), 5000)["body"]["data"][0][0]["startTime"] == 2000
    imported(session, str(PLACE))
    assert traces(session, str(PLACE))["body"]["data"][0][0]["startTime"] == 0


def test_cards_that_overlap_count_from_their_common_start() -> None:
    session = opened(*FILE, trace_block([EVENT]), baseline=later(5.5))
    *_, success, _, done = send(session, "global/setBaseline", projectName="q")
    assert success["body"]["maxTimeStamp"] == 1500
    assert {one["offset"] for one in done["body"]["cardOffsets"]} == {0}


def test_a_file_can_be_its_own_baseline() -> None:
    session = opened(*FILE)
    messages = send(session, "global/setBaseline", projectName="p", filePath=PLACE.name)
    assert names(messages) == ["global/setBaseline", "allPagesSuccess"]
    assert "itself" in messages[0]["body"]["errorMessage"]
    assert name_of_baseline(session) == "n"


@pytest.mark.parametrize(
    ("params", "has_baseline"),
    [
        ({"projectName": "q"}, False),
        ({"projectName": ""}, True),
        ({}, True),
        ({"projectName": "q", "filePath": "/etc/passwd"}, True),
    ],
)
def test_a_baseline_that_is_not_served_cannot_be_set(
    params: dict[str, Any], has_baseline: bool
) -> None:
    session = opened(*FILE, baseline=later(3) if has_baseline else None)
    (answer,) = send(session, "global/setBaseline", **params)
    assert error(answer) == (False, None)
    assert answer["body"]["errorMessage"]
    assert name_of_baseline(session) == ""


def test_an_import_ends_the_comparison() -> None:
    session = opened(*FILE, baseline=later(3))
    send(session, "global/setBaseline", projectName="q")
    imported(session, str(PLACE))
    assert name_of_baseline(session) == ""


# --- the envelope --------------------------------------------------------------------------------

ASKED = request("source/details/roofline")


@pytest.mark.parametrize(
    "message",
    [
        "",
        "not JSON",
        "[]",
        "5",
        "null",
        "{}",
        "[" * 100_000,
        '{"id":' + "9" * 5000 + "}",
        json.dumps(ASKED) + " ",
        *(
            json.dumps({**ASKED, **change})
            for change in [
                {"id": None},
                {"type": None},
                {"type": "response"},
                {"type": 5},
                {"moduleName": None},
                {"moduleName": ""},
                {"moduleName": "timeline"},  # which has no such command
                {"moduleName": ["source"]},
                {"command": None},
                {"command": "source/nothing"},
                {"command": ["x"]},
                {"command": {}},
                {"params": None},
                {"params": []},
                {"params": "x"},
                {"projectName": "Content-Length:"},
            ]
        ),
        *(
            json.dumps({key: value for key, value in ASKED.items() if key != gone})
            for gone in ASKED
        ),
        json.dumps(ASKED).replace(" ", "\r\n\r\n", 1),
    ],
)
def test_what_is_no_request_gets_no_answer(message: str) -> None:
    found = list(Session(answers(*FILE)).handle(message))
    assert found == [] or message.endswith(" ")  # white space around a request is none of that


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, 0), (4294967295, 4294967295), (4294967296, 0), (-1, 0), ("7", 0), (1.5, 0), (True, 0)],
)
def test_an_answer_names_its_request(number: object, told: int) -> None:
    (answer,) = Session(answers(*FILE)).handle(json.dumps({**ASKED, "id": number}))
    assert answer["requestId"] == told


def test_answers_and_events_are_counted_apart() -> None:
    session = Session(answers(*FILE))
    first = imported(session, str(PLACE))
    second = imported(session, str(PLACE))
    assert [(message["type"], message["id"]) for message in [*first, *second]] == [
        ("response", 1),
        ("event", 1),
        ("event", 2),
        ("response", 2),
        ("event", 3),
        ("event", 4),
    ]


@pytest.mark.parametrize(("callback", "told"), [(5, 5), (-1, -1), ("5", None), (1 << 31, None)])
def test_a_callback_comes_back(callback: object, told: int | None) -> None:
    message = json.dumps({**ASKED, "resultCallbackId": callback})
    (answer,) = Session(answers(*FILE)).handle(message)
    assert answer.get("resultCallbackId") == told


def test_members_and_parameters_that_nobody_knows_do_no_harm() -> None:
    message = json.dumps({**ASKED, "more": 1, "params": {"more": {"deep": []}}})
    (answer,) = Session(answers(*FILE)).handle(message)
    assert answer["result"] is True
