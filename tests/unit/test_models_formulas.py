"""Formulas: read, written, evaluated; never executed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.formulas import (
    FunctionCall,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    calls,
    evaluate,
    names,
    parse,
    to_latex,
    to_python,
    to_text,
)

NAMES = {"n": 3.7, "p": 2.3, "lambda": 1.9, "n^2": 1.3, "it's": 2.9, "log": 1.7}
FORMULA = "ADDM*N^3/(P-1) + 2*N*SR(L)/(P-1) + N*BC(L)"


def _tuples(inner, least=1):
    return st.lists(inner, min_size=least, max_size=3).map(tuple)


EXPRESSIONS = st.recursive(
    st.builds(Number, st.floats(-1e3, 1e3).map(lambda x: round(x, 3)))
    | st.builds(Name, st.sampled_from(sorted(NAMES))),
    lambda inner: (
        st.builds(Sum, _tuples(inner, 2))
        | st.builds(Product, _tuples(inner, 2))
        | st.builds(Quotient, inner, inner)
        | st.builds(Power, inner, inner)
        | st.builds(FunctionCall, st.just("log"), st.tuples(inner))
        | st.builds(FunctionCall, st.just("max"), st.tuples(inner, inner))
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_what_is_written_is_read_back_with_the_same_value(expression):
    again = parse(to_text(expression))
    assert np.array_equal(
        evaluate(again, NAMES), evaluate(expression, NAMES), equal_nan=True
    ) or math.isclose(evaluate(again, NAMES), evaluate(expression, NAMES))
    assert parse(to_text(again)) == again


@given(EXPRESSIONS)
@example(FunctionCall("log", (Power(Number(-1.0), Number(1.5)),)))
@example(Power(Number(-0.0), Number(0.0)))
def test_python_computes_what_the_formula_says(expression):
    value = float(evaluate(expression, NAMES))
    place: dict = {}
    exec(to_python(expression), place)
    arguments = [NAMES[name] for name in names(expression)]
    try:
        found = place["time_s"](*arguments)
    except (ArithmeticError, ValueError, TypeError):
        # NumPy says inf or nan there; log of a complex number is a TypeError.
        return
    if isinstance(found, complex) or not math.isfinite(value):
        return
    assert math.isclose(found, value, rel_tol=1e-9, abs_tol=1e-300)


@settings(max_examples=500)
@given(st.text(alphabet="()^*/+-,.eE 0123456789nPlogmaxsé_;'\"[]{}\n", max_size=60))
@example("(" * 10_000)
@example("-" * 10_000 + "1")
@example("2" + "^2" * 9_000)
@example("1" + "/1" * 9_000)
@example("(" * 40 + "1" + "/1" * 9_000 + ")" * 40)
@example("__import__('os').system('true')")
def test_any_text_is_a_formula_or_one_clear_line(text):
    try:
        expression = parse(text)
    except InputError as error:
        assert "\n" not in str(error).replace(repr(text[:60]), "")
        return
    assert parse(to_text(expression)) == parse(to_text(parse(to_text(expression))))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("8/4/2", 1.0),
        ("7 - 3 - 2", 2.0),
        ("2 ms * 3", 0.006),
        ("1 MiB", 1048576.0),
        ("max(2, 3) + min(2, 3)", 5.0),
        ("log2(8) + log10(100) + sqrt(4)", 7.0),
        ("1/0", math.inf),
    ],
)
def test_operations_bind_as_on_paper(text, value):
    assert evaluate(parse(text), {}) == pytest.approx(value)


def test_facts_of_a_system_are_functions_of_the_size_of_a_message():
    expression = parse(FORMULA)
    assert names(expression) == ("ADDM", "N", "P", "L")
    assert calls(expression) == ("SR", "BC")
    values = {"ADDM": 2.0, "N": 3.0, "P": np.array([2.0, 4.0]), "L": 10.0}
    found = evaluate(expression, values, {"SR": lambda x: x / 5, "BC": lambda x: x})
    assert found == pytest.approx([54.0 + 12.0 + 30.0, 18.0 + 4.0 + 30.0])


def test_a_name_without_a_value_and_an_unknown_function_are_said():
    with pytest.raises(InputError, match="names P, which has no value; known: N"):
        evaluate(parse("N/P"), {"N": 1.0})
    with pytest.raises(InputError, match="calls SR, which is not known"):
        evaluate(parse("SR(1)"), {})


def test_a_formula_is_written_for_people_and_for_latex():
    assert to_text(parse("1e-3*n^0.5*log(p) - 2*n")) == "0.001*n^0.5*log(p) - 2*n"
    assert to_text(parse("1.23456789*n"), digits=3) == "1.23*n"
    assert to_latex(parse("3.1e-4*n^2/p_1")) == (
        r"\frac{0.00031 \cdot {n}^{2}}{\mathit{p\_1}}"
    )


def test_names_that_are_no_words_are_readable_everywhere():
    expression = parse("2*'n^2'^0.5*log(log)*'a b'*SR(2)/SR")
    assert names(expression) == ("n^2", "log", "a b", "SR")
    assert to_text(expression) == "2*'n^2'^0.5*log(log)*'a b'*SR(2)/SR"
    assert r"{\mbox{n\textasciicircum{}2}}^{0.5}" in to_latex(expression)
    place: dict = {}
    exec(to_python(expression), place)
    found = place["time_s"](9.0, math.e, 3.0, 4.0, lambda size: 5 * size)
    assert found == pytest.approx(2 * 3 * 3 / 4 * 10)
    assert "# n_2: n^2" in to_python(expression)


@pytest.mark.parametrize(("sign", "value"), [("+", 9_000.0), ("*", 1.0)])
def test_a_chain_of_thousands_is_python_too(sign, value):
    place: dict = {}
    exec(to_python(parse(sign.join(["1"] * 9_000))), place)
    assert place["time_s"]() == value


def test_names_that_become_equal_in_python_stay_apart():
    place: dict = {}
    exec(to_python(parse("'n^2' - 'n_2' + 'n-2'*100 + '2' + '__debug__'")), place)
    assert place["time_s"](5.0, 3.0, 1.0, 7.0, 0.5) == pytest.approx(109.5)


def test_a_quote_that_is_not_closed_is_said():
    with pytest.raises(InputError, match="write a name with signs in single quotes"):
        parse("2*'n")
