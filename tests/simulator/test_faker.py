"""Names come from Faker with a provider of ours, and are the same with any release of Faker."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import faker.providers
import pytest
from faker import Faker, Generator

from ascend_simulator.faker import AscendProvider, run_names

METHODS = sorted(name for name in vars(AscendProvider) if name.startswith("npu_"))


def provider(seed: int) -> AscendProvider:
    generator = Generator()
    generator.seed_instance(seed)
    return AscendProvider(generator)


def names(seed: int) -> list[str]:
    """Some of everything that the provider draws."""
    drawn = provider(seed)
    return [repr(getattr(drawn, method)()) for method in METHODS for _ in range(5)]


def word_lists() -> Iterator[tuple[type, str]]:
    """The lists of words of Faker's own providers, by class and attribute."""
    for module in walk_packages(faker.providers.__path__, "faker.providers."):
        if module.name.endswith((".en_US", ".internet", ".lorem", ".person", ".company")):
            kind = getattr(import_module(module.name), "Provider", None)
            for name, value in vars(kind).items() if kind else ():
                if isinstance(value, list | tuple) and value and isinstance(value[0], str):
                    yield kind, name


def test_known_names_of_a_seed() -> None:
    """Computed by hand: each draw is 32 bits of Python's generator, scaled to the list."""
    bits = random.Random(7)  # the generator that Faker seeds
    sites = ("atlas", "cluster", "train", "kunpeng", "pod", "rack", "lab", "zone")
    site = sites[bits.getrandbits(32) * 8 >> 32]
    row, node = (1 + (bits.getrandbits(32) * most >> 32) for most in (16, 32))
    assert provider(7).npu_host_name() == f"{site}-r{row:02d}-n{node:02d}"


@pytest.mark.exhaustive
def test_faker_s_own_words_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before, run = names(1), run_names(1)
    changed = list(word_lists())
    for kind, name in changed:
        monkeypatch.setattr(kind, name, ["other"])
    run_names.cache_clear()
    assert len(changed) > 10
    assert names(1) == before
    assert run_names(1) == run
    assert run_names(1).host(0) == run.host(0)


def test_a_seed_gives_its_own_names() -> None:
    assert names(1) == names(1)
    assert names(1) != names(2)


def test_anybody_s_faker_takes_the_provider() -> None:
    fake = Faker()
    fake.add_provider(AscendProvider)
    fake.seed_instance(3)
    assert fake.npu_kernel_name() == provider(3).npu_kernel_name()


def test_a_kernel_ends_with_its_type() -> None:
    operators = [provider(seed).npu_operator() for seed in range(200)]
    kernels = [provider(seed).npu_kernel_name() for seed in range(200)]
    for operator, kernel in zip(operators, kernels, strict=True):
        assert kernel.endswith(f"_{operator.type}")
        assert kernel.startswith(f"{operator.api}_")


def test_daemons_come_once() -> None:
    for seed in range(50):
        daemons = provider(seed).npu_daemons(8)
        assert len(set(daemons)) == len(daemons) == 8
    assert len(provider(0).npu_daemons(99)) == 8


def test_hosts_of_a_run_differ() -> None:
    hosts = [run_names(0).host(number) for number in range(64)]
    assert len({name for name, _ in hosts}) == len({uid for _, uid in hosts}) == 64
    assert all(0 <= uid < 1 << 62 for _, uid in hosts)
