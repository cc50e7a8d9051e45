"""The C header compiles, and its names are legal and unique whatever the enums hold."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ascend_ref.tools.spec.c_header import export_c_header
from ascend_spec import Schema, catalog
from ascend_spec.db.model import CARRIERS, Carrier

NEWEST = catalog().revisions[-1].id
COMPILERS = {
    "gcc": ["gcc", "-std=c99", "-x", "c"],
    "g++": ["g++", "-std=c++11", "-x", "c++"],
}


def compiles(compiler: str, header: str, folder: Path) -> subprocess.CompletedProcess[str]:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    path = folder / "twice.c"
    (folder / "spec.h").write_text(header, encoding="utf-8")
    path.write_text('#include "spec.h"\n#include "spec.h"\nint unused;\n', encoding="utf-8")
    command = [*COMPILERS[compiler], "-Wall", "-Werror", "-pedantic", "-fsyntax-only", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def hostile_schema() -> Schema:
    """An enum whose names are no identifiers, meet each other, and whose ids leave ``int``."""
    members = {
        0: "push/pop",
        1: "push pop",
        2: "",
        3: "*/ int escaped; /*",
        4: "what??/",
        5: "größe",
        -1: "negative",
        2**31: "beyond int",
        2**63 - 1: "largest",
        -(2**63): "smallest",
        6: "int",
        7: "1",
    }
    base = catalog().at(NEWEST, "msprof")
    return replace(base, enums={"ENUM_HOSTILE": members, "ENUM": {0: "HOSTILE_INT"}})


@pytest.mark.parametrize("compiler", list(COMPILERS))
@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_header_compiles_without_a_warning(
    compiler: str, carrier: Carrier, tmp_path: Path
) -> None:
    result = compiles(compiler, export_c_header(catalog().at(NEWEST, carrier)), tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("compiler", list(COMPILERS))
def test_any_member_name_gives_a_legal_header(compiler: str, tmp_path: Path) -> None:
    result = compiles(compiler, export_c_header(hostile_schema()), tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("revision", [revision.id for revision in catalog().revisions])
def test_every_member_stands_in_the_header_with_its_id(revision: str) -> None:
    schema = catalog().at(revision, "pytorch")
    header = export_c_header(schema)
    defined = re.findall(r"^    (ASCEND_\w+) = (-?\d+)", header, re.MULTILINE)
    assert len({name for name, _ in defined}) == len(defined)
    expected = sorted(identifier for members in schema.enums.values() for identifier in members)
    assert sorted(int(value) for _, value in defined) == expected


def test_names_that_meet_are_told_apart_by_their_id() -> None:
    header = export_c_header(hostile_schema())
    assert "ASCEND_ENUM_HOSTILE_PUSH_POP_0 = 0" in header
    assert "ASCEND_ENUM_HOSTILE_PUSH_POP_1 = 1" in header


def test_sentinels_are_macros() -> None:
    header = export_c_header(catalog().at(NEWEST, "msprof"))
    assert "#define ASCEND_TASK_contextId_NONE INT64_C(4294967295)" in header
