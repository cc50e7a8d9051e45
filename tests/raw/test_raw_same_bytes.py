"""What is read of side files and records is written again byte for byte."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import construct
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slices import some

from ascend_ref.raw.damage import Damage
from ascend_ref.raw.fields import bits_of, joined, numbers, put, taken
from ascend_ref.raw.json_text import decode_json, encode_json
from ascend_ref.raw.layout import layout_of
from ascend_ref.raw.lines import Entry, decode_lines, encode_lines
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import read_blocks, write_slices
from ascend_ref.raw.tree import kind_of
from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw import records
from ascend_spec.raw.text import Grammar

REAL = Path(__file__).resolve().parents[3] / "shared/data/mindspore"
CHECKOUT = os.environ.get("ASCEND_REF_MSPROF")
GRAMMARS = raw_catalog().grammars

# --- JSON -----------------------------------------------------------------------------------------

# The start of a 910A's run of 2023 (raw-prof 3.3) as its collector wrote it, and in a form with
# blanks behind colons, which one of msprof's own has.
COLLECTED = (
    b'{"collectionDateBegin":"2023-08-18 14:27:04.324979",'
    b'"collectionTimeBegin":"1692340024324979","clockMonotonicRaw":"56579931060630"}'
)
BLANKS = COLLECTED.replace(b'":"', b'": "')

TEXTS = [
    COLLECTED,
    BLANKS,
    b'{"CPU":[{"Id":0,"Frequency":1000}],"cycleToTime":[{"realCpuFreq":0.10000107799829344}]}',
    b'\n{ "later" : [ ] ,\t"a" : { } ,"b":[1 ,2]\r\n}\r\n',
    rb'{"name":"\u00b5s\/\ud83d\ude00 \"\\","\u0061":"\u00B5"}',
    "{\"hostname\":\"µ: [,]{}\"}".encode(),
    b"[1.50,1e3,1E+3,-0,-0.0,0.1e-7,18446744073709551616,true,null,false]",
    b'"alone"',
    b" 7 ",
]  # fmt: skip


@pytest.mark.parametrize("content", TEXTS)
def test_a_json_text_is_written_as_it_was(content: bytes) -> None:
    value, spelling = decode_json(content)
    assert value == json.loads(content)
    assert encode_json(value, spelling) == content


def test_what_a_collector_writes_is_the_form_without_a_spelling() -> None:
    value, _ = decode_json(BLANKS)
    assert list(value) == ["collectionDateBegin", "collectionTimeBegin", "clockMonotonicRaw"]
    assert encode_json(value) == COLLECTED


def test_a_changed_value_leaves_all_other_bytes() -> None:
    content = b'{ "CPU" : [{"Frequency":"100.000000", "Id":1.0}],\n "x":1.50, "y":1.50}\n'
    value, spelling = decode_json(content)
    value["CPU"][0] |= {"Frequency": "1.0", "Id": 1}
    value["y"] = 1.25
    assert encode_json(value, spelling) == (
        b'{ "CPU" : [{"Frequency":"1.0", "Id":1}],\n "x":1.50, "y":1.25}\n'
    )


@pytest.mark.parametrize(
    "change", [{"b": 1}, {"a": [1]}, {"a": []}, {"a": {}}], ids=["key", "list", "none", "object"]
)
def test_another_shape_has_no_spelling(change: dict[str, Any]) -> None:
    value, spelling = decode_json(b'{"a":[1,2]}')
    with pytest.raises(ValueError, match="other members"):
        encode_json({**value, **change}, spelling)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"a":1,"b":{"c":1,"c":2}}', "the key 'c' comes twice"),
        (b'{"a":NaN}', "NaN is no number of JSON"),
        (b'{"a":1e999}', "1e999 is too large"),
        (rb'{"a":"\ud800"}', "surrogates not allowed"),
        (b'{"a":1} {', "Extra data"),
        (b'\xef\xbb\xbf{"a":1}', "BOM"),
        (b'{"a":"\xff"}', "can't decode"),
        (b"", "Expecting value"),
    ],
)
def test_what_cannot_be_kept_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        decode_json(content)


_BLANK = st.text(" \t\r\n", max_size=3)
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)  # fmt: skip
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab:,", max_size=2), inner),
    max_leaves=8,
)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """A value with any blanks, and its texts in either form."""

    def spell(value: Any) -> str:
        if isinstance(value, list):
            text = f"[{','.join(map(spell, value)) or draw(_BLANK)}]"
        elif isinstance(value, dict):
            members = [f"{spell(key)}:{spell(one)}" for key, one in value.items()]
            text = f"{{{','.join(members) or draw(_BLANK)}}}"
        else:
            text = json.dumps(value, ensure_ascii=draw(st.booleans()))
        return draw(_BLANK) + text + draw(_BLANK)

    return spell(draw(_VALUES))


@given(json_texts())
def test_any_json_text_is_written_as_it_was(text: str) -> None:
    value, spelling = decode_json(text.encode())
    assert encode_json(value, spelling) == text.encode()
    assert json.loads(encode_json(value)) == value


# --- lines ----------------------------------------------------------------------------------------

LINES = [
    ("host_start", b"[Device0]\nclock_realtime: 1591183963784568740\nclock_monotonic_raw: 261\n"),
    ("host_start", b"[Host]\r\nclock_monotonic_raw :1000 \r\n\ncntvct:0007\n\ncntvct_diff: 0"),
    ("dev_start", b" clock_monotonic_raw:  1000\ncntvct:7\nnew_key: 5\n\xff\xfe\n"),
    ("hash_dic", "6251491202591237330:a:b  c \n7:µ\n8:\n".encode()),
    ("type_info_dic", b"5000_1003:KernelLaunch\nnot a line\n"),
    ("done", b"filesize:1021\n"),
    ("done", b"filesize:7\nstarttime:1\nendtime  :77"),
    ("hccs", b"time  tx rx\n1000:   5 6\n 2000: 7\t8 \n"),
    ("hccs", b"\n1000: 5 6\n"),
    ("memory", b"TimeStamp:1000\nMemTotal:  791800000 kB\n\n"),
    ("nic", b"1000:  1 2 3 4 5 6 7 8 9 10 11 12 13   0\n"),
    ("dev_start", b""),
]


@pytest.mark.parametrize(("grammar", "content"), LINES)
def test_lines_are_written_as_they_were(grammar: str, content: bytes) -> None:
    entries = decode_lines(content, GRAMMARS[grammar])
    assert encode_lines(entries, GRAMMARS[grammar]) == content


def test_lines_are_known_by_their_kinds() -> None:
    entries = decode_lines(LINES[1][1], GRAMMARS["host_start"])
    assert [one.line for one in entries] == [
        "section", "monotonic", None, "counter", None, "difference",
    ]  # fmt: skip
    assert entries[1] == Entry(
        "monotonic", {"clock_monotonic_raw": "1000"}, ("", " :", " "), b"\r\n"
    )
    assert entries[3].parts == {"cntvct": "0007"}


def test_a_changed_part_leaves_all_other_bytes() -> None:
    grammar = GRAMMARS["host_start"]
    entries = decode_lines(LINES[1][1], grammar)
    entries[1] = replace(entries[1], parts={"clock_monotonic_raw": 5})
    assert encode_lines(entries, grammar) == LINES[1][1].replace(b"1000", b"5")


def test_blanks_of_another_number_of_words_are_refused() -> None:
    (entry,) = decode_lines(b"time tx rx\n", GRAMMARS["hccs"])
    with pytest.raises(ValueError, match="blanks of 3 words for a line of 2"):
        encode_lines([replace(entry, parts={"names": "time tx"})], GRAMMARS["hccs"])


def _texts(grammar: Grammar) -> st.SearchStrategy[bytes]:
    """Lines that nearly are of a grammar: parts of its forms, numbers, words and blanks."""
    fixed = {word for line in grammar.lines.values() for word in line.form.template.split()}
    words = st.sampled_from(sorted(fixed)).map(lambda word: word.replace("{", "").replace("}", ""))
    pieces = st.one_of(
        words,
        st.sampled_from(
            [" ", "  ", "\t", ":", ": ", "\n", "\r\n", "\u3000", "\x1c", "1 2 3 4 5 6"]
        ),
        st.integers(0, 1 << 64).map(str),
        st.sampled_from(["007", "1.50", "a", "µ"]),
    )
    whole = st.lists(pieces, max_size=30).map(lambda found: "".join(found).encode())
    return whole | st.lists(pieces, max_size=30).map(lambda found: " ".join(found).encode())


@settings(max_examples=20)
@given(st.data())
@pytest.mark.parametrize("name", some(sorted(GRAMMARS), every=3))
def test_any_lines_are_written_as_they_were(name: str, data: st.DataObject) -> None:
    content = data.draw(_texts(GRAMMARS[name]) | st.binary(max_size=60))
    assert encode_lines(decode_lines(content, GRAMMARS[name]), GRAMMARS[name]) == content


# --- records --------------------------------------------------------------------------------------

RECORDS = {
    name: record
    for name, record in vars(records).items()
    if isinstance(record, construct.Struct) and name in {
        one.record for file in raw_catalog().files.values() for one in file.members
    } and raw_catalog().record_size(name) is not None
}  # fmt: skip


def holds(dtype: np.dtype[Any]) -> Iterator[int]:
    """The bytes of a record in which some field is."""
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        for at in range(int(np.prod(shape))):
            yield from (at * inner.itemsize + one for one in holds(inner))
    elif dtype.fields is not None:
        for form, offset, *_ in dtype.fields.values():
            yield from (offset + one for one in holds(form))
    else:
        yield from range(dtype.itemsize)


def parts_of(record: construct.Struct) -> dict[str, int]:
    """The bits that have names, of each field of bits."""
    found = {one.name: bits_of(one).values() for one in record.subcons if one.name}
    return {
        field: sum(mask << shift for shift, mask in parts)
        for field, parts in found.items()
        if parts
    }


def names(record: construct.Struct) -> Iterator[str]:
    """The names by which encoders write the fields of a record, of bits their parts."""
    for one in record.subcons:
        if one.name:
            yield from bits_of(one) or [one.name]


def written(record: construct.Struct, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Records made of the named values of others alone."""
    made = np.zeros(len(rows), rows.dtype)
    for name in names(record):
        plain = rows.dtype.fields is not None and name in rows.dtype.fields
        if plain and rows.dtype[name].kind not in "iu":
            made[name] = rows[name]
        else:
            put(record, made, name, numbers(record, name, rows))
    return made


