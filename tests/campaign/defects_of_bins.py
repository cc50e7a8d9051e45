"""Defects of ``visualize_data.bin``, as exporters make them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

CODE, TRACE, LINES, INSTRUCTIONS, BASIC, FIGURE, COUNTS, HEAT, TABLES, CORES, ROOFS, CACHE = (
    0x01,
    0x02,
    0x03,
    0x04,
    0x05,
    0x06,
    0x07,
    0x08,
    0x09,
    0x0C,
    0x0D,
    0x0E,
)


def _times(value: Any, factor: float) -> Any:
    """A number, or the text of one, multiplied; its form stays."""
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return value
        return f"{number * factor:.6f}" if "." in value else str(int(number * factor))
    return type(value)(value * factor)


def _plus(value: Any, step: int) -> Any:
    if isinstance(value, str):
        return str(int(value) + step) if value.isdigit() else value
    return value + step


def _scale(items: list[Any], key: str, factor: float) -> None:
    for item in items:
        item[key] = _times(item[key], factor)


def _rotate(items: list[Any], *keys: str) -> None:
    """Each item gets the values of the one behind it."""
    moved = [{key: item[key] for key in keys} for item in (*items[1:], *items[:1])]
    for item, values in zip(items, moved, strict=True):
        item.update(values)


def _exchange(item: Any, first: Any, second: Any) -> None:
    item[first], item[second] = item[second], item[first]


def _units(heat: Any) -> Iterator[Any]:
    for core in heat["core_memory_map"]:
        yield from core["memory_unit"]


def _tables(value: Any, beginning: str = "") -> Iterator[Any]:
    for block in value["table_per_block"]:
        yield from (one for one in block["table_detail"] if one["table_name"].startswith(beginning))


def _column(table: Any, header: str) -> int:
    headers = [name.partition("(")[0] for name in table["header_name"]]
    if header not in headers:
        raise KeyError(header)
    return headers.index(header) - 1


def _rescale(value: Any, beginning: str, header: str, factor: float) -> None:
    """Multiply a column of tables."""
    for table in _tables(value, beginning):
        place = _column(table, header)
        for row in table["row"]:
            row["value"][place] = _times(row["value"][place], factor)


# The container.


def _headers(bin_: Bin, change: Callable[[bytes, bytes], bytes]) -> None:
    """Rewrite each block from its header and what follows it."""
    content, at, parts = bin_.path.read_bytes(), 0, []
    while at < len(content):
        size, kind = struct.unpack_from("<QB", content, at)
        end = at + 12 + size + (4096 if kind == CODE else 0)
        parts.append(change(content[at : at + 12], content[at + 12 : end]))
        at = end
    bin_.put(b"".join(parts))


@defect("bin", "no header stands where the block before ends")
def lengths_without_padding(bin_: Bin) -> None:
    """The length is that of the payload, without the bytes that fill it up."""
    _headers(
        bin_,
        lambda head, rest: (
            struct.pack("<Q", struct.unpack("<Q", head[:8])[0] - head[9]) + head[8:] + rest
        ),
    )


@defect("bin", "no header stands where the block before ends")
def lengths_with_the_header(bin_: Bin) -> None:
    """The length counts its own 12 bytes."""
    _headers(
        bin_,
        lambda head, rest: (
            struct.pack("<Q", struct.unpack("<Q", head[:8])[0] + 12) + head[8:] + rest
        ),
    )


@defect("bin", "no header stands where the block before ends")
def headers_of_16_bytes(bin_: Bin) -> None:
    """The compiler fills the header up to its alignment."""
    _headers(bin_, lambda head, rest: head + bytes(4) + rest)


@defect("bin", "the length is beyond the file")
def lengths_in_network_order(bin_: Bin) -> None:
    """The length is written with its highest byte first."""
    _headers(bin_, lambda head, rest: head[:8][::-1] + head[8:] + rest)


@defect("bin", "padding is announced and the payload does not end in it")
def padding_of_blanks(bin_: Bin) -> None:
    """Payloads are filled up with blanks."""
    _headers(
        bin_,
        lambda head, rest: head + (rest[: -head[9]] + b" " * head[9] if head[9] else rest),
    )


@defect("bin", "the payload ends in bytes that are no JSON")
def padding_is_not_announced(bin_: Bin) -> None:
    """The number of bytes that fill the payload up is not written."""
    _headers(bin_, lambda head, rest: head[:9] + b"\0" + head[10:] + rest)


@defect("bin", "no header ends in another byte")
def headers_without_their_mark(bin_: Bin) -> None:
    """The reserved bytes are cleared."""
    _headers(bin_, lambda head, rest: head[:10] + (b"\0\0" if rest else b"") + rest)


@defect("bin", "each block may stand once, and stands twice")
def written_twice_into_one_file(bin_: Bin) -> None:
    """A second run appends to the file of the first."""
    content = bin_.path.read_bytes()
    bin_.put(content + content)


@defect("bin", "the file ends before its last block")
def end_of_the_file_lost(bin_: Bin) -> None:
    """The last page is never flushed."""
    bin_.put(bin_.path.read_bytes()[:-700])


def _exchanged(name: str, first: int, second: int) -> None:
    @defect("bin", "the payload is not that of its type", f"{name}-exchanged")
    def exchanged(bin_: Bin) -> None:
        """Two types of blocks are exchanged."""
        swap = {first: second, second: first}
        bin_.write([replace(one, type=swap.get(one.type, one.type)) for one in bin_.blocks()])


_exchanged("figure-and-counts", FIGURE, COUNTS)
_exchanged("heat-map-and-tables", HEAT, TABLES)
_exchanged("cores-and-roofs", CORES, ROOFS)
_exchanged("lines-and-instructions", LINES, INSTRUCTIONS)


def _without(name: str, code: int) -> None:
    @defect("bin", "the blocks that belong to it are there", f"{name}-lost")
    def lost(bin_: Bin) -> None:
        """One block is not written."""
        bin_.write([one for one in bin_.blocks() if one.type != code])


_without("basic-info", BASIC)
_without("instructions", INSTRUCTIONS)
_without("source-text", CODE)


def _raw(bin_: Bin, change: Callable[[bytes], bytes]) -> None:
    bin_.write(
        [
            one if one.type == CODE else replace(one, payload=change(bytes(one.payload)))
            for one in bin_.blocks()
        ]
    )


@defect("bin", "NaN is no JSON")
def shares_that_are_no_number(bin_: Bin) -> None:
    """0 by 0 is written as the language prints it."""
    bin_.need(FIGURE)
    _raw(bin_, lambda text: text.replace(b'"unit":3,"value":0.0', b'"unit":3,"value":nan'))


@defect("bin", "a comma before a bracket is no JSON")
def commas_behind_the_last(bin_: Bin) -> None:
    """Lists are written element by element, each with a comma."""
    _raw(bin_, lambda text: text.replace(b"}]", b"},]"))


@defect("bin", "the text is no UTF-8")
def texts_in_another_encoding(bin_: Bin) -> None:
    """Texts are written in the encoding of the machine."""
    _raw(bin_, lambda text: text.decode().encode("utf-16-le"))


@defect("bin", "the payload is no object")
def payloads_in_a_list(bin_: Bin) -> None:
    """The payload is wrapped into a list."""
    _raw(bin_, lambda text: b"[" + text + b"]")


@defect("bin", "keys are spelt as nobody reads them")
def keys_in_upper_case(bin_: Bin) -> None:
    """Keys are those of the program's own structures."""

    def upper(value: Any) -> Any:
        if isinstance(value, dict):
            return {key.upper(): upper(one) for key, one in value.items()}
        return [upper(one) for one in value] if isinstance(value, list) else value

    _raw(bin_, lambda text: json.dumps(upper(json.loads(text)), separators=(",", ":")).encode())


