"""What the functions of ``ge/ge_prof.h`` return, in both readings, and what is collected then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ascend_spec import catalog, ge_catalog, per_spec
from ascend_spec.ge import (
    ArgumentCheck,
    FirstMode,
    Reading,
    StateName,
    commanded_bits,
    effective_bits,
    supported_mask,
    transition_in,
)

from .calls import Call, CreateConfig, DestroyConfig, Finalize, Init, Start, Stop

FAILED = "GE_PROF_FAILED"
USUAL = "A2"
"""The product where nothing else is stated."""


class UndefinedCall(ValueError):
    """A call without a defined meaning; the text says why, and what is expected."""


@per_spec
def usual_metrics() -> tuple[int, ...]:
    """The groups of metrics of ``ge/ge_prof.h`` that the usual product has."""
    chips = set(catalog().products[USUAL].platforms)
    every = ge_catalog().metrics.values()
    return tuple(
        one.value
        for one in every
        if one.value is not None and one.public and not chips.isdisjoint(one.chips)
    )


@dataclass(frozen=True, slots=True)
class Environment:
    """What a process finds: who has its profiling, devices, and groups of metrics of the chip.

    ``dynamic``: the profiling is switched by the msprof command while the process runs.
    """

    mode: FirstMode = "OFF"
    devices: int = 2
    metrics: tuple[int, ...] = field(default_factory=usual_metrics)
    dynamic: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """By which rules calls are answered.

    ``start_flag``: as upstream, with the flag of a start that only a successful stop clears
    (erratum G63).
    """

    reading: Reading = "strict"
    start_flag: bool = False


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a configuration names; ``types`` are the bits with those that were added."""

    devices: tuple[int, ...]
    metrics: int
    types: int


