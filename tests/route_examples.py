"""Addresses to open for each route: what its braces may hold in a filled store.

A route without braces needs no row here; it may have rows for what can be asked of it.
"""

from __future__ import annotations

from skelgen.server.routes import ROUTES, Route

#: Route, and addresses of it that show something in the store of `tests.browsers`;
#: ``{job}`` and ``{template}`` are identities of a job that is done and a template.
CURVE = "app=heat&family=linear&x=n&y=time&fixed=ranks%3D2&low=1000&high=4000"
FACT = "fact=float_multiply_add"
EXAMPLES: dict[str, tuple[str, ...]] = {
    "/runs": (
        "/runs?order=-time_s&app=heat",
        "/runs?where=n%3E9e9",
    ),
    "/runs/{identity}": ("/runs/run-1000-2",),
    "/runs/{identity}/run.jsonl": ("/runs/run-1000-2/run.jsonl",),
    "/runs/{identity}/run.csv": ("/runs/run-1000-2/run.csv",),
    "/compare": ("/compare?run=run-1000-2&run=run-4000-8",),
    "/models/{identity}": ("/models/heat", "/models/matrix-product-template"),
    "/models/{identity}/picture.svg": ("/models/heat/picture.svg",),
    "/models/{identity}/model.json": ("/models/heat/model.json",),
    "/models/{identity}/model.svg": ("/models/heat/model.svg",),
    "/model/curve": (
        "/model/curve?app=matrix-product",
        f"/model/curve?{CURVE}",
    ),
    "/model/curve/picture.svg": (f"/model/curve/picture.svg?{CURVE}",),
    "/model/curve/residuals.svg": (f"/model/curve/residuals.svg?{CURVE}",),
    "/model/default": ("/model/default?app=heat",),
    "/model/template": ("/model/template?kept={template}&system=cluster-a",),
    "/model/coupling": ("/model/coupling?app=kernels",),
    "/couplings": ("/couplings?app=kernels",),
    "/templates/{identity}": ("/templates/{template}",),
    "/predictions": ("/predictions?app=lammps-lj",),
    "/systems": ("/systems?with=cluster-a&with=cluster-b",),
    "/systems/{name}": ("/systems/n1", "/systems/b4"),
    "/systems/{name}/messages.svg": ("/systems/cluster-a/messages.svg",),
    "/systems/{name}/history": (f"/systems/a1/history?{FACT}",),
    "/systems/{name}/history.svg": (f"/systems/a1/history.svg?{FACT}",),
    "/loads": ("/loads?hosts=c1",),
    "/jobs/{identity}": ("/jobs/{job}",),
    "/ask": (
        "/ask?app=heat&at=n%3D2000,solver%3Dcg,ranks%3D8",
        "/ask?app=heat&model=heat&at=n%3D2500,ranks%3D8",
        "/ask?app=heat&at=n%3D777",
    ),
}


def shown_routes() -> list[Route]:
    """Return the routes that a browser opens, in the order of the table."""
    return [one for one in ROUTES if not one.is_api and not one.changes]


def addresses(route: Route) -> tuple[str, ...]:
    """Return all addresses of a route that are opened with a filled store."""
    plain = () if "{" in route.path else (route.path,)
    return plain + EXAMPLES.get(route.path, ())
