"""The links between hosts: what monitors are told of them, and the series they kept."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from skelgen.launch.way import Way
from skelgen.monitor.folders import hosts as known
from skelgen.monitor.folders import this_host
from skelgen.monitor.link_files import link_name, read_links
from skelgen.monitor.links import Links
from skelgen.monitor.series import HostHistory
from skelgen.pipeline.monitor_asking import HostAnswer, monitor_do
from skelgen.pipeline.monitor_series import history_from, series_of, time_words
from skelgen.store import Series

#: The variable with the secret of monitors that probe links.
SECRET = "SKELGEN_MONITOR_SECRET"


def link_words(links: Links | None) -> list[str]:
    """Return the options of a monitor that say which links it probes."""
    if links is None:
        return []
    words = ["--links", ",".join(links.hosts), f"--link-budget={links.budget_bytes!r}"]
    return [*words, f"--link-interval={links.every_s!r}", f"--link-port={links.port}"]


def link_histories(
    hosts: Sequence[str],
    begin: float = -math.inf,
    end: float = math.inf,
    *,
    way: Way | None = None,
) -> list[HostHistory]:
    """Read what monitors kept of the links between hosts; these are named ``n1-n2``.

    Parameters as those of `histories`. Links that nobody probed are left out.
    """
    names = sorted(set(hosts) or known())
    wanted = {link_name(*pair) for pair in itertools.combinations(names, 2)}
    here = {*known(), this_host()}
    found = [
        link for name in names if name in here for link in read_links(name, begin, end)
    ]
    if strangers := [name for name in names[:-1] if name not in here]:
        for answer in monitor_do(strangers, time_words("links", begin, end), way=way):
            found += _links_from(answer)
    return [one for one in found if not hosts or one.host in wanted]


def link_series(
    hosts: Sequence[str],
    quantity: str,
    begin: float = -math.inf,
    end: float = math.inf,
    *,
    way: Way | None = None,
) -> list[Series]:
    """Return a quantity of the links between hosts over time, as a store keeps it.

    Parameters as those of `series`. Links without it are left out.

    References
    ----------
    The 2006 paper (rational polynomials), section 2.1: *available bandwidth*.
    """
    found = link_histories(hosts, begin, end, way=way)
    return [series_of(one, quantity) for one in found if quantity in one.curves]


def _links_from(answer: HostAnswer) -> list[HostHistory]:
    """Return the series of links that a host told."""
    links = answer.facts.get("links")
    if answer.error or not isinstance(links, list):
        return [history_from(answer)]  # which says what is wrong
    named = [one if isinstance(one, dict) else {} for one in links]
    return [history_from(HostAnswer(str(one.get("host")), one)) for one in named]
