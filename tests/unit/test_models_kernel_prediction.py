"""A loop that is predicted from its kernels: the value, its interval, its doubts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.coupling import chains_of
from skelgen.models.kernel_prediction import predict_loop
from skelgen.models.kernel_times import gather, nearest, students
from skelgen.models.runs import ModelInput, RunTable

LOOP = ("A", "B", "C")
WORK = {"A": 1e-9, "B": 3e-9, "C": 2e-9}
N = ModelInput("n")


def seconds(chain, n, factor=1.0):
    """Take time of a chain whose kernels change each other by a factor."""
    own = [WORK[one] * n**3 for one in chain]
    return math.fsum(own) * (factor if len(chain) > 1 else 1.0)


def measured(rows, loop=LOOP):
    """Gather rows of a size, a chain and its time."""
    sizes, chains, times = zip(*rows, strict=True)
    at = [{"n": float(size)} for size in sizes]
    return gather(RunTable.gather((N,), at, times), [tuple(c) for c in chains], loop)


def study(sizes, *, repeats=1, noise=0.0, seed=0, factor=1.0, whole=()):
    """Measure kernels alone and in pairs; at some sizes the loop, too."""
    random = np.random.default_rng(seed)
    return [
        (n, chain, seconds(chain, n, factor) * math.exp(noise * random.normal()))
        for n in sizes
        for chain in (*LOOP, *chains_of(LOOP, 2), *([LOOP] if n in whole else []))
        for _ in range(repeats)
    ]


def codes(found):
    return [one.code for one in found.doubts]


@given(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=7), st.data())
def test_couplings_of_one_give_the_sum_for_any_number_of_kernels(alone, data):
    loop = tuple("ABCDEFG"[: len(alone)])
    time_s = dict(zip(loop, alone, strict=True))
    length = data.draw(st.integers(2, len(loop)))
    chains = [*loop, *chains_of(loop, length)]
    rows = [(8, chain, math.fsum(time_s[one] for one in chain)) for chain in chains]
    found = predict_loop(measured(rows, loop), (8.0,), length=length)
    assert found.time_s.p50 == pytest.approx(math.fsum(alone), rel=1e-12)
    assert found.sum_s == pytest.approx(math.fsum(alone), rel=1e-12)
    assert {one.effect for one in found.chains} == {"not seen"}


def test_where_kernels_did_not_run_models_and_the_nearest_couplings_answer():
    times = measured(study((10, 20, 40, 80), factor=0.9, whole=(20, 80)))
    found = predict_loop(times, (160.0,), families=dict.fromkeys(LOOP, "cubic"))
    assert found.time_s.p50 == pytest.approx(seconds(LOOP, 160, 0.9), rel=1e-6)
    assert found.sum_s == pytest.approx(seconds(LOOP, 160), rel=1e-6)
    assert dict(found.coupled_at) == {"n": 80.0}
    assert [one.model.family for one in found.kernels] == ["cubic"] * 3
    assert [one.runs for one in found.kernels] == [0, 0, 0]


def test_a_family_is_of_one_kernel_and_a_kernel_that_ran_needs_none():
    rows = [*study((10, 20, 40, 80)), (160, "A", seconds("A", 160))]
    found = predict_loop(measured(rows), (160.0,), families={"B": "quadratic"})
    assert found.kernels[0].model is None
    assert found.kernels[0].runs == 1
    assert found.kernels[1].model.family == "quadratic"


def test_reused_couplings_are_doubted_until_measured_loops_show_how_far_they_reach():
    at, families = (80.0,), dict.fromkeys(LOOP, "power")
    rows = study((10, 20, 40), repeats=2)
    found = predict_loop(measured(rows), at, families=families)
    assert codes(found) == ["coupling-reused", "coupling-untested"]
    assert "n=40: no chain of 2 ran at n=80" in found.doubts[0].text
    shown = study((10, 20, 40), repeats=2, whole=(10, 20, 40))
    found = predict_loop(measured(shown), at, families=families)
    assert codes(found) == []
    assert "couplings are those of n=40" in found.notes[0]
    far = predict_loop(measured(shown), (160.0,), families=families)
    assert codes(far)[0] == "coupling-reused"


def test_one_missing_chain_is_named_and_other_couplings_count():
    rows = [one for one in study((10, 20), repeats=2) if one[:2] != (20, ("B", "C"))]
    found = predict_loop(measured(rows), (20.0,))
    assert dict(found.coupled_at) == {"n": 10.0}
    assert "B+C was not measured at n=20" in found.doubts[0].text


def test_an_interval_has_the_error_that_couplings_show_elsewhere():
    off = [(20, LOOP, 1.1 * seconds(LOOP, 20)), (40, LOOP, 0.9 * seconds(LOOP, 40))]
    rows = study((10, 20, 40), repeats=2)
    plain = predict_loop(measured(rows), (10.0,)).time_s
    assert plain.p95 == pytest.approx(plain.p5, rel=1e-9)
    found = predict_loop(measured([*rows, *off]), (10.0,)).time_s
    error = math.sqrt((math.log(1.1) ** 2 + math.log(0.9) ** 2) / 2)
    assert math.log(found.p95 / found.p50) == pytest.approx(students(2) * error)


def test_the_measured_loop_that_is_asked_for_has_no_part_in_the_interval():
    rows = [*study((10, 20), repeats=2), (10, LOOP, 2 * seconds(LOOP, 10))]
    found = predict_loop(measured(rows), (10.0,))
    assert found.time_s.p95 == pytest.approx(found.time_s.p5, rel=1e-9)
    assert found.measured.time_s == pytest.approx(2 * seconds(LOOP, 10))
    assert "the error of couplings is not in the interval" in found.notes[0]
    assert codes(found) == []


@pytest.mark.parametrize(("noise", "asked"), [(0.03, 20.0), (0.1, 20.0), (0.03, 80.0)])
def test_intervals_hold_about_as_often_as_they_say(noise, asked):
    held = 0
    for seed in range(60):
        rows = study((5, 10, 20, 40), repeats=3, noise=noise, seed=seed, factor=1.1)
        families = dict.fromkeys(LOOP, "power")
        found = predict_loop(measured(rows), (asked,), families=families).time_s
        held += found.p5 <= seconds(LOOP, asked, 1.1) <= found.p95
    assert held >= 48  # of 60; 54 expected


def test_a_chain_of_all_kernels_needs_no_kernel_to_be_steady():
    rows = [(10, "A", 1.0), (10, "A", 2.0), (10, "B", 1.0), (10, "C", 1.0)]
    whole = [(10, "BCA", 5.0), (10, "ABC", 5.0)]
    found = predict_loop(measured([*rows, *whole]), (10.0,), length=3)
    assert found.time_s.p50 == pytest.approx(5.0, rel=1e-12)
    assert found.measured.runs == 2
    own = predict_loop(measured([*rows, *rows, *whole]), (10.0,), length=3)
    assert own.time_s.p95 < 2 * own.time_s.p50


def test_runs_that_were_made_once_say_nothing_of_how_they_differ():
    found = predict_loop(measured(study((10,), whole=(10,))), (10.0,))
    assert codes(found) == ["no-repeats"]
    assert found.time_s.p95 > 1.05 * found.time_s.p50


def test_kernels_outside_of_the_loop_and_chains_beside_it_are_named():
    rows = study((10,), repeats=2, whole=(10,))
    rows += [(10, "Z", 7.0), (10, ("A", "C"), 1.0)]
    found = predict_loop(measured(rows), (10.0,))
    assert found.time_s.p50 == pytest.approx(seconds(LOOP, 10))
    assert codes(found) == ["not-coupled"]
    assert "no part of the loop do not count: A+C" in found.notes[-1]


@pytest.mark.parametrize(
    ("factor", "effect"), [(0.8, "share"), (1.25, "disturb"), (1.0, "not seen")]
)
def test_an_effect_is_one_that_is_larger_than_runs_differ(factor, effect):
    seen = []
    for seed in range(20):
        rows = study((10,), repeats=3, noise=0.01, factor=factor, seed=seed)
        found = predict_loop(measured(rows), (10.0,))
        seen += [one.effect for one in found.chains]
    assert seen.count(effect) >= (48 if factor == 1.0 else 60)  # of 60; 54 expected


def test_doubts_of_models_say_of_which_kernels():
    found = predict_loop(
        measured(study((10, 20, 40, 80), repeats=2, whole=(10, 20, 40, 80))),
        (1e5,),
        families=dict.fromkeys(LOOP, "power"),
    )
    said = [str(one) for one in found.doubts if one.code == "extrapolation"]
    assert len(said) == 1
    assert said[0].startswith("A, B, C: n=100000 is far from the runs")


def test_equally_near_places_are_the_smaller_one():
    assert nearest([(40.0, 2.0), (10.0, 2.0)], (20.0, 2.0)) == (10.0, 2.0)
    assert nearest([(40.0, 2.0), (10.0, 4.0)], (20.0, 3.0)) == (10.0, 4.0)


@pytest.mark.parametrize(
    ("rows", "at", "said"),
    [
        (
            [one for one in study((10, 20)) if one[1] != ("C", "A")],
            10.0,
            r"n=10 lacks C\+A; measure",
        ),
        (study((10,)), 20.0, "kernel A ran at n=10 only"),
        (
            [(n, c, s) for n, c, s in study((10, 20)) if c != "B" or n == 10],
            20.0,
            "kernel B ran at n=10 only",
        ),
    ],
)
def test_what_the_runs_do_not_say_is_one_line(rows, at, said):
    with pytest.raises(InputError, match=said):
        predict_loop(measured(rows), (at,), families=dict.fromkeys(LOOP, "linear"))


def test_a_kernel_that_never_ran_alone_is_named():
    with pytest.raises(InputError, match="no run of C alone"):
        measured([(10, "A", 1.0), (10, "B", 1.0), (10, "ABC", 3.0)])
