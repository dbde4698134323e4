"""What was measured of a system, as facts and functions of a template."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.models.formulas import evaluate, parse, to_text
from skelgen.pipeline.known_systems import SystemRows
from skelgen.pipeline.system_facts import facts_of, told_doubts
from skelgen.store import Fact, Message
from skelgen.systems.types import Stretch, time_in


def rate(name, value, unit="1/s", *, cores=1, host="n1", doubt=""):
    return Fact(host, name, value, unit, value, value, cores=cores, doubt=doubt)


def of(facts, name, *sizes):
    """Evaluate a function of a system."""
    parameters, body = facts.definitions[name]
    values = dict(zip(parameters, sizes, strict=True))
    return float(evaluate(body, values))


def test_times_of_core_computations_are_one_over_the_rates_of_one_core():
    rows = SystemRows(
        (
            rate("float_multiply_add", 2e9),
            rate("float_multiply_add", 1e9, cores=2),
            rate("integer_add", 4e9),
            rate("integer_multiply_add", 5e8),
            rate("read_16mib", 8e9, "bytes/s"),
            rate("memory", 2.0**34, "bytes", cores=0),
            rate("cores", 2.0, "1", cores=0),
            rate("platform_contribution:lu", 3.0),
        )
    )
    found = facts_of(rows)
    assert found.values["ADDM"] == 0.5e-9
    assert found.values["IADD"] == 0.25e-9
    assert found.values["IMADD"] == 2e-9
    assert found.values["memory"] == 2.0**34
    assert {name: found.units[name] for name in ("ADDM", "read_16mib", "cores")} == {
        "ADDM": "s",
        "read_16mib": "bytes/s",
        "cores": "",
    }
    assert "platform_contribution:lu" not in found.values


def test_of_a_system_of_several_hosts_the_median_counts():
    hosts = [rate("integer_add", v, host=f"n{v:g}") for v in (1e9, 2e9, 8e9)]
    assert facts_of(SystemRows(tuple(hosts))).values["IADD"] == 0.5e-9


KNEES = ((0, 1e-6, 1e9), (1025, 3e-6, 2e9), (65536, -5e-6, 1.5e9))


def test_a_message_takes_what_its_stretch_says():
    row = Message(("n1", "n2"), "SR", 2, 1e-6, 1.5e9, knees=KNEES)
    found = facts_of(SystemRows(messages=(row,)))
    law = [Stretch(*one) for one in KNEES]
    for size in (0.0, 1.0, 1024.0, 1025.0, 1026.0, 65535.0, 65536.0, 1e9):
        assert of(found, "SR", size) == pytest.approx(time_in(law, size), rel=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    begins=st.lists(st.integers(1, 10**9), max_size=5, unique=True),
    seed=st.integers(0, 10**6),
    size=st.integers(0, 2 * 10**9),
)
def test_the_formula_of_a_message_is_its_law_to_1e_12(begins, seed, size):
    random = np.random.default_rng(seed)
    knees = [
        (begin, random.uniform(1e-7, 1e-4), 10.0 ** random.uniform(5, 11))
        for begin in (0, *sorted(begins))
    ]
    row = Message(("n1",), "SR", 2, knees[0][1], knees[-1][2], knees=tuple(knees))
    parameters, body = facts_of(SystemRows(messages=(row,))).definitions["SR"]
    assert parameters == ("L",)
    law = time_in([Stretch(*one) for one in knees], size)
    for formula in (body, parse(to_text(body))):
        assert float(evaluate(formula, {"L": float(size)})) == pytest.approx(
            law, rel=1e-12
        )


def test_a_time_that_does_not_depend_on_the_size_is_a_number():
    row = Message(("n1",), "SR", 2, 4e-6, math.nan)
    assert of(facts_of(SystemRows(messages=(row,))), "SR", 1e6) == 4e-6


def test_messages_between_hosts_count_where_there_are_any():
    inside = Message(("n1",), "SR", 2, 1e-6, 1e9)
    between = [
        Message(("n1", f"n{i}"), "SR", 2, latency, 1e8)
        for i, latency in enumerate((5e-5, 2e-5, 9e-5), 2)
    ]
    found = facts_of(SystemRows(messages=(inside, *between)))
    assert of(found, "SR", 0.0) == 5e-5
    assert of(found, "SR_between", 0.0) == 5e-5
    assert of(found, "SR_inside", 0.0) == 1e-6
    alone = facts_of(SystemRows(messages=(inside,)))
    assert of(alone, "SR", 0.0) == 1e-6
    assert "SR_between" not in alone.definitions


def broadcasts(*pairs):
    rows = [Message(("n1", "n2"), "BC", p, t, math.nan) for p, t in pairs]
    return facts_of(SystemRows(messages=tuple(rows)))


def test_a_broadcast_is_what_was_measured_at_each_number_of_ranks():
    measured = ((2, 1e-5), (6, 3e-5), (8, 2.5e-5))
    found = broadcasts(*measured)
    for ranks, time_s in measured:
        assert of(found, "BC", 1024.0, ranks) == pytest.approx(time_s, rel=1e-12)


def test_a_broadcast_is_linear_in_the_logarithm_between_and_goes_with_it_beyond():
    found = broadcasts((2, 1e-5), (8, 4e-5))
    assert of(found, "BC", 0.0, 4) == pytest.approx(2.5e-5, rel=1e-12)
    assert of(found, "BC", 0.0, 64) == pytest.approx(8e-5, rel=1e-12)
    assert of(found, "BC", 0.0, 1) == 0.0
    one = broadcasts((4, 2e-5))
    for ranks in (2, 4, 16, 1024):
        expected = 1e-5 * math.log2(ranks)
        assert of(one, "BC", 0.0, ranks) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(2, 4096), min_size=1, max_size=5, unique=True),
    ranks=st.integers(1, 10**5),
    seed=st.integers(0, 10**6),
)
def test_a_broadcast_is_never_negative(counts, ranks, seed):
    random = np.random.default_rng(seed)
    found = broadcasts(*((p, float(random.uniform(1e-6, 1e-3))) for p in counts))
    assert of(found, "BC", 8.0, ranks) >= (0.0 if ranks == 1 else 1e-9)


def test_formulas_of_a_system_can_be_written_and_read():
    rows = [
        Message(("n1", "n2"), op, p, 1e-6, 1.5e9, knees=KNEES)
        for op in ("SR", "BC")
        for p in (2, 4, 8, 16, 64, 256)
    ]
    for parameters, body in facts_of(
        SystemRows(messages=tuple(rows))
    ).definitions.values():
        read = parse(to_text(body))
        at = {"L": 3000.0, "P": 24.0}
        values = {name: at[name] for name in parameters}
        assert evaluate(read, values) == pytest.approx(
            float(evaluate(body, values)), rel=1e-12
        )


def test_doubts_are_those_of_what_a_template_names():
    rows = SystemRows(
        (
            rate("float_multiply_add", 1e9, doubt="busy: yes"),
            rate("float_multiply_add", 1e9, cores=2, doubt="unsteady: yes"),
            rate("integer_add", 1e9, doubt="unsteady: no"),
        ),
        (Message(("n1",), "SR", 2, 1e-6, 1e9, doubt="unsteady: SR"),),
    )
    assert told_doubts(rows, ["ADDM", "n"]) == ("busy: yes",)
    assert told_doubts(rows, ["SR_inside"]) == ("unsteady: SR",)
