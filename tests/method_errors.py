"""Errors of methods for tests that are not about how they are learnt."""

from __future__ import annotations

from skelgen.trust.errors import MethodError, MethodErrors


def method_error(
    method: str, half_width: float, family: str = "", cores: str = ""
) -> MethodError:
    """Return an error; within one application it is the same."""
    return MethodError(
        method=method,
        family=family,
        half_width=half_width,
        within=half_width,
        truth_over_predicted=1.0,
        applications=20,
        cases=100,
        held=0.9,
        least_held=0.8,
        least_application="x",
        widened=False,
        cores=cores,
    )


ERRORS = MethodErrors(
    (
        method_error("whole-events", 0.06),
        method_error("paper2005", 0.06),
        method_error("phases", 0.016),
        method_error("workload", 0.001),
    )
)
