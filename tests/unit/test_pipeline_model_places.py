"""Where the runs of a model were, as far as a store says it."""

from __future__ import annotations

import pytest

from skelgen.pipeline.kept_model import ModelOrigin
from skelgen.pipeline.model_places import ModelPlaces, places_of
from skelgen.store import Run, open_store


@pytest.fixture
def place(tmp_path):
    found = str(tmp_path / "store.db")
    rows = [
        Run("heat", 1.0, system="a", hosts=("a2", "a1"), identity="1"),
        Run("heat", 1.0, system="b", hosts=("b1",), identity="2"),
        Run("heat", 1.0, system="c", hosts=("c1",), identity="3", status="failed"),
    ]
    with open_store(found) as store:
        assert not store.add(rows).refused
    return found


@pytest.mark.parametrize(
    ("origin", "systems", "hosts"),
    [
        (ModelOrigin("heat"), ("a", "b"), ("a1", "a2", "b1")),
        (ModelOrigin("heat", where=("system=a",)), ("a",), ("a1", "a2")),
        (ModelOrigin("heat", system="b"), ("b",), ("b1",)),
        (ModelOrigin("heat", file="runs.csv"), (), ()),
        (ModelOrigin("other"), (), ()),
    ],
)
def test_only_runs_that_the_model_is_from_say_where_they_were(
    place, origin, systems, hosts
):
    assert places_of(place, origin) == ModelPlaces(systems, hosts)


def test_places_are_named_as_far_as_they_are_known():
    assert ModelPlaces(("a",), ("a1", "a2")).text == "on a (a1, a2)"
    assert ModelPlaces((), ("a1",)).text == "on a1"
    assert ModelPlaces(("a",)).text == "on a"
    assert ModelPlaces().text == "nobody kept on which hosts"
    many = tuple(f"n{n}" for n in range(7))
    assert ModelPlaces((), many).text == "on n0, n1, n2, n3, n4 and 2 more"
