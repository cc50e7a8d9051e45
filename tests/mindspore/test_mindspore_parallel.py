"""The proposers of all ranks and of msadvisor: each rule in its case and next to it."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rank_folders import DATA, MODEL, PIPELINE, Ranks, drawn_ranks, even_ranks
from test_mindspore_propose import SLOW, write

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.propose.compose import Composed, compose
from ascend_spec import mindspore_catalog

MODES = [DATA, MODEL, PIPELINE]


def ranks_of(mode: str) -> Ranks:
    return even_ranks(mode, stages=2 if mode == PIPELINE else 1)


def advised(folder: Path) -> Composed:
    return compose(Folder(folder, "0"), ("parallel",))


def wait_longer(ranks: Ranks, part: float) -> None:
    """Rank 3 waits so much longer than all four do on average."""
    others = [rows[-1][6] for rows in ranks.steps.values()][:3]
    mean = sum(others) / 3
    ranks.steps[3][-1][6] = round(mean * 3 * (1 + part) / (3 - part))


def compute_slower(ranks: Ranks, part: float) -> None:
    ranks.flops[1]["FLOPS"] = 50.0 * 3 * (1 - part) / (3 + part)


def narrow_link(ranks: Ranks, part: float) -> None:
    """Of eight links one has so much less than all of them on average."""
    links = {"0-1": {"SDMA": [1.0, 10.0, 100.0]}, "1-0": {"SDMA": [1.0, 10.0, 100.0]}}
    links["0-1"]["SDMA"][2] = 100.0 * 7 * (1 - part) / (7 + part)
    ranks.hccl[2][-1][3] = links


def communicate(ranks: Ranks, part: float) -> None:
    for rows in ranks.times.values():
        rows[-1] = [100 * (1 - part), 100 * part, *rows[-1][2:]]


def receive(ranks: Ranks, part: float) -> None:
    for rows in ranks.times.values():
        rows[-1] = [*rows[-1][:3], 100 * part, rows[-1][4]]


def communicate_within(ranks: Ranks, part: float) -> None:
    """In the second of two stages."""
    for rank in (2, 3):
        row = ranks.times[rank][-1]
        ranks.times[rank][-1] = [*row[:4], 100 * part]


def compute_more(ranks: Ranks, part: float) -> None:
    """The second of two stages, so much more than both on average."""
    for rank in (2, 3):
        ranks.flops[rank]["FLOPs"] = 500.0 * (1 + part) / (1 - part)


Make = Callable[[Ranks, float], None]
CASES: dict[str, tuple[list[str], Make, float, Any]] = {
    "slow_start": (MODES, wait_longer, 0.2, {"rank_id": 3, "percent": 21.0}),
    "slow_rank": (MODES, compute_slower, 0.2, {"rank_id": 1, "percent": 21.0}),
    "slow_link": (
        MODES,
        narrow_link,
        0.2,
        {"src_rank": 0, "des_rank": 1, "link_type": "SDMA", "percent": 21.0},
    ),
    "much_communication_of_data": ([DATA], communicate, 0.1, {"val": 11.0}),
    "much_communication_of_models": ([MODEL], communicate, 0.1, {"val": 11.0}),
    "much_between_stages": ([PIPELINE], receive, 0.1, {"val": 11.0}),
    "much_within_stage": ([PIPELINE], communicate_within, 0.1, {"val": 11.0, "stage": 2}),
    "large_stage": ([PIPELINE], compute_more, 0.2, {"stage": 2, "percent": 21.0}),
}
"""By rule: where it can hold, what makes it, the limit, and the numbers 1 % above it."""


@pytest.mark.parametrize(
    ("rule", "mode"), [(rule, mode) for rule, case in CASES.items() for mode in case[0]]
)
def test_m81_m83_a_rule_of_ranks_holds_in_its_case_and_not_next_to_it(
    rule: str, mode: str, tmp_path: Path
) -> None:
    _, make, limit, numbers = CASES[rule]
    for part, holds in ((limit + 0.01, True), (limit - 0.01, False)):
        ranks = ranks_of(mode)
        make(ranks, part)
        folder = tmp_path / str(holds)
        folder.mkdir()
        ranks.write(folder)
        found = {one.rule.proposal: one for one in advised(folder).advice}
        assert (rule in found) == holds
        if holds:
            own = found[rule].numbers
            shown = {name: one for name, one in own.items() if name in numbers}
            assert shown == pytest.approx(numbers, abs=0.02)
            for name in found[rule].rule.arguments:
                assert name in own
                if f"{{{name}}}" in found[rule].rule.text:
                    assert str(own[name]) in found[rule].text


def test_m81_m83_every_rule_of_ranks_has_a_case() -> None:
    rules = [one for one in mindspore_catalog().proposals.values() if one.proposer == "parallel"]
    assert CASES.keys() == {one.proposal for one in rules}
    for one in rules:
        assert set(one.arguments) <= one.inputs.keys() | one.thresholds.keys()
        assert {CASES[one.proposal][2] * 100} == set(one.thresholds.values())


@pytest.mark.parametrize("mode", MODES)
def test_m84_where_no_rank_is_slow_nothing_is_advised(mode: str, tmp_path: Path) -> None:
    ranks_of(mode).write(tmp_path)
    found = advised(tmp_path)
    assert (found.proposals, found.hidden, found.skipped) == ((), {}, {})
    assert found.as_viewed() == {}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["steps", "cluster", "flops", "hccl"])
def test_m85_rules_without_the_file_of_a_rank_are_skipped(
    kind: str, mode: str, tmp_path: Path
) -> None:
    ranks = ranks_of(mode)
    for make in (wait_longer, compute_slower, narrow_link):
        make(ranks, 0.3)
    ranks.lacking = {(kind, 3)}
    ranks.write(tmp_path)
    rests = {"cluster": "step", "flops": "flops_summary", "hccl": "hccl_raw"}
    found = advised(tmp_path)
    held = {one.rule.proposal for one in found.advice}
    of_flops, of_links = {"slow_rank", "large_stage"}, {"slow_link"}
    of_steps = CASES.keys() - of_flops - of_links
    of_kind = {"cluster": of_steps, "flops": of_flops, "hccl": of_links, "steps": CASES.keys()}
    assert held == {"slow_start", "slow_rank", "slow_link"} - of_kind[kind]
    assert found.skipped.keys() == of_kind[kind]
    for reason in found.skipped.values():
        assert reason.endswith("of rank 3")
        assert rests.get(kind, "step_trace_raw") in reason


def test_m85_without_any_file_of_ranks_every_rule_is_skipped(tmp_path: Path) -> None:
    found = advised(tmp_path)
    assert found.skipped == dict.fromkeys(CASES, "no ascend_cluster_analyse")
    assert found.as_viewed() == {}


def test_m85_rules_of_a_pipeline_need_the_times_of_its_stages(tmp_path: Path) -> None:
    ranks = ranks_of(PIPELINE)
    ranks.times = {rank: [row[:2] for row in rows] for rank, rows in ranks.times.items()}
    ranks.write(tmp_path)
    of_steps = CASES.keys() - {"slow_rank", "slow_link", "large_stage"}
    assert advised(tmp_path).skipped == dict.fromkeys(of_steps, "no average step of rank 0")


def test_m85_rules_of_sums_need_those_of_a_second(tmp_path: Path) -> None:
    ranks = ranks_of(DATA)
    del ranks.flops[2]["FLOPS"]
    ranks.write(tmp_path)
    skipped = advised(tmp_path).skipped
    assert skipped == dict.fromkeys(("slow_rank", "large_stage"), "no sums of rank 2")


def test_m85_ranks_of_gpus_are_not_compared(tmp_path: Path) -> None:
    ranks_of(MODEL).write(tmp_path)
    for path in tmp_path.glob("ascend_cluster_analyse_*"):
        path.rename(tmp_path / path.name.replace("ascend", "gpu"))
    answer = load_analyser("parallel", Folder(tmp_path, "0")).query()
    reason = "no ascend_cluster_analyse"
    assert answer["missing"] == dict.fromkeys(("steps", "flops", "links"), reason)
    assert answer["parallel_mode"] == ""
    assert advised(tmp_path).skipped == dict.fromkeys(CASES, reason)


def test_m81_sums_of_zero_are_those_of_cubes_and_vectors(tmp_path: Path) -> None:
    ranks = ranks_of(DATA)
    ranks.flops[1] = {"FLOPs": 0, "cube_FLOPs": 300, "vec_FLOPs": 200}
    ranks.flops[1] |= {"FLOPS": 0, "cube_FLOPS": 30, "vec_FLOPS": 20}
    ranks.write(tmp_path)
    answer = load_analyser("parallel", Folder(tmp_path, "0")).query()
    assert [one["FLOPs"] for one in answer["rank_flops"]] == [500] * 4
    assert [one["FLOPS"] for one in answer["rank_flops_per_second"]] == [50] * 4


# --- as the viewer has it -------------------------------------------------------------------------


def worst(values: dict[Any, float], sign: int, limit: float = 0.2) -> tuple[Any, float, float]:
    """The first of those farthest from the mean; no key where it is within the limit."""
    mean = sum(values.values()) / len(values)
    key, found = None, 0.0
    for one, value in values.items():
        part = value / mean - 1 if sign > 0 else (mean - value) / mean
        if part > limit and part > found:
            key, found = one, part
    return key, values.get(key, 0.0), round(found * 100, 2)


def plain_proposals(ranks: Ranks) -> dict[str, Any]:
    """What section 5.2 of the document says of ranks whose files are all there."""
    found: dict[str, Any] = {}
    waits = {rank: round(rows[-1][6] / 1e5, 4) for rank, rows in ranks.steps.items()}
    speeds = {
        rank: one.get("FLOPS") or one["cube_FLOPS"] + one["vec_FLOPS"]
        for rank, one in ranks.flops.items()
    }
    for name, values, sign in (("step_interval", waits, 1), ("flops_per_second", speeds, -1)):
        rank, value, percent = worst(values, sign)
        if rank is not None:
            found[name] = {"rank_id": rank, "val": round(value, 4), "percent": percent}
    kinds: dict[str, dict[Any, float]] = {}
    for rank, rows in ranks.hccl.items():
        for link, of_link in rows[-1][3].items():
            source, target = map(int, link.split("-"))
            for kind, numbers in of_link.items():
                if source != target:
                    kinds.setdefault(kind, {})[source, target, rank] = numbers[2]
    for kind, widths in kinds.items():
        link, value, percent = worst(widths, -1)
        if link is not None:
            names = {"src_rank": link[0], "des_rank": link[1], "link_type": kind}
            numbers = {**names, "val": round(value, 4), "percent": percent}
            found.setdefault("cluster_link", []).append(numbers)
    strategy = plain_strategy(ranks)
    return {**found, "parallel_strategy": strategy} if strategy else found


def plain_strategy(ranks: Ranks) -> dict[str, Any]:
    found: dict[str, Any] = {}
    last = {rank: rows[-1] for rank, rows in ranks.times.items()}
    both = sum(row[0] for row in last.values()) + sum(row[1] for row in last.values())
    limit = {"threshold": 10.0}
    if ranks.mode != PIPELINE:
        part = round(sum(row[1] for row in last.values()) / both, 4)
        if part > 0.1:
            name = f"{ranks.mode.replace('-', '_')}_communication_rate"
            found[name] = {"val": round(part * 100, 2), **limit}
        return found
    part = round(sum(row[3] for row in last.values()) / both, 4)
    if part > 0.1:
        found["pipeline_parallel_between_stage"] = {"val": round(part * 100, 2), **limit}
    stages: dict[int, list[int]] = {}
    for rank in last:
        stages.setdefault(ranks.stage_of(rank), []).append(rank)
    parts = {
        stage: sum(last[one][4] for one in held) / sum(sum(last[one][:2]) for one in held)
        for stage, held in stages.items()
    }
    stage = max(parts, key=parts.__getitem__)
    if parts[stage] > 0.1:
        numbers = {"val": round(parts[stage] * 100, 2), **limit, "stage": stage}
        found["pipeline_parallel_within_stage"] = numbers
    sums = {
        rank: one.get("FLOPs") or one["cube_FLOPs"] + one["vec_FLOPs"]
        for rank, one in ranks.flops.items()
    }
    means = {stage: sum(sums[one] for one in held) / len(held) for stage, held in stages.items()}
    stage, value, percent = worst(means, 1)
    if stage is not None:
        numbers = {"stage": stage, "val": round(value, 4), "percent": percent}
        found["pipeline_parallel_flops"] = numbers
    return found


@pytest.mark.parametrize("seed", range(40))
def test_m77_m81_proposals_of_ranks_are_those_of_the_document(seed: int, tmp_path: Path) -> None:
    ranks = drawn_ranks(random.Random(seed))
    ranks.write(tmp_path)
    viewed = advised(tmp_path).as_viewed(has_labels=False)
    plain = plain_proposals(ranks)
    assert list(viewed) == list(plain)
    for name, one in plain.items():
        if isinstance(one, list):
            assert viewed[name] == [pytest.approx(link, abs=1e-2) for link in one]
            continue
        assert viewed[name].keys() == one.keys()
        for key, numbers in one.items():
            assert viewed[name][key] == pytest.approx(numbers, abs=1e-2)


def test_m82_the_verb_advises_all_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranks = ranks_of(PIPELINE)
    wait_longer(ranks, 0.5)
    ranks.write(tmp_path)
    assert main(["mindspore", "propose", str(tmp_path), "--types", "parallel"]) == 0
    assert "slow_start: Rank 3 waits 1.8 ms" in capsys.readouterr().out
    assert main(["mindspore", "propose", str(tmp_path), "--types", "parallel", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["viewer"]["step_interval"] == {"rank_id": 3, "val": 1.8, "percent": 50.0}
    assert main(["mindspore", "propose", str(tmp_path), "--types", "parallel, common"]) == 0
    assert "profiler_tutorial" in capsys.readouterr().out
    assert main(["mindspore", "propose", str(tmp_path), "--types", "paralel"]) == 2
    assert "unknown proposer 'paralel'; did you mean parallel" in capsys.readouterr().err
    assert main(["mindspore", "propose", str(tmp_path)]) == 2
    assert "name one by --device" in capsys.readouterr().err


# --- msadvisor ------------------------------------------------------------------------------------


def recommend(folder: Path, name: str, document: Any, *, time: int, device: str = "0") -> None:
    place = folder / "msadvisor" / f"device_{device}" / "recommendation"
    place.mkdir(parents=True, exist_ok=True)
    path = place / name
    path.write_text(json.dumps(document), encoding="utf-8")
    os.utime(path, (time, time))


ADVICE = {"AICPUModel": ["Cast"], "TransDataModel": []}


def test_m81_the_newest_advice_of_msadvisor_is_shown(tmp_path: Path) -> None:
    write(tmp_path)
    recommend(tmp_path, "z.json", {"model": {"Old": 1}}, time=1_000)
    recommend(tmp_path, "a.json", {"model": ADVICE, "version": 2}, time=2_000)
    recommend(tmp_path, "newer.txt", {"model": {"Other": 1}}, time=3_000)
    recommend(tmp_path, "b.json", {"model": {"Other": 1}}, time=3_000, device="1")
    found = compose(Folder(tmp_path, "0"))
    assert [one.text for one in found.advice] == [
        "msadvisor has advice on: AICPUModel, TransDataModel."
    ]
    assert found.as_viewed() == {
        "common-proposer_type_label": None,
        "common-profiler_tutorial": None,
        "msadvisor-proposer": ADVICE,
    }
    write(tmp_path, **SLOW)
    viewed = compose(Folder(tmp_path, "0")).as_viewed()
    assert viewed["msadvisor-proposer_type_label"] is None
    assert (viewed["msadvisor-proposer"], viewed["version"]) == (ADVICE, 2)


def test_m85_without_advice_of_msadvisor_the_rule_is_skipped(tmp_path: Path) -> None:
    write(tmp_path)
    found = compose(Folder(tmp_path, "0"), ("msadvisor",))
    assert found.skipped == {"recommendation": "no msadvisor_recommendation of device 0"}
    assert found.advice == []


@pytest.mark.parametrize("document", [[], None, "text", {}, {"model": None}, {"model": [[]]}])
def test_m58_broken_advice_ends_no_proposer(document: Any, tmp_path: Path) -> None:
    write(tmp_path)
    recommend(tmp_path, "a.json", document, time=1_000)
    code = 0 if isinstance(document, dict) else 1
    assert main(["mindspore", "propose", str(tmp_path), "--types", "msadvisor", "--json"]) == code
    (tmp_path / "msadvisor/device_0/recommendation/a.json").write_bytes(b"\xff{")
    assert main(["mindspore", "propose", str(tmp_path)]) == 1
