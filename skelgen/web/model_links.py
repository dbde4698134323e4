"""The line of links that leads from models to all that belongs to them."""

from __future__ import annotations

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
