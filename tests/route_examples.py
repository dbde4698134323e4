"""Addresses to open for each route: what its braces may hold in a filled store.

A route without braces needs no row here; it may have rows for what can be asked of it.
"""

from __future__ import annotations

from skelgen.server.routes import ROUTES, Route

_CURVE = (
    "app=heat&family=quadratic&y=time&x=n&fixed=ranks%3D8&low=1000&high=4000&to=5000"
)
_DEFAULT = "app=heat&low-n=1000&high-n=4000&to-n=5000"
_PAPER = "template=ADDM*N%5E3/(P-1)%2B2*N*SR(L)/(P-1)&system=n1&at.L=1024"
_LOOP = "app=loop&system=cluster&chain=2&over=n"
#: Route, and addresses of it that show something in the store of `tests.browsers`;
#: ``{job}`` is the identity of a job that is done.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "/runs": (
        "/runs?order=-time_s&app=heat",
        "/runs?where=n%3E%3D2000,ranks%3D8",
        "/runs?where=n%3E9e9",
    ),
    "/runs/{identity}": ("/runs/run-1000-2", "/runs/run-2000-2"),
    "/runs/{identity}/recording": ("/runs/run-1000-2/recording",),
    "/runs/{identity}/recording.html": ("/runs/run-1000-2/recording.html",),
    "/runs/{identity}/remove": ("/runs/run-1000-2/remove",),
    "/runs/{identity}/run.jsonl": ("/runs/run-1000-2/run.jsonl",),
    "/runs/{identity}/run.csv": ("/runs/run-1000-2/run.csv",),
    "/models/{identity}/model.json": ("/models/heat/model.json",),
    "/models/{identity}/model.html": ("/models/heat/model.html",),
    "/models/{identity}/model.svg": ("/models/heat/model.svg",),
    "/compare": ("/compare?run=run-1000-2&run=run-2000-2",),
    "/loads": ("/loads?hosts=n1,n2&span=day",),
    "/models/{identity}": ("/models/heat",),
    "/models/{identity}/picture.svg": ("/models/heat/picture.svg",),
    "/predictions": ("/predictions?app=heat", "/predictions?verdict=trust"),
    "/model/curve": (
        "/model/curve?app=heat",
        "/model/curve?app=heat&family=quadratic&y=time&x=n",
        "/model/curve?app=heat&family=poly6&y=time&x=n",
        f"/model/curve?{_CURVE}",
    ),
    "/model/curve/picture.svg": (f"/model/curve/picture.svg?{_CURVE}",),
    "/model/curve/residuals.svg": (f"/model/curve/residuals.svg?{_CURVE}",),
    "/model/default/picture.svg": (f"/model/default/picture.svg?{_DEFAULT}",),
    "/model/default/residuals.svg": (f"/model/default/residuals.svg?{_DEFAULT}",),
    "/model/default": ("/model/default?app=heat", f"/model/default?{_DEFAULT}"),
    "/templates/{identity}": ("/templates/master-slave",),
    "/model/template": (
        f"/model/template?{_PAPER}",
        f"/model/template?{_PAPER}&at.N=100:10000&at.P=8:64",
        "/model/template?template=a*n%5E2/ranks%2Bb&app=heat&at.n=1:4000&at.ranks=4",
    ),
    "/couplings": ("/couplings?app=loop&system=cluster",),
    "/model/coupling": (
        "/model/coupling?app=loop&system=cluster",
        f"/model/coupling?{_LOOP}&step=3",
        f"/model/coupling?{_LOOP}&step=4&low=10&high=20&to=20&fixed.ranks=2",
    ),
    "/runs/{identity}/loads.svg": ("/runs/run-1000-2/loads.svg",),
    "/systems": ("/systems?with=n1&with=cluster",),
    "/systems/{name}": ("/systems/n1", "/systems/b4"),
    "/jobs/{identity}": ("/jobs/{job}",),
    "/systems/{name}/messages.svg": ("/systems/n1/messages.svg",),
    "/systems/{name}/history": ("/systems/n1/history?fact=float_multiply_add",),
    "/systems/{name}/history.svg": ("/systems/n1/history.svg?fact=float_multiply_add",),
    "/ask": (
        "/ask?app=heat&at=n%3D2000,solver%3Dcg,ranks%3D8",
        "/ask?app=heat&model=heat&at=n%3D2500,ranks%3D8",
        "/ask?app=heat&at=n%3D777",
    ),
}


#: Addresses that say nothing when nothing is asked.
ASKED = tuple(one for one in EXAMPLES if one.startswith("/model/") and ".svg" in one)


def shown_routes() -> list[Route]:
    """Return the routes that a browser opens, in the order of the table."""
    return [one for one in ROUTES if not one.is_api and not one.changes]


def addresses(route: Route) -> tuple[str, ...]:
    """Return all addresses of a route that are opened with a filled store."""
    plain = () if "{" in route.path or route.path in ASKED else (route.path,)
    return plain + EXAMPLES.get(route.path, ())
