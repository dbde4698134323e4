"""Facts of systems: medians with spread, names, laws, and why they are doubted."""

from __future__ import annotations

import pytest

from skelgen.systems import SystemFact
from skelgen.systems.doubts import doubt_of, doubts_of
from skelgen.systems.facts import benchmark_fact, measurement_of, size_name
from skelgen.systems.types import (
    HostFacts,
    MeasuredMessage,
    MeasuredRate,
    Printed,
    Stretch,
    time_in,
)

HOST = HostFacts(
    "n1", "cpu", "Linux 6", "GCC 14", "an MPI", 4, 3e9, 8e9, (("a", 1e8), ("b", 1e9))
)


def facts_of(**parts) -> dict[str, SystemFact]:
    found = measurement_of([Printed(hosts=(HOST,), **parts)]).facts
    return {one.name: one for one in found}


def test_a_fact_is_the_median_with_the_ends_of_its_repeats():
    rate = MeasuredRate("n1", "integer_add", 2, 0, (3.0, 1.0, 2.0), 0.0)
    fact = facts_of(rates=(rate,))["integer_add"]
    assert (fact.value, fact.low, fact.high) == (2.0, 1.0, 3.0)
    assert (fact.unit, fact.cores, fact.repeats) == ("1/s", 2, 3)
    assert (fact.compiler, fact.kernel) == ("GCC 14", "Linux 6")


def test_what_the_kernel_says_are_facts_too():
    found = facts_of()
    known = {name: (one.value, one.unit) for name, one in found.items()}
    assert known == {
        "cores": (4.0, "1"),
        "clock": (3e9, "1/s"),
        "memory": (8e9, "bytes"),
        "network_nominal": (1e9, "bytes/s"),
    }
    unknown = HostFacts("n1", "", "", "", "", 1)
    (only,) = measurement_of([Printed(hosts=(unknown,))]).facts
    assert only.name == "cores"


def test_sizes_that_are_powers_of_two_have_facts_and_the_paper_its_16_mib():
    sweep = tuple(
        MeasuredRate("n1", name, 1, size, (2e9, 1e9, 4e9))
        for name in ("read", "write", "chase", "moon")
        for size in (4096, 6144, 16 << 20)
    )
    found = facts_of(memory=sweep)
    sizes = {name for name in found if name.partition("_")[0] not in facts_of()}
    assert {name for name in sizes if not name.startswith("network")} == {
        f"{kind}_{size}"
        for kind in ("read", "write", "latency")
        for size in ("4kib", "16mib")
    }
    assert found["read_16mib"].value == 2e9
    latency = found["latency_16mib"]
    assert (latency.value, latency.unit) == (0.5e-9, "s")
    assert (latency.low, latency.high) == (0.25e-9, 1e-9)


def test_cache_sizes_follow_from_the_latencies():
    sizes = [round(4096 * 2 ** (n / 3)) for n in range(30)]
    sweep = tuple(
        MeasuredRate(
            "n1", "chase", 1, size, (1e9, 5e8) if size <= 32768 else (1e8, 5e7)
        )
        for size in sizes
    )
    cache = facts_of(memory=sweep)["cache_1"]
    assert (cache.value, cache.unit) == (32768, "bytes")
    assert (cache.low, cache.high) == (32768, sizes[sizes.index(32768) + 1])


def test_times_of_an_operation_become_one_law():
    def message(size, time_s, operation="SR", ranks=2):
        return MeasuredMessage(
            operation, ("n1", "n2"), ranks, size, (time_s, 2 * time_s, time_s), 512, 0.2
        )

    sizes = [0, *(1 << n for n in range(20))]
    messages = tuple(message(size, 1e-6 + size / 1e9) for size in sizes)
    messages += tuple(message(size, 2e-6, "BC", 4) for size in sizes)
    found = measurement_of([Printed(hosts=(HOST,), messages=messages)]).operations
    first, second = found
    assert (first.operation, first.ranks, first.hosts) == ("SR", 2, ("n1", "n2"))
    assert first.law.latency_s == pytest.approx(1e-6)
    assert first.law.eager_bytes == 512
    assert first.points[0] == (0, 1e-6)
    assert (first.repeats, first.spread, first.mpi) == (3, 1.0, "an MPI")
    assert first.doubt.startswith("busy: ") and "; unsteady: " in first.doubt
    # The limit of sends is none of collectives.
    assert (second.operation, second.law.eager_bytes) == ("BC", 0)


def test_a_size_is_in_the_stretch_that_began_last_before_it():
    stretches = [Stretch(0, 1.0, 1.0), Stretch(10, 5.0, 2.0)]
    assert [time_in(stretches, size) for size in (0, 9, 10, 20)] == [1, 10, 10, 15]


def test_the_users_benchmark_is_a_fact_of_its_own():
    times = [MeasuredRate("n1", "time", 1, 0, (rate,), 0.5) for rate in (2.0, 4.0)]
    fact = benchmark_fact("bt.A.x", times, HOST)
    assert (fact.name, fact.value, fact.unit) == (
        "platform_contribution:bt.A.x",
        3.0,
        "1/s",
    )
    assert (fact.repeats, fact.cores, fact.kernel) == (2, 1, "Linux 6")
    assert fact.doubt.startswith("busy")
    assert benchmark_fact("x", times, None).kernel == ""


@pytest.mark.parametrize(
    ("spread", "queued", "codes"),
    [
        (0.0, None, []),
        (0.2, 0.03, []),
        (0.21, None, ["unsteady"]),
        (0.0, 0.04, ["busy"]),
        (9.0, 0.9, ["busy", "unsteady"]),
    ],
)
def test_busy_machines_and_repeats_that_differ_are_doubted(spread, queued, codes):
    told = doubt_of(spread, queued)
    assert [one.code for one in doubts_of([told, ""])] == codes
    for doubt in doubts_of([told, ""]):
        assert "1 of" in doubt.text and "of 2 values" in doubt.text


def test_sizes_have_names_without_fractions():
    assert [size_name(one) for one in (1, 512, 4096, 3 << 20, 1 << 30)] == [
        "1b", "512b", "4kib", "3mib", "1gib",
    ]  # fmt: skip
