"""Two hundred names that are programs, in a browser that would run them.

The browser ignores the content security policy here: that nothing runs is the work of
the pages alone.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote, urlencode

import pytest

from skelgen.cli.main import run
from skelgen.pipeline.kept_model import document_of
from skelgen.pipeline.model_keep import kept_models
from skelgen.store import Run, StoredModel, open_store
from tests.browsers import Site, filled, is_page
from tests.hostile import HOSTILE, hostile_rows
from tests.needs import needs_browser
from tests.route_examples import shown_routes

pytestmark = needs_browser

#: What no page of this store has; and how often the text of an attack is to be read.
_ELEMENTS = "script:not([src]), iframe, base, main style, [onload], [onerror]"
_PARTS = 8
#: Models with hostile names.
_MODELS = 10
#: Ends of a field that is shown again, and what would run behind each.
ASKED = [
    f"{way}<img src=x onerror=alert(1)>" for way in ('">', "'>", "</textarea>", "")
]


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory):
    """Return a server of a store whose every name is hostile."""
    place = filled(tmp_path_factory.mktemp("hostile") / "store.db")
    rows = [row for at, one in enumerate(HOSTILE) for row in hostile_rows(one, at)]
    models = hostile_models(str(place))
    with open_store(str(place)) as store:
        added = store.add([*rows, *models])
    assert len(added.added) >= 5 * 180
    with Site(place) as found:
        yield found


def hostile_models(place: str) -> list[StoredModel]:
    """Return models whose names, authors and applications are hostile."""
    (known,) = kept_models(place, faults=[])
    found = []
    for at, one in enumerate(HOSTILE[:: len(HOSTILE) // _MODELS - 1][:_MODELS]):
        origin = replace(known.origin, application=one)
        text = document_of(known.model, one, origin)
        found.append(StoredModel(f"{at} {one}", one, 1.7e9 + at, text))
    return found


def is_harmless(tab, path: str) -> str:
    """Open an address; nothing runs, and nothing is asked for. Return its text."""
    tab.open(path)
    assert not tab.page.locator(_ELEMENTS).count(), path
    assert not tab.faults, path
    return str(tab.page.inner_text("body"))


def test_what_runs_is_noticed(browser, hostile_site):
    with browser.tab(hostile_site, bypass_csp=True) as tab:
        tab.open("/")
        tab.page.set_content("<img src=x onerror=alert(1)>")
        tab.page.wait_for_timeout(200)
        assert any("dialog: 1" in one for one in tab.faults)
        tab.faults.clear()


def test_lists_of_hostile_names_run_nothing(browser, hostile_site):
    lists = ["/", "/applications", "/models", "/systems", "/ask"]
    lists += [
        f"/{kind}?part={n}" for kind in ("runs", "predictions") for n in (1, 2, 3, 4, 5)
    ]
    with browser.tab(hostile_site, bypass_csp=True) as tab:
        said = "".join(is_harmless(tab, path) for path in lists)
        tab.page.wait_for_timeout(200)
    assert said.count("alert(1)") > 1000  # they were there, as text


@pytest.mark.parametrize("part", range(_PARTS))
def test_pages_of_hostile_runs_run_nothing(browser, hostile_site, part):
    """Many pages in one document, since a browser takes its time for each."""
    own = range(part, len(HOSTILE), _PARTS)
    with browser.tab(hostile_site, bypass_csp=True) as tab:
        tab.open("/runs/evil-0")
        texts = []
        for at in own:
            answer = tab.ask(f"/runs/evil-{at}")
            assert answer.status == 200
            texts.append(answer.text())
        tab.page.set_content("".join(texts))
        assert not tab.page.locator(_ELEMENTS).count()
        assert tab.page.locator("h1").count() == len(own)
        said = tab.page.inner_text("body")
        assert all(
            said.count(one.split("(")[0][-9:]) > 3 for one in HOSTILE[part::_PARTS]
        )
        tab.page.wait_for_timeout(200)


def test_pages_of_hostile_systems_run_nothing(browser, hostile_site):
    with browser.tab(hostile_site, bypass_csp=True) as tab:
        for name in (one for one in HOSTILE[::9] if "/" not in one):
            part = quote(name, safe="", errors="surrogateescape")
            assert "System" in is_harmless(tab, f"/systems/{part}")


def test_hostile_models_and_their_pictures_run_nothing(browser, hostile_site):
    with browser.tab(hostile_site, bypass_csp=True) as tab:
        tab.open("/models")
        links = tab.page.locator("td a[href^='/models/']").evaluate_all(
            "all => all.map(one => one.getAttribute('href'))"
        )
        assert len(links) == 1 + _MODELS
        for path in links:
            is_harmless(tab, path)
            tab.open(f"{path}/picture.svg")
            assert not tab.page.locator("script, [onload], [onerror]").count()
        tab.page.wait_for_timeout(200)


@pytest.mark.parametrize(
    "route", [one for one in shown_routes() if one.query], ids=lambda one: one.path
)
def test_what_is_asked_for_runs_nothing(browser, hostile_site, route):
    with browser.tab(hostile_site, bypass_csp=True) as tab:
        if not is_page(tab.ask(route.path)):
            return
        for at, name in enumerate(route.query):
            query = urlencode({name: ASKED[at % len(ASKED)]})
            tab.open(f"{route.path}?{query}")
            assert not tab.page.locator(_ELEMENTS).count(), query
            tab.faults = [one for one in tab.faults if "status of 4" not in one]
            assert not tab.faults, query


def test_hostile_inputs_run_nothing_in_a_picture(browser, tmp_path):
    place, name = tmp_path / "store.db", "<svg/onload=alert(1)>"
    runs = [
        Run("app", n * 1e-3, inputs=((name, float(n)),), identity=f"r{n}")
        for n in (100, 200, 400, 800, 1600)
    ]
    with open_store(str(place)) as store:
        assert len(store.add(runs).added) == len(runs)
    words = ["--store", str(place), "--app", "app", "--name", "evil"]
    if run(["model", "fit", *words, "--family", "normal-form"]) != 0:
        pytest.skip("such a name is refused already")
    with Site(place) as site, browser.tab(site, bypass_csp=True) as tab:
        assert "alert(1)" in is_harmless(tab, "/models/evil")
        tab.open("/models/evil/picture.svg")
        tab.page.wait_for_timeout(200)
