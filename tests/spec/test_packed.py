"""Packed records: what is derived from a declaration reads and writes as construct itself does."""

from __future__ import annotations

from typing import Any

import construct as c
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ascend_spec.core import Axis
from ascend_spec.core.packed import Field, bit_fields, dtype_of, field, record_at, struct_of

# --- any declaration ------------------------------------------------------------------------------

NUMBERS = [
    *(c.Int8ul, c.Int8sl, c.Int8ub, c.Int16ul, c.Int16sb, c.Int32ul, c.Int32sl, c.Int32ub),
    *(c.Int64ul, c.Int64sb, c.Float32l, c.Float32b, c.Float64l, c.Float64b, c.Float16l),
]


@st.composite
def bits(draw: st.DrawFn) -> c.Construct:
    size = draw(st.sampled_from([1, 2, 4, 8]))
    cuts = sorted(draw(st.sets(st.integers(1, 8 * size - 1), max_size=3)))
    widths = np.diff([0, *cuts, 8 * size]).tolist()
    parts = [f"b{at}" / c.BitsInteger(width) for at, width in enumerate(widths)]
    form = c.BitStruct(*parts)
    return c.ByteSwapped(form) if draw(st.booleans()) else form


TEXT = st.integers(1, 9).map(lambda size: c.FixedSized(size, c.NullStripped(c.GreedyBytes)))
LEAVES = st.one_of(
    st.sampled_from(NUMBERS),
    st.just(c.Enum(c.Int8ul, ONE=1)),
    st.integers(1, 9).map(c.Bytes),
    TEXT,
    bits(),
)


def structs(inner: st.SearchStrategy[c.Construct]) -> st.SearchStrategy[c.Construct]:
    member = inner | st.integers(1, 5).map(c.Padding)

    def made(members: list[c.Construct]) -> c.Struct:
        named = [
            one if isinstance(one, c.Padded) and one.subcon is c.Pass else f"f{at}" / one
            for at, one in enumerate(members)
        ]
        return c.Struct(*named)

    return st.lists(member, min_size=1, max_size=4).map(made)


def unions(inner: st.SearchStrategy[c.Construct]) -> st.SearchStrategy[c.Construct]:
    def made(members: list[c.Construct]) -> c.Construct:
        named = [f"u{at}" / one for at, one in enumerate(members)]
        return c.Padded(max(one.sizeof() for one in members), c.Union(0, *named))

    return st.lists(inner, min_size=1, max_size=3).map(made)


FORMS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        structs(inner),
        unions(inner),
        st.tuples(st.integers(1, 3), inner).map(lambda one: c.Array(*one)),
        st.tuples(structs(inner), st.integers(0, 4)).map(
            lambda one: c.Padded(one[0].sizeof() + one[1], one[0])
        ),
    ),
    max_leaves=6,
)


def plain(form: c.Construct) -> c.Construct:
    while isinstance(form, (c.Renamed, c.Enum)):
        form = form.subcon
    return form


def same(form: c.Construct, slow: Any, fast: Any) -> bool:
    """Whether construct's value and NumPy's are the same."""
    form = plain(form)
    if isinstance(form, c.Array):
        return all(same(form.subcon, *pair) for pair in zip(slow, fast, strict=True))
    if isinstance(form, c.Padded):
        form = form.subcon
    if isinstance(form, (c.Struct, c.Union)):
        named = [one for one in form.subcons if one.name]
        return set(fast.dtype.names or ()) == {one.name for one in named} and all(
            same(one, slow[one.name], fast[one.name]) for one in named
        )
    if isinstance(form, c.Transformed):
        return {name: int(fast) >> by & mask for name, (by, mask) in bit_fields(form).items()} == {
            name: value for name, value in slow.items() if name != "_io"
        }
    if isinstance(form, (c.Bytes, c.FixedSized)):
        return bool(bytes(fast) == slow)
    return bool(fast == (int(slow) if isinstance(slow, (int, str)) else slow))


def fill(form: c.Construct, value: Any, into: Any, key: Any) -> None:
    """Write construct's value with NumPy; of a union its first member, as construct does."""
    form = plain(form)
    if isinstance(form, c.Padded):
        form = form.subcon
    if isinstance(form, c.Array):
        for at, one in enumerate(value):
            fill(form.subcon, one, into[key], at)
    elif isinstance(form, c.Struct):
        for one in form.subcons:
            if one.name:
                fill(one, value[one.name], into[key], one.name)
    elif isinstance(form, c.Union):
        fill(form.subcons[0], value[form.subcons[0].name], into[key], form.subcons[0].name)
    elif isinstance(form, c.Transformed):
        parts = bit_fields(form)
        into[key] = sum(value[name] << by for name, (by, _) in parts.items())
    elif isinstance(form, c.Bytes):
        into[key] = np.void(value)
    else:
        into[key] = int(value) if isinstance(value, str) else value


