"""Formulas on pages: set as mathematics, with text and LaTeX to copy."""

from __future__ import annotations

from skelgen.models.formulas import parse
from skelgen.web.site import SitePage
from skelgen.web.site_formulas import formula_block
from skelgen.web.site_render import Frame, render_site


def page_of(text: str, quantity: str = "time", unit: str = "s") -> str:
    block = formula_block(quantity, parse(text), unit)
    return render_site(SitePage("A", (block,)), Frame()).decode()


def test_a_formula_is_mathematics_with_text_and_latex_behind_it():
    page = page_of("2*n^2/p")
    assert "<mi>time</mi><mo>=</mo><mfrac>" in page
    assert "time = 2*n^2/p  [s]" in page
    assert r"\mathit{time} = \frac{2 \cdot {n}^{2}}{p}" in page


def test_a_formula_that_nobody_reads_at_once_is_text():
    page = page_of("+".join(f"n^{power}" for power in range(200)))
    assert "<math" not in page
    assert "n^199" in page


def test_names_of_a_formula_are_text_on_the_page():
    page = page_of("'</math><script>x</script>'*2", "<b>")
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page
