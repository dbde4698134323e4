"""When occurrences end, as far as a signature tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skelgen.phase_execution.course import Course
from skelgen.phases.stored import StoredPhase
from tests.unit.test_phase_execution import LATE, MAIN, phase, signature


def test_what_is_stored_of_all_phases_counts():
    known = signature(MAIN, LATE)
    thinned = replace(MAIN, occurrences=(*MAIN.occurrences[:4], MAIN.occurrences[-1]))
    thin = Course(signature(thinned, LATE))
    assert Course(known).end_s(MAIN.occurrences[29]) == pytest.approx(3.0)
    assert thin.end_s(LATE.occurrences[0]) == pytest.approx(5.1)


def longer() -> StoredPhase:
    """Return a phase whose second half takes nine times as long as the first."""
    even = phase(1, 0, 100, 0.05)
    times_s = [0.01] * 50 + [0.09] * 50
    pairs = zip(even.occurrences, times_s, strict=True)
    return replace(even, occurrences=tuple(replace(a, time_s=b) for a, b in pairs))


def test_occurrences_that_take_longer_end_later():
    course = Course(signature(longer()))
    assert course.end_s(longer().occurrences[49]) == pytest.approx(0.5)
    assert course.end_s(longer().occurrences[59]) == pytest.approx(0.5 + 0.9)
    assert course.end_s(longer().occurrences[99]) == pytest.approx(5.0)


def test_what_is_not_stored_takes_as_long_as_its_neighbours():
    stored = longer()
    few = replace(stored, occurrences=stored.occurrences[::9])
    course = Course(signature(few))
    assert course.end_s(stored.occurrences[45]) == pytest.approx(0.46, rel=0.1)
    assert course.end_s(stored.occurrences[99]) == pytest.approx(5.0)
