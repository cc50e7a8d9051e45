"""Seed 004: every example, type and field of it is in the spec or named by an erratum."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from bin_seed import Bracketed, Example, Word, examples, parse, seed_lines
from jsonschema import Draft202012Validator

from ascend_spec import bin_catalog
from ascend_spec.bin import CACHE_RECORD, HEADER, TRACE_RECORD
from ascend_spec.core.dialect import annotation_at, walk
from ascend_spec.core.pointer import escaped

# Errata that explain why a documented example departs from the current epoch, by the first line of
# the example in the seed.
EXPLAINED = {
    31: set(),
    93: set(),
    139: set(),
    188: set(),
    247: {"B7", "B42"},
    284: set(),
    308: set(),
    332: {"B12", "B45"},
    384: {"B15", "B65"},
    473: set(),
    542: {"B48"},
    585: {"B22"},
    902: set(),
    986: set(),
    1032: set(),
    1458: {"B7", "B42"},
    1493: {"B9"},
    1519: {"B9"},
    1545: {"B11", "B12"},
    1581: {"B16"},
    1680: set(),
}
KIND = re.compile(r"\b(?:aic|aiv\d?|mix|cube|vector)\b", re.ASCII)
SAMPLES: dict[str, tuple[Any, ...]] = {
    "text": ("some text", "1", "0x10d0d000", "910B"),
    "whole": (1,),
    "float": (1.5,),
    "bool": (True,),
    "enum": (),
}
KINDS = {
    "str": "text",
    "string": "text",
    "int": "whole",
    "int8": "whole",
    "uint": "whole",
    "uint8": "whole",
    "uint16": "whole",
    "uint64": "whole",
    "float": "float",
    "float16": "float",
    "float32": "float",
    "bool": "bool",
    "enum": "enum",
}


def payloads() -> list[Example]:
    return [example for example in examples() if example.block is not None]


def newest(block: int) -> dict[str, Any]:
    return bin_catalog().payload_schema(block, bin_catalog().epochs[-1].id)


def instance(
    value: Any, nodes: list[tuple[str, Any]], kind: str | None = None, place: str = ""
) -> Any:
    """The example as JSON: a value in place of each type, one that the schema takes if it can.

    ``kind`` stands in place of each enum whose comment names it.
    """
    if isinstance(value, dict):
        return {
            key: instance(inner, nodes, kind, f"{place}/{escaped(key)}")
            for key, inner in value.items()
        }
    if isinstance(value, list):
        filled = [instance(inner, nodes, kind, f"{place}/*") for inner in value]
        if len(value) == 1 and isinstance(value[0], Word):  # [string] is a list of any length
            filled *= max([node.get("minItems", 1) for at, node in nodes if at == place], default=1)
        return filled
    if isinstance(value, Word):
        if value.name == "enum" and kind in KIND.findall(value.comment):
            return kind
        here = [node for at, node in nodes if at == place]
        listed = tuple(chosen for node in here for chosen in node.get("enum", ()))
        samples = SAMPLES[KINDS[value.name]] or listed
        taken = [one for one in samples if all(Draft202012Validator(n).is_valid(one) for n in here)]
        return (taken or list(samples) or ["some text"])[0]
    return value


def departures(block: int, content: Any) -> Iterator[tuple[str | None, str]]:
    """What the newest schema finds in an example: the erratum about it, and the message."""
    schema = newest(block)
    for error in Draft202012Validator(schema).iter_errors(content):
        erratum = annotation_at(schema, list(error.absolute_schema_path), "erratum")
        yield erratum, f"{error.json_path}: {error.message}"


def test_every_example_is_found() -> None:
    found = examples()
    lines = seed_lines()
    opening = [
        number
        for number, line in enumerate(lines)
        if line[:1] in ("{", "[") and lines[number - 1] != "["  # the one element of a list
    ]
    assert [example.line - 1 for example in found] == opening
    messages = sum(
        re.search(r'^ +"type": "(request|response)"', line) is not None for line in lines
    )
    assert (len(found), messages, len(payloads())) == (45, 24, 21)
    assert [example.line for example in payloads()] == list(EXPLAINED)
    assert {example.block for example in payloads()} == {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13}


@pytest.mark.parametrize("line", EXPLAINED)
def test_an_example_is_valid_or_named_by_an_erratum(line: int) -> None:
    assert explained(line) == EXPLAINED[line]


def explained(line: int, kind: str | None = None) -> set[str | None]:
    """The errata about an example; all that the newest schema finds must be of one."""
    example = next(one for one in payloads() if one.line == line)
    assert example.block is not None
    content = instance(example.content, list(walk(newest(example.block))), kind)
    if example.block == 0x05:  # "only one of block_detail and mix_block_detail is valid"
        del content["mix_block_detail" if content["op_type"] != "mix" else "block_detail"]
    found = list(departures(example.block, content))
    assert [message for erratum, message in found if erratum is None] == []
    return {erratum for erratum, _ in found}


def kinds() -> list[tuple[int, str]]:
    """Each example with each kind of operator or core that one of its comments names."""
    return [
        (example.line, kind)
        for example in payloads()
        for kind in sorted(
            {
                kind
                for _, value in places(example.content)
                if isinstance(value, Word) and value.name == "enum"
                for kind in KIND.findall(value.comment)
            }
        )
    ]


def test_an_example_of_each_documented_kind_is_explained() -> None:
    assert len(kinds()) == 34
    for line, kind in kinds():
        old = {"B5"} if kind.startswith("ai") else set()
        assert explained(line, kind) == EXPLAINED[line] | old, (line, kind)


def places(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of an example with its value, lists by their first element."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{place}/{escaped(key)}", inner
            yield from places(inner, f"{place}/{escaped(key)}")
    elif isinstance(value, list) and value:
        yield from places(value[0], f"{place}/*")


def known_places(block: int) -> set[str]:
    """The places that the schema of some epoch describes."""
    return {
        place
        for epoch in bin_catalog().epochs
        for place, _ in walk(bin_catalog().payload_schema(block, epoch.id))
    }


def erratum_places() -> set[str]:
    return {place for erratum in bin_catalog().errata.values() for place in erratum.at}


def test_every_key_of_an_example_stands_in_the_schema_or_in_an_erratum() -> None:
    unknown = set()
    for example in payloads():
        assert example.block is not None
        known = known_places(example.block)
        maps = {place[:-2] for place in known if place.endswith("/*")}
        for place, _ in places(example.content):
            named = f"0x{example.block:02X}{place}"
            parent = place.rpartition("/")[0]
            # Below tables_detail the same keys stand as below table_detail, which it misspells.
            spelled = place.replace("/tables_detail", "/table_detail").replace("/row/", "/row/*/")
            if (
                not {place, spelled} & known
                and parent not in maps
                and named not in erratum_places()
            ):
                unknown.add(named)
    assert unknown == set()


def test_a_key_that_no_example_has_is_not_said_to_be_documented() -> None:
    """What states no source is taken from the sources of the payload, the document among them."""
    named: dict[int | None, set[str]] = {}
    for example in payloads():
        found = {place for place, _ in places(example.content)}
        spelled = {place.replace("/tables_detail", "/table_detail") for place in found}
        spelled |= {place.replace("/row/", "/row/*/") for place in spelled}
        named.setdefault(example.block, set()).update(spelled)
    stated = {
        f"0x{code:02X}{place}"
        for code, names in named.items()
        if code is not None
        for epoch in bin_catalog().epochs
        for place, source in sourced(bin_catalog().payload_schema(code, epoch.id))
        if place and not place.endswith("/*") and place not in names
        if any(cited.startswith("seed-") for cited in source)
    }
    assert stated == set()


def sourced(schema: Any) -> Iterator[tuple[str, list[str]]]:
    """Every place with the source that it states, or else the nearest place above it."""
    nearest: dict[str, list[str]] = {}
    for place, node in walk(schema):
        if "source" in node:
            nearest[place] = node["source"]
        above = place
        while above not in nearest:
            above = above.rpartition("/")[0]
        yield place, nearest[above]


def test_objects_in_brackets_are_named_by_an_erratum() -> None:
    found = {
        f"0x{example.block:02X}{place}".replace("tables_detail", "table_detail")
        for example in payloads()
        for place, value in places(example.content)
        if isinstance(value, Bracketed)
    }
    assert found == set(bin_catalog().errata["B15"].at)


def test_a_documented_type_is_that_of_the_schema_or_named_by_an_erratum() -> None:
    json_types = {"text": "string", "whole": "integer", "float": "number", "bool": "boolean"}
    denied = set()
    for example in payloads():
        assert example.block is not None
        schemas = [
            list(walk(bin_catalog().payload_schema(example.block, epoch.id)))
            for epoch in bin_catalog().epochs
        ]
        for place, value in places(example.content):
            word = value if isinstance(value, Word) else None
            if word is None or KINDS[word.name] == "enum":
                continue
            wanted = json_types[KINDS[word.name]]
            taken = {
                kind
                for nodes in schemas
                for at, node in nodes
                if at == place.replace("/tables_detail", "/table_detail")
                for kind in (
                    [node["type"]] if isinstance(node.get("type"), str) else node.get("type", ())
                )
            }
            number = wanted == "integer" and "number" in taken
            if taken and wanted not in taken and not number:
                denied.add(f"0x{example.block:02X}{place}")
    assert denied - erratum_places() == set()
    assert denied == {"0x08/core_memory_map/*/memory_unit/*/display"}


def test_values_that_the_document_lists_are_in_the_enums_or_in_an_erratum() -> None:
    words = {
        word
        for example in payloads()
        for _, value in places(example.content)
        if isinstance(value, Word) and value.name == "enum"
        for word in KIND.findall(value.comment)
    }
    assert words == {"aic", "aiv", "aiv0", "aiv1", "mix", "cube", "vector"}
    enums = bin_catalog().enums
    known = {member.value for name in ("op_types", "block_types") for member in enums[name].members}
    assert words - known == set()


def test_the_block_types_are_those_of_the_seed() -> None:
    listed = {
        int(found[1], 16): found[2].rstrip("。")
        for line in seed_lines()
        if (found := re.fullmatch(r"(0x0[0-9A-F]) ([^:\s]+)", line)) and not found[2].isascii()
    }
    assert len(listed) == 14
    for code, name in listed.items():
        assert name in bin_catalog().blocks[code].document_names, (code, name)
    enumerators = {
        int(found[1], 16): found[2]
        for line in seed_lines()
        if (found := re.match(r"(0x0[0-9A-F]) ([A-Z_]{4,}) ", line))
    }
    assert len(enumerators) == 8
    for code, name in enumerators.items():
        block = bin_catalog().blocks[code]
        assert name in (*block.document_names, block.viewer_name), (code, name)


def struct_fields(name: str) -> list[list[str]]:
    """The fields of each C struct of that name in the seed."""
    lines = seed_lines()
    found = []
    for number, line in enumerate(lines):
        if line == f"struct {name} {{":
            end = lines.index("};", number)
            found.append(
                [re.split(r"[ {=;]+", inner.strip())[1] for inner in lines[number + 1 : end]]
            )
    return found


@pytest.mark.parametrize(
    ("name", "declaration"), [("TraceRecord", TRACE_RECORD), ("CacheRecord", CACHE_RECORD)]
)
def test_records_have_the_fields_of_the_document(name: str, declaration: Any) -> None:
    documented = struct_fields(name)
    assert len(documented) == 2
    for fields in documented:
        assert [part.name for part in declaration.subcons] == fields


def test_the_header_splits_the_last_field_of_the_document() -> None:
    fields = [part.name for part in HEADER.subcons]
    assert struct_fields("BinaryBlockHeader") == [[*fields[:3], fields[4]]] * 2
    assert "header" in bin_catalog().errata["B2"].at


def test_the_tables_of_fields_name_what_is_declared() -> None:
    lines = seed_lines()
    for name, declaration in (("TraceRecord", TRACE_RECORD), ("CacheRecord", CACHE_RECORD)):
        declared = {part.name for part in declaration.subcons}
        tabled = {line.split(" ")[0] for line in lines if line.split(" ")[0] in declared}
        missing = {"cacheLineId"} if name == "CacheRecord" else set()  # erratum B71
        assert declared - tabled == missing


def test_the_fields_of_a_call_stack_are_in_the_schema() -> None:
    rows = {
        found[2]: len(found[1])
        for line in seed_lines()
        if (found := re.match(r"(\++)<?([\w.]+)>? (?:String|Array|Object|Int) ", line))
    }
    assert rows.keys() >= {"PcAddr", "Address", "ModuleName", "Symbol", "Column", "FunctionName"}
    known = bin_catalog().known_keys(0x0A, "E3")
    for name, depth in rows.items():
        if depth in (2, 4):
            assert name in known["/*" if depth == 2 else "/*/Symbol/*"], name


def test_an_example_that_lost_a_bracket_is_noticed() -> None:
    with pytest.raises(AssertionError, match="behind the end"):
        parse('{"a": [1, 2]} , "b"')
    with pytest.raises(IndexError):
        parse('{"a": [1, 2')


def test_a_wrong_example_is_noticed() -> None:
    found = dict(
        departures(0x0D, {"advice": "", "multiple_rooflines": [{"title": 3, "rooflines": []}]})
    )
    assert found == {None: "$.multiple_rooflines[0].title: 3 is not of type 'string'"}
