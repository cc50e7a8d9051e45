"""What the document names can be looked up, and what GE reports is decoded with names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ge_evidence import section

from ascend_ref.cli import main
from ascend_ref.derive.text_hash import name_id
from ascend_ref.raw.decode.read import read_raw
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset


def shown(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["spec", "show", name]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kOpExecute", "RT1_Atomic"),
        ("AclmdlExecute", "0x20001"),
        ("aclopExecute", "0x18002"),
        ("GeProfInfoType", "GEInitialize"),
        ("AclProfType", "aclblasGemmEx"),
        ("MsprofApi", "api_event"),
        ("MsprofCompactInfo", "node_basic_info"),
        ("MsprofAdditionalInfo", "tensor_info"),
        ("GlobalProfiler", "2.0-SingleThread"),
        ("gert::profiling", "kStaticGraphExecute"),
        ("ge-report/GEInitialize", "0xa0006"),
        ("G12", "ring"),
    ],
)
def test_g117_g121_g153_g154_names_of_the_document_are_pages(
    name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in shown(name, capsys)


def test_g134_g135_golden_records_are_decoded_with_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A type that no dictionary names has the name of the enumerations."""
    vectors = dict(re.findall(r"^- (.*?): `([0-9a-f]+)`$", section("5.9"), re.MULTILINE))
    calls = [text for words, text in vectors.items() if words.startswith(("API", "Event"))]
    data = tmp_path / "PROF_000001_20260202024000000_ABCDEFGHIJKLMNOP/host/data"
    data.mkdir(parents=True)
    content = b"".join(map(bytes.fromhex, calls))
    (data / "aging.api_event.data.slice_0").write_bytes(content)
    text = f"{name_id('Conv2D')}:Conv2D\n"
    (data / "unaging.additional.hash_dic.slice_0").write_text(text, encoding="utf-8")
    main(["decode", str(data / "aging.api_event.data.slice_0")])
    call, launch, event = json.loads(capsys.readouterr().out)["records"]
    assert (call["record"], call["level_text"], call["type_text"]) == (
        "API_EVENT",
        "acl",
        "aclmdlExecute",
    )
    assert (launch["record"], launch["itemId_text"]) == ("API_EVENT", "Conv2D")
    assert (event["record"], event["type_text"], event["requestId"]) == ("EVENT", "ModelExecute", 1)


def test_g147_g148_two_events_of_a_model_become_one_call(tmp_path: Path) -> None:
    """Events pair in the order of the file (ge-profiling 5.2); export reads the pair as a call."""
    scenario = override(preset("text-museum"), ranks=1, steps=1)
    run = write_run(scenario, 1, tmp_path / "run", ("raw",)).folder
    prof = next(run.rglob("PROF_*"))
    path = next((prof / "host/data").glob("unaging.api_event.data.slice_0"))
    before = read_raw(prof)[0].capture.calls
    content = bytearray(path.read_bytes())
    place = next(
        at
        for at in range(0, len(content), 40)
        if int.from_bytes(content[at + 2 : at + 4], "little") == 15000
    )
    call = bytes(content[place : place + 40])
    ones = b"\xff" * 8
    events = call[:24] + ones + call[32:] + call[:16] + call[24:32] + ones + call[32:]
    path.write_bytes(bytes(content[:place]) + events + bytes(content[place + 40 :]))
    after = read_raw(prof)[0].capture.calls
    assert len(after) == len(before)
    assert sorted(after.end.tolist()) == sorted(before.end.tolist())
