"""The catalogue of raw files against what the documents list, transcribed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from seed_tables import SHARED

from ascend_spec import catalog, raw_catalog
from ascend_spec.raw.model import Side

RAW = SHARED / "data" / "mindspore"

# docs/evidence/raw-prof.md 2.1 and 2.2: the name in front of the slice, and the bytes of a record.
HOST: Mapping[str, int] = {
    "unaging.api_event.data": 40,
    "aging.api_event.data": 40,
    "aging.compact.task_track": 64,
    "unaging.compact.node_basic_info": 64,
    "unaging.compact.node_attr_info": 64,
    "unaging.additional.tensor_info": 256,
    "unaging.additional.context_id_info": 256,
    "unaging.additional.hccl_info": 256,
    "unaging.compact.hccl_op_info": 64,
    "unaging.compact.memcpy_info": 64,
    "unaging.additional.graph_id_map": 256,
    "unaging.additional.fusion_op_info": 256,
    "unaging.additional.task_memory_info": 256,
    "unaging.additional.static_op_mem": 256,
    "unaging.additional.msproftx": 256,
    "unaging.additional.Multi_Thread": 256,
    "unaging.additional.logic_stream_info": 256,
    "unaging.additional.mc2_comm_info": 256,
    "unaging.compact.capture_stream_info": 64,
    "unaging.additional.capture_op_info": 256,
    "unaging.compact.expand_stream_spec": 64,
    "unaging.compact.dpu_track": 64,
    "unaging.additional.dpu_hccl_info": 256,
    "unaging.additional.ccu_task_info": 256,
    "unaging.additional.ccu_group_info": 256,
    "unaging.additional.ccu_wait_signal_info": 256,
    "unaging.additional.model_exeom": 256,
}
# The same with the chip and, where the document makes a difference, the way of collecting.
TASK_BASED = {"sample.json/ai_core_profiling_mode": "task-based"}
SAMPLE_BASED = {"sample.json/ai_core_profiling_mode": "sample-based"}
AIV_TASK_BASED = {"sample.json/aiv_profiling_mode": "task-based"}
AIV_SAMPLE_BASED = {"sample.json/aiv_profiling_mode": "sample-based"}
V1, V2 = {"info.json/version": "1.0"}, {"info.json/version": "2.0"}
DEVICE = [
    ("stars_soc.data.0", 5, {}, 64),
    ("stars_soc.data.0", 11, {}, 64),
    ("stars_soc.data.0", 15, {}, 32),
    ("ffts_profile.data.0", 5, TASK_BASED, 128),
    ("ffts_profile.data.0", 15, TASK_BASED, 128),
    ("ffts_profile.data.0", 7, SAMPLE_BASED, 96),
    ("ffts_profile.data.0", 16, SAMPLE_BASED, 112),
    ("stars_soc_profile.data.0", 5, {}, 64),
    ("stars_soc_profile.data.0", 16, {}, 64),
    ("stars_block.data.0", 15, {}, 32),
    ("nano_stars_profile.data.0", 9, {}, 64),
    ("hwts.data.0", 1, {}, 64),
    ("hwts.aiv_data.0", 4, {}, 64),
    ("aicore.data.0", 1, TASK_BASED, 128),
    ("aicore.data.0", 1, SAMPLE_BASED, 96),
    ("aiVectorCore.data.0", 2, AIV_TASK_BASED, 128),
    ("aiVectorCore.data.0", 2, AIV_SAMPLE_BASED, 96),
    ("ts_track.data.0", 5, {}, 40),
    ("ts_track.data.0", 15, {}, 40),
    ("ts_track.aiv_data.0", 2, {}, 40),
    ("lpmFreqConv.data.0", 5, {}, 888),
    ("lpmInfoConv.data.0", 5, {}, 888),
    ("l2_cache.data.0", 1, {}, 72),
    ("socpmu.data.0", 5, {}, 80),
    ("socpmu.data.0", 15, {}, 80),
    ("aicpu.data.0", 5, {}, 256),
    ("hbm.data.0", 5, V1, 24),
    ("hbm.data.0", 5, V2, 32),
    ("llc.data.0", 5, V1, 24),
    ("llc.data.0", 5, V2, 24),
    ("ddr.data.0", 1, {}, 20),
    ("pcie.data.0", 5, {}, 96),
    ("qos.data.0", 5, {}, 64),
    ("npu_mem.data.0", 5, V1, 32),
    ("npu_mem.app.0", 5, V2, 32),
    ("npu_module_mem.data.0", 5, {}, 24),
    ("ub.data.0", 15, {}, 128),
    ("ccu0.instr.0", 15, {}, 64),
    ("ccu1.stat.0", 15, {}, 2816),
    ("tscpu.data.0", 1, {}, 304),
    # Where the document has 4, see U16.
    ("instr.group_0_aic.0", 5, {}, 96),
    ("instr.group_0_aiv1.0", 5, {}, 64),
    ("instr.biu_perf_group2_aiv1.0", 15, {}, 4),
]
TEXTS: Mapping[Side, tuple[str, ...]] = {
    "host": (
        *("unaging.additional.hash_dic", "unaging.additional.type_info_dic"),
        *("host_cpu.data", "host_mem.data", "host_disk.data", "host_network.data"),
        *("host_syscall.data", "host_pthreadcall.data", "host_sys_cpu.data", "host_sys_mem.data"),
        *("4242-CpuUsage.data", "4242-Memory.data"),
    ),
    "device": (
        *("nic.data.0", "roce.data.0", "hccs.data.0", "netdev_stats.data.0", "Memory.data.0"),
        *("SystemCpuUsage.data.0", "4242-Memory.data.0", "4242-CpuUsage.data.0"),
        *("ai_ctrl_cpu.data.0", "dvpp.data.0"),
    ),
    "framework": (),
}


@pytest.mark.parametrize("name", HOST)
def test_a_record_of_the_host_has_the_size_of_the_document(name: str) -> None:
    raw = raw_catalog()
    file = raw.file_of(f"{name}.slice_0", "host")
    assert file is not None
    assert {raw.record_size(one.record) for one in file.members} == {HOST[name]}


@pytest.mark.parametrize(("name", "chip", "settings", "size"), DEVICE)
def test_a_record_of_the_device_has_the_size_of_the_document(
    name: str, chip: int, settings: Mapping[str, str], size: int
) -> None:
    raw = raw_catalog()
    file = raw.file_of(f"{name}.slice_0", "device")
    assert file is not None
    assert file in raw.files_of(chip)
    members = file.members_of(chip, settings)
    assert {raw.record_size(one.record) for one in members} == {size}


def test_the_tables_leave_out_no_file_of_records() -> None:
    """But for files that the document names by their types alone, and one of any length."""
    raw = raw_catalog()
    listed = {file.file for name in HOST if (file := raw.file_of(f"{name}.slice_0", "host"))}
    listed |= {
        file.file for name, *_ in DEVICE if (file := raw.file_of(f"{name}.slice_0", "device"))
    }
    held = {
        file.file
        for file in raw.files.values()
        if file.form == "records" and file.side != "framework" and file.read
    }
    assert held - listed == {"capture_op_info_variable"}
    assert raw.record_size("CAPTURE_OP_INFO_VARIABLE") is None
    unread = {file.file for file in raw.files.values() if not file.read and file.form == "records"}
    assert {raw.files[one].type for one in unread} == {0, 807, 808, 809, 810, 811, 812}


@pytest.mark.parametrize("side", TEXTS)
def test_files_of_text_are_text(side: Side) -> None:
    for name in TEXTS[side]:
        file = raw_catalog().file_of(f"{name}.slice_0", side)
        assert file is not None, name
        assert file.form == "text", name


# 4.8: the chips that have each file. Of 4.8 as a whole, and of the tables of 2.
@pytest.mark.parametrize(
    ("files", "chips"),
    [
        (["nic"], {0, 1, 5, 7, 8, 11}),
        (["roce"], {0, 1, 5}),
        (["hccs"], {0, 1, 2, 3, 4, 5}),
        (["pcie"], {0, 1, 2, 3, 4, 5, 15, 16}),
        (["ddr"], {0, 1, 2, 3, 4, 7, 8, 11}),
        (["hbm", "llc"], {0, 1, 2, 3, 4, 5, 7, 8, 11, 15, 16}),
        (["npu_mem", "npu_mem_app"], {0, 1, 3, 4, 5, 7, 8, 11, 15, 16}),
        (["npu_module_mem", "l2_cache"], {1, 2, 3, 4, 5, 7, 8, 11, 15, 16}),
        (["netdev_stats"], {0, 1, 2, 3, 4, 5, 7, 8, 11}),
        (["qos", "lpm_info", "expand_stream_spec"], {5}),
        (["lpm_freq"], {5, 7, 15, 16}),
        (["soc_pmu"], {5, 15, 16}),
        (["dvpp"], {0, 1, 5, 7, 8, 11, 15, 16}),
        (["tscpu"], {0, 1, 2, 3, 4, 5, 7, 8, 11}),
        (["ub", "ccu_instr", "ccu_stat", "stars_block"], {15, 16}),
        (["memcpy_info", "multi_thread", "logic_stream_info"], {0, 1, 2, 3, 4, 5, 7, 8, 11}),
        (["context_id_info"], {5, 7, 8, 11}),
        (["mc2_comm_info"], {4, 5, 15, 16}),
        (["capture_op_info", "capture_stream_info"], {2, 3, 4, 5, 15, 16}),
        (["hwts"], {1, 2, 3, 4}),
        (["aicore"], {0, 1, 2, 3, 4}),
        (["hwts_aiv", "ts_track_aiv", "ai_vector_core"], {2, 3, 4}),
        (["nano_stars_profile", "dbg", "model_exeom"], {9}),
        (["dpu_track", "dpu_hccl_info", "ccu_task_info"], {15, 16}),
    ],
)
def test_files_are_of_the_chips_of_the_document(files: list[str], chips: set[int]) -> None:
    for name in files:
        assert set(raw_catalog().files[name].chips) == chips, name


def test_all_records_of_a_file_have_one_size_on_a_chip_and_setting() -> None:
    """Readers take the records of a file as one array."""
    raw = raw_catalog()
    for file in raw.files.values():
        keys = {key: value for one in file.members for key, value in one.when.items()}
        options = [
            {key: one.when[key]} for key in keys for one in file.members if key in one.when
        ] or [{}]
        for chip in file.chips:
            for settings in options:
                sizes = {raw.record_size(one.record) for one in file.members_of(chip, settings)}
                assert len(sizes) <= 1, (file.file, chip, settings)
                assert sizes or not file.members, (file.file, chip, settings)


def test_an_unknown_chip_is_refused() -> None:
    with pytest.raises(KeyError, match="unknown chip 6; known: 0, 1, 2, 3, 4, 5, 7"):
        raw_catalog().files_of(6)


def test_chips_are_those_of_the_products() -> None:
    """Two documents that have the numbers: of chips, and of the families that have them."""
    platforms = {one: family for family in catalog().products.values() for one in family.platforms}
    chips = raw_catalog().chips
    assert chips.keys() - platforms.keys() == {2, 3, 9}
    for number, chip in chips.items():
        if chip.name is not None:
            names = {one for f in catalog().products.values() for one in f.chips}
            assert chip.name in names, number
        exported = "db" in chip.native_exports
        assert exported == (number in {1, 2, 3, 4, 5, 7, 15, 16})
    assert [number for number, chip in chips.items() if chip.native_parser] == [5]
    native = [number for number, chip in chips.items() if "csv" in chip.native_exports]
    assert native == [5, 15, 16]


# Names from docs/evidence/raw-prof.md 2, ge-profiling.md 5.6 and the file names of collectors.
@pytest.mark.parametrize(
    ("side", "name", "file", "parts"),
    [
        ("host", "unaging.api_event.data.slice_0", "api_event", {"age": "unaging", "slice": "0"}),
        (
            "host",
            "aging.compact.task_track.slice_12",
            "task_track",
            {"age": "aging", "slice": "12"},
        ),
        ("host", "unaging.variable.capture_op_info.slice_0", "capture_op_info_variable", None),
        ("host", "unaging.additional.Multi_Thread.slice_0", "multi_thread", None),
        ("host", "77-Memory.data.slice_3", "host_process_memory", {"process": "77", "slice": "3"}),
        ("host", "host_start.log", "host_start", {}),
        ("host", "info.json", "host_info", {}),
        ("host", "sample.json", "host_sample", {}),
        ("host", "start_info", "host_start_info", {}),
        ("host", "end_info", "host_end_info", {}),
        ("host", "mobilenet_v2.dbg", "dbg", {"model": "mobilenet_v2"}),
        ("device", "info.json.7", "device_info", {"device": "7"}),
        ("device", "sample.json", "device_sample", {}),
        ("device", "start_info.0", "device_start_info", {"device": "0"}),
        ("device", "host_start.log.0", "device_host_start", {"device": "0"}),
        ("device", "dev_start.log.3", "dev_start", {"device": "3"}),
        ("device", "stars_soc.data.3.slice_10", "stars_soc", {"device": "3", "slice": "10"}),
        ("device", "stars_soc_profile.data.0.slice_0", "stars_soc_profile", None),
        ("device", "npu_mem.app.0.slice_0", "npu_mem_app", None),
        ("device", "npu_mem.data.0.slice_0", "npu_mem", None),
        ("device", "ccu1.stat.0.slice_0", "ccu_stat", {"die": "1", "device": "0", "slice": "0"}),
        (
            "device",
            "instr.group_3_aiv0.2.slice_1",
            "instr_group_aiv",
            {"group": "3", "vector": "aiv0", "device": "2", "slice": "1"},
        ),
        (
            "device",
            "hwts.log.data.45.dev.profiler_default_tag.1.slice_0",
            "hwts",
            {"number": "45", "origin": "dev", "device": "1", "slice": "0"},
        ),
        ("device", "12-CpuUsage.data.0.slice_0", "process_cpu", None),
        ("device", "Framework.host.task_desc_info.0.slice_0", "legacy_framework", None),
        ("device", "DATA_PREPROCESS.dev.AICPU.0.slice_0", "legacy_data_preprocess", None),
        ("framework", "torch.op_range", "torch_op_range", {}),
        ("framework", "torch.param_tensor_info", "torch_param_tensor_info", {}),
    ],
)
def test_what_a_file_is_by_its_name(
    side: Side, name: str, file: str, parts: Mapping[str, str] | None
) -> None:
    found = raw_catalog().file_of(name, side)
    assert found is not None
    assert found.file == file
    assert parts is None or found.named(name) == parts


@pytest.mark.parametrize(
    ("side", "name"),
    [
        ("host", "stars_soc.data.0.slice_0"),
        ("device", "unaging.api_event.data.slice_0"),
        ("host", "unaging.api_event.data"),
        ("host", "unaging.api_event.data.slice_"),
        ("host", "unaging.api_event.data.slice_0.done"),
        ("host", "unaging.api_event.data.slice_0.complete"),
        ("host", "all_file.complete"),
        ("host", "aged.api_event.data.slice_0"),
        ("device", "info.json"),
        ("device", "info.json.0.done"),
        ("device", "stars_soc.data.0.slice_0\n"),
        ("device", "stars_soc.data.\u0661.slice_0"),
        ("device", "ccu2.stat.0.slice_0"),
        ("device", "stars_soc.data.0.slice_0.zip"),
        ("framework", "torch.op_range.slice_0"),
        ("framework", "README.md"),
    ],
)
def test_other_names_are_of_no_kind(side: Side, name: str) -> None:
    assert raw_catalog().file_of(name, side) is None


def test_no_name_is_that_of_two_kinds_of_a_side() -> None:
    """Each kind's names, with values in their changing parts, against every other kind."""
    raw = raw_catalog()
    values = {
        **{"device": 0, "slice": 3, "process": 4242, "number": 45, "group": 1},
        **{"age": "aging", "origin": "dev", "core": "aic", "vector": "aiv1", "die": "0"},
        **{"model": "net", "legacy": "AICPU"},
    }
    for file in raw.files.values():
        for form in file.forms:
            name = form.of(**values)
            kinds = [
                one.file
                for one in raw.files.values()
                if one.side == file.side and one.named(name) is not None
            ]
            assert kinds == [file.file], name


def test_the_raw_files_of_real_runs_have_names_of_the_spec() -> None:
    """Those of MindSpore runs of 2020 to 2022, by names of the collectors of their time."""
    if not RAW.is_dir():
        pytest.skip("raw files of real runs are not next to the project in ../shared/data")
    names = {path.name: _file(path) for path in RAW.rglob("*.slice_*")}
    assert {kind for name, kind in names.items() if not name.endswith(".done")} == {
        "hwts",
        "legacy_framework",
        "legacy_data_preprocess",
        "legacy_training_trace",
    }
    assert {kind for name, kind in names.items() if name.endswith(".done")} == {None}


def _file(path: Path) -> str | None:
    found = raw_catalog().file_of(path.name, "device")
    return None if found is None else found.file
