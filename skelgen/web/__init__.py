"""One self-contained page about a signature and its skeleton; pictures of phases.

In: `Signature`, the plan's `Report` and, when there are any, the `Answer` of kept
predictions and calibrations, measured shares and phases; or `Phases`; or a
`WorkloadTime`; or a `Model`. Out: HTML or SVG without anything to download.
"""

from skelgen.web.page import Comparison, Shares, page_of
from skelgen.web.render import (
    PICTURE_BEGINS,
    render_model,
    render_page,
    render_phases,
    render_ticks,
    render_workload,
)

__all__ = [
    "PICTURE_BEGINS",
    "Comparison",
    "Shares",
    "page_of",
    "render_model",
    "render_page",
    "render_phases",
    "render_ticks",
    "render_workload",
]
