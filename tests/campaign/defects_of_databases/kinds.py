"""Kinds, cores and shapes of tasks and kernels."""

from __future__ import annotations

from damaged_profiles import Database, text_id
from exporter_defects import defect


@defect("database", "calls named acl... are of another level")
def acl_and_runtime_exchanged(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.change("UPDATE CANN_API SET type = 25000 - type WHERE type IN (5000, 20000)")


@defect("database", "nodes are not called launch")
def node_and_acl_exchanged(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.change("UPDATE CANN_API SET type = 30000 - type WHERE type IN (10000, 20000)")


@defect("database", "enqueue and dequeue differ in number or nesting")
def operators_are_queue_calls(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.need("SELECT 1 FROM PYTORCH_API WHERE type = 50001")
    db.change("UPDATE PYTORCH_API SET type = 50002 WHERE type = 50001")


@defect("database", "a vector kernel has counts of the cube cores")
def cube_and_vector_exchanged(db: Database) -> None:
    """Two kinds of cores are exchanged."""
    core, vector = text_id("AI_CORE"), text_id("AI_VECTOR_CORE")
    db.need("SELECT 1 FROM STRING_IDS WHERE value = 'AI_VECTOR_CORE'")
    db.need("SELECT 1 FROM STRING_IDS WHERE value = 'AI_CORE'")
    db.change(
        f"UPDATE COMPUTE_TASK_INFO SET taskType = CASE taskType WHEN {core} THEN {vector}"
        f" WHEN {vector} THEN {core} ELSE taskType END"
        f" WHERE taskType IN ({core}, {vector})"
    )


@defect("database", "data types stand among the formats")
def formats_and_types_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE inputFormats <> {text_id('N/A')}")
    db.change(
        "UPDATE COMPUTE_TASK_INFO SET inputFormats = inputDataTypes, inputDataTypes = inputFormats"
    )


@defect("database", "data types stand among the formats")
def output_formats_and_types_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE outputFormats <> {text_id('N/A')}")
    db.change(
        "UPDATE COMPUTE_TASK_INFO SET outputFormats = outputDataTypes,"
        " outputDataTypes = outputFormats"
    )


@defect("database", "formats stand among the shapes")
def shapes_and_formats_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE inputFormats <> {text_id('N/A')}")
    db.change("UPDATE COMPUTE_TASK_INFO SET inputFormats = inputShapes, inputShapes = inputFormats")


@defect("database", "types contain their names")
def kernel_names_and_types_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE opType <> {text_id('N/A')}")
    db.change("UPDATE COMPUTE_TASK_INFO SET name = opType, opType = name")


@defect("database", "plain kernels have blocks on the second kind of core")
def block_columns_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need("SELECT 1 FROM COMPUTE_TASK_INFO WHERE $block > 0".replace("$block", _block(db)))
    db.change("UPDATE COMPUTE_TASK_INFO SET $block = $mixed, $mixed = $block")


@defect("database", "kernels with counts ran on no core")
def blocks_are_zero(db: Database) -> None:
    """The number of blocks is not filled in."""
    db.need("SELECT 1 FROM TASK_PMU_INFO")
    db.change("UPDATE COMPUTE_TASK_INFO SET $block = 0")


@defect("database", "cycles, time and blocks give no one clock")
def blocks_halved(db: Database) -> None:
    """Blocks are counted in pairs of cores."""
    db.need("SELECT 1 FROM TASK_PMU_INFO")
    db.change("UPDATE COMPUTE_TASK_INFO SET $block = $block / 2 WHERE $block > 2")


def _block(db: Database) -> str:
    return "blockNum" if "blockNum" in db.columns("COMPUTE_TASK_INFO") else "blockDim"


@defect("database", "no exporter writes such names of tasks")
def task_kinds_in_lower_case(db: Database) -> None:
    """Kinds of tasks are spelt in another way."""
    db.change("UPDATE STRING_IDS SET value = lower(value) WHERE id IN (SELECT taskType FROM TASK)")


@defect("database", "no exporter writes such names of small tasks")
def transfer_kinds_in_capitals(db: Database) -> None:
    """NOTIFY_WAIT is written for Notify_Wait."""
    db.change(
        "UPDATE STRING_IDS SET value = upper(value) WHERE id IN"
        " (SELECT taskType FROM COMMUNICATION_TASK_INFO) AND value <> 'N/A'"
    )


@defect("database", "the character is that of text that could not be decoded")
def names_lose_characters(db: Database) -> None:
    """Names are decoded with another encoding, and every third text loses a character."""
    db.change(
        "UPDATE STRING_IDS SET value = char(65533) || substr(value, 2)"
        " WHERE id IN (SELECT name FROM CANN_API)"
    )


@defect("database", "names are in quotation marks")
def names_in_quotation_marks(db: Database) -> None:
    """Texts are quoted as if for a CSV file."""
    db.change("UPDATE STRING_IDS SET value = '\"' || value || '\"'")


@defect("database", "texts end in a tab")
def texts_end_in_a_tab(db: Database) -> None:
    """Texts are taken from CSV cells, with their tab."""
    db.change("UPDATE STRING_IDS SET value = value || char(9)")


@defect("database", "the first function of a stack calls none of those behind it")
def call_stacks_upside_down(db: Database) -> None:
    """Frames are written from the inside."""
    db.change(
        "CREATE TEMP TABLE depths AS SELECT id AS i, max(stackDepth) AS deepest"
        " FROM PYTORCH_CALLCHAINS GROUP BY id",
        "UPDATE PYTORCH_CALLCHAINS SET stackDepth ="
        " (SELECT deepest FROM depths WHERE i = PYTORCH_CALLCHAINS.id) - stackDepth",
    )


@defect("database", "the enum is the same in all databases")
def enum_of_host_calls_shifted(db: Database) -> None:
    """The names of an enum are written one place too late."""
    db.change(
        "CREATE TEMP TABLE shifted AS SELECT rowid AS r, name FROM ENUM_API_TYPE",
        "UPDATE ENUM_API_TYPE SET name = coalesce((SELECT name FROM shifted"
        " WHERE r = ENUM_API_TYPE.rowid + 1), (SELECT name FROM shifted WHERE r = 1))",
    )