# Basic info.


def _durations(factor: float) -> Callable[[Any], None]:
    def change(value: Any) -> None:
        if "mix_block_detail" in value or isinstance(value["block_detail"], dict):
            detail = value.get("mix_block_detail") or value["block_detail"]
            columns = [i for i, name in enumerate(detail["head_name"]) if "Duration" in name]
            for row in detail["row"]:
                for place in columns:
                    row["value"][place] = _times(row["value"][place], factor)
        else:
            for one in value["block_detail"]:
                one["duration"] = [_times(each, factor) for each in one["duration"]]

    return change


@defect("bin", "cycles and times give no clock, and a block takes longer than the operator")
def block_durations_in_ns(bin_: Bin) -> None:
    """ns are written for us."""
    bin_.each(BASIC, _durations(1000))


@defect("bin", "cycles and times give no clock")
def block_durations_in_ms(bin_: Bin) -> None:
    """ms are written for us."""
    bin_.each(BASIC, _durations(0.001))


@defect("bin", "cycles and times give a clock of 1 MHz")
def block_durations_in_cycles(bin_: Bin) -> None:
    """Cycles are written for us."""
    bin_.each(BASIC, _durations(1650))


@defect("bin", "every block takes longer than the operator")
def operator_duration_in_ms(bin_: Bin) -> None:
    """ms are written for us."""

    def change(value: Any) -> None:
        value["duration"] = _times(value["duration"], 0.001)

    bin_.each(BASIC, change)


@defect("bin", "rates of transfers are not their bytes by the duration")
def operator_duration_in_ns(bin_: Bin) -> None:
    """ns are written for us."""
    bin_.need(HEAT)

    def change(value: Any) -> None:
        value["duration"] = _times(value["duration"], 1000)

    bin_.each(BASIC, change)


@defect("bin", "the table has another number of blocks")
def block_dim_off_by_one(bin_: Bin) -> None:
    """The number of the last block is written for their count."""

    def change(value: Any) -> None:
        value["block_dim"] = _plus(value["block_dim"], -1)

    bin_.each(BASIC, change)


def _rows(value: Any) -> list[Any]:
    detail = value.get("mix_block_detail") or value["block_detail"]
    rows: list[Any] = detail["row"] if isinstance(detail, dict) else detail
    return rows


@defect("bin", "a number is not below the number of blocks")
def blocks_counted_from_one(bin_: Bin) -> None:
    """Blocks are counted from 1 in the basic info."""

    def change(value: Any) -> None:
        for row in _rows(value):
            if "block_id" in row:
                row["block_id"] += 1
            else:
                row["value"][0] = _plus(row["value"][0], 1)

    bin_.each(BASIC, change)


@defect("bin", "other blocks list a block that the basic info lacks")
def last_block_lost(bin_: Bin) -> None:
    """The table of blocks ends one row early."""
    bin_.each(BASIC, lambda value: _rows(value).pop())


