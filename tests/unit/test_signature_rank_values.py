"""The values of a rank's calls that have a symbol, by position."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skelgen.signature.rank_values import RankValues


@given(st.lists(st.booleans(), min_size=1, max_size=20), st.integers(0, 5))
def test_values_are_those_of_an_array_of_the_wanted_calls(wanted, first):
    of_calls = np.arange(100, 100 + first + len(wanted))
    chosen = np.array(wanted)
    expected = of_calls[first:][chosen]
    values = RankValues(of_calls.__getitem__, first, chosen)
    assert values[0 : len(expected)].tolist() == expected.tolist()
    rows = np.arange(len(expected))[::-1]
    assert values[rows].tolist() == expected[::-1].tolist()
