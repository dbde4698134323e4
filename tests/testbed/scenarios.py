"""How the cluster is shared: the five scenarios of the 2005 paper, and one of ours."""

from __future__ import annotations

from dataclasses import dataclass

from tests.testbed.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Scenario:
    """A way of sharing the cluster.

    Attributes
    ----------
    name : str
    busy : str
        The host with competing processes, ``all``, or empty for none.
    slow : str
        The host with a slow link, ``all``, or empty for none.
    load : str
        What competes: ``arithmetic`` or ``memory``.
    hosts : tuple of str
        Where the ranks run, one on each; empty for all ranks over all hosts.
    """

    name: str
    busy: str = ""
    slow: str = ""
    load: str = "arithmetic"
    hosts: tuple[str, ...] = ()

    @property
    def reference(self) -> Scenario:
        """Return the quiet case of the same placement: slowdowns are against it."""
        return Scenario(" on ".join(("quiet", *self.hosts)), hosts=self.hosts)

    def apply(self, cluster: Cluster, *, quiet: str, slow: str, hogs: int = 1) -> None:
        """Share the cluster so, whatever it was before.

        Parameters
        ----------
        cluster : Cluster
        quiet, slow : str
            Rates of links, ``1gbit`` and ``100mbit``. A link without a limit has no
            stable speed, so quiet ones are limited too.
        hogs : int
            Competing processes on each busy host.
        """
        cluster.load("all", 0)
        cluster.link("all", quiet)
        if self.slow:
            cluster.link(self.slow, slow)
        if self.busy:
            cluster.load(self.busy, hogs, self.load)


#: References: Sodhi and Subhlok 2005, section V (1 to 5). In the sixth nothing shares
#: a core with the application, but its caches and its memory: one rank, because two
#: that poll on one core would measure the scheduler.
SCENARIOS = (
    Scenario("quiet"),
    Scenario("one node busy", busy="h1"),
    Scenario("all nodes busy", busy="all"),
    Scenario("one link slow", slow="h1"),
    Scenario("all links slow", slow="all"),
    Scenario("one node busy, one link slow", busy="h1", slow="h1"),
    Scenario("memory hog on the other core", busy="h2", load="memory", hosts=("h1",)),
)
