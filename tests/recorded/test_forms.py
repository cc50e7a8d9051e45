"""Forms of cells, by hand: what each shows of values, and in which unit."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ascend_ref.arrays import first_known, integers, one_piece, present, reals, text_places
from ascend_ref.forms import Cells, Lookup, shown
from ascend_spec.core.shows import Show

START = 1_700_000_000_000_000_000


def lookup(**columns: pa.Array) -> Lookup:
    """Columns by ``entity__column``, in the units of the recording."""
    units = {"start": "ns", "end": "ns", "size": "Byte", "bandwidth": "Byte/s"}
    cells = {
        name.replace("__", "."): Cells(values, units.get(name.partition("__")[2]))
        for name, values in columns.items()
    }
    return cells.get


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.string()).dictionary_encode()


@pytest.mark.parametrize(
    ("unit", "expected"), [(None, [2048, 512]), ("KiB", [2.0, 0.5]), ("MiB", [2**-9, 2**-11])]
)
def test_a_size_in_the_unit_of_the_cell(unit: str | None, expected: list[float]) -> None:
    sizes = lookup(copy__size=pa.array([2048, 512]))
    assert shown(Show("plain", ("copy.size",)), sizes, unit).to_pylist() == expected


def test_two_numbers_in_one() -> None:
    show = Show("packed", ("mark.process", "mark.thread"), packing="high32-low32")
    given = lookup(mark__process=pa.array([1, 7]), mark__thread=pa.array([2, (1 << 32) - 1]))
    assert shown(show, given).to_pylist() == [4_294_967_298, 34_359_738_367]


def test_of_several_words_for_a_value_the_first_is_written() -> None:
    show = Show("words", ("process_memory.owner",), (("APP", "app"), ("App", "app")))
    given = lookup(process_memory__owner=texts("app", "device", None))
    assert shown(show, given).to_pylist() == ["APP", "device", None]


def test_a_pattern_needs_all_of_its_values() -> None:
    show = Show("pattern", ("host_call.level", "host_call.name"), pattern="{level}@{name}")
    given = lookup(
        host_call__level=texts("node", "node", None, "acl"),
        host_call__name=pa.array(["launch", None, "launch", "launch"]),
    )
    assert shown(show, given).to_pylist() == ["node@launch", None, None, "acl@launch"]
    assert shown(show, lookup(host_call__level=texts("node"))) is None


def test_the_first_value_that_says_something() -> None:
    show = Show("first_of", ("kernel.name", "collective.name"))
    given = lookup(
        kernel__name=texts("MatMul", "N/A", None, None),
        collective__name=texts(None, "hcom_send_", "hcom_receive_", None),
    )
    assert shown(show, given).to_pylist() == ["MatMul", "hcom_send_", "hcom_receive_", None]
    assert shown(show, lookup(collective__name=texts("hcom_send_"))).to_pylist() == ["hcom_send_"]
    assert shown(show, lookup()) is None


def test_a_length_follows_from_start_and_end() -> None:
    given = lookup(task__start=pa.array([START, None]), task__end=pa.array([START + 1_500, START]))
    assert shown(Show("plain", ("task.length",)), given).to_pylist() == [1_500, None]
    assert shown(Show("plain", ("task.length",)), given, "us").to_pylist() == [1.5, None]


def test_the_efficiency_of_a_port() -> None:
    given = lookup(port__rx_byte_rate=pa.array([25, 3, 4]), port__bandwidth=pa.array([100, 4, 0]))
    found = shown(Show("plain", ("port.rx_efficiency",)), given).to_pylist()
    assert found == [25.0, 75.0, 0.0]


def test_columns_in_pieces_and_without_rows() -> None:
    none = pa.chunked_array([], pa.dictionary(pa.int32(), pa.string()))
    assert text_places(one_piece(none)).tolist() == []
    assert integers(pa.chunked_array([[1, None], [3]])).tolist() == [1, -1, 3]
    assert integers(pa.array([None, None], pa.int64()).slice(1, 0)).tolist() == []
    assert reals(pa.array([1, None])).tolist() == [1.0, 0.0]
    assert present(pa.array([1, None])).tolist() == [True, False]


def test_numbers_and_texts_do_not_need_the_same_form() -> None:
    assert first_known([pa.array([None, 2]), pa.array([3, 4])]).to_pylist() == [3, 2]
    mixed = [texts("a", None), pa.array(["x", "b"])]
    assert first_known(mixed).to_pylist() == ["a", "b"]
