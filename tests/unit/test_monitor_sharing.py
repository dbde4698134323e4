"""What a new process would get, against an independent way to share."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.monitor.sharing import Level, Rival, SharingFacts, available

weights = st.floats(0.01, 100)
rivals = st.lists(st.builds(Rival, weights, st.floats(0.0, 3.0)), max_size=6)


def one_core(*used: Rival, quota: float = math.inf) -> SharingFacts:
    return SharingFacts(1, (Level(), Level(tuple(used), quota=quota)))


@pytest.mark.parametrize("busy", [0, 1, 2, 3])
def test_busy_processes_and_a_new_one_share_evenly(busy: int) -> None:
    facts = one_core(*(Rival(1.0, 1 / busy) for _ in range(busy)))
    assert available(facts) == pytest.approx(1 / (busy + 1))


@pytest.mark.parametrize("weight", [0.1, 0.5, 1.0, 2.0, 10.0])
def test_a_busy_group_gets_what_its_weight_says(weight: float) -> None:
    facts = SharingFacts(1, (Level((Rival(weight, 1.0),)), Level(weight=1.0)))
    assert available(facts) == pytest.approx(1 / (1 + weight))


def test_a_group_with_many_busy_processes_counts_as_one() -> None:
    beside = Rival(1.0, 1.0)  # whatever is in it
    assert available(SharingFacts(1, (Level((beside,)), Level()))) == pytest.approx(0.5)


def test_the_weight_of_our_group_is_shared_with_those_in_it() -> None:
    inside = Level((Rival(1.0, 0.5),), weight=1.0)
    facts = SharingFacts(1, (Level((Rival(1.0, 0.5),)), inside))
    assert available(facts) == pytest.approx(0.25)


@pytest.mark.parametrize("quota", [0.2, 0.5, 0.8])
def test_a_quota_is_shared_with_those_under_it(quota: float) -> None:
    assert available(one_core(quota=quota)) == pytest.approx(quota)
    assert available(one_core(Rival(1.0, quota), quota=quota)) == pytest.approx(
        quota / 2
    )


def test_a_quota_of_a_group_further_out_counts() -> None:
    levels = (Level(), Level(quota=0.3), Level(quota=0.9))
    assert available(SharingFacts(1, levels)) == pytest.approx(0.3)


def test_a_free_core_is_given_whole() -> None:
    busy = tuple(Rival(1.0, 1.0) for _ in range(3))
    assert available(SharingFacts(4, (Level(busy),))) == pytest.approx(1.0)


def test_one_more_than_there_are_cores_takes_from_all() -> None:
    busy = tuple(Rival(1.0, 1.0) for _ in range(4))
    assert available(SharingFacts(4, (Level(busy),))) == pytest.approx(0.8)


@pytest.mark.parametrize("cores", [2, 4, 64])
def test_where_threads_are_bound_to_all_cores_one_is_shared(cores: int) -> None:
    busy = tuple(Rival(1.0, 1.0) for _ in range(cores))
    assert available(SharingFacts(cores, (Level(busy),), crowded=1.0)) == pytest.approx(
        0.5
    )


def test_a_group_on_all_cores_has_a_part_of_its_weight_on_each() -> None:
    levels = (Level((Rival(1.0, 4.0),)), Level())
    assert available(SharingFacts(4, levels, crowded=1.0)) == pytest.approx(0.8)


def test_our_group_has_a_part_of_its_weight_on_each_core_that_it_is_on() -> None:
    inside = Level(tuple(Rival(1.0, 0.5) for _ in range(4)))
    found = available(SharingFacts(4, (Level((Rival(1.0, 2.0),)), inside), crowded=1.0))
    # On one core half a thread of ours and the new one have half our weight, the
    # others a quarter of theirs.
    ours = (1 + 2 / 4) / (1 + 2)
    assert found == pytest.approx(ours / (ours + 1 / 4) / 2, rel=0.01)


def test_the_new_process_goes_where_its_group_has_nothing_to_do() -> None:
    outside = Level((Rival(1.0, 0.5), Rival(1.0, 0.5)))
    inside = Level((Rival(1.0, 1.0),), weight=256.0)
    found = available(SharingFacts(2, (outside, inside), crowded=1.0))
    assert found > 0.98
    both = Level((Rival(1.0, 1.0), Rival(1.0, 1.0)), weight=256.0)
    assert available(SharingFacts(2, (outside, both), crowded=1.0)) == pytest.approx(
        0.5, abs=0.01
    )


def test_who_comes_and_goes_leaves_room_on_its_core() -> None:
    outside = Level((Rival(1.0, 1.0),))
    inside = Level((Rival(1.0, 0.98), Rival(1.0, 0.02)), weight=256.0)
    assert available(SharingFacts(2, (outside, inside), crowded=1.0)) > 0.95


def test_cores_that_are_free_of_bound_threads_in_turn_are_used_in_turn() -> None:
    busy = tuple(Rival(1.0, 1.0) for _ in range(2))
    found = available(SharingFacts(2, (Level(busy),), crowded=0.25))
    assert found == pytest.approx(0.25 * 0.5 + 0.75 * 2 / 3)


def test_who_wants_little_keeps_it() -> None:
    assert available(one_core(Rival(1.0, 0.1))) == pytest.approx(0.9)


def test_a_patient_process_hardly_counts() -> None:
    facts = one_core(Rival(3 / 1024, 1.0))
    assert available(facts) == pytest.approx(1024 / 1027)


def test_what_the_hypervisor_takes_is_gone() -> None:
    facts = SharingFacts(4, (Level(),), fullest=0.7)
    assert available(facts) == pytest.approx(0.7)


def poured(capacity: float, sharers: list[tuple[float, float]]) -> float:
    """Return the level to which all are filled, by bisection."""
    if sum(wanted for _, wanted in sharers) <= capacity:
        return math.inf
    low, high = 0.0, capacity / min(weight for weight, _ in sharers)
    for _ in range(200):
        level = (low + high) / 2
        if sum(min(w * level, wanted) for w, wanted in sharers) < capacity:
            low = level
        else:
            high = level
    return high


@given(rivals, weights, st.integers(1, 8))
def test_one_level_shares_as_water_does(
    beside: list[Rival], weight: float, cores: int
) -> None:
    found = available(SharingFacts(cores, (Level(tuple(beside)),), weight=weight))
    sharers = [(one.weight, one.used) for one in beside] + [(weight, 1.0)]
    level = poured(cores, sharers)
    assert found == pytest.approx(min(1.0, cores, weight * level), rel=1e-6, abs=1e-9)


@given(
    st.lists(rivals, min_size=1, max_size=4),
    st.integers(1, 8),
    weights,
    st.floats(0, 1),
)
def test_one_more_competitor_never_gives_more(
    levels: list[list[Rival]], cores: int, weight: float, crowded: float
) -> None:
    without = tuple(Level(tuple(beside)) for beside in levels)
    more = Level((*levels[0], Rival(weight, 0.5)))
    before = available(SharingFacts(cores, without, crowded=crowded))
    after = available(SharingFacts(cores, (more, *without[1:]), crowded=crowded))
    assert 0.0 <= after <= before + 1e-9
    assert before <= 1.0


@given(rivals, st.integers(1, 8))
def test_what_is_idle_is_available(beside: list[Rival], cores: int) -> None:
    used = sum(one.used for one in beside)
    found = available(SharingFacts(cores, (Level(tuple(beside)),)))
    assert found >= min(1.0, cores - used) - 1e-9