@dataclass(frozen=True, slots=True)
class Profiling:
    """The profiling of a process between two calls.

    ``collecting``: bits by device, without the host. ``path``: the one written down last.
    """

    state: StateName
    configurations: Mapping[int, Configuration] = field(default_factory=dict)
    collecting: Mapping[int, int] = field(default_factory=dict)
    path: str | None = None
    flag: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """What modules are commanded: a name of command_types, devices and bits."""

    name: str
    devices: tuple[int, ...] = ()
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call returns: a code, or ``"config"`` or ``None`` for a pointer.

    ``code``: before it is folded. ``why``, ``source``, ``errata``: the reason, and who states it.
    ``commands``: what modules are commanded meanwhile.
    """

    returns: int | Literal["config"] | None
    code: int | None
    why: str
    source: tuple[str, ...]
    errata: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()


class LifeCycle:
    """Answers calls; nothing is kept, so that any sequence can be tried from any point."""

    def __init__(self, environment: Environment | None = None, rules: Rules | None = None) -> None:
        self.environment = environment or Environment()
        self.rules = rules or Rules()

    def begin(self) -> Profiling:
        """The profiling of a process that has called nothing."""
        return Profiling(self.environment.mode)

    def respond(self, before: Profiling, call: Call) -> tuple[Profiling, Returned]:
        """The profiling after a call, and what the call returns. Raises :class:`UndefinedCall`."""
        match call:
            case Init():
                return self._init(before, call)
            case CreateConfig():
                return self._create(before, call)
            case Start():
                return self._start(before, self._configuration(before, call.config))
            case Stop():
                return self._stop(before, self._configuration(before, call.config))
            case Finalize():
                return self._finalize(before)
            case DestroyConfig():
                return self._destroy(before, call)

    def _init(self, before: Profiling, call: Init) -> tuple[Profiling, Returned]:
        name = call.function
        if self.environment.dynamic:
            check = ge_catalog().functions[name].check("dynamic")
            return before, _refusal(name, check, folded=False)
        wrong = _wrong_path(call)
        if wrong is not None:
            return before, _refusal(name, _check(name, wrong))
        after, returned = self._move(before, name)
        if returned.code == 0:
            check = _check(name, "path-characters")
            if set(check.characters) & set(call.path or ""):
                return before, _refusal(name, check)
            after = replace(after, path=call.path)
        return after, returned

    def _create(self, before: Profiling, call: CreateConfig) -> tuple[Profiling, Returned]:
        name, devices = call.function, call.devices
        if call.config in before.configurations:
            raise UndefinedCall(f"config {call.config} is there already; expected another number")
        if devices is None:
            return before, _refusal(name, _check(name, "devices"))
        if not _check(name, "device-count").allows(call.device_nums):
            return before, _refusal(name, _check(name, "device-count"))
        if call.device_nums > self.environment.devices:
            return before, _refusal(name, _check(name, "device-machine"))
        if call.device_nums > len(devices):
            raise UndefinedCall(
                f"device_nums is {call.device_nums}; expected at most the {len(devices)} listed"
            )
        seen: set[int] = set()
        for one in devices[: call.device_nums]:
            if one >= self.environment.devices:
                return before, _refusal(name, _check(name, "device-id"))
            if one in seen:
                return before, _refusal(name, _check(name, "device-twice"))
            seen.add(one)
        types = effective_bits(ge_catalog().data_types, call.types)
        made = Configuration(devices[: call.device_nums], call.metrics, types)
        known = {**before.configurations, call.config: made}
        source = ge_catalog().functions[name].source
        why = "Its arguments are right."
        return replace(before, configurations=known), Returned("config", None, why, source)

    def _destroy(self, before: Profiling, call: DestroyConfig) -> tuple[Profiling, Returned]:
        name = call.function
        if call.config is None:
            return before, _refusal(name, _check(name, "config"))
        self._configuration(before, call.config)
        left = {one: made for one, made in before.configurations.items() if one != call.config}
        function = ge_catalog().functions[name]
        returned = Returned(0, 0, function.summary, function.source, function.errata)
        return replace(before, configurations=left), returned

    def _start(self, before: Profiling, config: Configuration) -> tuple[Profiling, Returned]:
        wrong = _wrong_bits(Start.function, config)
        if wrong is not None:
            return before, wrong
        if self.rules.start_flag and self.rules.reading == "strict":  # asked before the state
            if before.flag:
                return before, _while_flagged(before, config)
            before = replace(before, flag=True)
        after, returned = self._move(before, Start.function, config)
        if before.state in ("CMD", "SUBSCRIBE") or after.state == "OFF":
            return after, returned
        begun = replace(before, state="IDLE") if before.state == "OFF" else before
        if self.rules.start_flag and self.rules.reading == "lenient":
            if before.flag:
                return begun, _while_flagged(begun, config)
            begun = replace(begun, flag=True)
        return (begun, returned) if returned.code else self._begin(begun, config, returned)

    def _begin(
        self, before: Profiling, config: Configuration, returned: Returned
    ) -> tuple[Profiling, Returned]:
        """A start that nothing speaks against but, perhaps, its metrics."""
        new = [one for one in config.devices if one not in before.collecting]
        if new and not self._has_metrics(config):
            return before, _refusal(Start.function, _check(Start.function, "metrics"))
        collecting = {**before.collecting, **dict.fromkeys(new, config.types)}
        bits = commanded_bits(ge_catalog().data_types, config.types)
        commands = tuple(
            command for one in new for command in (Command("INIT"), Command("START", (one,), bits))
        )
        after = replace(before, state="STARTED", collecting=collecting)
        return after, replace(returned, commands=commands)

    def _stop(self, before: Profiling, config: Configuration) -> tuple[Profiling, Returned]:
        name = Stop.function
        wrong = _wrong_bits(name, config)
        is_asked_first = before.state == "OFF" and self.rules.reading == "lenient"
        if wrong is not None and not is_asked_first:
            return before, wrong
        after, returned = self._move(before, name, config)
        if returned.code != 0 or before.state == "OFF":
            return after, returned
        bits = commanded_bits(ge_catalog().data_types, config.types)
        devices = tuple(sorted(before.collecting))
        commands = (Command("STOP", devices, bits),) if devices else ()
        return replace(after, collecting={}, flag=False), replace(returned, commands=commands)

    def _finalize(self, before: Profiling) -> tuple[Profiling, Returned]:
        after, returned = self._move(before, Finalize.function)
        if returned.code != 0 or before.state == "OFF":
            return after, returned
        return replace(after, collecting={}), replace(returned, commands=(Command("FINALIZE"),))

    def _move(
        self, before: Profiling, name: str, config: Configuration | None = None
    ) -> tuple[Profiling, Returned]:
        """What the state answers."""
        same = config is None or set(before.collecting.values()) <= {config.types}
        found = transition_in(ge_catalog().life_cycle, name, before.state, self.rules.reading, same)
        errata = (*found.errata, *ge_catalog().functions[name].errata)
        returned = Returned(
            _fold(name, found.code), found.code, found.summary, found.source, errata
        )
        return replace(before, state=found.then), returned

    def _configuration(self, before: Profiling, config: int) -> Configuration:
        if config not in before.configurations:
            known = ", ".join(map(str, before.configurations)) or "none"
            raise UndefinedCall(f"config {config} is not there; known: {known}")
        return before.configurations[config]

    def _has_metrics(self, config: Configuration) -> bool:
        wanted = ge_catalog().data_types["AICORE_METRICS"].mask & config.types
        return not wanted or config.metrics in self.environment.metrics


def _wrong_path(call: Init) -> str | None:
    """The check that a path fails before the state is asked."""
    if call.path is None:
        return "path"
    if not _check(call.function, "path-length").allows(call.length):
        return "path-length"
    text = call.path.encode("utf-8", "surrogatepass").partition(b"\0")[0]
    return None if len(text) == call.length else "path-end"


def _check(function: str, check: str) -> ArgumentCheck:
    return ge_catalog().functions[function].check(check)


def _fold(function: str, code: int) -> int:
    return _failure() if code and ge_catalog().functions[function].folds else code


@per_spec
def _failure() -> int:
    return next(one.code for one in ge_catalog().codes.values() if one.name == FAILED)


def _refusal(function: str, check: ArgumentCheck, *, folded: bool = True) -> Returned:
    """A check of the arguments that does not hold."""
    source = ge_catalog().functions[function].source
    why = f"This does not hold: {check.summary[0].lower()}{check.summary[1:]}"
    if check.code is None:
        return Returned(None, None, why, source, check.errata)
    returns = _fold(function, check.code) if folded else check.code
    return Returned(returns, check.code, why, source, check.errata)


def _wrong_bits(function: str, config: Configuration) -> Returned | None:
    if config.types == 0:
        return _refusal(function, _check(function, "types-none"))
    if config.types & ~supported_mask(ge_catalog().data_types.values()):
        return _refusal(function, _check(function, "types-outside"))
    return None


def _while_flagged(before: Profiling, config: Configuration) -> Returned:
    """What a start returns while the flag is set: only bits are compared."""
    same = set(before.collecting.values()) <= {config.types}
    code = transition_in(ge_catalog().life_cycle, Start.function, "STARTED", "strict", same).code
    erratum = ge_catalog().errata["G63"]
    source = tuple(source for source, _ in erratum.says)
    why = "The flag of a start is set, so that nothing is started."
    return Returned(_fold(Start.function, code), code, why, source, ("G63",))
