"""Enumerations of the graph engine against the evidence and document 003."""

from __future__ import annotations

import re

from ge_evidence import numbered, rows, section, seed

from ascend_spec import catalog, ge_catalog, raw_catalog, text_catalog

FIRST_COPY = "2.5 AI Core Metrics Indicator Types"


def values(name: str) -> dict[int, str]:
    """Names by number of a set of raw files."""
    members = raw_catalog().vocabularies[name].members
    return {int(one.value): one.name or one.label or "" for one in members}


# --- document 003 ---------------------------------------------------------------------------------


def test_g30_g31_g32_g33_g34_g35_g36_groups_of_metrics_in_both_copies_of_the_document() -> None:
    found = [
        {
            name: int(number)
            for name, number in re.findall(r"^kAicore(\w+) \((\d)\) \S", part, re.MULTILINE)
        }
        for part in seed().split(FIRST_COPY)[1:]
    ]
    header = {
        cells[1].removeprefix("kAicore"): int(cells[0])
        for cells in rows("1.6")
        if cells[1].startswith("kAicore")
    }
    assert len(found) == 2
    assert found[0] == found[1] == {name: one for name, one in header.items() if one <= 6}
    assert list(found[0].values()) == list(range(7))
    assert found[0].keys() <= text_catalog().pmu.groups.keys()


def test_g105_g106_g107_g108_g109_g110_g111_points_have_the_numbers_of_the_document() -> None:
    stated = dict(re.findall(r"^kProfiling(\w+)Logid = (\d+) ", seed(), re.MULTILINE))
    tags = {name: number for number, name in values("step_tags").items()}
    assert {name: int(number) for name, number in stated.items()} == {
        "FpStart": tags["FP"],
        "BpEnd": tags["BP"],
        "IterEnd": tags["iteration end"],
        "ArStart": tags["all-reduce"],
        "ArEnd": tags["all-reduce"] + 1,
        "GetNextStart": tags["get-next"],
        "GetNextEnd": tags["get-next"] + 1,
    }


def test_g122_g153_g154_calls_that_the_document_names_are_of_the_enumerations() -> None:
    names = {one.name for group in ge_catalog().calls.values() for one in group.members}
    texts = set(ge_catalog().registered.values())
    named = re.findall(r"AclProfType::(\w+)", seed())
    assert named
    assert set(named) <= names
    called = re.search(r"user API call duration \(e\.g\. (\w+), (\w+)\)", seed())
    assert called is not None
    assert set(called.groups()) <= texts
    assert "How long do user-called aclmdlExecute, aclopExecute etc. APIs take" in seed()
    assert "aclopExecute" in texts
    categories = re.search(r"divided into Model level, Node level and ACL level three", seed())
    assert categories is not None
    assert list(ge_catalog().report_types) == ["model", "node", "acl"]
    four = "operator compilation type, operator execution type, model type, CBLAS type four"
    assert four in seed()
    assert list(ge_catalog().calls) == ["compilation", "execution", "model", "cblas"]


def test_g152_events_are_of_the_layers_that_the_document_lists() -> None:
    listed = re.search(r"including (ACL interface layer.*?) etc\.", seed())
    assert listed is not None
    groups = {one.group for space in ge_catalog().events.values() for one in space.events}
    words = {
        "ACL interface layer": "acl-interface",
        "ACL internal layer": "acl-internal",
        "executor layer": "hybrid-executor",
        "static single operator layer": "static-single-operator",
        "V2 executor layer": "v2-executor",
        "FFTS Plus layer": "ffts-plus",
    }
    assert listed[1].split(", ") == list(words)
    assert set(words.values()) <= groups


# --- the evidence ---------------------------------------------------------------------------------


def test_g152_both_spaces_have_the_numbers_and_texts_of_the_evidence() -> None:
    first, second = section("4.6").split("(b)")
    for space, text, count in (("ge::profiling", first, 70), ("gert::profiling", second, 53)):
        events = {one.value: one for one in ge_catalog().events[space].events}
        assert list(events) == list(range(count))
        assert ge_catalog().events[space].end == count
        plain = re.findall(r"(?:^|[,;] )(\d+) (`?)([\w&]+)`?", text.split(":\n")[1], re.MULTILINE)
        assert len(plain) == (70 if count == 70 else 38)
        assert {int(number): name for number, _, name in plain} == {
            int(number): events[int(number)].text for number, _, _ in plain
        }


def test_g152_fifteen_texts_of_the_hybrid_executor_have_a_prefix_and_one_is_another() -> None:
    listed = re.search(r"29\.\.43 texts `RT1_` \+ (.*?); 44", section("4.6"), re.DOTALL)
    assert listed is not None
    plain = re.sub(r"\*\*.*?\*\*", "Atomic", listed[1], flags=re.DOTALL)
    words = [one.strip() for one in plain.replace("\n", " ").split(",")]
    events = ge_catalog().events["gert::profiling"].events[29:44]
    assert [one.text for one in events] == [f"RT1_{word}" for word in words]
    slips = [one.name for one in ge_catalog().events["gert::profiling"].by_text["RT1_Atomic"]]
    assert slips == ["kAtomic", "kOpExecute"]


