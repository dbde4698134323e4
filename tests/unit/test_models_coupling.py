"""Kernel coupling: the weights of the paper, for any number of kernels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.coupling import chains_of, couple
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.runs import ModelInput, RunTable

ALONE = {"A": 2.0, "B": 3.5, "C": 1.25}
PAIRS = {("A", "B"): 6.0, ("B", "C"): 4.5, ("C", "A"): 3.75}
LETTERS = ("A", "B", "C", "D", "E")

times = st.floats(1e-6, 1e6)


def test_three_kernels_have_the_weights_that_the_paper_prints():
    c_ab, c_bc, c_ca = 6.0 / 5.5, 4.5 / 4.75, 3.75 / 3.25
    psi = (c_ab * 6.0 + c_ca * 3.75) / (6.0 + 3.75)
    zeta = (c_ab * 6.0 + c_bc * 4.5) / (6.0 + 4.5)
    kappa = (c_bc * 4.5 + c_ca * 3.75) / (4.5 + 3.75)
    found = couple("ABC", ALONE, PAIRS)
    assert found.weights == pytest.approx((psi, zeta, kappa), rel=1e-12)
    assert [one.value for one in found.chains] == pytest.approx(
        [c_ab, c_bc, c_ca], rel=1e-12
    )
    later = {"A": 20.0, "B": 30.0, "C": 10.0, "Initialization": 7.0}
    assert found.time_s(later) == pytest.approx(
        20 * psi + 30 * zeta + 10 * kappa + 7.0, rel=1e-12
    )


@given(st.lists(times, min_size=3, max_size=5), st.data())
def test_kernels_that_do_not_affect_each_other_have_weights_of_one(alone, data):
    kernels = LETTERS[: len(alone)]
    alone_s = dict(zip(kernels, alone, strict=True))
    length = data.draw(st.integers(2, len(kernels)))
    together = {
        chain: math.fsum(alone_s[one] for one in chain)
        for chain in chains_of(kernels, length)
    }
    found = couple(kernels, alone_s, together, length=length)
    assert found.weights == pytest.approx([1.0] * len(kernels), rel=1e-12)


@given(st.lists(times, min_size=2, max_size=5), times)
def test_a_chain_of_all_kernels_gives_its_own_time_back(alone, together):
    kernels = LETTERS[: len(alone)]
    alone_s = dict(zip(kernels, alone, strict=True))
    found = couple(kernels, alone_s, {kernels: together}, length=len(kernels))
    assert found.time_s(alone_s) == pytest.approx(together, rel=1e-12)


def test_a_weight_lies_between_the_couplings_of_its_chains():
    kernels = LETTERS
    alone = {one: 1.0 + i for i, one in enumerate(kernels)}
    chains = chains_of(kernels, 3)
    assert chains[-1] == ("E", "A", "B")
    together = {chain: 5.0 + 2.0 * i for i, chain in enumerate(chains)}
    found = couple(kernels, alone, together, length=3)
    for kernel, weight in found.by_kernel.items():
        own = [one.value for one in found.chains if kernel in one.chain]
        assert len(own) == 3
        assert min(own) < weight < max(own)


def test_models_of_kernels_are_added_with_their_weights():
    n = ModelInput("n")
    runs = [{"n": float(size)} for size in (1, 2, 3, 4)]
    models = {
        name: FAMILIES["linear"].fit(
            RunTable.gather((n,), runs, [slope * run["n"] for run in runs]),
            FamilySettings(),
        )
        for name, slope in ALONE.items()
    }
    coupling = couple("ABC", ALONE, PAIRS)
    found = coupling.formula(models)
    assert found.at({"n": 10.0}) == pytest.approx(
        10.0 * coupling.time_s(ALONE), rel=1e-9
    )
    assert found.inputs == (n,)
    with pytest.raises(InputError, match="no model of C"):
        coupling.formula({name: models[name] for name in "AB"})


@pytest.mark.parametrize(
    ("alone", "pairs", "length", "said"),
    [
        ({"A": 1.0, "B": 1.0}, PAIRS, 2, "no time alone of C"),
        (ALONE, {("A", "B"): 6.0}, 2, "no time together of B, C; C, A"),
        (ALONE, PAIRS, 1, "chains of 1 of 3 kernels"),
        (ALONE, PAIRS, 4, "chains of 4 of 3 kernels"),
        (ALONE | {"B": 0.0}, PAIRS, 2, "the time of B is 0 s"),
        (ALONE | {"B": math.nan}, PAIRS, 2, "the time of B is nan s"),
        (ALONE, PAIRS | {("B", "C"): math.inf}, 2, "the time of B, C is inf s"),
    ],
)
def test_what_is_missing_is_said(alone, pairs, length, said):
    with pytest.raises(InputError, match=said):
        couple("ABC", alone, pairs, length=length)


def test_kernels_of_one_name_are_refused():
    with pytest.raises(InputError, match="one name"):
        couple("ABA", ALONE, PAIRS)
