"""Analysers of all ranks of a folder, against a plain reading of what was written there."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import click
import pytest
from analyser_plain import drawn_condition, plain_answer, write_csv
from rank_folders import DATA, MODEL, PIPELINE, STEPS, TIMES, Ranks, drawn_ranks, even_ranks
from slices import some

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.condition import WrongCondition
from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.verb import parse
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import PARALLEL_MODES

SEEDS = range(12)
LINKS = ["src_dst", "link_type", "communication_cost", "communication_size", "band_width"]


def query(folder: Path, name: str, asked: Any = None, *, day: str = "G3m", **switches: Any) -> Any:
    if switches:
        asked = {**(asked or {}), "filter_condition": switches}
    return load_analyser(name, Folder(folder, "0"), day).query(asked)


def written(folder: Path, seed: int, *, may_lack: bool = False) -> Ranks:
    ranks = drawn_ranks(random.Random(seed), may_lack=may_lack)
    ranks.write(folder)
    return ranks


def row_of(rows: list[Any], step: int) -> Any:
    return rows[step - 1] if step else rows[-1]


def in_ms(count: int) -> float:
    return round(count / 1e5, 4)


def plain_parts(ranks: Ranks, rank: int, step: int) -> list[float]:
    """What of a step the viewer shows of a rank."""
    row = row_of(ranks.steps[rank], step)
    if ranks.mode == DATA:
        return [in_ms(row[place]) for place in (6, 7, 8, 3)]
    return [in_ms(row[6]), *row_of(ranks.times[rank], step)]


# --- steps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_m65_steps_of_all_ranks(seed: int, tmp_path: Path) -> None:
    ranks = written(tmp_path, seed)
    steps = len(ranks.steps[0]) - 1
    key = "step_trace_info" if ranks.mode == DATA else "step_bottleneck_info"
    for step in range(steps + 1):
        for stage in range(ranks.stages + 1):
            shown = [
                rank
                for rank in ranks.steps
                if ranks.mode == DATA or stage in (0, ranks.stage_of(rank))
            ]
            info = [
                {key: plain_parts(ranks, rank, step), "rank_id": rank, "profiler_dir": "profiler"}
                for rank in shown
            ]
            answer = query(tmp_path, "cluster_step_trace", step_id=step, stage_id=stage)
            assert answer == {
                "total_step_num": str(steps),
                "stage_num": ranks.stages,
                "info": info,
                "size": len(info),
                "parallel-mode": ranks.mode,
            }
    with pytest.raises(WrongCondition, match=rf"must be in \[0, {steps}\], got {steps + 1}"):
        query(tmp_path, "cluster_step_trace", step_id=steps + 1)


@pytest.mark.parametrize("mode", [DATA, MODEL, PIPELINE])
def test_m55_m57_ranks_are_sorted_and_paged_by_their_parts(mode: str, tmp_path: Path) -> None:
    ranks = even_ranks(mode, stages=2 if mode == PIPELINE else 1, ranks=6)
    for rank in ranks.steps:
        ranks.steps[rank][-1][6] = 100_000 * (rank % 4)
    ranks.write(tmp_path)
    found = [(rank, rank % 4) for rank in ranks.steps]
    for kind in ("ascending", "descending"):
        in_order = sorted(found, key=lambda one: one[1], reverse=kind == "descending")
        for limit, offset in ((2, 0), (2, 1), (4, 1), (100, 0), (1, 9)):
            asked = {
                "sort_condition": {"name": "iteration_interval", "type": kind},
                "group_condition": {"limit": limit, "offset": offset},
            }
            answer = query(tmp_path, "cluster_step_trace", asked)
            page = in_order[limit * offset : limit * (offset + 1)]
            assert [one["rank_id"] for one in answer["info"]] == [rank for rank, _ in page]
            assert answer["size"] == 6
    other = "computation" if mode == DATA else "tail"
    with pytest.raises(WrongCondition, match=f"unknown column '{other}'"):
        query(tmp_path, "cluster_step_trace", {"sort_condition": {"name": other}})


def test_m65_an_average_without_steps_is_of_no_step(tmp_path: Path) -> None:
    ranks = even_ranks(DATA, stages=1, ranks=2)
    ranks.steps = {rank: rows[-1:] for rank, rows in ranks.steps.items()}
    ranks.write(tmp_path)
    answer = query(tmp_path, "cluster_step_trace")
    assert (answer["total_step_num"], answer["size"]) == (0, 2)


def test_m65_the_length_of_a_step_is_shown_since_2024_03_18(tmp_path: Path) -> None:
    even_ranks(DATA, stages=1, ranks=1).write(tmp_path)
    before = query(tmp_path, "cluster_step_trace", day="2024-03-17")
    assert before["info"][0]["step_trace_info"] == [1.0, 89.0, 10.0]
    since = query(tmp_path, "cluster_step_trace", day="2024-03-18")
    assert since["info"][0]["step_trace_info"] == [1.0, 89.0, 10.0, 100.0]


def test_m65_an_overview_has_every_step_of_every_rank(tmp_path: Path) -> None:
    ranks = written(tmp_path, 3)
    answer = query(tmp_path, "cluster_step_trace", show="overview")
    names = STEPS.split(",")
    assert answer == {
        f"device{rank}": [dict(zip(names, [str(row[0]), *row[1:]], strict=True)) for row in rows]
        for rank, rows in ranks.steps.items()
    }


@pytest.mark.parametrize(
    ("header", "row", "shown"),
    [
        ("computation,communication_alone_time", [651.5, 93.25], [0.0, 651.5, 93.25]),
        (
            "computation,communication_alone_time,stage_time,receive_alone_time,"
            "collective_communication_time",
            [651.5, 93.25, 77.5, 8.5, 7.25],
            [0.0, 651.5, 93.25, 77.5, 8.5, 7.25],
        ),
        (f"{TIMES[1]},{TIMES[0]}", [93.25, 651.5], [0.0, 651.5, 93.25]),
    ],
)
def test_m65_columns_of_ranks_are_found_by_names_of_all_days(
    header: str, row: list[float], shown: list[float], tmp_path: Path
) -> None:
    steps = [[step, 1, 4, 3, 1, 3, 0, 2, 1] for step in (1, "-")]
    write_csv(tmp_path / "step_trace_raw_1_detail_time.csv", STEPS, steps)
    write_csv(tmp_path / "gpu_cluster_analyse_model-parallel_1_2_1.csv", header, [row, row])
    answer = query(tmp_path, "cluster_step_trace", step_id=1)
    assert [one["step_bottleneck_info"] for one in answer["info"]] == [shown]


def test_m58_files_of_two_jobs_are_damage_and_the_larger_one_is_taken(tmp_path: Path) -> None:
    even_ranks(PIPELINE).write(tmp_path)
    other = "ascend_cluster_analyse_model-parallel_1_8_0.csv"
    write_csv(tmp_path / other, ",".join(TIMES[:2]), [[1, 2]])
    folder = Folder(tmp_path, "0")
    answer = load_analyser("cluster_step_trace", folder).query()
    assert (answer["parallel-mode"], answer["stage_num"], answer["size"]) == (PIPELINE, 2, 4)
    assert [str(one) for one in folder.damage] == [
        f"{tmp_path}: files of 2 ways to work together; taken: pipeline-parallel, 2 stages, 4 ranks"
    ]


# --- communication --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_m65_communication_of_all_ranks(seed: int, tmp_path: Path) -> None:
    ranks = written(tmp_path, seed)
    steps = len(ranks.steps[0]) - 1
    for step in range(steps + 1):
        answer = query(tmp_path, "cluster_hccl", step_id=step)
        info = [
            {"communication_info": row_of(rows, step)[1:], "rank_id": rank}
            for rank, rows in ranks.hccl.items()
        ]
        assert answer == {"total_step_num": steps, "communication": info, "size": len(info)}
    everything = query(tmp_path, "cluster_hccl", show="data")
    names = ["step_num", "communication_cost", "wait_cost", "link_info"]
    names.append("communication_operator_cost")
    assert everything == {
        f"device{rank}": [dict(zip(names, [str(row[0]), *row[1:]], strict=True)) for row in rows]
        for rank, rows in ranks.hccl.items()
    }
    with pytest.raises(WrongCondition, match=f"no rank has communication in step {steps + 1}"):
        query(tmp_path, "cluster_hccl", step_id=steps + 1)


def plain_links(ranks: Ranks, step: int) -> list[list[Any]]:
    return [
        [link, kind, *values[:3]]
        for rows in ranks.hccl.values()
        for link, kinds in row_of(rows, step)[3].items()
        for kind, values in kinds.items()
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_m54_m55_m56_m57_links_of_all_ranks(seed: int, tmp_path: Path) -> None:
    ranks = written(tmp_path, seed)
    draw = random.Random(seed)
    for _ in range(12):
        step = draw.randrange(len(ranks.steps[0]))
        rows = plain_links(ranks, step)
        pool = [cell for row in rows for cell in row]
        asked = drawn_condition(draw, LINKS, LINKS[:1], pool, LINKS)
        filters = asked.setdefault("filter_condition", {})
        filters.pop("link_type", None)
        wanted = {
            "src_rank": draw.choice([None, ".*", "0", "1"]),
            "dst_rank": draw.choice([None, ".*", "0", "2"]),
            "link_type": draw.choice([None, ".", "SDMA", "RDMA"]),
        }
        kept = [
            row
            for row in rows
            if wanted["src_rank"] in (None, ".*", row[0].split("-")[0])
            and wanted["dst_rank"] in (None, ".*", row[0].split("-")[1])
            and wanted["link_type"] in (None, ".", row[1])
        ]
        plain = plain_answer(LINKS, kept, asked)
        given = {name: one for name, one in wanted.items() if one is not None}
        asked["filter_condition"] = {**filters, **given, "step_id": step}
        assert query(tmp_path, "cluster_link", asked) == plain


def test_m58_a_rank_without_its_file_is_left_out_and_stated(tmp_path: Path) -> None:
    ranks = even_ranks(PIPELINE)
    ranks.hccl[2].pop(0)
    ranks.lacking = {("hccl", 1), ("cluster", 0)}
    ranks.write(tmp_path)
    folder = Folder(tmp_path, "0")
    answer = load_analyser("cluster_hccl", folder).query({"filter_condition": {"step_id": 1}})
    assert [one["rank_id"] for one in answer["communication"]] == [0, 3]
    assert sorted(one.message for one in folder.damage) == [
        "no hccl_raw_1.csv",
        "no step 1",
    ]
    folder = Folder(tmp_path, "0")
    answer = load_analyser("cluster_step_trace", folder).query()
    assert [one["rank_id"] for one in answer["info"]] == [1, 2, 3]
    assert [one.message for one in folder.damage] == ["no ascend_cluster_analyse of rank 0"]


# --- memory and operations ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_m65_memory_and_operations_of_all_ranks(seed: int, tmp_path: Path) -> None:
    ranks = written(tmp_path, seed, may_lack=True)
    answer = query(tmp_path, "cluster_memory")
    assert answer["object"] == [
        [rank, ranks.memory[rank]["capacity"], ranks.memory[rank]["peak_mem"]]
        for rank in ranks.with_steps
        if ("memory", rank) not in ranks.lacking
    ]
    shown = [rank for rank in ranks.with_steps if ("flops", rank) not in ranks.lacking]
    sums = [ranks.flops[rank] for rank in shown]
    whole = [
        one["FLOPs"] if "FLOPs" in one else one["cube_FLOPs"] + one["vec_FLOPs"] for one in sums
    ]
    answer = query(tmp_path, "cluster_flops")
    cells = [zip(answer["col_name"], row, strict=True) for row in answer["object"]]
    rows = [{name: cell for name, cell in row if cell is not None} for row in cells]
    assert rows == [
        {"rank_id": rank, **own, "FLOPs": one, "FLOPs_norm": one / max(whole)}
        for rank, own, one in zip(shown, sums, whole, strict=True)
    ]


def test_m65_memory_of_a_device(tmp_path: Path) -> None:
    ranks = written(tmp_path, 1)
    summary, details = ranks.memory[0], ranks.details[0]
    graphs = {"1": {key: one for key, one in details["1"].items() if key != "breakdowns"}}
    assert query(tmp_path, "memory_usage") == {"summary": summary}
    assert query(tmp_path, "memory_usage", show="graphics") == graphs
    of_all = query(tmp_path, "memory_usage", show="ranks")
    assert of_all.keys() == {f"device{rank}" for rank in ranks.memory}
    assert of_all["device0"] == {"summary": summary, "details": graphs}
    parts = query(tmp_path, "memory_usage", show="breakdowns", graph_id=1, node_id=1)
    assert parts == {"breakdowns": [{"name": "tensor-1"}]}
    for asked, message in (
        ({"graph_id": 2}, "graph_id: there is no graph 2"),
        ({"graph_id": 1, "node_id": 2}, r"node_id: the number must be in \[0, 1\], got 2"),
    ):
        with pytest.raises(WrongCondition, match=message):
            query(tmp_path, "memory_usage", show="breakdowns", **asked)


def test_m65_operations_of_a_device(tmp_path: Path) -> None:
    ranks = even_ranks(DATA, stages=1, ranks=2)
    ranks.write(tmp_path)
    scopes = {"data": {"nodes": [{"name": "Default"}], "links": []}, "max_scope_num": 3}
    (tmp_path / "flops_scope_0.json").write_text(json.dumps(scopes), encoding="utf-8")
    text = "op_full_name, MFLOPs(10^6), GFLOPS(10^9)\nDefault/Cast-op1, 2.5, 3\n"
    (tmp_path / "flops_1.txt").write_text(text, encoding="utf-8")
    assert query(tmp_path, "flops") == ranks.flops[0]
    assert query(tmp_path, "flops", show="scope") == scopes
    details = [{"op_full_name": "Default/Cast-op1", "MFLOPs(10^6)": 2.5, "GFLOPS(10^9)": 3.0}]
    assert query(tmp_path, "flops", show="ranks") == {
        "device0": {"summary": ranks.flops[0]},
        "device1": {"summary": ranks.flops[1], "details": details},
    }


def test_m65_ranks_without_operations_have_no_part_of_the_most(tmp_path: Path) -> None:
    ranks = even_ranks(DATA, stages=1, ranks=2)
    for rank in ranks.flops:
        ranks.flops[rank] = {"FLOPs": 0, "FLOPS": 0, "FLOPS_Utilization": 0}
    ranks.write(tmp_path)
    assert [row[-1] for row in query(tmp_path, "cluster_flops")["object"]] == [None, None]


# --- together -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_m80_figures_of_the_average_step_of_all_ranks(seed: int, tmp_path: Path) -> None:
    ranks = written(tmp_path, seed)
    answer = query(tmp_path, "parallel")
    context = [answer[name] for name in ("parallel_mode", "stage_num", "rank_size", "missing")]
    assert context == [ranks.mode, ranks.stages, ranks.ranks, {}]
    waits = {rank: in_ms(rows[-1][6]) for rank, rows in ranks.steps.items()}
    assert answer["step_interval"] == [
        {"rank_id": rank, "step_interval": one} for rank, one in waits.items()
    ]
    last = {rank: rows[-1] for rank, rows in ranks.times.items()}
    both = sum(row[0] for row in last.values()) + sum(row[1] for row in last.values())
    alone = round(sum(row[1] for row in last.values()) / both, 4)
    assert answer["communication_rate"] == pytest.approx(alone, abs=1.1e-4)
    is_pipeline = ranks.mode == PIPELINE
    received = sum(row[3] for row in last.values()) / both if is_pipeline else 0
    assert answer["between_stage_communication_rate"] == pytest.approx(received, abs=6e-5)
    stages = []
    for stage in range(1, ranks.stages + 1) if is_pipeline else ():
        rows = [row for rank, row in last.items() if ranks.stage_of(rank) == stage]
        part = sum(row[4] for row in rows) / sum(row[0] + row[1] for row in rows)
        stages.append({"stage_id": stage, "rate": pytest.approx(part)})
    assert answer["within_stage_communication_rate"] == stages
    assert answer["rank_link"] == plain_links(ranks, 0)
    assert [one["FLOPs"] for one in answer["rank_flops"]] == [
        one.get("FLOPs") or one["cube_FLOPs"] + one["vec_FLOPs"] for one in ranks.flops.values()
    ]
    assert [one["FLOPS"] for one in answer["rank_flops_per_second"]] == [
        one.get("FLOPS") or one["cube_FLOPS"] + one["vec_FLOPS"] for one in ranks.flops.values()
    ]


@pytest.mark.parametrize(
    ("lacking", "part", "reason"),
    [
        ("steps", "steps", "no step_trace_raw and ascend_cluster_analyse of rank 2"),
        ("cluster", "steps", "no step_trace_raw and ascend_cluster_analyse of rank 2"),
        ("flops", "flops", "no step_trace_raw and flops_summary of rank 2"),
        ("hccl", "links", "no step_trace_raw and hccl_raw of rank 2"),
    ],
)
def test_m85_what_rests_on_a_missing_file_is_missing(
    lacking: str, part: str, reason: str, tmp_path: Path
) -> None:
    ranks = even_ranks(PIPELINE)
    ranks.lacking = {(lacking, 2)}
    ranks.write(tmp_path)
    missing = query(tmp_path, "parallel")["missing"]
    assert missing[part] == reason
    assert missing.keys() == ({"steps", "flops", "links"} if lacking == "steps" else {part})


# --- the verb -------------------------------------------------------------------------------------

OF_RANKS = [one.analyser for one in mindspore_catalog().analysers.values() if one.of_all_ranks]


@pytest.mark.parametrize("name", OF_RANKS)
def test_m64_analysers_of_all_ranks_need_no_device(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    even = even_ranks(PIPELINE)
    even.memory = {rank: {"capacity": 32, "peak_mem": 1.5} for rank in even.steps}
    even.details = {rank: {} for rank in even.steps}
    even.write(tmp_path)
    assert main(["mindspore", "analyse", name, str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == json.loads(json.dumps(query(tmp_path, name)))
    assert main(["mindspore", "analyse", "step_trace", str(tmp_path)]) == 2
    assert "name one by --device" in capsys.readouterr().err


def test_m64_the_verb_offers_every_way_to_share_work() -> None:
    (option,) = [one for one in parse.params if one.name == "parallel"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == PARALLEL_MODES


HOSTILE = [
    b"",
    b"\xff\xfe\x00",
    b"[]",
    b"null",
    b'{"1": 3, "graph_id": []}',
    b'{"capacity": NaN, "peak_mem": "1", "FLOPs": Infinity, "FLOPS": true}',
    b'{"FLOPs": 1' + b"0" * 400 + b"}",
    b'{"FLOPs": "3", "cube_FLOPs": [], "vec_FLOPs": null}',
    b"[" * 100_000,
    b"step_num\n",
    b"\n\n\n",
    b"step_num,communication_cost,wait_cost,link_info\n-,x,1,{}\n1,1,1,[]\n",
    b'step_num,communication_cost,wait_cost,link_info\n-,1,1,"{""a-b"": {""SDMA"": [1, 2, 3]}}"\n',
    b'step_num,communication_cost,wait_cost,link_info\n-,1,1,"{""0-1"": {""SDMA"": [1, 2]}}"\n',
    b'step_num,communication_cost,wait_cost,link_info\n-,1,1,"{""0-1"": [NaN]}"\n',
    b"computation_time,communication_alone_time\nnan,inf\n1\n",
    b"step_num,iteration_interval,fp_and_bp,tail,total\n1,a,b,c,d\n-,1e999,2,3,4\n",
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "kind", some(["step_trace_raw", "ascend_cluster", "flops_s", "hccl", "memory"], every=2)
)
def test_m58_broken_files_of_ranks_are_stated(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = even_ranks(PIPELINE)
    ranks.memory = {rank: {"capacity": 32, "peak_mem": 1.5} for rank in ranks.steps}
    ranks.details = {rank: {"1": {"graph_id": 1, "breakdowns": []}} for rank in ranks.steps}
    ranks.write(tmp_path)
    broken = sorted(path for path in tmp_path.iterdir() if path.name.startswith(kind))
    assert broken
    asked = [["analyse", name, str(tmp_path)] for name in OF_RANKS]
    asked += [["analyse", "flops", str(tmp_path), "--set", "show=ranks"]]
    asked += [
        ["analyse", "memory_usage", str(tmp_path), "--device", "0", "--set", f"show={show}"]
        for show in ("summary", "graphics", "breakdowns", "ranks")
    ]
    asked += [["analyse", "cluster_hccl", str(tmp_path), "--set", "show=data"]]
    asked += [["analyse", "cluster_step_trace", str(tmp_path), "--set", "show=overview"]]
    asked += [["propose", str(tmp_path), "--types", "parallel", "--json"]]
    for text in HOSTILE:
        for path in broken:
            path.write_bytes(text)
        for arguments in asked:
            assert main(["mindspore", *arguments]) in (0, 1, 2)
            json_or_rows = capsys.readouterr()
            assert "Traceback" not in json_or_rows.err


@pytest.mark.parametrize(
    "name",
    [
        "ascend_cluster_analyse_pipeline-parallel_0_4_0.csv",
        "ascend_cluster_analyse_pipeline-parallel_9_4_0.csv",
        "ascend_cluster_analyse_pipeline-parallel_2_999999999_0.csv",
        "ascend_cluster_analyse_other-parallel_0_0_0.csv",
    ],
)
def test_m58_names_of_impossible_jobs_end_no_analyser(name: str, tmp_path: Path) -> None:
    even = even_ranks(PIPELINE, ranks=1)
    even.lacking = {("cluster", 0)}
    even.write(tmp_path)
    write_csv(tmp_path / name, ",".join(TIMES), [[1, 2, 3, 4, 5]])
    assert main(["mindspore", "analyse", "cluster_step_trace", str(tmp_path)]) == 0
    assert main(["mindspore", "analyse", "parallel", str(tmp_path)]) == 0
    assert main(["mindspore", "propose", str(tmp_path), "--types", "parallel"]) == 0