def test_g153_types_of_calls_have_the_numbers_and_names_of_the_evidence() -> None:
    for cells in rows("4.4"):
        if cells[0] in ge_catalog().report_types:
            group = ge_catalog().report_types[cells[0]]
            known = dict(numbered(re.sub(r"\(k\w+\)", "", cells[1])))
            assert {one.value: one.text for one in group.members} == known
            end = re.search(r"\((0x\w+|\d+) (?:level )?end\)", cells[1])
            assert end is not None
            assert group.end == int(end[1], 0)
    first = re.search(r"first dynamic type (0x\w+)", section("4.4"))
    assert first is not None
    kernels = ge_catalog().registered.keys() - ge_catalog().enumerated.keys()
    assert max(value for _, value in kernels) + 1 == int(first[1], 0)


def test_g154_calls_of_acl_have_the_numbers_and_names_of_the_evidence() -> None:
    lines = re.findall(r"^- 0x(\w+)\+: (.*)$", section("4.5"), re.MULTILINE)
    assert len(lines) == len(ge_catalog().calls) == 4
    for (start, text), group in zip(lines, ge_catalog().calls.values(), strict=True):
        listed = re.sub(r"\(2\.\.24.*?\)", "", text)
        names = [
            (int(start, 16) + number, name if name.startswith(("Acl", "Op")) else f"Aclmdl{name}")
            for number, name in numbered(listed)
        ]
        assert [(one.value, one.name) for one in group.members] == names
        assert all(one.text == f"{one.name[0].lower()}{one.name[1:]}" for one in group.members)
        assert {one.level for one in group.members} == {20000}
    texts = {one.name: one.text for group in ge_catalog().calls.values() for one in group.members}
    assert (texts["AclmdlExecute"], texts["OpCompile"]) == ("aclmdlExecute", "opCompile")


def test_g154_the_calls_of_a_group_are_of_one_class_of_the_exporter() -> None:
    classes = values("acl_classes")
    found = {
        group: {classes[one.value >> 16] for one in members.members}
        for group, members in ge_catalog().calls.items()
    }
    assert found == {
        "compilation": {"ACL_OP"},
        "execution": {"ACL_OP"},
        "model": {"ACL_MODEL"},
        "cblas": {"ACL_OTHERS"},
    }


def test_levels_are_those_of_the_evidence() -> None:
    text = re.sub(r"\(.*?\)", "", section("4.2"))
    assert values("levels") == dict(numbered(text))


def test_types_of_records_are_those_of_the_evidence() -> None:
    """A number with six digits in front of calls, a base, is the type of no record."""
    files = raw_catalog().files
    calls = set(ge_catalog().registered)
    known = {(level, file.type) for file in files.values() for level in file.levels}
    sets = {15000: "model_types", 10000: "node_types", 5000: "runtime_types", 5500: "hccl_types"}
    known |= {(level, value) for level, name in sets.items() for value in values(name)} | calls
    known |= {
        (6000, value)
        for file in files.values()
        if file.levels == (6000,)
        for one in file.members
        for value in one.values
    }
    listed = {
        (int(level), value)
        for level, text in rows("4.3")
        if level != "20000" and "/" not in level
        for value, _ in numbered(re.sub(r"0x\w+( \w+)*? base|0\.\.800|1000\.\.", "", text))
    }
    bases = {(15000, 0x10000), (15000, 0x20000), (5500, 0x10000)}
    undescribed = {(6000, 14)}
    assert len(listed) > 40
    apart = {(10000, 0x10000), (10000, 0x20000), (10000, 0x30000)}
    assert listed - known - bases - undescribed - apart == set()


def test_communication_has_the_numbers_of_the_evidence() -> None:
    text = section("4.7").replace("\n", " ")
    enums = catalog().enums
    for words, name in (("dataType", "HCCL_DATA_TYPE"), ("linkType", "HCCL_LINK_TYPE")):
        listed = re.search(rf"{words} (.*?);", text)
        assert listed is not None
        stated = dict(numbered(listed[1]))
        members = {int(one.id): one.name for one in enums[f"ENUM_{name}"].members}
        assert stated.items() <= members.items()
    kinds = re.search(r"opType (.*?);", text)
    assert kinds is not None
    found = values("hccl_op_types")
    assert all(found[number].lower() == name for number, name in numbered(kinds[1]))


def test_types_of_tasks_have_the_numbers_of_the_evidence() -> None:
    text = section("4.7")
    listed = re.search(r"GE task type.*?: (.*?);", text, re.DOTALL)
    assert listed is not None
    plain = re.sub(r"(\w+) \(.*?`(\w+)`\)", r"\2", listed[1], flags=re.DOTALL)
    assert dict(numbered(plain)) == values("ge_task_types")


def test_g155_each_enumeration_cites_the_header_that_the_document_names() -> None:
    text = " ".join(seed().split())
    headers = {
        "6.2": r"Defined in \S*/(\w+\.h)'s ge::profiling namespace",
        "6.3": r"GE Level Profiling Info Type\) Defined in \S*/(\w+\.h)",
        "6.4": r"ACL API Profiling Type\) Defined in \S*/(\w+\.h)",
    }
    catalog_ = ge_catalog()
    cited = {
        "6.2": [one.source for one in catalog_.events.values()],
        "6.3": [one.source for one in catalog_.report_types.values()],
        "6.4": [one.source for one in catalog_.calls.values()],
    }
    for chapter, pattern in headers.items():
        found = re.search(pattern, text)
        assert found is not None, chapter
        assert all(f"upstream-ge {found[1]}" in sources for sources in cited[chapter]), chapter
