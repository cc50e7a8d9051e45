"""Checks T10 to T12: the files of mode ``all`` say what the text files of each rank say."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from consumer_cluster import TOTAL
from consumer_differences import different
from consumer_texts import TextRank, told_groups

STEPS, COMMUNICATION, MATRIX, GROUPS = RESULTS = (
    "cluster_step_trace_time.csv",
    "cluster_communication.json",
    "cluster_communication_matrix.json",
    "communication_group.json",
)
SOURCES = ("communication.json", "communication_matrix.json")
NOT_VALUES = ("Device_id", "Step")
PLACES = ("DP Index", "PP Index", "TP Index")
TIMES = "Communication Time Info"
RATIOS = ("Start Timestamp(us)", "Wait Time Ratio", "Synchronization Time Ratio")
SIZE, TIME, TRANSPORT = "Transit Size(MB)", "Transit Time(ms)", "Transport Type"
UNMAPPED = re.compile(r"The (src|dst) local rank (\d+) of the operator (\S+) cannot be mapped")

Key = tuple[str, str]
"""Class and name of a group; or end of a link and its local rank."""
Link = tuple[Any, ...]


class Entry(NamedTuple):
    """What a rank says of an operator."""

    rank: int
    step: str
    key: Key
    operator: str
    said: Mapping[str, Any]

    @property
    def group(self) -> str:
        return self.key[1]


def t10_steps(ranks: Sequence[TextRank], results: Path) -> list[str]:
    """The times of each step of each rank, its place, and the greatest times of each stage."""
    with (results / STEPS).open(newline="", encoding="utf-8") as file:
        header, *found = csv.reader(file)
    values = [name for name in ranks[0].rows("step_trace_time.csv")[0] if name not in NOT_VALUES]
    places = _places(ranks)
    times = {
        (row["Step"], rank.number): [float(row[name]) for name in values]
        for rank in ranks
        for row in rank.rows("step_trace_time.csv")
    }
    expected: dict[Link, list[Any]] = {
        ("rank", step, str(number)): [*spent, *places[number]]
        for (step, number), spent in times.items()
    }
    for step in {step for step, _ in times}:
        for stage in _stages(ranks, places):
            most = map(max, zip(*(times[step, number] for number in stage), strict=True))
            expected["stage", step, str(stage)] = [*most, *["NA" for _ in PLACES]]
    at = {(kind, step, place): _numbers(cells) for step, kind, place, *cells in found}
    return [
        *different("T10 columns", header[3:], [*values, *(PLACES if any(places.values()) else ())]),
        *different("T10 rows", len(found), len(expected)),
        *different(f"T10 {STEPS}", at, expected),
    ]


def _places(ranks: Sequence[TextRank]) -> dict[int, list[float]]:
    """Data, pipeline and tensor index of each rank; none where the program does not tell sizes."""
    told = ranks[0].metadata("distributed_args")
    if not told:
        return {rank.number: [] for rank in ranks}
    tensor, pipeline = (told[f"{name}_model_parallel_size"] for name in ("tensor", "pipeline"))
    data = told["world_size"] // (tensor * pipeline)
    return {
        rank.number: [
            rank.number // tensor % data,
            rank.number // (tensor * data),
            rank.number % tensor,
        ]
        for rank in ranks
    }


def _stages(
    ranks: Sequence[TextRank], places: Mapping[int, Sequence[float]]
) -> list[tuple[int, ...]]:
    """The ranks of each pipeline stage, none without a pipeline."""
    if not any(purpose == "pp" for _, purpose, _ in told_groups(ranks).values()):
        return []
    stages: dict[float, list[int]] = defaultdict(list)
    for number, (_, stage, _) in sorted(places.items()):
        stages[stage].append(number)
    return [tuple(stage) for stage in stages.values()] if len(stages) > 1 else []


def _numbers(cells: Sequence[str]) -> list[float | str]:
    return [cell if cell == "NA" else float(cell) for cell in cells]


def t11_operators(ranks: Sequence[TextRank], results: Path) -> list[str]:
    """Every operator of each rank as its communication.json has it, and their sums."""
    found = _by_ranks(results / COMMUNICATION)
    entries = list(entries_of(ranks, SOURCES[0]))
    held = holders(ranks)
    expected: dict[Link, dict[str, Any]] = defaultdict(dict)
    sums: dict[Link, Counter[str]] = defaultdict(Counter)
    for entry in entries:
        place = (held[entry.key], entry.step)
        expected[*place, entry.operator][str(entry.rank)] = entry.said
        times = entry.said[TIMES]
        for name in times.keys() - set(RATIOS):
            sums[*place, f"{TOTAL}@{entry.group}", str(entry.rank)][name] += times[name]
    operators = {place: said for place, said in found.items() if not place[2].startswith(TOTAL)}
    totals = {
        (*place, rank): {name: said[TIMES][name] for name in said[TIMES].keys() - set(RATIOS)}
        for place, of_ranks in found.items()
        if place[2].startswith(TOTAL)
        for rank, said in of_ranks.items()
    }
    return [
        *different(f"T11 {COMMUNICATION}", operators, expected),
        *different(f"T11 {COMMUNICATION}, totals", totals, sums),
    ]


def t12_links(ranks: Sequence[TextRank], results: Path) -> list[str]:
    """What went over each link, between global ranks; and which ranks are in which group."""
    links = {
        place: {link: [said[name] for name in (TRANSPORT, SIZE, TIME)] for link, said in of.items()}
        for place, of in _by_ranks(results / MATRIX).items()
        if not place[2].startswith(TOTAL)
    }
    return [
        *different(f"T12 {MATRIX}", links, _mapped(ranks)[0]),
        *_groups(ranks, json.loads((results / GROUPS).read_text())),
    ]


def lost_ends(ranks: Sequence[TextRank]) -> Counter[Link]:
    """The ends of links that the tool cannot map, by end, local rank and operator.

    Whatever the metadata tell, in text mode it learns who a local rank is only from a link of a
    rank to itself: it looks hashes and ranks up in another type than it keeps them in.
    """
    return _mapped(ranks)[1]


def told_lost(log: str) -> Counter[Link]:
    """The ends of links that a log tells of."""
    return Counter(UNMAPPED.findall(log))


def _mapped(ranks: Sequence[TextRank]) -> tuple[dict[Link, dict[str, Any]], Counter[Link]]:
    held = holders(ranks)
    known: dict[Link, dict[str, int]] = defaultdict(dict)
    sums: dict[tuple[Any, str, str], dict[str, list[Any]]] = defaultdict(dict)
    for entry in entries_of(ranks, SOURCES[1]):
        place = (held[entry.key], entry.step)
        of_operator = sums[*place, entry.operator]
        for link, said in entry.said.items():
            source, target = link.split("-")
            if source == target:
                known[*place, entry.group][source] = entry.rank
            before = of_operator.get(link, ["", 0, 0])
            of_operator[link] = [
                said[TRANSPORT],
                before[1] + said.get(SIZE, 0),
                before[2] + said.get(TIME, 0),
            ]
    mapped: dict[Link, dict[str, Any]] = {}
    lost: Counter[Link] = Counter()
    for (holding, step, operator), of_operator in sums.items():
        ends = known[holding, step, operator.rpartition("@")[2]]
        on_link = mapped[holding, step, operator] = {}
        for link, said in of_operator.items():
            source, target = link.split("-")
            if source not in ends:
                lost["src", source, operator] += 1
            elif target not in ends:
                lost["dst", target, operator] += 1
            else:
                on_link[f"{ends[source]}-{ends[target]}"] = said
    return mapped, lost


def _groups(ranks: Sequence[TextRank], document: Mapping[str, Any]) -> list[str]:
    """The ranks of each communication group, and what the program calls it."""
    told = told_groups(ranks)
    held = holders(ranks)
    lines = []
    for kind in ("collective", "p2p"):
        found = sorted(map(sorted, document[kind]))
        lists = sorted(list(holding) for (one, _), holding in held.items() if one == kind)
        lines += different(f"T12 {GROUPS}, {kind}", found, lists)
    rows = document["comm_group_parallel_info"]
    expected = {}
    for (kind, name), holding in held.items():
        text, purpose, members = told.get(name, ("", "", list(holding)))
        expected[kind, name] = [text, purpose, members]
    at = {
        (row["type"], row["group_name"]): [row["group_id"], row["pg_name"], row["rank_set"]]
        for row in rows
    }
    return [
        *lines,
        *different(f"T12 {GROUPS}, rows", len(rows), len(expected)),
        *different(f"T12 {GROUPS}", at, expected),
    ]


def holders(ranks: Sequence[TextRank]) -> dict[Key, tuple[int, ...]]:
    """The ranks whose files mention each group."""
    found: dict[Key, set[int]] = defaultdict(set)
    for name in SOURCES:
        for entry in entries_of(ranks, name):
            found[entry.key].add(entry.rank)
    return {key: tuple(sorted(numbers)) for key, numbers in found.items()}


def entries_of(ranks: Sequence[TextRank], name: str) -> Iterator[Entry]:
    """What the documents of a name say of the operators, without the totals."""
    for rank in ranks:
        for step, kinds in rank.document(name).items():
            for kind, operators in kinds.items():
                for operator, said in operators.items():
                    if not operator.startswith("Total"):
                        group = operator.rpartition("@")[2]
                        yield Entry(rank.number, step, (kind, group), operator, said)


def _by_ranks(path: Path) -> dict[Link, dict[str, Any]]:
    """What a result says, by the ranks of the group, the step and the operator."""
    return {
        (tuple(sorted(map(int, re.findall(r"\d+", group)))), step, operator): said
        for group, steps in json.loads(path.read_text()).items()
        for step, operators in steps.items()
        for operator, said in operators.items()
    }
