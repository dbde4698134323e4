"""Regions of a page that change later."""

from __future__ import annotations

from skelgen.web.fill import filled

#: Lines around each region of a page that changes later, for this version of the page.
EDGES = {
    name: (f"<!-- {name}, page 3 -->", f"<!-- end of {name} -->")
    for name in ("answer", "measured", "timeline", "phases")
}


def with_region(html: str, name: str, value: object) -> str | None:
    """Put what is known now in the place of one region of a page.

    Parameters
    ----------
    html : str
        What `render_page` returned.
    name : str
        Of the region: ``answer``, ``measured``, ``timeline`` or ``phases``.
    value : object
        What the page has for it.

    Returns
    -------
    str or None
        The page; None where it has no such region: it is of another version.
    """
    begin, end = EDGES[name]
    if html.count(begin) != 1 or html.count(end) != 1:
        return None
    head, _, rest = html.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        return None
    inside = filled(f"report_{name}.html.j2", **{name: value})
    return f"{head}{begin}\n{inside}{end}{tail}"
