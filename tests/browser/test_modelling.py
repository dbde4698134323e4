"""Each way of modelling, click by click to its plot, in the filled example.

The question is the same for all: how long at n = 1200 on 8 processes, and on the other
system? The numbers are those of the command that the page shows. Pictures are those of
docs/web.md: ``SKELGEN_SCREENSHOTS=docs/pictures python -m pytest
tests/browser/test_modelling.py``.
"""

from __future__ import annotations

import json
import shlex

import pytest

from skelgen.cli.main import run
from skelgen.units import format_seconds
from skelgen.web.site_models import quantity_text
from tests.browsers import PHONE
from tests.needs import needs_browser
from tests.processes import comes_true

pytestmark = needs_browser

SYSTEMS = ("cluster-a", "cluster-b")
WINDOW = (1000, 860)


@pytest.fixture(params=[True, False], ids=["script", "no script"])
def tab(request, browser, site):
    with browser.kept_tab(site, size=WINDOW, script=request.param) as found:
        yield found


@pytest.fixture
def said(site, capsys):
    """Return a function that gives what a command says, of the store that is shown."""

    def ask(command: str):
        words = shlex.split(command)
        assert words.pop(0) == "skelgen"
        assert str(site.place) in command
        capsys.readouterr()
        assert run([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


def fill(tab, **fields: str) -> None:
    """Fill in fields of the step by their names, as with a mouse and keys."""
    for name, text in fields.items():
        field = tab.page.locator(f".step [name='{name}']")
        if field.evaluate("one => one.tagName") == "SELECT":
            field.select_option(text)
        else:
            field.fill(text)


def go(tab, button: str) -> None:
    """Press the button of the step, and wait for the page that it leads to."""
    with tab.page.expect_navigation():
        tab.page.get_by_role("button", name=button, exact=True).click()


def command(tab, name: str) -> str:
    """Return the command of that name on the page."""
    (found,) = tab.page.locator(f"pre:has-text('skelgen {name}')").all_inner_texts()
    return str(found)


def times(found, *names: str) -> list[str]:
    return [format_seconds(found[name]) for name in names]


def has_pictures(tab, count: int) -> None:
    """Check that pictures have arrived, and that a table stands behind each."""
    loaded = "all => all.map(one => one.complete && one.naturalWidth > 0)"
    pictures = tab.page.locator("figure img")
    assert pictures.count() + tab.page.locator("figure svg").count() == count
    assert all(pictures.evaluate_all(loaded))
    behind = tab.page.locator("figure details table tbody")
    assert behind.count() == count


def fits_a_phone(tab) -> None:
    """Check that the page is not wider than a phone."""
    tab.resize(PHONE)
    assert tab.sideways() <= 0


def keep(tab, name: str, at: str) -> None:
    """Keep the page from a place on."""
    tab.page.locator(at).first.evaluate("one => one.scrollIntoView()")
    tab.picture(name, whole=False)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_curve(tab, said, system):
    tab.open("/models")
    tab.page.get_by_role("link", name="Fit a curve").first.click()
    fill(tab, app="matrix-product")
    go(tab, "Go on")
    fill(tab, family="quadratic", y="time", x="n")
    go(tab, "Go on")
    fill(tab, typed=f"ranks=8, system={system}")
    go(tab, "Go on")
    fill(tab, to="1200")
    go(tab, "Fit")
    found = said(command(tab, "model predict"))
    text = tab.page.inner_text("main")
    middle, low, high = times(found, "p50", "p5", "p95")
    assert f"At n=1200, ranks=8: {middle} (90 %: {low} to {high}); " in text
    assert f"{found['verdict']}." in text
    assert all(one["text"] in text for one in found["doubts"])
    assert "with ranks as further input" in text
    has_pictures(tab, 2)
    if system == SYSTEMS[0]:
        keep(tab, "curve", "h2:has-text('Result')")
    fits_a_phone(tab)


def test_a_speedup_over_processes(tab, said):
    tab.open("/model/curve?app=matrix-product")
    fill(tab, family="inverse-1", y="speedup", x="ranks")
    go(tab, "Go on")
    fill(tab, fixed="n=1000, system=cluster-a")
    go(tab, "Go on")
    fill(tab, to="8")
    go(tab, "Fit")
    found = said(command(tab, "model predict"))
    middle, low, high = (quantity_text(found[n], "") for n in ("p50", "p5", "p95"))
    text = tab.page.inner_text("main")
    assert f"At ranks=8: {middle} (90 %: {low} to {high}); {found['verdict']}" in text
    has_pictures(tab, 2)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_template_and_its_surface(tab, said, system):
    tab.open("/model/template")
    option = tab.page.locator("option", has_text="matrix_product of")
    fill(tab, kept=option.get_attribute("value"), system=system)
    go(tab, "Next")
    fill(tab, **{"at.n": "1200", "at.ranks": "8"})
    go(tab, "Show")
    found = said(command(tab, "model predict"))
    (middle,) = times(found, "value")
    assert f"{middle} " in f"{tab.page.inner_text('main')} "
    fill(tab, **{"at.n": "200:1200", "at.ranks": "3:8"})
    go(tab, "Show")
    assert said(command(tab, "model predict"))["value"] == found["value"]
    faces = tab.page.locator("figure svg polygon")
    assert faces.count() == 100  # twenty steps of n, five of ranks
    has_pictures(tab, 1)
    if system == SYSTEMS[0]:
        keep(tab, "template", "figure")
    fits_a_phone(tab)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_loop_by_its_kernels(tab, said, system):
    tab.open("/model/coupling")
    fill(tab, app="matrix-product")
    go(tab, "Next")
    fill(tab, system=system)
    go(tab, "Next")
    fill(tab, chain="2", over="n")
    go(tab, "Next")
    fill(tab, to="1200", **{"fixed.ranks": "8"})
    go(tab, "Predict")
    found = said(command(tab, "model couple"))
    text = tab.page.inner_text("main")
    middle, low, high = times(found, "p50", "p5", "p95")
    assert f"The loop takes {middle} (90 %: {low} to {high})" in text
    assert f"{found['verdict']}." in text
    for one in found["kernels"]:
        assert one["name"] in text and f"{one['weight']:.3f}" in text
    has_pictures(tab, 1)
    if system == SYSTEMS[0]:
        keep(tab, "coupling", "h2:has-text('What kernels')")
    fits_a_phone(tab)


@pytest.mark.parametrize("system", SYSTEMS)
def test_all_inputs_at_once(tab, said, system):
    tab.open("/model/default")
    fill(tab, app="matrix-product")
    go(tab, "Go on")
    fill(tab, fixed=f"system={system}")
    go(tab, "Go on")
    fill(tab, **{"to-n": "1200", "to-ranks": "8"})
    go(tab, "Fit")
    found = said(command(tab, "model predict"))
    text = tab.page.inner_text("main")
    middle, low, high = times(found, "p50", "p5", "p95")
    assert f"At n=1200, ranks=8: {middle} (90 %: {low} to {high}); " in text
    assert all(one["text"] in text for one in found["doubts"])
    has_pictures(tab, 2)
    if system == SYSTEMS[0]:
        keep(tab, "default", "h2:has-text('Result')")
    fits_a_phone(tab)


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_families_are_compared_by_a_job(browser, own_site, capsys, script):
    with browser.tab(own_site, size=WINDOW, java_script_enabled=script) as tab:
        tab.open("/model/curve?app=heat")
        fill(tab, family="quadratic", y="time", x="n")
        go(tab, "Go on")
        fill(tab, fixed="ranks=8")
        go(tab, "Go on")
        go(tab, "Fit")
        words = shlex.split(command(tab, "model compare"))[1:]
        go(tab, "Compare families")
        assert tab.path.startswith("/jobs/")
        state = tab.page.locator("main")
        assert comes_true(lambda: "done" in state.inner_text())
        capsys.readouterr()
        assert run([*words, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        text = state.inner_text()
        assert all(one["family"] in text for one in found["families"])
        here = tab.path
        tab.open("/jobs")
        assert tab.page.locator(f"a[href='{here}']").count() == 1