def test_all_records_of_fixed_size_are_tried() -> None:
    assert len(RECORDS) > 60


@settings(max_examples=20)
@given(st.data())
@pytest.mark.parametrize("name", some(sorted(RECORDS), every=3))
def test_a_record_of_any_bytes_is_written_as_it_was(name: str, data: st.DataObject) -> None:
    record = RECORDS[name]
    dtype = dtype_of(record)
    seed = data.draw(st.integers(0, (1 << 32) - 1))
    rows = np.random.default_rng(seed).integers(0, 256, (8, dtype.itemsize), np.uint8)
    gaps = np.ones(dtype.itemsize, np.bool_)
    gaps[list(holds(dtype))] = False
    every = joined([rows[:5].view(dtype)[:, 0], rows[5:].view(dtype)[:, 0]])
    assert taken(every, np.arange(8)).tobytes() == rows.tobytes()
    # Of every second record NumPy's own copy has what stood in memory where no field is.
    assert joined([every[::2]] * 2).tobytes() == 2 * rows[::2].tobytes()
    rows[:, gaps] = 0
    for field, mask in parts_of(record).items():
        rows.view(dtype)[field] &= mask
    assert written(record, rows.view(dtype)[:, 0]).tobytes() == rows.tobytes()


# --- real files -----------------------------------------------------------------------------------