@defect("bin", "each block has the number of the first")
def all_blocks_are_the_first(bin_: Bin) -> None:
    """The number of the block is not filled in."""

    def change(value: Any) -> None:
        for row in _rows(value):
            if "block_id" in row:
                row["block_id"] = 0
            else:
                row["value"][0] = "0"

    bin_.each(BASIC, change)


@defect("bin", "cycles and durations give different clocks")
def block_durations_of_the_next(bin_: Bin) -> None:
    """Durations are joined one row too late."""

    def change(value: Any) -> None:
        rows = _rows(value)
        if "value" not in rows[0]:
            raise KeyError("value")
        times = [row["value"][1:] for row in (*rows[1:], *rows[:1])]
        for row, moved in zip(rows, times, strict=True):
            row["value"][1:] = moved

    bin_.each(BASIC, change)


@defect("bin", "cycles and durations give different clocks")
def cube_and_vector_durations_exchanged(bin_: Bin) -> None:
    """Two columns are exchanged."""

    def change(value: Any) -> None:
        for row in value["mix_block_detail"]["row"]:
            _exchange(row["value"], 1, 2)

    bin_.each(BASIC, change)


@defect("bin", "no chip has such a clock")
def clock_of_the_cores_in_hertz(bin_: Bin) -> None:
    """Hz are written for MHz."""

    def change(value: Any) -> None:
        for key in ("cur_freq", "rated_freq"):
            value[key] = _times(value[key], 1_000_000)

    bin_.each(BASIC, change)


@defect("bin", "the other blocks are of another chip")
def basic_info_of_another_chip(bin_: Bin) -> None:
    """The chip is the first of the list."""
    bin_.need(HEAT)
    bin_.each(BASIC, lambda value: value.update(soc="Ascend310P3"))


@defect("bin", "the kind is none of the viewer's, and the others name another")
def kinds_of_another_interface(bin_: Bin) -> None:
    """aiv and aic are written for vector and cube."""
    kinds = {"vector": "aiv", "cube": "aic", "mix": "aiv"}
    bin_.each(BASIC, lambda value: value.update(op_type=kinds[value["op_type"]]))


@defect("bin", "the table for mixed operators is missing")
def mixed_operator_as_vector(bin_: Bin) -> None:
    """The kind is that of the second kind of core."""

    def change(value: Any) -> None:
        if value["op_type"] != "mix":
            raise KeyError("op_type")
        value["op_type"] = "vector"

    bin_.each(BASIC, change)


@defect("bin", "the size is not that of the table")
def size_of_the_block_table_without_its_head(bin_: Bin) -> None:
    """The row of the head is not counted."""

    def change(value: Any) -> None:
        detail = value.get("mix_block_detail") or value["block_detail"]
        if isinstance(detail, list):
            raise KeyError("size")
        detail["size"][0] -= 1

    bin_.each(BASIC, change)


# Load of the units.


def _load(code: int, change: Callable[[list[Any]], object]) -> Callable[[Bin], None]:
    return lambda bin_: bin_.each(code, lambda value: change(value["subblock_detail"]))


@defect("bin", "a number is not among the blocks")
def figure_blocks_counted_from_one(bin_: Bin) -> None:
    """Blocks are counted from 1 in one block type."""

    def change(items: list[Any]) -> None:
        for item in items:
            item["block_id"] = _plus(item["block_id"], 1)

    _load(FIGURE, change)(bin_)


@defect("bin", "a number is not among the blocks")
def counts_of_blocks_counted_from_one(bin_: Bin) -> None:
    """Blocks are counted from 1 in one block type."""

    def change(items: list[Any]) -> None:
        for item in items:
            item["block_id"] = _plus(item["block_id"], 1)

    _load(COUNTS, change)(bin_)


@defect("bin", "cycles differ from those of the heat map")
def figure_of_the_next_block(bin_: Bin) -> None:
    """Figures are joined with the block that follows."""

    def change(items: list[Any]) -> None:
        kinds = {(item["block_type"], item["name"]) for item in items}
        for kind in sorted(kinds):
            own = [item for item in items if (item["block_type"], item["name"]) == kind]
            _rotate(own, "origin_value", "value")

    _load(FIGURE, change)(bin_)


@defect("bin", "a share is not 100 times its cycles over all")
def figure_as_fractions(bin_: Bin) -> None:
    """Fractions are written for percent."""
    _load(FIGURE, lambda items: _scale(items, "value", 0.01))(bin_)


@defect("bin", "a share is not 100 times its cycles over all")
def figure_of_all_blocks_summed(bin_: Bin) -> None:
    """Cycles are the sum over the blocks, shares are those of one."""

    def change(items: list[Any]) -> None:
        count = len({str(item["block_id"]) for item in items})
        _scale(items, "origin_value", count)

    _load(FIGURE, change)(bin_)


@defect("bin", "a share is not its cycles over those of its sub-block")
def figure_of_another_sub_block(bin_: Bin) -> None:
    """Sub-blocks are exchanged."""
    swap = {"cube0": "vector0", "vector0": "cube0"}

    def change(items: list[Any]) -> None:
        for item in items:
            item["block_type"] = swap.get(item["block_type"], item["block_type"])

    _load(FIGURE, change)(bin_)


@defect("bin", "the unit of each entry is that of its name")
def units_are_not_filled_in(bin_: Bin) -> None:
    """All units are 0, microseconds."""

    def change(items: list[Any]) -> None:
        for item in items:
            item["unit"] = 0

    _load(COUNTS, change)(bin_)


