"""What is read of the public sources of exporters and viewers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_conformance.refresh import Unreadable, initialisers, insight, msprof, torch_npu
from ascend_conformance.refresh.checkout import LARGEST, Checkout
from ascend_conformance.refresh.python_constants import OPEN
from ascend_conformance.refresh.python_constants import constants as of_python

DATABASE = """
// tables, as msprof declares them
#define NAME_STR(x) \\
    #x
namespace Analysis {
namespace {
    const TableColumns STRING_IDS = {{"id", SQL_INTEGER_TYPE, true}, {"value", SQL_TEXT_TYPE}};
    const TableColumns NIC_COLS = {
        {"deviceId", SQL_INTEGER_TYPE},  // a comment; with a { brace
        {"usage", SQL_NUMERIC_TYPE},
    };
}
MsprofDB::MsprofDB()
{
    dbName_ = "msprof.db";
    tableColNames_ = {{TABLE_NAME_STRING_IDS, STRING_IDS},
                      /* both {ports} */ {TABLE_NAME_NIC, NIC_COLS}, {TABLE_NAME_ROCE, NIC_COLS}};
}
}
"""
CONSTANTS = """
const std::string TABLE_NAME_STRING_IDS = "STRING_IDS";
const std::string TABLE_NAME_NIC = "NI" "C";
const std::string TABLE_NAME_ROCE = "RO" + CE;
const std::string CE = "CE";
const std::string NA = "N/A";
const std::string NIC_INDEX = "NicIndex";
const std::unordered_map<std::string, uint16_t> LINKS{
    {"ON_CHIP", 0}, {"UB", 0x07}, {NA, UINT16_MAX - 1}, {"FAR", 1 << 4}, {"acl", OF_ANOTHER_FILE}};
const std::unordered_map<std::string, std::unordered_map<std::string, uint16_t>> ENUM_TABLE = {
    {"ENUM_LINK", LINKS}};
const std::string MAJOR = "3";
const std::string SCHEMA_VERSION = Utils::Join(".", MAJOR, "1", "4");
"""
ASSEMBLER = """
const std::vector<std::string> COLUMNS = {"deviceId", "usage"};
bool Save() { return CreateTableIndex(TABLE_NAME_NIC, NIC_INDEX, msprofDB, COLUMNS); }
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "analysis/csrc/application/database"
    folder.mkdir(parents=True)
    (folder / "msprof_db.cpp").write_text(DATABASE)
    (folder / "db_constant.h").write_text(CONSTANTS)
    (folder / "database.h").write_text(
        'const std::string SQL_INTEGER_TYPE = "INTEGER";\n'
        'const std::string SQL_TEXT_TYPE = "TEXT";\n'
        'const std::string SQL_NUMERIC_TYPE = "NUMERIC";\n'
    )
    (folder / "db_assembler.cpp").write_text(ASSEMBLER)
    return tmp_path


def test_tables_of_msprof_have_their_columns_types_keys_and_indexes(sources: Path) -> None:
    stated = msprof.read(Checkout(sources))
    assert list(stated.tables) == ["STRING_IDS", "NIC", "ROCE"]
    keys = stated.tables["STRING_IDS"].columns
    assert [(one.name, one.declared, one.primary_key) for one in keys] == [
        ("id", "INTEGER", True),
        ("value", "TEXT", False),
    ]
    assert [one.declared for one in stated.tables["ROCE"].columns] == ["INTEGER", "NUMERIC"]
    assert stated.tables["NIC"].indexes == {"NicIndex": ("deviceId", "usage")}
    assert stated.tables["NIC"].where == "analysis/csrc/application/database/msprof_db.cpp:8"
    assert not stated.tables["ROCE"].indexes


def test_numbers_of_enums_are_computed_and_those_of_other_files_are_named(sources: Path) -> None:
    link = msprof.read(Checkout(sources)).enums["ENUM_LINK"]
    assert link.members == {0: "ON_CHIP", 7: "UB", 65534: "N/A", 16: "FAR"}
    assert link.elsewhere == ("acl",)


def test_the_version_is_joined_of_its_parts(sources: Path) -> None:
    assert msprof.read(Checkout(sources)).schema_version == "3.1.4"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tableColNames_ =", "others_ =", "no tableColNames_ is assigned"),
        ("{TABLE_NAME_NIC, NIC_COLS}", "{TABLE_NAME_NIC, MISSING}", "MISSING is not declared here"),
        ("{TABLE_NAME_NIC, NIC_COLS}", "{TABLE_NAME_NIC}", "a pair of a table and its columns"),
        ('{"usage", SQL_NUMERIC_TYPE}', '{"usage", TYPE_OF_NOWHERE}', "a column of a name, a type"),
    ],
)
def test_another_form_is_one_line_with_its_file(
    sources: Path, old: str, new: str, said: str
) -> None:
    file = sources / "analysis/csrc/application/database/msprof_db.cpp"
    file.write_text(DATABASE.replace(old, new))
    with pytest.raises(Unreadable, match=said) as problem:
        msprof.read(Checkout(sources))
    assert "msprof_db.cpp" in str(problem.value)