@given(structs(FORMS), st.data())
def test_any_declaration_reads_and_writes_as_construct_does(
    declaration: c.Struct, data: st.DataObject
) -> None:
    size = declaration.sizeof()
    dtype = dtype_of(declaration)
    assert dtype.itemsize == size
    content = data.draw(st.binary(min_size=2 * size, max_size=2 * size))
    records = np.frombuffer(content, dtype)
    try:
        slow = [declaration.parse(content[at : at + size]) for at in (0, size)]
    except c.ConstructError:
        assume(False)
    assume(b"nan" not in repr(slow).encode())
    assert all(same(declaration, *pair) for pair in zip(slow, records, strict=True))
    made = np.zeros(2, dtype)
    for at, one in enumerate(slow):
        fill(declaration, one, made, at)
    assert made.tobytes() == b"".join(map(declaration.build, slow))


# --- forms that gave wrong sizes or were refused --------------------------------------------------


def test_an_array_is_as_long_as_its_elements() -> None:
    """It was taken for one element: 4 bytes for 16, without an error."""
    dtype = dtype_of(c.Struct("a" / c.Array(4, c.Int32ul), "b" / c.Array(2, c.Array(3, c.Int8ul))))
    assert (dtype.itemsize, dtype["a"].shape, dtype["b"].shape) == (22, (4,), (2, 3))