@defect("bin", "the unit of each entry is that of its name")
def units_off_by_one(bin_: Bin) -> None:
    """Units are counted from 1."""

    def change(items: list[Any]) -> None:
        for item in items:
            item["unit"] += 1

    _load(COUNTS, change)(bin_)


@defect("bin", "the whole is not the sum of its parts")
def whole_counts_of_all_cores(bin_: Bin) -> None:
    """The whole is that of both vector cores."""

    def change(items: list[Any]) -> None:
        _scale([item for item in items if item["name"] == "Vector All Active"], "value", 2)

    _load(COUNTS, change)(bin_)


@defect("bin", "shares add up to more than the whole")
def floats_and_integers_exchanged(bin_: Bin) -> None:
    """Names of two entries are exchanged: what counts as FP is INT."""
    swap = {"Cube All Active": "Cube INT", "Cube INT": "Cube All Active"}

    def change(items: list[Any]) -> None:
        for item in items:
            item["name"] = swap.get(item["name"], item["name"])

    _load(FIGURE, change)(bin_)


@defect("bin", "the conflicts do not add up to all")
def conflicts_exchanged_with_all(bin_: Bin) -> None:
    """Names of two entries are exchanged."""
    swap = {
        "Vector All Block": "Vector Bank Conflict Block",
        "Vector Bank Conflict Block": "Vector All Block",
    }

    def change(items: list[Any]) -> None:
        for item in items:
            item["name"] = swap.get(item["name"], item["name"])

    _load(COUNTS, change)(bin_)


@defect("bin", None)
def data_sizes_in_kib(bin_: Bin) -> None:
    """KiB are written for bytes. Nothing else in the file shows how much was computed."""

    def change(items: list[Any]) -> None:
        _scale([item for item in items if "Data Size" in item["name"]], "value", 1 / 1024)

    _load(COUNTS, change)(bin_)


@defect("bin", "each entry stands twice")
def figure_twice(bin_: Bin) -> None:
    """Entries are flushed twice."""
    _load(FIGURE, lambda items: items.extend(dict(item) for item in list(items)))(bin_)


@defect("bin", "each entry stands twice")
def counts_twice(bin_: Bin) -> None:
    """Entries are flushed twice."""
    _load(COUNTS, lambda items: items.extend(dict(item) for item in list(items)))(bin_)


# The heat map.


@defect("bin", "the viewer takes a truth value for false")
def display_as_truth_value(bin_: Bin) -> None:
    """true is written for 1."""

    def change(value: Any) -> None:
        for unit in _units(value):
            unit["display"] = True

    bin_.each(HEAT, change)


def _cores(change: Callable[[Any], object]) -> Callable[[Bin], None]:
    def all_cores(value: Any) -> None:
        for core in value["core_memory_map"]:
            change(core)

    return lambda bin_: bin_.each(HEAT, all_cores)


@defect("bin", "it is not hits by requests")
def hit_ratio_in_another_unit(bin_: Bin) -> None:
    """A fraction is written for percent."""
    _cores(lambda core: _scale([core["L2cache"]], "hit_ratio", 0.01))(bin_)


@defect("bin", "the rate is not hits by requests")
def hits_and_misses_exchanged(bin_: Bin) -> None:
    """Two values are exchanged."""
    _cores(lambda core: _exchange(core["L2cache"], "hit", "miss"))(bin_)


@defect("bin", "hits and misses are more than all requests")
def requests_of_reads_alone(bin_: Bin) -> None:
    """The total is that of one direction."""
    _cores(lambda core: _scale([core["L2cache"]], "total_request", 0.5))(bin_)


@defect("bin", "rates are not bytes by the duration")
def rates_of_paths_in_mib(bin_: Bin) -> None:
    """MiB/s are written for GiB/s."""
    bin_.each(HEAT, lambda value: _scale(list(_units(value)), "bandwidth", 1024))


@defect("bin", "rates are not bytes by the duration")
def rates_of_paths_in_decimal_units(bin_: Bin) -> None:
    """10^9 bytes are a GB, where files of all times count 2^30."""
    bin_.each(HEAT, lambda value: _scale(list(_units(value)), "bandwidth", 1.073741824))


@defect("bin", "rates are not bytes by the duration")
def requests_in_bytes(bin_: Bin) -> None:
    """Bytes are written for requests."""
    bin_.each(HEAT, lambda value: _scale(list(_units(value)), "request", 128))


@defect("bin", "the paths are not those of the chip")
def paths_off_by_one(bin_: Bin) -> None:
    """Paths are counted from 1."""

    def change(value: Any) -> None:
        for unit in _units(value):
            unit["memory_path"] += 1

    bin_.each(HEAT, change)


@defect("bin", "a peak is below its own part")
def peaks_as_fractions(bin_: Bin) -> None:
    """A fraction is written for percent."""
    bin_.each(HEAT, lambda value: _scale(list(_units(value)), "peak_ratio", 0.01))


@defect("bin", "requests differ from the table of the same memory")
def requests_of_the_next_path(bin_: Bin) -> None:
    """Requests and rates are joined one row too late."""
    _cores(lambda core: _rotate(core["memory_unit"], "request", "bandwidth"))(bin_)


