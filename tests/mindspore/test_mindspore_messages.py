"""Messages of memory: by bytes written by hand, back and forth, and of what is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.cli import main
from ascend_ref.mindspore.raw.messages import NoMessage, decode_message, encode_message
from ascend_spec.mindspore.messages import MEMORY, NODE, TENSOR, Message


def elements(message: Message) -> st.SearchStrategy[dict[str, Any]]:
    """Any element of a kind of message."""
    found: dict[str, st.SearchStrategy[Any]] = {}
    for one in message.members:
        if one.message is not None:
            item = elements(one.message)
        elif one.form == "whole":
            item = st.integers(-(1 << 63), (1 << 63) - 1)
        else:
            item = st.text(max_size=9)
        found[one.name] = st.lists(item, max_size=2) if one.is_list else item
    return st.fixed_dictionaries(found)


@given(element=elements(MEMORY))
def test_m65_messages_are_written_as_they_were(element: dict[str, Any]) -> None:
    content = encode_message(element, MEMORY)
    assert decode_message(content, MEMORY) == element
    assert encode_message(decode_message(content, MEMORY), MEMORY) == content


def test_m65_bytes_by_hand() -> None:
    # 150 as in the documentation of the encoding; then two numbers in one piece, and one alone.
    assert decode_message(bytes.fromhex("109601"), TENSOR)["size"] == 150
    node = decode_message(bytes.fromhex("0a0261622203039601" + "2005"), NODE)
    assert (node["node_name"], node["output_tensor_id"]) == ("ab", [3, 150, 5])
    assert (
        encode_message({**node, "output_tensor_id": [3, 150]}, NODE).hex() == "0a0261622203039601"
    )
    assert decode_message(b"", TENSOR)["life_long"] == ""


@pytest.mark.parametrize(
    ("content", "offset"),
    [
        ("10", 1),
        ("0a05616263", 0),
        ("0a01ff", 2),
        ("1096019d", 3),
        ("7801", 0),
        ("ffffffffffffffffffff01", 0),
        ("0d00000000", 0),
        ("1201", 0),
    ],
)
def test_m65_what_is_no_message_is_stated_by_its_byte(content: str, offset: int) -> None:
    with pytest.raises(NoMessage) as raised:
        decode_message(bytes.fromhex(content), NODE)
    assert raised.value.offset == offset


def test_m65_a_damaged_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "memory_usage_0.pb"
    path.write_bytes(bytes.fromhex("0aff01"))
    assert main(["decode", str(path)]) == 2
    assert "memory_usage_0.pb: byte 0: 255 bytes, of which 0 are left" in capsys.readouterr().err
    assert main(["mindspore", "parse", str(tmp_path), "-o", str(tmp_path / "made")]) == 1
    text = (tmp_path / "made" / "incomplete.txt").read_text()
    assert "no message of its kind" in text
