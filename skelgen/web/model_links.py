"""The line of links that leads from models to all that belongs to them."""

from __future__ import annotations

from skelgen.web.site import FactList, TableCell
from skelgen.web.site_steps import LinkLine

#: Pages that belong to models, in the line at their top.
MODEL_PAGES = (
    ("/models", "Models"),
    ("/model/curve", "Fit a curve"),
    ("/model/default", "Fit a model of all inputs"),
    ("/templates", "Templates"),
    ("/couplings", "Couplings"),
    ("/model/template", "Model by a template"),
    ("/model/coupling", "Model by kernels"),
)


def model_links(here: str = "") -> LinkLine:
    """Return links to the pages of models; the one that is open has none."""
    links = tuple(("" if link == here else link, text) for link, text in MODEL_PAGES)
    return LinkLine("Pages of models", links)


#: What each way to a model is for.
_QUESTIONS = (
    ("/model/default", "How long at sizes, processes and loads that nobody ran?"),
    ("/model/curve", "How does the time grow with one size or number of processes?"),
    ("/model/template", "How long by a formula of mine and the facts of a system?"),
    ("/model/coupling", "How long by the kernels of a loop, measured one by one?"),
)


def model_questions() -> FactList:
    """Return what each way to a model answers, with links."""
    names = dict(MODEL_PAGES)
    return FactList(
        tuple((names[link], TableCell(text, link)) for link, text in _QUESTIONS)
    )
