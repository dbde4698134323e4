"""Formulas as MathML: well-formed, complete, and text where names are hostile."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skelgen.models.formulas import (
    Name,
    Number,
    Power,
    Product,
    Sum,
    evaluate,
    names,
    parse,
    to_mathml,
    walk,
)
from tests.unit.test_models_formulas import EXPRESSIONS, NAMES

SIGNS = {
    "\u2212": "-",
    "\u22c5": "*",
    "\u2061": "",
    "\u2308": "ceil(",
    "\u230a": "floor(",
}
HEADS = {"ln": "log", "\u0393": "gamma"}
ELEMENTS = {
    *("math", "mrow", "mfrac", "msup", "msub", "msqrt"),
    *("mi", "mn", "mo", "mtext", "mspace"),
}


def as_formula(element) -> str:
    """Return what a reader of the page would type: nothing but what is drawn."""
    inside = [as_formula(one) for one in element]
    text = (element.text or "").replace("\u00a0", " ")
    match element.tag:
        case "mfrac":
            return f"({inside[0]})/({inside[1]})"
        case "msup":
            return f"{inside[0]}^({inside[1]})"
        case "msqrt":
            return f"sqrt({inside[0]})"
        case "msub":
            return "".join(inside)
        case "mo":
            return SIGNS.get(text, ")" if text in "\u2309\u230b" else text)
        case "mi":
            return HEADS.get(text, text)
        case "mspace":
            return " "
    return text + "".join(inside)


@given(EXPRESSIONS)
@example(Power(Number(-2.0), Number(2.0)))
@example(Product((Number(-1.0), Sum((Name("n"), Number(-3.0))))))
@example(parse("1.5e-6*n - 2 us*sqrt(n)/ceil(p) + log2(n)*log10(p)"))
def test_what_is_drawn_has_the_value_of_the_formula(expression):
    drawn = as_formula(ElementTree.fromstring(to_mathml(expression, digits=17)))
    value, again = evaluate(expression, NAMES), evaluate(parse(drawn), NAMES)
    assert np.array_equal(value, again, equal_nan=True) or math.isclose(
        value, again, rel_tol=1e-6
    )


@given(EXPRESSIONS)
def test_every_number_and_name_of_a_formula_is_there(expression):
    found = list(ElementTree.fromstring(to_mathml(expression)).iter())
    numbers = {one.text for one in found if one.tag == "mn"}
    texts = {one.text for one in found if one.tag in ("mi", "mtext")}
    for part in walk(expression):
        if isinstance(part, Number) and part.value != -1.0:
            assert f"{abs(part.value):.4g}".partition("e")[0] in numbers
    for name in names(expression):
        assert name in texts or "'" + name.replace("'", "''") + "'" in texts


@given(st.text(min_size=1, max_size=60))
@example("</mtext></math><script>alert(1)</script>")
@example("]]><!--")
@example("&lt;")
@example("\x00\x1b\ufffe\uffff\udcff\u202e")
def test_any_name_is_text(name):
    math_element = ElementTree.fromstring(to_mathml(Sum((Name(name), Number(1.0)))))
    assert {one.tag for one in math_element.iter()} <= ELEMENTS
    assert [one.tag for one in math_element[0]][1:] == ["mo", "mn"]
    assert not any(one.attrib for one in math_element.iter() if one is not math_element)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("n/2", "<mfrac><mi>n</mi><mn>2</mn></mfrac>"),
        ("n^2", "<msup><mi>n</mi><mn>2</mn></msup>"),
        ("'<b>'", "<mtext>'&lt;b&gt;'</mtext>"),
        (
            "2 ms",
            "<mrow><mn>2</mn><mspace width='0.2em'></mspace><mtext>ms</mtext></mrow>",
        ),
        (
            "3e-7*n",
            "<mrow><mrow><mn>3</mn><mo>\u22c5</mo><msup><mn>10</mn><mrow>"
            "<mo>\u2212</mo><mn>7</mn></mrow></msup></mrow><mo>\u22c5</mo><mi>n</mi>"
            "</mrow>",
        ),
    ],
)
def test_a_formula_is_set_as_on_paper(text, drawn):
    assert to_mathml(parse(text)) == f"<math display='block'>{drawn}</math>"


def test_what_a_formula_gives_stands_before_it():
    assert to_mathml(parse("n"), of="<i>") == (
        "<math display='block'><mrow><mtext>'&lt;i&gt;'</mtext><mo>=</mo><mi>n</mi>"
        "</mrow></math>"
    )
