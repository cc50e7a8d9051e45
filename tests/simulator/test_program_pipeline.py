"""Pipelines: what one stage sends, another one receives, and nobody waits for ever."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_simulator.choices import HardwareChoice, ModelChoice, ModelKind, Parallelism
from ascend_simulator.hardware import machine
from ascend_simulator.program import build
from ascend_simulator.program.model import Await, Collective, Program

MACHINE = machine(HardwareChoice())


def programs(kind: ModelKind, pipeline: int, microbatches: int) -> list[Program]:
    choice = ModelChoice(
        kind=kind,
        layers=pipeline,
        hidden=64,
        heads=2,
        sequence=32,
        vocabulary=64,
        microbatches=microbatches,
        prompt=16,
        generate=microbatches,
    )
    return [
        build(choice, MACHINE, Parallelism(pipeline, 1, pipeline), stage)
        for stage in range(pipeline)
    ]


def transfers(program: Program, kind: str) -> list[Collective]:
    return [item for item in program.items if isinstance(item, Collective) and item.kind == kind]


def play(stages: list[Program]) -> int:
    """Run all stages as rendezvous; the number of transfers done. Each wait blocks its stage.

    Transfers of one direction and peer follow each other; all others are independent.
    """
    count = len(stages)
    at = [0] * count
    posted: list[list[int]] = [[] for _ in stages]
    done: list[set[int]] = [set() for _ in stages]
    moved = True
    while moved:
        moved = False
        for stage, program in enumerate(stages):
            while at[stage] < len(program.items):
                item = program.items[at[stage]]
                if isinstance(item, Await) and item.item not in done[stage]:
                    break
                if isinstance(item, Collective):
                    posted[stage].append(at[stage])
                at[stage] += 1
                moved = True
        for sender, program in enumerate(stages):
            for place in list(posted[sender]):
                item = program.items[place]
                assert isinstance(item, Collective)
                if item.kind != "send":
                    continue
                receiver = (sender + item.peer) % count
                for other in posted[receiver]:
                    answer = stages[receiver].items[other]
                    assert isinstance(answer, Collective)
                    if (
                        answer.kind == "receive"
                        and answer.tag == item.tag
                        and (receiver + answer.peer) % count == sender
                    ):
                        assert (answer.count, answer.data_type) == (item.count, item.data_type)
                        posted[sender].remove(place)
                        posted[receiver].remove(other)
                        done[sender].add(place)
                        done[receiver].add(other)
                        moved = True
                        break
    assert [place == len(program.items) for place, program in zip(at, stages, strict=True)] == [
        True
    ] * count
    return sum(len(places) for places in done) // 2


@given(pipeline=st.integers(1, 6), microbatches=st.integers(1, 9))
@settings(max_examples=10, deadline=None)
def test_does_training_get_through_the_pipeline(pipeline: int, microbatches: int) -> None:
    stages = programs("dense-transformer", pipeline, microbatches)
    assert play(stages) == 2 * (pipeline - 1) * microbatches


@given(pipeline=st.integers(1, 4), tokens=st.integers(1, 4))
@settings(max_examples=10, deadline=None)
def test_does_inference_get_through_the_pipeline(pipeline: int, tokens: int) -> None:
    stages = programs("llm-inference", pipeline, tokens)
    passes = (pipeline - 1) * (tokens + 1)
    assert play(stages) == (passes + tokens if pipeline > 1 else 0)


@pytest.mark.parametrize("kind", ["dense-transformer", "llm-inference"])
def test_do_sends_match_receives_by_tag(kind: ModelKind) -> None:
    stages = programs(kind, 4, 3)
    for stage, program in enumerate(stages):
        for send in transfers(program, "send"):
            peer = stages[(stage + send.peer) % 4]
            matching = [
                (item.tag, item.count)
                for item in transfers(peer, "receive")
                if item.peer == -send.peer
            ]
            own = [
                (item.tag, item.count)
                for item in transfers(program, "send")
                if item.peer == send.peer
            ]
            assert own == matching


def test_how_many_forward_passes_a_stage_runs_ahead() -> None:
    for stage, program in enumerate(programs("dense-transformer", 4, 8)):
        ahead = 0
        most = 0
        for operator in program.operators:
            if operator.name == "npu::npu_fusion_attention":
                ahead += 1
            elif operator.name == "npu::npu_fusion_attention_grad":
                ahead -= 1
            most = max(most, ahead)
        assert (most, ahead) == (4 - stage, 0)


def test_is_every_layer_on_one_stage() -> None:
    for layers in (4, 5, 6, 7):
        choice = ModelChoice(layers=layers, hidden=64, heads=2, sequence=32, vocabulary=64)
        found: Counter[str] = Counter()
        for stage in range(4):
            program = build(choice, MACHINE, Parallelism(4, 1, 4), stage)
            found.update(operator.name for operator in program.operators)
        assert found["npu::npu_fusion_attention"] == layers
        assert found["aten::embedding"] == 1
        assert found["aten::nll_loss_nd"] == 1
