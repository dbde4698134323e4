"""Who may do what: requests are made from the table of addresses itself."""

from __future__ import annotations

import json

import pytest

from skelgen.server import tokens
from skelgen.server.app import web_routes
from skelgen.server.jobs import JobFolder
from skelgen.server.routes import ROUTES, Route
from skelgen.server.tokens import Right
from skelgen.store import open_store
from tests.visitors import fill, serve

LINE = json.dumps({"row": "run", "application": "new", "time_s": 1.0, "identity": "x"})
NAMED = {"identity": "run-1000-2", "name": "n1"}
#: What answers otherwise to who may: of models and jobs there are none in this store.
REFUSED = {
    "GET /api/ask": 400,  # nothing was asked
    "GET /api/compare": 400,
    "GET /runs/{identity}/loads.svg": 404,
    "GET /models/{identity}": 404,
    "GET /models/{identity}/picture.svg": 404,
    "POST /models/{identity}/again": 404,
    "POST /models/{identity}/compare": 404,
    "GET /models/{identity}/model.json": 404,
    "GET /models/{identity}/model.html": 404,
    "GET /models/{identity}/model.svg": 404,
    "GET /api/models/{identity}": 404,
    "POST /api/known": 422,  # a row is no identity; nothing is changed by it anyway
    "GET /templates/{identity}": 404,
    "GET /api/model/template": 400,
    "GET /api/model/coupling": 400,
    "POST /model/template/keep": 422,  # without a formula
    "GET /systems/{name}/history": 404,  # no value was named
    "GET /systems/{name}/history.svg": 404,
    "GET /api/systems/{name}/history": 404,
    "GET /jobs/{identity}": 404,
    "POST /jobs/{identity}/cancel": 404,
    "GET /api/jobs/{identity}": 404,
    "DELETE /api/jobs/{identity}": 404,
    "GET /model/curve/picture.svg": 400,  # nothing was chosen
    "GET /model/curve/residuals.svg": 400,
    "GET /api/model/curve": 400,
    "GET /model/default/picture.svg": 400,
    "GET /model/default/residuals.svg": 400,
    "GET /api/model/default": 400,
    "POST /api/jobs": 400,
}
TYPED = {"app": "typed", "time": "12.5", "ranks": "2", "inputs": "n=5", "status": "ok"}
CURVE = {
    **{"app": "heat", "family": "linear", "x": "n", "y": "time"},
    **{"fixed": "ranks=2", "low": "1000", "high": "4000", "name": "mine"},
}
#: Forms of addresses that take another one.
DEFAULT = {"app": "heat", "low-n": "1000", "high-n": "4000", "name": "mine"}
FORMS = {
    "POST /model/curve/keep": CURVE,
    "POST /model/curve/compare": CURVE,
    "POST /model/default/keep": DEFAULT,
    "POST /model/default/compare": DEFAULT,
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    found = tmp_path / "store.db"
    fill(found)
    return found


def asked(client, route: Route, visitor=None, token: str = ""):
    """Make the request of a row of the table, as well as a visitor can."""
    headers = {"Authorization": f"Bearer {token}"} if token and route.is_api else {}
    token_of_form = visitor.form if visitor else ""
    form = {**FORMS.get(shown(route), TYPED), "form_token": token_of_form}
    if route.takes_files:
        sent = {"file": ("runs.jsonl", LINE)}
        form = {"form_token": form["form_token"]}
        return client.post(route.path, headers=headers, data=form, files=sent)
    data = None if route.is_api or not route.changes else form
    content = LINE if route.is_api and route.method == "POST" else None
    return client.request(
        route.method,
        route.path.format(**NAMED),
        headers=headers,
        data=data,
        content=content,
    )


def everything(place) -> list[str]:
    with open_store(str(place), make=False) as store:
        rows = [*store.runs(), *store.models(), *store.predictions(), *store.facts()]
    jobs = [one.identity for one in JobFolder(str(place)).all()]
    return sorted(map(repr, [*rows, *jobs]))


def shown(route: Route) -> str:
    return f"{route.method} {route.path}"


def test_every_address_of_the_application_is_in_the_table(place):
    served = serve(place)
    found = {
        (method, one.path)
        for one in web_routes(served.settings, served.keyring)
        for method in one.methods - {"HEAD"}
    }
    way_in = {("GET", "/enter"), ("POST", "/enter"), ("GET", "/enter/on")}
    assert found == {(one.method, one.path) for one in ROUTES} | way_in | {
        ("POST", "/leave")
    }


def test_only_other_methods_than_get_change_something():
    for one in ROUTES:
        assert (one.right > Right.READ) == (one.method != "GET"), shown(one)


def test_only_style_script_icon_and_health_are_open():
    those = {one.path for one in ROUTES if one.right is Right.OPEN}
    assert those == {"/health", "/style.css", "/script.js", "/icon.svg"}


@pytest.mark.parametrize("route", ROUTES, ids=shown)
@pytest.mark.parametrize("token", ["", "wrong", "A" * 43])
def test_without_a_token_that_counts_nothing_of_the_store_is_shown(place, route, token):
    before = everything(place)
    client = serve(place).client()
    if token:
        client.cookies.set("skelgen", token)
    answer = asked(client, route, token=token)
    assert answer.status_code == (200 if route.right is Right.OPEN else 401)
    for secret in ("heat", "run-1000", "cluster", "float_multiply_add", "store.db"):
        assert secret not in answer.text
    assert everything(place) == before


@pytest.mark.parametrize("route", ROUTES, ids=shown)
@pytest.mark.parametrize("right", [Right.READ, Right.ADD, Right.ADMINISTER])
def test_a_token_allows_what_its_kind_says_and_no_more(place, route, right):
    before = everything(place)
    served = serve(place)
    text = tokens.add_token("ada", right)
    answer = asked(served.browser(text), route, served.visitor(text), text)
    if route.right > right:
        assert answer.status_code == 403
        assert everything(place) == before
    elif (wanted := REFUSED.get(shown(route))) is not None:
        assert answer.status_code == wanted, answer.text
        assert everything(place) == before
    else:
        assert answer.status_code in ((200, 303) if route.changes else (200,))
        assert (everything(place) != before) == route.changes


@pytest.mark.parametrize("route", [one for one in ROUTES if one.changes], ids=shown)
def test_a_server_that_only_reads_is_changed_by_no_token(place, route):
    text = tokens.add_token("root", Right.ADMINISTER)
    before = everything(place)
    served = serve(place, Right.READ)
    for token in (text, served.token):
        client = served.browser(token)
        assert asked(client, route, served.visitor(token), token).status_code == 403
    assert everything(place) == before


@pytest.mark.parametrize("route", [one for one in ROUTES if one.changes], ids=shown)
@pytest.mark.parametrize("form", ["", "wrong", "another"])
def test_what_changes_something_needs_the_second_token_or_the_header(
    place, route, form
):
    before = everything(place)
    served = serve(place)
    if form == "another":  # that of somebody else
        form = served.visitor(tokens.add_token("ada", Right.ADMINISTER)).form
    if route.takes_files:
        answer = served.browser().post(
            route.path,
            data={**TYPED, "form_token": form},
            files={"file": ("runs.jsonl", LINE)},
        )
        assert answer.status_code == (401 if route.is_api else 403)
        assert everything(place) == before
        return
    answer = served.browser().request(
        route.method,
        route.path.format(**NAMED),
        data=None if route.is_api else {**TYPED, "form_token": form},
        content=LINE if route.is_api and route.method == "POST" else None,
    )
    assert answer.status_code == (401 if route.is_api else 403)
    assert everything(place) == before


def test_a_removed_token_ends_the_cookies_that_were_given_for_it(place):
    served = serve(place)
    browser = served.browser(tokens.add_token("ada", Right.READ))
    assert browser.get("/runs").status_code == 200
    tokens.remove_token("ada")
    assert browser.get("/runs").status_code == 401


def test_the_cookie_is_not_the_token_and_opens_no_other_server(place):
    served, other = serve(place), serve(place)
    browser = served.browser()
    cookie = browser.cookies["skelgen"]
    assert served.token not in cookie
    again = other.client()
    again.cookies.set("skelgen", cookie)
    assert again.get("/runs").status_code == 401
    assert (
        other.client(Authorization=f"Bearer {cookie}").get("/runs").status_code == 401
    )


def test_leaving_takes_the_cookie_away(place):
    served = serve(place)
    browser = served.browser()
    left = browser.post("/leave", data={"form_token": served.visitor().form})
    assert left.status_code == 303
    assert browser.get("/runs").status_code == 401