@defect("bin", "a share is not cycles by all")
def shares_of_units_as_fractions(bin_: Bin) -> None:
    """A fraction is written for percent."""

    def change(core: Any) -> None:
        _scale([core[one] for one in ("Cube", "Vector", "Vector1") if one in core], "ratio", 0.01)

    _cores(change)(bin_)


@defect("bin", "a number is not among the blocks")
def cores_of_the_heat_map_from_one(bin_: Bin) -> None:
    """Cores are counted from 1."""

    def change(core: Any) -> None:
        core["core_no"] = _plus(core["core_no"], 1)

    _cores(change)(bin_)


@defect("bin", "cycles and durations give different clocks")
def units_of_the_next_core(bin_: Bin) -> None:
    """Cycles are joined with the core that follows."""

    def change(value: Any) -> None:
        cores = value["core_memory_map"]
        names = [one for one in ("Cube", "Vector", "Vector1") if one in cores[0]]
        _rotate(cores, *names)

    bin_.each(HEAT, change)


@defect("bin", "cycles and durations give different clocks")
def vector_cores_exchanged(bin_: Bin) -> None:
    """The two vector cores are exchanged."""
    _cores(lambda core: _exchange(core, "Vector", "Vector1"))(bin_)


@defect("bin", "the basic info is of another chip")
def heat_map_of_another_chip(bin_: Bin) -> None:
    """The family of chips is the first of the list."""
    _cores(lambda core: core.update(soc="310P") if "soc" in core else _none())(bin_)


def _none() -> None:
    raise KeyError


# The tables of the memory.


@defect("bin", "the size is not that of the table")
def sizes_transposed(bin_: Bin) -> None:
    """Columns stand before rows."""

    def change(value: Any) -> None:
        for table in _tables(value):
            table["size"].reverse()

    bin_.each(TABLES, change)


@defect("bin", "rows and headers differ in length")
def first_header_lost(bin_: Bin) -> None:
    """The header of the first column, which is empty, is not written."""

    def change(value: Any) -> None:
        for table in _tables(value):
            table["header_name"].pop(0)

    bin_.each(TABLES, change)


def _renamed(value: Any, beginning: str, first: str, second: str) -> None:
    swap = {first: second, second: first}
    for table in _tables(value, beginning):
        for row in table["row"]:
            row["name"] = swap.get(row["name"], row["name"])


@defect("bin", "the rows are in another order than in every file")
def pipes_exchanged(bin_: Bin) -> None:
    """Names of two pipes are exchanged."""
    bin_.each(TABLES, lambda value: _renamed(value, "Pipe", "MTE2", "MTE3"))


@defect("bin", "the total of the rows is its part")
def total_and_read_exchanged(bin_: Bin) -> None:
    """Names of two rows are exchanged."""
    bin_.each(TABLES, lambda value: _renamed(value, "Cache", "L2 Cache Read", "L2 Cache Total"))


@defect("bin", None)
def reads_and_writes_of_the_cache_exchanged(bin_: Bin) -> None:
    """The values of two rows are exchanged: the sum and all rates stay."""

    def change(value: Any) -> None:
        for table in _tables(value, "Cache"):
            first, second = table["row"][:2]
            if not second["name"].endswith("Read"):
                raise KeyError("L2 Cache Read")
            first["value"], second["value"] = second["value"], first["value"]

    bin_.each(TABLES, change)


@defect("bin", "the rate is not hits by requests")
def hit_rates_in_another_unit(bin_: Bin) -> None:
    """A fraction is written for percent."""
    bin_.each(TABLES, lambda value: _rescale(value, "Cache", "hit rate", 0.01))


@defect("bin", "the sum of hits and misses is not the total")
def hits_of_the_cache_in_thousands(bin_: Bin) -> None:
    """One column is divided by 1000."""
    bin_.each(TABLES, lambda value: _rescale(value, "Cache", "hit", 0.001))


@defect("bin", "cycles and rates differ by another factor than before")
def active_rates_as_fractions(bin_: Bin) -> None:
    """Fractions are written for percent."""
    bin_.each(TABLES, lambda value: _rescale(value, "Pipe", "active rate", 0.01))


@defect("bin", "a pipe is active for longer than the whole")
def cycles_of_pipes_of_all_blocks(bin_: Bin) -> None:
    """Cycles are summed over all blocks."""

    def change(value: Any) -> None:
        _rescale(value, "Pipe", "cycle", len(value["table_per_block"]))

    bin_.each(TABLES, change)


@defect("bin", "time and cycles give no clock")
def scalar_times_in_ns(bin_: Bin) -> None:
    """ns are written for us."""
    bin_.each(TABLES, lambda value: _rescale(value, "Scalar", "time", 1000))


@defect("bin", "time and cycles give a clock of 1 MHz")
def scalar_times_in_cycles(bin_: Bin) -> None:
    """Cycles are written for us."""

    def change(value: Any) -> None:
        for table in _tables(value, "Scalar"):
            cycle, time = _column(table, "cycle"), _column(table, "time")
            for row in table["row"]:
                if row["value"][cycle] != "NA":
                    row["value"][time] = f"{float(row['value'][cycle]):.6f}"

    bin_.each(TABLES, change)


@defect("bin", "rates differ from those of the heat map")
def rates_of_tables_in_mib(bin_: Bin) -> None:
    """MiB/s are written for GiB/s."""
    bin_.each(TABLES, lambda value: _rescale(value, "U", "throughput", 1024))