TORCH = """
class Constant:
    SQL_TEXT_TYPE = "TEXT"

class DbConstant:
    TABLE_GC = "GC_RECORD"

class TableColumnsManager:
    TableColumns = {
        DbConstant.TABLE_GC: [("startNs", Constant.SQL_TEXT_TYPE), ("endNs", "INTEGER")]
    }
"""


def test_tables_and_headers_of_torch_npu_are_read_without_running_it(tmp_path: Path) -> None:
    folder = tmp_path / torch_npu.FOLDER
    for name, text in (
        ("prof_common_func/_constant.py", TORCH + "raise SystemExit('it ran')\n"),
        (
            "prof_common_func/_csv_headers.py",
            "class CsvHeaders:\n    START = 'Start Time(us)'\n"
            "    OP_SUMMARY_KERNEL_BASE_HEADERS = ['Name', START]\n"
            "    OP_SUMMARY_SHAPE_HEADERS = ['Input Shapes']\n",
        ),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    stated = torch_npu.read(Checkout(tmp_path))
    (table,) = stated.tables.values()
    assert table.name == "GC_RECORD"
    assert [(one.name, one.declared) for one in table.columns] == [
        ("startNs", "TEXT"),
        ("endNs", "INTEGER"),
    ]
    assert stated.headers["kernel_details"].headers == ("Name", "Start Time(us)", "Input Shapes")
    assert list(stated.headers) == ["kernel_details"]


def test_types_of_blocks_of_the_viewer_are_counted_as_in_cpp(tmp_path: Path) -> None:
    folder = tmp_path / "server/src/modules/source/protocol"
    folder.mkdir(parents=True)
    (folder / "SourceProtocol.h").write_text(
        "enum class Other : int { NO = 9 };\nenum class DataTypeEnum : int {\n"
        "    SOURCE = 1,\n    TRACE,\n    CACHE = 0x0E, // last\n    OTHER = 0x100\n};\n"
    )
    stated = insight.read(Checkout(tmp_path))
    assert stated.blocks is not None
    assert stated.blocks.members == {1: "SOURCE", 2: "TRACE", 14: "CACHE"}


def test_what_is_far_too_large_or_no_text_is_one_line(sources: Path) -> None:
    file = sources / "analysis/csrc/application/database/msprof_db.cpp"
    file.write_bytes(b"x" * (LARGEST + 1))
    with pytest.raises(Unreadable, match="larger than"):
        msprof.read(Checkout(sources))
    file.write_bytes(b"ab\xff")
    with pytest.raises(Unreadable, match="no UTF-8 at byte 2"):
        msprof.read(Checkout(sources))


VALUES = st.recursive(
    st.integers(0, 2**64) | st.text("abc {};,()=/*#", max_size=8),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
    max_leaves=12,
)


def as_cpp(value: object) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(as_cpp, value)) + "}"
    return f'"{value}"' if isinstance(value, str) else f"{value}U"


@given(st.lists(st.tuples(VALUES, st.booleans()), min_size=1, max_size=5))
def test_any_initialiser_is_read_as_it_was_written(values: list[tuple[object, bool]]) -> None:
    source = "namespace a { struct B { int c; };\n"
    for number, (value, braces) in enumerate(values):
        between = " " if braces and isinstance(value, tuple) else " = "
        source += f"const std::map<int, T> NAME{number}{between}{as_cpp(value)}; // x\n"
    found = initialisers.constants(source + "void f() { if (a) { return; } } }")
    for number, (value, _) in enumerate(values):
        assert found[f"NAME{number}"] == (value, number + 2)


@given(st.text('const x={}();,"/*#\\\n0'))
def test_no_text_upsets_the_readers(source: str) -> None:
    initialisers.constants(source)
    initialisers.enumeration("enum class E {" + source, "E") if "=" not in source else None


@pytest.mark.parametrize("part", ["{", "/*", '"', "const a = ", "+ 1 ", "(", "a::"])
def test_a_text_of_one_thing_alone_is_read_in_a_moment(part: str) -> None:
    initialisers.constants("const int a = 1 " + part * (200_000 // len(part)))


def test_what_python_computes_is_open() -> None:
    found = of_python("A = f()\nclass B:\n    C = [1, A, x]\n    D: str = 'd'\n", "file")
    assert found == {"A": (OPEN, 1), "B.C": ((1, OPEN, OPEN), 3), "B.D": ("d", 4)}
