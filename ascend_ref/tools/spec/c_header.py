"""The enum values and the sentinels as a C header, for exporters written in C or C++."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from ascend_spec import Schema
from ascend_spec.db.model import Table

PREFIX = "ASCEND"
INT_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def export_c_header(schema: Schema) -> str:
    """A header for C99 and C++11: one ``enum`` per enum table, one macro per sentinel.

    Names are ``ASCEND_<enum table>_<NAME>`` and ``ASCEND_<TABLE>_<column>_NONE``; where two names
    would meet, the id is appended. An id that no C ``int`` holds becomes a macro.
    """
    guard = f"{PREFIX}_{_identifier(f'{schema.carrier}_{schema.revision.id}')}_H"
    taken: set[str] = {guard}
    blocks = [
        _comment(
            f"Enum values and sentinels of a {schema.carrier} database, {schema.revision.id}, "
            f"{schema.reading} reading."
        ),
        f"#ifndef {guard}\n#define {guard}",
        "#include <stdint.h>",
        f'#define {_unique("SCHEMA_VERSION", taken)} "{schema.revision.schema_version}"',
        *(_enum(name, members, taken) for name, members in schema.enums.items()),
        *(block for table in schema.tables.values() if (block := _sentinels(table, taken))),
        f"#endif {_comment(guard)}",
    ]
    return "\n\n".join(blocks) + "\n"


def _enum(name: str, members: Mapping[int, str], taken: set[str]) -> str:
    lines: list[str] = []
    macros: list[str] = []
    for symbol, value, text in _named(name, members, taken):
        note = "" if symbol.endswith(f"_{text}") else f" {_comment(text)}"
        if -INT_MAX <= value <= INT_MAX:
            lines.append(f"    {symbol} = {value},{note}")
        else:
            macros.append(f"#define {symbol} {_int64(value)}{note}")
    enum = [f"enum {PREFIX}_{name} {{", *lines, "};"] if lines else []
    return "\n".join((_comment(name), *enum, *macros))


def _named(
    name: str, members: Mapping[int, str], taken: set[str]
) -> Iterator[tuple[str, int, str]]:
    """(symbol, id, text) by id; where texts of several members give one symbol, ids follow it."""
    wanted = {value: f"{name}_{_identifier(text)}" for value, text in members.items()}
    uses = Counter(wanted.values())
    for value, text in sorted(members.items()):
        symbol = wanted[value]
        if uses[symbol] > 1:
            symbol = f"{symbol}_{_identifier(str(value))}"
        yield _unique(symbol, taken), value, text


def _sentinels(table: Table, taken: set[str]) -> str:
    lines = []
    for column in table.columns.values():
        for value in column.none:
            symbol = _unique(f"{table.name}_{column.name}_NONE", taken)
            lines.append(f"#define {symbol} {_int64(value)}")
    return "\n".join((_comment(f"{table.name}: values that mean none"), *lines)) if lines else ""


def _unique(name: str, taken: set[str]) -> str:
    """``ASCEND_name``, numbered from 2 on where it is taken already."""
    symbol = f"{PREFIX}_{name}"
    number = 2
    while symbol in taken:
        symbol = f"{PREFIX}_{name}_{number}"
        number += 1
    taken.add(symbol)
    return symbol


def _identifier(text: str) -> str:
    """Capitals, digits and underscores; what C does not allow becomes one underscore."""
    signed = f"M{text[1:]}" if re.fullmatch(r"-\d+", text) else text
    return re.sub(r"[^A-Z0-9]+", "_", signed.upper()).strip("_") or "VALUE"


def _int64(value: int) -> str:
    """A constant expression of the value; the smallest has no literal of its own."""
    if value == -INT64_MAX - 1:
        return f"(-INT64_C({INT64_MAX}) - 1)"
    return f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))"


def _comment(text: str) -> str:
    """A C comment that the text can neither end nor continue."""
    harmless = "".join(
        character if character.isascii() and character.isprintable() else "?" for character in text
    )
    return f"/* {harmless.replace('*/', '* /').replace('??', '? ?').replace('/*', '/ *')} */"