@defect("bin", "requests differ from those of the heat map")
def requests_of_tables_in_bytes(bin_: Bin) -> None:
    """Bytes are written for requests."""
    bin_.each(TABLES, lambda value: _rescale(value, "U", "requests", 128))


@defect("bin", "requests differ from those of the heat map")
def tables_of_the_next_block(bin_: Bin) -> None:
    """Tables are joined with the block that follows."""
    bin_.each(TABLES, lambda value: _rotate(value["table_per_block"], "table_detail"))


@defect("bin", "requests differ from those of the heat map")
def tables_of_vector_cores_exchanged(bin_: Bin) -> None:
    """The tables of the two vector cores are exchanged."""

    def change(value: Any) -> None:
        for block in value["table_per_block"]:
            by_name = {one["table_name"]: one for one in block["table_detail"]}
            first, second = by_name["UB Core0"], by_name["UB Core1"]
            first["row"], second["row"] = second["row"], first["row"]
            for row in (*first["row"], *second["row"]):
                row["value"] = list(row["value"])

    bin_.each(TABLES, change)


@defect("bin", "a table stands twice")
def tables_twice(bin_: Bin) -> None:
    """Tables are flushed twice."""

    def change(value: Any) -> None:
        for block in value["table_per_block"]:
            block["table_detail"].extend(list(block["table_detail"]))

    bin_.each(TABLES, change)


@defect("bin", "a number is not among the blocks")
def blocks_of_tables_from_one(bin_: Bin) -> None:
    """Blocks are counted from 1."""

    def change(value: Any) -> None:
        for block in value["table_per_block"]:
            block["block_id"] = _plus(block["block_id"], 1)

    bin_.each(TABLES, change)


# The load between cores.


def _subcores(value: Any) -> list[Any]:
    return [one for core in value["op_detail"] for one in core["core_detail"]]


@defect("bin", "cycles differ from the heat map")
def core_cycles_in_us(bin_: Bin) -> None:
    """us are written for cycles."""
    bin_.each(CORES, lambda value: _scale(_subcores(value), "cycles", 1 / 1650))


@defect("bin", "bytes are 128 times the requests of the tables")
def throughput_in_requests(bin_: Bin) -> None:
    """Requests are written for bytes."""
    bin_.each(CORES, lambda value: _scale(_subcores(value), "throughput", 1 / 128))


@defect("bin", "bytes are 128 times the requests of the tables")
def throughput_in_kib(bin_: Bin) -> None:
    """KiB are written for bytes."""
    bin_.each(CORES, lambda value: _scale(_subcores(value), "throughput", 1 / 1024))


@defect("bin", "the rates of the parts do not enclose that of the whole")
def hit_rates_of_cores_as_fractions(bin_: Bin) -> None:
    """A fraction is written for percent."""
    bin_.each(CORES, lambda value: _scale(_subcores(value), "L2cache_hit_rate", 0.01))


@defect("bin", None)
def hit_rates_of_two_sub_cores_exchanged(bin_: Bin) -> None:
    """Rates are joined with the sub-core that follows; no other block has them by sub-core."""
    bin_.each(CORES, lambda value: _rotate(_subcores(value), "L2cache_hit_rate"))


@defect("bin", "cycles differ from the heat map")
def cycles_of_the_next_sub_core(bin_: Bin) -> None:
    """Cycles are joined with the sub-core that follows."""
    bin_.each(CORES, lambda value: _rotate(_subcores(value), "cycles"))


@defect("bin", "a number is not among the blocks")
def cores_counted_from_one(bin_: Bin) -> None:
    """Cores are counted from 1."""

    def change(value: Any) -> None:
        for core in value["op_detail"]:
            core["core_id"] += 1

    bin_.each(CORES, change)


@defect("bin", "two sub-cores have one number")
def sub_cores_without_number(bin_: Bin) -> None:
    """The number of the sub-core is not filled in."""

    def change(value: Any) -> None:
        for one in _subcores(value):
            one["subcore_id"] = "0"

    bin_.each(CORES, change)


@defect("bin", "the basic info is of another chip")
def cores_of_another_chip(bin_: Bin) -> None:
    """The chip is the first of the list."""
    bin_.each(CORES, lambda value: value.update(soc="Ascend310P3"))


# Rooflines.


def _roofs(value: Any) -> list[Any]:
    return [roof for one in value["multiple_rooflines"] for roof in one["rooflines"]]


@defect("bin", "one chart has different performances")
def points_with_axes_exchanged(bin_: Bin) -> None:
    """The axes of the points are exchanged."""

    def change(value: Any) -> None:
        for roof in _roofs(value):
            roof["point"].reverse()

    bin_.each(ROOFS, change)


@defect("bin", "a ratio is not performance by roof")
def roof_ratios_in_percent(bin_: Bin) -> None:
    """Percent are written for fractions."""
    bin_.each(ROOFS, lambda value: _scale(_roofs(value), "ratio", 100))


@defect("bin", "a ratio is not performance by roof")
def roofs_of_memory_in_gb(bin_: Bin) -> None:
    """GB/s are written for TB/s."""
    bin_.each(ROOFS, lambda value: _scale(_roofs(value), "bw", 1024))


@defect("bin", "a ratio is not performance by roof")
def points_in_gigaops(bin_: Bin) -> None:
    """10^9 operations are written for 10^12."""

    def change(value: Any) -> None:
        for roof in _roofs(value):
            roof["point"][1] *= 1000.0

    bin_.each(ROOFS, change)


