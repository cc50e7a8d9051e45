"""Row orders: what each engine compares, by sorting rows one by one."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.text.order import enum_numbers, row_order
from ascend_ref.text.setting import Setting
from ascend_spec import text_catalog
from ascend_spec.text.model import Compare, SortKey

CATALOG = text_catalog()


def setting(file: str, writer: str, *keys: SortKey) -> Setting:
    found = CATALOG.csv[file]
    changed = replace(found, order={"*": keys}) if keys else found
    return Setting(changed, CATALOG.writers[writer], "A2")


rows = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 20_000_000), st.text("ab,é🚀", max_size=2)),
    min_size=1,
)


@given(rows)
def test_the_cpp_engine_compares_texts(found: list[tuple[int, int, str]]) -> None:
    columns = {
        "Device_id": pa.array([str(device) for device, _, _ in found]),
        "Task Start Time(us)": pa.array([start for _, start, _ in found]),
    }
    order = row_order(setting("op_summary", "cpp"), columns).tolist()

    def key(place: int) -> tuple[bytes, bytes]:
        device, start, _ = found[place]
        return str(device).encode(), f"{start // 1000}.{start % 1000:03}".encode()

    assert order == sorted(range(len(found)), key=key)


@given(rows)
def test_the_python_engine_takes_one_device_after_the_other(
    found: list[tuple[int, int, str]],
) -> None:
    columns = {
        "Device_id": pa.array([str(device) for device, _, _ in found]).dictionary_encode(),
        "Task Start Time(us)": pa.array([start for _, start, _ in found]),
    }
    order = row_order(setting("op_summary", "python"), columns).tolist()
    assert order == sorted(range(len(found)), key=lambda place: found[place][:2])


@given(rows, st.sampled_from(["number", "text"]), st.booleans(), st.booleans())
def test_one_key_of_any_kind(
    found: list[tuple[int, int, str]], compare: Compare, descending: bool, by_text: bool
) -> None:
    name, values = "Count", [count for _, count, _ in found]
    if by_text:
        name, values = "OP Type", [text for _, _, text in found]
    how = setting("op_statistic", "python", SortKey(name, compare, descending))
    order = row_order(how, {name: pa.array(values)}).tolist()

    def key(place: int) -> object:
        value = values[place]
        if by_text and compare == "number":
            return values.index(value)
        return str(value).encode() if compare == "text" else value

    ranks = sorted({key(place) for place in order})  # type: ignore[type-var]
    turn = -1 if descending else 1
    assert order == sorted(range(len(values)), key=lambda place: turn * ranks.index(key(place)))


def test_members_stand_in_the_order_of_their_enum() -> None:
    how = setting("api_statistic", "cpp")
    columns = {
        "API Name": pa.array(["a"] * 5),
        "Level": pa.array(["acl", "runtime", "stranger", "communication", "node"]),
    }
    assert row_order(how, columns).tolist() == [1, 3, 4, 0, 2]
    texts = row_order(setting("api_statistic", "python"), columns).tolist()
    assert texts == [0, 3, 4, 1, 2]


def test_the_numbers_of_an_enum_come_from_the_databases() -> None:
    levels = enum_numbers("ENUM_API_TYPE")
    assert (levels["hccl"], levels["communication"], levels["acl"]) == (5500, 5500, 20000)
    assert enum_numbers(None) == {}


def test_a_key_that_the_file_does_not_have_counts_for_nothing() -> None:
    how = setting("op_statistic", "cpp")
    assert [key.column for key in how.order] == ["Model Name", "Total Time(us)"]
    columns = {"Total Time(us)": pa.array([1.0, 3.0, 2.0])}
    assert row_order(how, columns).tolist() == [1, 2, 0]
    assert row_order(how, {"OP Type": pa.array(["b", "a"])}).tolist() == [0, 1]