def test_text_is_read_without_its_trailing_zeros() -> None:
    dtype = dtype_of(c.Struct("name" / c.PaddedString(6, "utf8"), "n" / c.Int16ub))
    (row,) = np.frombuffer(b"\xc2\xb5s\0\0\0\x01\x02", dtype)
    assert (row["name"].decode(), row["n"]) == ("µs", 0x102)


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        (c.VarInt, "no fixed size|no fixed place"),
        (c.GreedyBytes, "no fixed size|no fixed place"),
        (c.Array(c.this.n, c.Int8ul), "no fixed size"),
        (c.Bytes(c.this.n), "no fixed size"),
        (c.Union(0, "a" / c.Int8ul), "no fixed"),
        (c.Int24ul, "no fixed place"),
        (c.Flag, "no fixed place"),
        (c.FixedSized(4, c.NullTerminated(c.GreedyBytes)), "no fixed size"),
        (c.BitStruct("a" / c.BitsInteger(24)), "no fixed place"),
        (c.Struct(c.Const(b"MAGIC")), "no name"),
        (c.Struct("a" / c.Int8ul, c.Padding(3, pattern=b"\xff")), "not filled with zeros"),
    ],
)
def test_what_has_no_counterpart_is_refused(form: c.Construct, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        dtype_of(c.Struct("x" / form))


@pytest.mark.parametrize("form", [c.Int32ub, c.Float32l, c.Array(2, c.Int8ul), c.Bytes(2)])
def test_a_struct_of_the_standard_library_is_of_little_endian_integers(form: c.Construct) -> None:
    with pytest.raises(ValueError, match=r"integer|little-endian"):
        struct_of(c.Struct("x" / form))


def test_a_record_has_the_fields_of_its_state() -> None:
    axis = Axis("version", ["1.0", "2.0"])
    declared = c.Struct(
        field("ts", c.Int32ul, "Time.", source=("x",), until="2.0", unit="us"),
        field("event", c.Int32ul, "Kind.", source=("x",)),
        field("ts64", c.Int64ul, "Time.", source=("x",), since="2.0", grade="observed"),
    )
    assert dtype_of(record_at(declared, axis, "1.0")).names == ("ts", "event")
    assert dtype_of(record_at(declared, axis, "2.0")).names == ("event", "ts64")
    facts = declared.subcons[0].facts
    assert (facts.unit, facts.until, facts.grade) == ("us", "2.0", "documented")
    assert isinstance(declared.subcons[0], Field)


# --- raw records of the collector (docs/evidence/ge-profiling.md 5) -------------------------------

HEAD = (
    "magic" / c.Const(0x5A5A, c.Int16ul),
    "level" / c.Int16ul,
    "type" / c.Int32ul,
    "threadId" / c.Int32ul,
    "dataLen" / c.Int32ul,
    "timeStamp" / c.Int64ul,
)
NODE = c.Struct(
    *("opName" / c.Int64ul, "taskType" / c.Int32ul, "opType" / c.Int64ul),
    *("blockDim" / c.Int32ul, "opFlag" / c.Int32ul),
)
HOW = c.BitStruct(
    "rsv" / c.BitsInteger(3), "schedMode" / c.BitsInteger(2), "ratio" / c.BitsInteger(3)
)
KERNEL = c.Struct(
    "numBlocks" / c.Int16ul,
    "argsSize" / c.Int16ul,
    "how" / HOW,
    c.Padding(11),
)
TRACK = c.Struct(
    *("deviceId" / c.Int16ul, "streamId" / c.Int16ul, "taskId" / c.Int32ul),
    *("taskType" / c.Int64ul, "kernelName" / c.Int64ul, "ext" / KERNEL),
)
COMPACT = c.Struct(
    *HEAD,
    "data" / c.Padded(40, c.Union(0, "raw" / c.Bytes(40), "node" / NODE, "track" / TRACK)),
)
TENSOR = c.Struct(
    *("tensorType" / c.Int32ul, "format" / c.Int32ul, "dataType" / c.Int32ul),
    "shape" / c.Array(8, c.Int32ul),
)
TENSORS = c.Struct("opName" / c.Int64ul, "tensorNum" / c.Int32ul, "tensorData" / c.Array(5, TENSOR))
GRAPH = c.Struct("modelName" / c.Int64ul, "graphId" / c.Int32ul, "modelId" / c.Int32ul)
TX = c.Struct("infoType" / c.Int16ul, c.Padding(66), "message" / c.PaddedString(156, "utf8"))
ADDITIONAL = c.Struct(
    *HEAD,
    "data" / c.Padded(
        232, c.Union(0, "raw" / c.Bytes(232), "tensor" / TENSORS, "graph" / GRAPH, "tx" / TX)
    ),
)  # fmt: skip

CONV2D = 6251491202591237330
NODE_BASIC_INFO = bytes.fromhex(
    "5a5a102700000000921000000000000008430f0000000000d224ee7e20c2c15600000000d224ee7e20c2c156"
    "1800000001000000000000000000000000000000"
)
GRAPH_ID_MAP = bytes.fromhex(
    "5a5a983a00000000921000001000000034440f0000000000000000000000000003000000070000000000000000000000"
).ljust(256, b"\0")


def test_sizes_are_those_of_the_collector() -> None:
    assert dtype_of(COMPACT).itemsize == 64
    assert dtype_of(ADDITIONAL).itemsize == 256
    assert (NODE.sizeof(), TRACK.sizeof(), TENSOR.sizeof(), TENSORS.sizeof()) == (28, 40, 44, 232)


def test_a_golden_compact_record() -> None:
    (row,) = np.frombuffer(NODE_BASIC_INFO, dtype_of(COMPACT))
    assert (row["magic"], row["level"], row["type"]) == (0x5A5A, 10000, 0)
    assert (row["threadId"], row["timeStamp"]) == (4242, 1_000_200)
    node = row["data"]["node"]
    assert node.tolist() == (CONV2D, 0, CONV2D, 24, 1)
    made = np.zeros(1, dtype_of(COMPACT))
    head = {"magic": 0x5A5A, "level": 10000, "threadId": 4242, "timeStamp": 1_000_200}
    for name, value in head.items():
        made[name] = value
    made["data"]["node"] = (CONV2D, 0, CONV2D, 24, 1)
    assert made.tobytes() == NODE_BASIC_INFO


def test_a_golden_additional_record() -> None:
    (row,) = np.frombuffer(GRAPH_ID_MAP, dtype_of(ADDITIONAL))
    assert (row["level"], row["dataLen"], row["timeStamp"]) == (15000, 16, 1_000_500)
    assert row["data"]["graph"].tolist() == (0, 3, 7)
    assert row["data"]["tensor"]["tensorData"]["shape"].shape == (5, 8)


def test_bits_of_a_kernel_launch() -> None:
    """Byte 4: ratio:3, schedMode:2, rsv:3, the first in the lowest bits as C lays them."""
    content = NODE_BASIC_INFO[:24] + bytes(24) + bytes([24, 0, 0x40, 0, 0b000_10_101]) + bytes(11)
    (row,) = np.frombuffer(content, dtype_of(COMPACT))
    ext = row["data"]["track"]["ext"]
    parts = bit_fields(HOW)
    assert (ext["numBlocks"], ext["argsSize"]) == (24, 64)
    assert {name: int(ext["how"]) >> by & mask for name, (by, mask) in parts.items()} == {
        "rsv": 0,
        "schedMode": 2,
        "ratio": 5,
    }


def test_a_message_within_a_union() -> None:
    content = GRAPH_ID_MAP[:24] + bytes(68) + b"step 7".ljust(156, b"\0") + bytes(8)
    (row,) = np.frombuffer(content, dtype_of(ADDITIONAL))
    assert row["data"]["tx"]["message"] == b"step 7"