@defect("bin", "lines of one chart have different roofs or names")
def roof_names_of_the_next(bin_: Bin) -> None:
    """Names are joined one row too late."""

    def change(value: Any) -> None:
        for one in value["multiple_rooflines"]:
            _rotate(one["rooflines"], "bw_name")

    bin_.each(ROOFS, change)


@defect("bin", "lines of one chart are of other cores")
def roof_titles_exchanged(bin_: Bin) -> None:
    """The titles of cube and vector cores are exchanged."""

    def change(value: Any) -> None:
        for one in value["multiple_rooflines"]:
            swapped = one["title"].replace("Cube", "\0").replace("Vector", "Cube")
            one["title"] = swapped.replace("\0", "Vector")

    bin_.each(ROOFS, change)


# Cache lines.


def _lines_of_cache(value: Any) -> list[Any]:
    lines: list[Any] = value["Cacheline Records"]
    return lines


@defect("bin", "lines are numbered by their places")
def cache_lines_from_one(bin_: Bin) -> None:
    """Lines are counted from 1."""

    def change(value: Any) -> None:
        for line in _lines_of_cache(value):
            line["Cacheline Id"] += 1

    bin_.each(CACHE, change)


@defect("bin", "a share is that of its count")
def cache_shares_in_percent(bin_: Bin) -> None:
    """Percent are written for fractions."""

    def change(value: Any) -> None:
        for line in _lines_of_cache(value):
            for one in ("Hit", "Miss"):
                line[one]["Value"][1] *= 100

    bin_.each(CACHE, change)


@defect("bin", "a share is that of its count")
def cache_counts_exchanged(bin_: Bin) -> None:
    """The numbers of hits and misses are exchanged, their shares are not."""

    def change(value: Any) -> None:
        for line in _lines_of_cache(value):
            hit, miss = line["Hit"]["Value"], line["Miss"]["Value"]
            hit[0], miss[0] = miss[0], hit[0]

    bin_.each(CACHE, change)


# Source lines and instructions.


def _source_lines(value: Any) -> list[Any]:
    return [line for file in value["Files"] for line in file["Lines"]]


@defect("bin", None)
def source_lines_off_by_one(bin_: Bin) -> None:
    """Lines are counted from 0. Which line made an instruction no other block has to show."""

    def change(value: Any) -> None:
        for line in _source_lines(value):
            line["Line"] -= 1

    bin_.each(LINES, change)


@defect("bin", "the source file has no such line")
def source_lines_of_the_preprocessed_file(bin_: Bin) -> None:
    """Lines are those of the file with its headers."""

    def change(value: Any) -> None:
        for line in _source_lines(value):
            line["Line"] += 5000

    bin_.each(LINES, change)


@defect("bin", "the file carries no such source")
def sources_without_their_folder(bin_: Bin) -> None:
    """The name of a source file lacks its folder."""

    def change(value: Any) -> None:
        for file in value["Files"]:
            file["Source"] = file["Source"].rpartition("/")[2]

    bin_.each(LINES, change)


@defect("bin", "an end is no address of an instruction")
def ranges_end_behind_their_last(bin_: Bin) -> None:
    """The end is one past the last byte."""

    def change(value: Any) -> None:
        for line in _source_lines(value):
            for pair in line["Address Range"]:
                pair[1] = f"0x{int(pair[1], 16) + 2:08x}"

    bin_.each(LINES, change)


@defect("bin", "a range ends before it starts")
def ranges_exchanged(bin_: Bin) -> None:
    """Begin and end are exchanged."""

    def change(value: Any) -> None:
        for line in _source_lines(value):
            for pair in line["Address Range"]:
                pair.reverse()

    bin_.each(LINES, change)


