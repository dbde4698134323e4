"""The rules by which a signature can be scaled down."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from skelgen.errors import UsageError
from skelgen.skeleton.paper2005.plan import plan_2005
from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Plan
from skelgen.trust.types import PAPER_2005, WHOLE_EVENTS

#: Planners, by the name of their rules.
METHODS: Mapping[str, Callable[..., Plan]] = {
    WHOLE_EVENTS: plan,
    PAPER_2005: plan_2005,
}


def planner(method: str) -> Callable[..., Plan]:
    """Return what plans by some rules, or say which there are.

    Parameters
    ----------
    method : str
    """
    if method not in METHODS:
        raise UsageError(f"--method {method}: expected {' or '.join(METHODS)}")
    return METHODS[method]
