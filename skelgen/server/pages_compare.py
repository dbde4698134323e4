"""Pages of runs side by side."""

from __future__ import annotations

import shlex

from skelgen.errors import InputError, NoFileError
from skelgen.pipeline.run_compare import FEWEST, compare_runs, said_of_time
from skelgen.server.settings import Answer, Question, RefusedError
from skelgen.store.comparing import RunComparison
from skelgen.web import site_compare


def compare(question: Question) -> Answer:
    """Show runs side by side."""
    if len(question.several["run"]) < FEWEST:
        return site_compare.chosen_page("Choose at least two runs to compare.")
    found = compared(question)
    words = ["skelgen", "store", "compare", *(one.identity for one in found.runs)]
    return site_compare.compare_page(found, said_of_time(found), shlex.join(words))


def compared(question: Question) -> RunComparison:
    """Return the runs that are asked for, side by side.

    Raises
    ------
    RefusedError
        When one is not there.
    """
    try:
        return compare_runs(question.settings.store, question.several["run"])
    except NoFileError:
        raise
    except InputError as error:
        raise RefusedError(404, str(error)) from error
