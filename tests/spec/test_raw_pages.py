"""The pages of raw files show what the document has: offsets, values, lines, keys."""

from __future__ import annotations

import pytest

from ascend_ref.cli import main
from ascend_ref.tools.spec.lookup import NotFound, find


def shown(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["spec", "show", *words]) == 0
    return capsys.readouterr().out


# docs/evidence/raw-prof.md 4.1 to 4.9: offset, name and type of fields.
@pytest.mark.parametrize(
    ("address", "rows"),
    [
        (
            "raw/task_track",
            [
                "64 bytes, little-endian.",
                "| 16 | `timeStamp` | u64 | tick |",
                "| 24 | `deviceId` | bits |",
                "| bits 0 to 11 | `deviceId.deviceId` | u12 |",
                "| bits 12 to 15 | `deviceId.devType` | u4 |",
                "| 26 | `streamId` | u16 |",
                "| 32 | `taskType` | u64 |",
                "| 40 | `kernelName` | u64 |",
                "| 48 | `extInfo.kernelInfo.numBlocks` | u16 |",
                "| 54 | `extInfo.simtKernelInfo.blockDim.x` | u16 |",
            ],
        ),
        (
            "raw/tensor_info",
            [
                "| 32 | `tensorNum` | u32 |",
                "| 36 | `tensorData[5].tensorType` | u32 |",
                "| 48 | `tensorData[5].shape[8]` | u32 |",
            ],
        ),
        (
            "raw/hccl_info",
            ["| 72 | `notifyID` | u64 |", "| 88 | `durationEstimated` | f64 | us |"],
        ),
        ("raw/lpm_freq", ["888 bytes, little-endian."]),
        ("raw/capture_op_info_variable", ["Its length follows from its fields, little-endian."]),
    ],
)
def test_a_record_is_shown_byte_by_byte(
    address: str, rows: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    page = shown(address, capsys=capsys)
    assert [row for row in rows if row not in page] == []


def test_kinds_of_records_are_shown_with_what_tells_them_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = shown("raw/ffts_profile", capsys=capsys)
    mode = "`sample.json/ai_core_profiling_mode` is `sample-based`"
    assert f"| `SAMPLE_PMU_V6` | 112 | any other | chips 15, 16; {mode} |" in page
    assert "The field `funcType` says which one a record is." in page
    assert "| `FFTS_LOG` | 64 | 34, 35 | chips 5, 7, 8, 11 |" in shown(
        "raw/stars_soc", capsys=capsys
    )


def test_lines_keys_and_texts_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert "| `{hash}:{text}` | any number of times |" in shown("raw/hash_dic", capsys=capsys)
    assert "| `/collectionTimeBegin` | string | us |" in shown("raw/host_start_info", capsys=capsys)
    page = shown("raw/torch_op_range", capsys=capsys)
    assert "58 bytes, little-endian." in page
    assert "the tag 1 in two bytes" in page
    assert "| 2 | `NAME` |" in page
    assert "## Texts" not in shown("raw/torch_gc_record", capsys=capsys)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("unaging.compact.task_track.slice_0", "raw/task_track"),
        ("hwts.log.data.45.dev.profiler_default_tag.1.slice_0", "raw/hwts"),
        ("info.json.0", "raw/device_info"),
        ("sample.json", "raw/host_sample"),
        ("torch.op_mark", "raw/torch_op_mark"),
        ("raw/TASK_TRACK", "raw/task_track"),
        ("chip/CHIP_V4_1_0", "chip/5"),
        ("raw-values/LEVELS", "raw-values/levels"),
        ("u7", "erratum/U7"),
    ],
)
def test_a_name_leads_to_its_address(name: str, address: str) -> None:
    assert find(name).address == address


def test_a_name_without_its_kind_is_answered_with_the_address() -> None:
    with pytest.raises(NotFound, match="did you mean raw/task_track"):
        find("task_track")


def test_a_chip_is_shown_with_its_products_and_files(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown("chip/5", capsys=capsys)
    assert "**Products:** `A3`, `A2`" in page
    assert "`qos`" in page
    assert "`hwts`" not in page
    assert "`hwts`" in shown("chip/1", capsys=capsys)


def test_what_is_made_of_raw_files_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    for address, files in (
        ("table/MEMCPY_INFO", "`memcpy_info`"),
        ("csv/fusion_op", "`fusion_op_info`, `graph_id_map`"),
        ("layer/SIO", "`stars_soc_profile`"),
    ):
        assert f"**Made of raw files:** {files}" in shown(address, capsys=capsys)
    assert "**Raw files:** `l2_cache`" in shown("switch/l2-cache", capsys=capsys)
    assert "`task_track: streamId`" in shown("entity/task", capsys=capsys)
