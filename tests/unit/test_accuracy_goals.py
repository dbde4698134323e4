"""What the accuracy run was to reach, on its page."""

from __future__ import annotations

from benchmarks.accuracy.goals import answer, goals
from benchmarks.accuracy.judge import Judgement

WHERE = "mean error, where both are known"


def test_goals_say_what_was_measured_and_whether_that_is_enough() -> None:
    def one(
        method: str, error: float, length_s: float = 1.0, slow: float = 2.0
    ) -> Judgement:
        held = None if method != "skeleton" else length_s == 1.0
        return Judgement("a", "busy", method, length_s, slow, error, held=held)

    found = [one("skeleton", -0.04), one("skeleton", 0.05, 0.5)]
    found += [one("paper2005", 0.03), one("average", 0.2, 0.0)]
    sixth = [one("skeleton", 0.3), one("fitted", 0.06), one("fitted", 0.9, slow=1.01)]
    assert goals(found, sixth) == [
        ["mean error, 1 s and more", "at most 3 %", "4.0 %", "**no**"],
        ["90th percentile of these", "at most 6 %", "4.0 %", "yes"],
        ["mean error, 0.5 s", "at most 5 %", "5.0 %", "yes"],
        [WHERE, "better than paper2005: below 3.0 %", "4.0 %", "**no**"],
        [WHERE, "better than average: below 20.0 %", "4.5 %", "yes"],
        [WHERE, "better than small input", "-", "-"],
        ["90 % intervals with the truth inside", "85 to 95 %", "50.0 %", "**no**"],
        [
            "the same, of the application where it is least",
            "at least 70 %",
            "50.0 %",
            "**no**",
        ],
        ["mean error, sixth, fitted", "at most 10 %", "48.0 %", "**no**"],
        [
            "sixth, slowed by 5 % and more: error of arithmetic / of fitted",
            "at least 3",
            "5.0",
            "yes",
        ],
    ]


def test_the_page_begins_with_the_error_of_skeletons_of_a_second_and_more() -> None:
    def one(error: float, length_s: float = 1.0, method: str = "skeleton") -> Judgement:
        return Judgement("a", "busy", method, length_s, 2.0, error, held=True)

    found = [one(-0.02), one(0.04), one(0.9, 0.5), one(0.8, method="paper2005")]
    assert answer(found) == (
        "**Skeletons of 1 s and more have a mean error of 3.0 %.** Of 2 predictions, "
        "90 % are within 3.8 %; the largest error is 4.0 % (applications: 1)."
    )
    assert answer(found[2:]).startswith("There are no predictions")
