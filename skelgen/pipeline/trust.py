"""The errors of methods: which file is in use, and learning a new one."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths
from skelgen.errors import InputError
from skelgen.launch.folders import replace_file
from skelgen.launch.replaceable_output import check_file
from skelgen.pipeline.store_record import past_predictions, shown_store
from skelgen.prediction.known_cases import read_cases
from skelgen.store.track_record import cases
from skelgen.trust import store
from skelgen.trust.cases import Case
from skelgen.trust.errors import MethodErrors
from skelgen.trust.learning import ENOUGH, learn
from skelgen.trust.store import ErrorProvenance
from skelgen.trust.thresholds import FEWEST_APPLICATIONS

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownErrors:
    """The errors in use.

    Attributes
    ----------
    errors : MethodErrors
    path : Path
        Of the site's file, or of the one that comes with skelgen.
    provenance : ErrorProvenance
        Of that file.
    own : frozenset of str
        Methods that this file knows; those of other methods come with skelgen.
    """

    errors: MethodErrors
    path: Path
    provenance: ErrorProvenance
    own: frozenset[str]


def method_errors() -> MethodErrors:
    """Return the errors of all methods: those of the site, then those of skelgen."""
    return known_errors().errors


def known_errors() -> KnownErrors:
    """Return the errors in use and where they come from.

    Raises
    ------
    InputError
        When the site's file is damaged.
    """
    shipped, provenance = store.load(_paths.method_errors())
    path, errors = _paths.method_errors(), shipped
    site = _paths.site_method_errors()
    if not site.exists() and os.environ.get("SKELGEN_TRUST"):
        raise InputError(
            f"SKELGEN_TRUST names {site}, which does not exist; expected a file that "
            "skelgen trust learn -o wrote"
        )
    if site.exists():
        path = site
        errors, provenance = store.load(site)
    own = frozenset(_methods(errors))
    return KnownErrors(errors.over(shipped), path, provenance, own)


def trust_learn(
    results: Sequence[Path],
    target: Path | None,
    *,
    command: str,
    date: str,
    widen: bool = False,
    stores: Sequence[str] = (),
    within_s: float | None = None,
) -> KnownErrors:
    """Learn the errors of methods from results and write them.

    Parameters
    ----------
    results : sequence of Path
        Files of JSON lines: runs of the accuracy benchmark, or predictions with their
        truth.
    target : Path, optional
        File to write; the site's when None.
    command, date : str
        Kept in the file.
    stores : sequence of str
        Stores whose predictions are compared with what happened.
    within_s : float, optional
        Longest time from a prediction to the run that it is compared with [s].
    widen : bool
        Give methods with too few applications at least the error that comes with
        skelgen, in place of that of all methods in the results.
    """
    cases = [one for path in results for one in read_cases(path)]
    cases += [one for place in stores for one in _happened(place, within_s)]
    prior = store.load(_paths.method_errors())[0] if widen else None
    errors = learn(cases, prior)
    for method in sorted({one.method for one in cases} - _methods(errors)):
        logger.warning(
            "%s: too few applications, expected %d at least: its error stays that "
            "which comes with skelgen",
            method,
            FEWEST_APPLICATIONS,
        )
    for one in errors.entries:
        if one.widened:
            logger.warning(
                "%s: learnt from %d applications, expected %d: its error is widened "
                "to %.1f %%; measure more applications",
                one.method,
                one.applications,
                ENOUGH,
                100 * math.expm1(one.half_width),
            )
    named = [*results, *(Path(shown_store(one)) for one in stores)]
    provenance = ErrorProvenance(command, date, store.names(named))
    path = target or _paths.site_method_errors()
    check_file(path, store.METHOD_ERRORS_BEGIN, force=True)
    replace_file(path, store.as_text(errors, provenance))
    return KnownErrors(errors, path, provenance, frozenset(_methods(errors)))


def _methods(errors: MethodErrors) -> set[str]:
    return {one.method for one in errors.entries}


def _happened(place: str, within_s: float | None) -> list[Case]:
    """Return the predictions of a store whose truth is known."""
    found = cases(past_predictions(place, within_s=within_s))
    if not found:
        logger.warning(
            "%s: has no trusted prediction whose run is known; keep predictions with "
            "--store, and add the runs that follow: skelgen store add",
            shown_store(place),
        )
    return found
