"""What options of the graph engine's profiling record, and which options record something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ascend_spec import catalog, ge_catalog
from ascend_spec.ge import Option
from ascend_spec.ge.options import EVERY

from .follows import Following, Recording, data_of, profiler_level
from .given import Decision, Given, decide
from .settings import Settings, level_of, settings_of

LEAST_OPTIONS: Mapping[str, object] = {}
"""Options that say nothing; what they record is there by default."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What options do. ``settings``: ``None`` where the profiling is off. ``things``: what will be
    there, empty where the options are refused."""

    decision: Decision
    product: str
    settings: Settings | None
    things: tuple[Following, ...]


def explain(given: Given, product: str) -> Explanation:
    """Whether the profiling is on, what is in effect, and what follows on a product.

    Raises ``KeyError`` for an unknown product.
    """
    decision = decide(given)
    if not decision.on:
        return Explanation(decision, product, None, ())
    settings = settings_of(decision, product)
    things = () if settings.problems else tuple(recording_of(settings).things())
    return Explanation(decision, product, settings, things)


def recording_of(settings: Settings) -> Recording:
    """What is recorded by settings that are accepted."""
    metrics = settings.options["aic_metrics"].value
    return Recording(
        product=settings.product,
        switches=frozenset(settings.switches),
        level=profiler_level(settings.level),
        metrics=None if metrics is None else str(metrics),
        data=ge_catalog().entry.always.data,
    )


def options_of(following: Following, settings: Settings) -> tuple[str, ...]:
    """The options by which something is there, empty where it is in any case."""
    return _options(following.switches, settings) or _options(following.along, settings)


def options_along(following: Following, settings: Settings) -> tuple[str, ...]:
    """The options that are needed besides, by which what it is about is recorded."""
    along = _options(following.along, settings)
    return () if along == options_of(following, settings) else along


def _options(switches: Sequence[str], settings: Settings) -> tuple[str, ...]:
    found = [settings.switches.get(switch, ()) for switch in switches]
    if () in found:
        return ()
    return tuple(dict.fromkeys(option for one in found for option in one))


def adding_to(rows: Sequence[str]) -> tuple[str, ...]:
    """The options that add to rows of the matrix of products and do not collect them."""
    options = ge_catalog().options.values()
    return tuple(one.option for one in options if set(one.adds_to) & set(rows))


@dataclass(frozen=True, slots=True)
class Way:
    """An option that records something.

    ``values``: the values that do, ``None`` for each that is allowed. ``products``: where.
    ``task_time``: values of task_time that are needed besides, ``None`` where all but off will do
    or even that. ``adds``: it only adds rows to what another one records.
    """

    option: str
    values: tuple[str, ...] | None
    products: tuple[str, ...]
    task_time: tuple[str, ...] | None = None
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Ways:
    """How something is recorded. ``always``: products where it is there whatever options say,
    ``by_default``: where options that say nothing record it."""

    address: str
    summary: str
    always: tuple[str, ...]
    by_default: tuple[str, ...]
    ways: tuple[Way, ...]


def ways_of(address: str, summary: str, products: Sequence[str], column: str | None = None) -> Ways:
    """Which options record a table, a CSV file, a layer, a timeline or a raw file on products.

    column: of a CSV file, one that is asked for; the address is then that of the file.
    """
    asked = _Asked(address, column)
    ways = [
        Way(name, values, there, times)
        for name, option in ge_catalog().options.items()
        for (values, times), there in _by_products(asked, option, products).items()
    ]
    having = {one for way in ways for one in way.products}
    having |= {one for one in products if asked.is_there(one, LEAST_OPTIONS)}
    there = tuple(one for one in products if one in having)
    ways += [Way(name, None, there, adds=True) for name in adding_to(data_of(address)) if there]
    always = tuple(one for one in products if asked.is_there(one, {"task_time": "off"}))
    usual = tuple(one for one in products if asked.is_there(one, LEAST_OPTIONS))
    shown = address if column is None else f"header/{address.partition('/')[2]}/{column}"
    return Ways(shown, summary, always, usual, tuple(ways))


Words = tuple[str, ...] | None


def _by_products(
    asked: _Asked, option: Option, products: Sequence[str]
) -> dict[tuple[Words, Words], tuple[str, ...]]:
    """The products on which values of an option record it, by those values and of task_time."""
    found: dict[tuple[Words, Words], tuple[str, ...]] = {}
    for product in products:
        every = asked.values(option, product)
        values = tuple(one for one in every if asked.by(option, one, product))
        if values:
            shown = None if values == every and EVERY in option.turns_on else values
            key = (shown, asked.task_times(option, values[0], product))
            found[key] = (*found.get(key, ()), product)
    return found


class _Asked:
    """Whether something is there, by product and options."""

    def __init__(self, address: str, column: str | None) -> None:
        self.address = address
        self.column = column
        self._known: dict[tuple[object, ...], bool] = {}

    def values(self, option: Option, product: str) -> tuple[str, ...]:
        """Values of an option that turn something on; a column may need one group of counters."""
        if self.column is None or option.option != "aic_metrics":
            return tuple(option.turns_on)
        chips = set(catalog().products[product].platforms)
        metrics = ge_catalog().metrics.values()
        return tuple(one.text for one in metrics if one.text and not chips.isdisjoint(one.chips))

    def is_there(self, product: str, options: Mapping[str, object]) -> bool:
        """Whether options make it on a product."""
        switches = set(ge_catalog().entry.always.switches)
        task_time, metrics = str(options.get("task_time", "on")), options.get("aic_metrics")
        for name, value in {"task_time": task_time, **options}.items():
            switches.update(ge_catalog().options[name].switches(value))
        level = profiler_level(level_of(task_time))
        key = (product, frozenset(switches), level, metrics)
        if key not in self._known:
            recording = Recording(
                product=product,
                switches=frozenset(switches),
                level=level,
                metrics=None if metrics is None else str(metrics),
                data=ge_catalog().entry.always.data,
            )
            self._known[key] = self._holds(recording.thing(self.address))
        return self._known[key]

    def _holds(self, thing: Following | None) -> bool:
        return thing is not None and (self.column is None or self.column in thing.columns)

    def by(self, option: Option, value: str, product: str) -> bool:
        """Whether a value of an option makes it, where it is not there without."""
        if not _is_taken(option, value, product):
            return False
        if option.option == "task_time":
            return self.is_there(product, {"task_time": value}) and not self.is_there(
                product, {"task_time": "off"}
            )
        without = any(self.is_there(product, {"task_time": one}) for one in ("on", "off"))
        return not without and self.is_there(product, {option.option: value})

    def task_times(self, option: Option, value: str, product: str) -> Words:
        """The values of task_time with which an option makes it, where not all do."""
        times = ge_catalog().options["task_time"]
        if option is times:
            return None
        every = [one for one in ("off", *times.turns_on) if _is_taken(times, one, product)]
        fit = tuple(
            one for one in every if self.is_there(product, {option.option: value, "task_time": one})
        )
        return None if len(fit) == len(every) else fit


def _is_taken(option: Option, value: str, product: str) -> bool:
    """Whether the chips of a product take a value of an option."""
    chips = catalog().products[product].platforms
    having = (option.chips, option.values.get(value, ()))
    return all(not one or not set(one).isdisjoint(chips) for one in having)
