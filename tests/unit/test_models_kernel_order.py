"""The order of a loop, by chains of its kernels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.coupling import chains_of
from skelgen.models.kernel_order import loop_of, turned

LETTERS = tuple("ABCDEFG")


@given(st.integers(2, 7), st.data())
def test_all_chains_of_a_length_say_the_order_however_they_are_mixed(kernels, data):
    loop = data.draw(st.permutations(LETTERS[:kernels]))
    length = data.draw(st.integers(2, kernels))
    chains = data.draw(st.permutations(chains_of(loop, length)))
    found = loop_of([("A",), *chains])
    assert turned(found, loop[0]) == tuple(loop)


@given(st.integers(3, 7), st.data())
def test_one_pair_may_be_missing(kernels, data):
    loop = LETTERS[:kernels]
    chains = list(chains_of(loop, 2))
    lost = chains.pop(data.draw(st.integers(0, kernels - 1)))
    assert turned(loop_of(chains), "A") == loop
    assert loop_of(chains)[0] == lost[1]


def test_a_chain_of_all_kernels_counts_more_than_chains_that_skip_some():
    whole = ("A", "B", "C", "D")
    assert loop_of([("A", "C"), whole, ("A", "B")]) == whole


@pytest.mark.parametrize(
    ("chains", "said"),
    [
        ("A B", "no chain of kernels was measured"),
        ("AB AC CA", "after A come B and C; say it: --order"),
        ("AB CD", r"A\+B is a part of it, and no chain says where C is"),
        ("ABC ACB", r"different orders, A\+B\+C and A\+C\+B"),
        ("AB BA CD DC", "no chain says where C is"),
    ],
)
def test_an_order_that_is_not_known_is_said(chains, said):
    with pytest.raises(InputError, match=said):
        loop_of([tuple(one) for one in chains.split()])
