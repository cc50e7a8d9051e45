"""Ascend/msprof: tables, indexes and enum tables of its databases (class ``MsprofDB``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from . import initialisers
from .checkout import Checkout
from .initialisers import Call, Constant, Name, Value, resolve
from .stated import Stated, StatedColumn, StatedNames, StatedTable, Unreadable

SOURCE = "upstream-msprof"
DATABASE = "analysis/csrc/**/msprof_db.cpp"
HEADERS = ("analysis/csrc/**/*constant*.h", "analysis/csrc/**/database.h")
ASSEMBLER = "analysis/csrc/**/db_assembler.cpp"
TABLES, ENUMS, VERSION = "tableColNames_", "ENUM_TABLE", "SCHEMA_VERSION"
_INDEX = re.compile(r"CreateTableIndex\(\s*(\w+)\s*,\s*(\w+)\s*,\s*\w+\s*,\s*(\w+)\s*\)")

Known = Mapping[str, Constant]


def recognises(checkout: Checkout) -> bool:
    """Whether the folder holds the sources of msprof."""
    return any(checkout.files(DATABASE))


def read(checkout: Checkout) -> Stated:
    """What the sources state; raises :class:`Unreadable` where their form is another one."""
    file = checkout.only(DATABASE)
    inner = initialisers.constants(checkout.text(file))
    outer: dict[str, Constant] = {}
    places: dict[str, str] = {}
    for header in checkout.files(*HEADERS):
        for name, constant in initialisers.constants(checkout.text(header)).items():
            outer.setdefault(name, constant)
            places.setdefault(name, f"{checkout.name(header)}:{constant.line}")
    if TABLES not in inner:
        raise Unreadable(f"{file}: no {TABLES} is assigned")
    tables = {}
    indexes = _indexes(checkout, outer)
    for name, columns, line in _tables(inner, outer, str(file)):
        where = f"{checkout.name(file)}:{line}"
        tables[name] = StatedTable(name, columns, where, indexes.get(name, {}))
    return Stated(
        source=SOURCE,
        writer="msprof",
        carriers=("msprof",),
        tables=tables,
        enums=_enums(outer, places),
        schema_version=_version(outer),
    )


def _tables(
    inner: Known, outer: Known, file: str
) -> Iterator[tuple[str, tuple[StatedColumn, ...], int]]:
    """Tables in the order of their listing: name, columns, line of their declaration."""
    listed = inner[TABLES]
    for pair in _parts(listed.value):
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[1], Name):
            raise Unreadable(f"{file}:{listed.line}: a pair of a table and its columns is expected")
        name, columns = resolve(pair[0], inner, outer), resolve(pair[1], inner, outer)
        if not isinstance(name, str) or not isinstance(columns, tuple):
            raise Unreadable(f"{file}:{listed.line}: {pair[1].text} is not declared here")
        yield name, tuple(_column(one, file) for one in columns), inner[pair[1].text].line


def _column(value: Value, file: str) -> StatedColumn:
    match value:
        case (str(name), str(declared)):
            return StatedColumn(name, declared)
        case (str(name), str(declared), Name(text=key)):
            return StatedColumn(name, declared, key == "true")
    raise Unreadable(f"{file}: a column of a name, a type and whether it is a key is expected")


def _indexes(checkout: Checkout, outer: Known) -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for file in checkout.files(ASSEMBLER):
        text = checkout.text(file)
        inner = initialisers.constants(text)
        for call in _INDEX.finditer(text):
            table, index, columns = (resolve(Name(one), inner, outer) for one in call.groups())
            if isinstance(table, str) and isinstance(index, str) and isinstance(columns, tuple):
                found.setdefault(table, {})[index] = tuple(map(str, columns))
    return found


def _enums(outer: Known, places: Mapping[str, str]) -> dict[str, StatedNames]:
    found = {}
    for pair in _parts(outer[ENUMS].value) if ENUMS in outer else ():
        match pair:
            case (key, Name(text=members)) if members in outer:
                name, rows = resolve(key, outer), resolve(outer[members].value, outer)
            case _:
                continue
        if isinstance(name, str) and isinstance(rows, tuple):
            found[name] = _names(name, rows, places[members])
    return found


def _names(name: str, rows: tuple[Value, ...], where: str) -> StatedNames:
    numbers, elsewhere = {}, []
    for row in rows:
        match row:
            case (str(text), int(number)):
                numbers[number] = text
            case (str(text), _):
                elsewhere.append(text)
    return StatedNames(name, numbers, where, tuple(elsewhere))


def _version(outer: Known) -> str | None:
    """SCHEMA_VERSION, a text or a call that joins texts with its first argument."""
    match resolve(Name(VERSION), outer):
        case str(text):
            return text
        case Call(arguments=(str(between), *rest)):
            parts = [resolve(one, outer) for one in rest]
            return between.join(map(str, parts)) if all(isinstance(p, str) for p in parts) else None
    return None


def _parts(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else ()
