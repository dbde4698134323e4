"""The collector of cycles rests while rows are made, and only then."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from skelgen.pipeline.garbage_pause import uncollected


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_as_before_afterwards(*, was_on: bool) -> None:
    (gc.enable if was_on else gc.disable)()
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled() == was_on


def test_an_error_does_not_leave_it_off() -> None:
    gc.enable()
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled()
