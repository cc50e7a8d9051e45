"""The hash of texts against known answers (ge-profiling 5.7, raw-prof 5 and 6.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.derive.group_hash import group_hash
from ascend_ref.derive.text_hash import NO_TEXT, name_id, text_hash

KNOWN = {
    "a": 416611827809,
    "Add": 247669290252505,
    "Conv2D": 6251491202591237330,
    "MatMul": 7090398782807627396,
    "launch": 9821556612715536891,
    "step_info": 14564791945097071197,
    "ModelExecute": 12115148077884084548,
    "AI_CORE": 6764653902227367814,
    "aclmdlExecute": 9967666935067232262,
    "UnknownNodeName": 16772438446575598599,
    "gradients/AddN_70": 15843312099431967443,
    "MESH-RING": 6803373736875893180,
}


@pytest.mark.parametrize("text", KNOWN)
def test_known_texts_have_their_numbers(text: str) -> None:
    assert name_id(text) == name_id(text, signed=False) == KNOWN[text]


def test_bytes_beyond_ascii_depend_on_the_host() -> None:
    assert name_id("算子", signed=False) == 2448369759321462372
    assert name_id("算子") == name_id("算子", signed=True) == 15984173733989788260


def test_the_empty_text_has_all_ones() -> None:
    assert name_id("") == NO_TEXT == 18446744073709551615


def test_names_of_groups_have_the_same_hash() -> None:
    assert group_hash("hccl_world_group")[-3:] == "483"
    assert group_hash("Conv2D") == "6251491202591237330"


def reduced_at_the_end(data: bytes) -> int:
    """The definition with numbers of any size, reduced once."""
    size = len(data)
    high = sum(code * 29 ** (size - 1 - at) for at, code in enumerate(data))
    low = sum(code * 131 ** (size - 1 - at) for at, code in enumerate(data))
    return (high % 2**32 << 32) + low % 2**32


@given(st.binary(max_size=40))
def test_any_bytes_have_the_number_of_the_definition(data: bytes) -> None:
    assert text_hash(data) == reduced_at_the_end(data)