@defect("bin", "the ranges name no instruction")
def instruction_addresses_relative(bin_: Bin) -> None:
    """Addresses count from the begin of the kernel in one of two blocks."""

    def change(value: Any) -> None:
        first = min(int(one["Address"], 16) for one in value["Instructions"])
        for one in value["Instructions"]:
            one["Address"] = f"0x{int(one['Address'], 16) - first:08x}"

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "an address is not hexadecimal")
def addresses_in_decimal(bin_: Bin) -> None:
    """Addresses are decimal."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["Address"] = str(int(one["Address"], 16))

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "two instructions have one address")
def instructions_twice(bin_: Bin) -> None:
    """Instructions are flushed twice."""

    def change(value: Any) -> None:
        value["Instructions"].extend([dict(one) for one in value["Instructions"]])

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "the order of cores is not that of the instructions")
def cores_of_lines_in_another_order(bin_: Bin) -> None:
    """Cores are sorted in another way in one of two blocks."""
    bin_.each(LINES, lambda value: value["Cores"].reverse())


@defect("bin", "a list has not one value for each core")
def one_core_short(bin_: Bin) -> None:
    """The last core is left out of each list."""

    def change(value: Any) -> None:
        if len(value["Cores"]) == 1:
            raise KeyError("Cores")
        for one in value["Instructions"]:
            one["Cycles"].pop()

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "a column that is declared as a float holds whole numbers")
def hit_rates_of_instructions_as_integers(bin_: Bin) -> None:
    """Whole numbers are written without a point, and read as 0."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["L2Cache Hit Rate"] = int(one["L2Cache Hit Rate"])

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "counts are read as numbers only")
def counts_of_instructions_as_texts(bin_: Bin) -> None:
    """Numbers are written as texts."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["Instructions Executed"] = [str(each) for each in one["Instructions Executed"]]

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "a whole is the sum of its two parts")
def scalar_cycles_of_one_part(bin_: Bin) -> None:
    """The whole leaves one part out."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["ScalarCycles"] = list(one["CcuCycles"])

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "a share of samples is above 1")
def stall_shares_in_percent(bin_: Bin) -> None:
    """Percent are written for fractions."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["Stall Sampling(All Samples)"]["Percent"] *= 100.0

    bin_.need(LINES)
    bin_.each(INSTRUCTIONS, change)


@defect("bin", "columns that nobody declares are not shown")
def columns_not_declared(bin_: Bin) -> None:
    """The types of columns are not written."""
    bin_.each(INSTRUCTIONS, lambda value: value["Instructions Dtype"]["Instructions"].clear())


@defect("bin", "a text is declared as a number, and is read as 0")
def columns_of_another_type(bin_: Bin) -> None:
    """Codes of two types are exchanged."""

    def change(value: Any) -> None:
        types = value["Instructions Dtype"]["Instructions"]
        types.update({name: {1: 3, 3: 1}.get(code, code) for name, code in types.items()})

    bin_.each(INSTRUCTIONS, change)


# The timeline of the kernel.


def _events(value: Any, phases: str = "X") -> list[Any]:
    found = [event for event in value["traceEvents"] if event["ph"] in phases]
    if not found:
        raise KeyError(phases)
    return found


@defect("bin", "the timeline must be an object")
def timeline_as_a_list(bin_: Bin) -> None:
    """The list of events is written without the object around it."""
    bin_.write(
        [
            replace(one, payload=json.dumps(json.loads(bytes(one.payload))["traceEvents"]).encode())
            if one.type == TRACE
            else one
            for one in bin_.blocks()
        ]
    )


@defect("bin", "cycles and durations give no clock")
def timeline_in_ns(bin_: Bin) -> None:
    """ns are written for us."""

    def change(value: Any) -> None:
        for event in _events(value, "XBEst"):
            for key in ("ts", "dur"):
                if key in event:
                    event[key] *= 1000

    bin_.each(TRACE, change)


@defect("bin", "the viewer ignores such phases")
def flows_end_in_another_phase(bin_: Bin) -> None:
    """Flows end in f instead of t."""

    def change(value: Any) -> None:
        for event in _events(value, "t"):
            event["ph"] = "f"

    bin_.each(TRACE, change)


@defect("bin", "a flow has the id of no pair")
def flow_ids_off_by_one(bin_: Bin) -> None:
    """Flows are counted from another number."""

    def change(value: Any) -> None:
        for event in _events(value, "st"):
            core, _, number = event["id"].rpartition("_")
            event["id"] = f"{core}_{int(number) + 100000}"

    bin_.each(TRACE, change)


@defect("bin", "a pair ends before it begins")
def begins_and_ends_exchanged(bin_: Bin) -> None:
    """Phases B and E are exchanged."""

    def change(value: Any) -> None:
        for event in _events(value, "BE"):
            event["ph"] = {"B": "E", "E": "B"}[event["ph"]]

    bin_.each(TRACE, change)


@defect("bin", "a begin has no end")
def ends_of_pairs_lost(bin_: Bin) -> None:
    """Ends are not written."""

    def change(value: Any) -> None:
        _events(value, "E")
        value["traceEvents"] = [one for one in value["traceEvents"] if one["ph"] != "E"]

    bin_.each(TRACE, change)


@defect("bin", "the instruction list has no such address")
def addresses_of_events_in_decimal(bin_: Bin) -> None:
    """Addresses are decimal."""

    def change(value: Any) -> None:
        for event in _events(value):
            if "pc_addr" in event.get("args", {}):
                event["args"]["pc_addr"] = str(int(event["args"]["pc_addr"], 16))

    bin_.each(TRACE, change)


@defect("bin", "the instruction list has no such core")
def lanes_of_other_cores(bin_: Bin) -> None:
    """Cores are counted from 1 in the timeline."""

    def change(value: Any) -> None:
        for event in value["traceEvents"]:
            for key in ("pid", "tid"):
                name = event[key]
                if isinstance(name, str) and name.startswith("core"):
                    number, dot, rest = name[4:].partition(".")
                    event[key] = f"core{int(number) + 10}{dot}{rest}"

    bin_.need(INSTRUCTIONS)
    bin_.each(TRACE, change)


@defect("bin", "an event must have a lane")
def events_without_lane(bin_: Bin) -> None:
    """The lane of events is not written."""

    def change(value: Any) -> None:
        for event in _events(value):
            del event["tid"]

    bin_.each(TRACE, change)


@defect("bin", "instructions of one lane overlap")
def durations_hold_the_end(bin_: Bin) -> None:
    """The end is written where the length belongs."""

    def change(value: Any) -> None:
        for event in _events(value):
            event["dur"] += event["ts"]

    bin_.each(TRACE, change)


@defect("bin", "instructions ran in the timeline and none of the time is in the list")
def times_start_at_the_clock(bin_: Bin) -> None:
    """Times do not start at 0 but are those of the machine."""

    def change(value: Any) -> None:
        for event in _events(value, "XBEst"):
            event["ts"] = -event["ts"] - 1.0

    bin_.each(TRACE, change)
