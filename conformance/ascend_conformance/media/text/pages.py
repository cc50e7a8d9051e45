"""What only the page of a text rule says: where it looks, and how clean facts are broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ascend_ref.markdown import Style, code, fenced, table

from ...compare.agreement import WHICH, Agreement, Side
from ...ruleset import fill
from .deliverables import COMPANIONS
from .layers import layers_by_table
from .rules import TextRule, instances
from .selecting import stated
from .sources import DOCUMENTS, base_tables, made

ONE_SIDED = {
    "both": "A row of either side without a counterpart is a finding.",
    "left": "A row of the left side without a counterpart is a finding; the right may have more.",
    "right": "A row of the right side without a counterpart is a finding; the left may have more.",
    "neither": "Rows without a counterpart are left alone.",
}

TIMELINES = ("timeline/timeline", "timeline/trace_view")


def where(rule: TextRule) -> str:
    """The files, or the tables of facts, that the rule looks at."""
    if rule.search.agreement is not None:
        return _sources(rule.search.agreement)
    if rule.search.check is not None:
        kinds = {"CSV": "every CSV file", "TRC": "every timeline", "DOC": "every JSON document"}
        return kinds.get(rule.id[:3], "every text deliverable")
    named = (".".join(part for part in (one.at, one.column) if part) for one in instances(rule))
    return f"facts {', '.join(map(code, dict.fromkeys(named)))}"


def about(rule: TextRule) -> Iterator[tuple[str, str]]:
    """The files, layers and tables that the rule looks at, each with what is expected there.

    Rules on events of any layer are those of the timelines as a whole.
    """
    for place, sources in _read(rule):
        read = {table for source in sources for table in base_tables(source)}
        named = [(schema, name) for schema, _, name in (one.partition(".") for one in read)]
        found = [address for schema, name in named for address in _addresses(schema, name)]
        whole = TIMELINES if any(schema == "trace" for schema, _ in named) else ()
        for address in found or whole:
            yield address, fill(rule.expected, place)


def _read(rule: TextRule) -> Iterator[tuple[Mapping[str, str], set[str]]]:
    """The sources that the rule reads at each of its places."""
    agreement = rule.search.agreement
    if agreement is not None:
        for place, one in zip(agreement.each, agreement.instances, strict=True):
            yield place, set(one.sources)
    else:
        for place, instance in zip(rule.search.at, instances(rule), strict=False):
            yield place, {".".join(need.split(".")[:2]) for need in instance.needs}


def _addresses(schema: str, name: str) -> tuple[str, ...]:
    if schema in ("raw", "csv"):
        return (f"csv/{name}",)
    if schema == "db":
        return (f"table/{name}",)
    if schema == "trace" and name in layers_by_table():
        return (f"layer/{layers_by_table()[name].name}",)
    if schema != "doc":
        return ()
    shown = COMPANIONS if name == "member" else filter(None, (DOCUMENTS.get(name),))
    return tuple(f"document/{one}" for one in shown)


def search(rule: TextRule) -> str:
    """How bad rows are found."""
    if rule.search.agreement is not None:
        return _sides(rule.search.agreement)
    if rule.search.check is not None:
        return (
            f"By the check {code(rule.search.check)} of the checker, which follows from the spec."
        )
    found = "A row is bad where this holds" if rule.row else "Each row of this query is a bad one"
    return f"{found}, in DuckDB:\n\n{fenced('sql', rule.row or rule.select or '')}"


def mutation(rule: TextRule, style: Style) -> Iterator[str]:
    """How the self-test breaks clean facts."""
    if rule.search.agreement is not None:
        yield style.part("How the self-test breaks it")
        yield (
            "The self-test changes, in clean facts and one at a time, a value of every column "
            "above on either side, and removes a row; this rule must report each."
        )
    if not rule.breaks:
        return
    yield style.part("How the self-test breaks it")
    also = f" and, by their nature, {', '.join(sorted(rule.also))}" if rule.also else ""
    yield f"On clean facts these statements wake this rule{also or ' and no other'}:"
    yield fenced(
        "sql", ";\n".join(statement.strip().rstrip(";") for statement in rule.breaks) + ";"
    )
    for other, reason in sorted(rule.also.items()):
        yield f"{other}: {reason}"


def _sources(agreement: Agreement) -> str:
    """The sources of both sides."""
    named = [source for one in agreement.instances for source in one.sources]
    return f"facts {', '.join(map(code, dict.fromkeys(named)))}"


def _sides(agreement: Agreement) -> str:
    """How the sides are selected and compared."""
    asked = stated(agreement.instances[0]) if agreement.entities else agreement
    left, right = asked.left, asked.right
    shown = dict.fromkeys([*asked.keys, asked.near or "", *asked.compare])
    rows = (
        (
            code(name),
            _cell(left, name),
            _cell(right, name),
            _difference(asked, name),
        )
        for name in shown
        if name
    )
    parts = [
        "Both sides are selected in DuckDB, their rows are paired, and what stands there is "
        "compared in each pair. Numbers with decimals are equal as printed if they differ by at "
        "most one unit of the last decimal of each side.",
        table(("column", _named(left), _named(right), "compared"), rows),
        ONE_SIDED[agreement.one_sided],
        *_summaries(asked),
        *_readings(agreement),
    ]
    return "\n\n".join(parts)


def _summaries(agreement: Agreement) -> Iterator[str]:
    """What the rows of a side are, where the side is no file or table as it stands."""
    for source in dict.fromkeys(agreement.side(which).of for which in WHICH):
        if source in made():
            yield f"{code(source)}: {made()[source].summary}"


def _named(side: Side) -> str:
    conditions = " and ".join(code(one) for one in side.where)
    return code(side.of) + (f" where {conditions}" if conditions else "")


def _cell(side: Side, name: str) -> str:
    return code(side.columns[name]) if name in side.columns else ""


def _difference(agreement: Agreement, name: str) -> str:
    unstated = ", unless one side shows none" if name in agreement.unstated else ""
    compared = agreement.compare.get(name)
    if compared is None:
        return ("pairs" if name in agreement.keys else "pairs where equal") + unstated
    unit = f" {compared.unit}" if compared.unit else ""
    if compared.tolerance is not None:
        return f"within {code(str(compared.tolerance))}{unit}{unstated}"
    extra = f" and {code(str(compared.extra))}{unit}" if compared.extra else ""
    in_unit = f", {compared.unit}" if compared.unit and not extra else ""
    return f"equal as printed{extra}{in_unit}{unstated}"


def _readings(agreement: Agreement) -> Iterator[str]:
    if agreement.readings:
        named = ", ".join(map(code, agreement.readings))
        yield f"{code('{reading}')} is the one of {named} that fits best."
    places = [place for place in agreement.each if place]
    if places:
        listed = "; ".join(
            ", ".join(f"{code('{' + name + '}')} {code(value)}" for name, value in place.items())
            for place in places
        )
        yield f"For {listed}."