def real(name: str) -> Path:
    """A file of MindSpore's runs of 2020 to 2022."""
    path = REAL / "mindinsight" / name
    if not path.is_file():
        pytest.skip(f"no real data: {path} is absent")
    return path


@pytest.mark.skipif(CHECKOUT is None, reason="ASCEND_REF_MSPROF names no checkout of msprof")
@pytest.mark.parametrize("name", ["sample.json", "info.json", "start_info", "end_info"])
def test_the_side_files_of_2022_are_written_as_they_were(name: str) -> None:
    folder = Path(str(CHECKOUT)) / "test/msprof_python/ut/testcase/msconfig"
    content = (folder / name).read_bytes()
    assert encode_json(*decode_json(content)) == content


def test_the_real_clocks_of_2020_are_written_as_they_were() -> None:
    content = real("JOB3/host_start.log.1").read_bytes()
    entries = decode_lines(content, GRAMMARS["host_start"])
    assert [one.line for one in entries] == ["section", "realtime", "monotonic"]
    assert encode_lines(entries, GRAMMARS["host_start"]) == content


def test_the_real_log_of_a_910a_is_written_as_it_was(tmp_path: Path) -> None:
    path = real("JOB3/hwts.log.data.45.dev.profiler_default_tag.1.slice_0")
    kind = raw_catalog().files["hwts"]
    assert kind_of(path) is kind
    layout = layout_of(kind, 1, {})
    damage: list[Damage] = []
    blocks = read_blocks([Slice(path, 0, ())], layout, kind.side, damage)
    found = joined([layout.view(0, one.rows) for one in blocks])
    assert (len(found), damage) == (62_847, [])
    rows = written(layout.declaration(layout.members[0]), found)
    write_slices(tmp_path, kind.name, rows, 1 << 20, device=1)
    slices = [tmp_path / kind.name.of(device=1, slice=number) for number in range(4)]
    assert b"".join(one.read_bytes() for one in slices) == path.read_bytes()
    assert sorted(slices) == sorted(tmp_path.iterdir())
