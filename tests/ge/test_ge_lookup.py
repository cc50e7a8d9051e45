"""What the document names can be looked up, and what GE reports is decoded with names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ge_evidence import section

from ascend_ref.cli import main
from ascend_ref.derive.text_hash import name_id


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
