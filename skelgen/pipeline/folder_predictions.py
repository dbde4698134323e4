"""Keep predictions in the folder of their skeleton, and its page with them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from skelgen.errors import SkelgenError
from skelgen.pipeline.page_file import has_any_page
from skelgen.prediction import Choice, Failure, Prediction, TrialFacts
from skelgen.prediction.choosing import Contest
from skelgen.prediction.kept import (
    KeptPrediction,
    KeptSet,
    kept_failure,
    kept_set,
    load_kept,
    save_kept,
    with_newest,
)

logger = logging.getLogger(__name__)

#: While a choice runs its page is written at most once in this time, and in so many
#: times what it took to write it [s, 1].
_PAUSE_S, _TIMES = 2.0, 20.0


def begun(command: str, facts: TrialFacts) -> KeptPrediction:
    """Return what is kept of a prediction that begins now.

    Parameters
    ----------
    command : str
    facts : TrialFacts
        They tell the quiet time of the application.
    """
    return KeptPrediction(
        made=datetime.now(UTC).isoformat(timespec="milliseconds"),
        command=command,
        method=facts.method,
        state="done",
        quiet_s=facts.quiet_s,
        calibrated=facts.calibration is not None,
        sets=(),
    )


def answered(
    one: KeptPrediction, predictions: Sequence[Prediction], failures: Sequence[Failure]
) -> KeptPrediction:
    """Fill in what was predicted, the best node set first."""
    return replace(
        one,
        sets=tuple(kept_set(each) for each in predictions),
        failed=tuple(kept_failure(each) for each in failures),
    )


def keep_answer(folder: Path, one: KeptPrediction) -> None:
    """Keep a prediction in a skeleton's or run's folder, and bring its page up to date.

    Says in the log why it cannot, and raises nothing. Predictions of a file that is
    damaged are not replaced: the page shows the new one alone.

    Parameters
    ----------
    folder : Path
        Nothing is kept where it is another, or cannot be written.
    one : KeptPrediction
        In the place of one of the same time and command.
    """
    if not has_any_page(folder):
        return
    # What draws pages is loaded when one is drawn.
    from skelgen.pipeline.page import update_page

    known: Sequence[KeptPrediction] = [one]
    try:
        known = with_newest(load_kept(folder), one)
        save_kept(folder, known)
    except (SkelgenError, OSError) as error:
        logger.warning("the prediction was not kept for the page: %s", error)
    update_page(folder, known)


@dataclass(slots=True)
class Watch:
    """Shows on the page how a choice stands while it runs.

    Attributes
    ----------
    folder : Path
    one : KeptPrediction
        As it began.
    contest : Contest
    clock : callable
    """

    folder: Path
    one: KeptPrediction
    contest: Contest
    clock: Callable[[], float] = time.monotonic
    _next_s: float = field(default=0.0, init=False)

    def look(self) -> None:
        """Write the page again, unless that was done a short while ago."""
        if self.clock() < self._next_s:
            return
        began_s = self.clock()
        self.write(self.contest.standing(), "running")
        took_s = self.clock() - began_s
        self._next_s = self.clock() + max(_PAUSE_S, _TIMES * took_s)

    def write(self, choice: Choice, state: str) -> None:
        """Keep how a choice stands, or ended."""
        keep_answer(self.folder, replace(chosen(self.one, choice), state=state))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look after each run; say on the page when something ends the choice early."""
        trials = self.contest.trials
        before = trials.made

        def made(*run: object) -> None:
            if before is not None:
                before(*run)  # type: ignore[arg-type]
            self.look()

        trials.made = made
        try:
            yield
        except BaseException:
            self.write(self.contest.standing(), "ended early")
            raise


def chosen(one: KeptPrediction, choice: Choice) -> KeptPrediction:
    """Fill in how a choice stands."""
    sets: list[KeptSet] = [
        kept_set(each.prediction, each.best_probability) for each in choice.candidates
    ]
    failed = tuple(kept_failure(each) for each in choice.failures)
    return replace(one, sets=tuple(sets), failed=failed)
