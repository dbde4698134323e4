"""Facts of a template as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.facts import TemplateFacts, fact_texts, read_facts
from skelgen.models.formulas import parse


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("L=1024 bytes", 1024.0, "bytes"),
        (" L = 2 KiB ", 2048.0, "bytes"),
        ("A=48 ns", 48e-9, "s"),
        ("k=7", 7.0, ""),
        ("k=-7.5e-1", -0.75, ""),
        ("k=2^10/4", 256.0, ""),
        ("B=1e9 bytes/s", 1e9, "bytes/s"),
        ("B=1 GiB/s", 2.0**30, "bytes/s"),
        ("B=8 bytes/2 ns", 4e9, "bytes/s"),
        ("R=5 1/s", 5.0, "1/s"),
        ("R=1/ms", 1e3, "1/s"),
        ("G=2 ns/KiB", 2e-9 / 1024, "s/bytes"),
    ],
)
def test_numbers_with_units_become_seconds_and_bytes(text, value, unit):
    found = read_facts([text])
    (name,) = found.names
    assert found.values[name] == pytest.approx(value, rel=1e-15)
    assert found.units[name] == unit


def test_a_function_of_a_size_is_a_formula():
    found = read_facts(["SR(L)=15.94 us + 0.0608 us*L", "BC(L, P)=log(P)*L*1 ns"])
    assert found.definitions["SR"] == (("L",), parse("15.94 us + 0.0608 us*L"))
    assert found.definitions["BC"][0] == ("L", "P")


def test_facts_are_written_as_they_are_read():
    texts = ["L=1024 bytes", "B=1 GiB/s", "k=3", "SR(L)=15.94 us + 0.0608 us*L"]
    found = read_facts(texts)
    written = fact_texts(found, parse("k*SR(L)/B + L/B"))
    assert len(written) == 4
    assert read_facts(written) == found


def test_facts_that_a_template_does_not_name_are_not_written():
    assert fact_texts(read_facts(["L=1", "k=2"]), parse("2*k")) == ("k=2.0",)


def test_of_two_facts_of_one_name_the_own_one_counts():
    ours, others = read_facts(["A=1 ns", "L=3"]), read_facts(["A=2 bytes", "B=1 s"])
    found = ours.over(others)
    assert found.values == {"A": 1e-9, "L": 3.0, "B": 1.0}
    assert found.units == {"A": "s", "L": "", "B": "s"}
    assert TemplateFacts().over(ours) == ours


def test_a_plain_number_that_is_typed_has_not_the_unit_of_the_systems_fact():
    system = TemplateFacts({"A": 1e-9}, {"A": "s"})
    assert TemplateFacts({"A": 2.0}).over(system).units.get("A", "") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("L", "there is no name, no = or no value"),
        ("L=", "there is no name, no = or no value"),
        ("=3", "there is no name, no = or no value"),
        ("2*L=3", "its name is none"),
        ("log(L)=3", "its name is none"),
        ("f(L, L)=3", "its name is none"),
        ("f(2)=3", "its name is none"),
        ("ms=3", "ms is a unit"),
        ("L=3 parsecs", "no number with a known unit"),
        ("L=3 s + 4 bytes", "no number with a known unit"),
        ("L=n", "its value names n"),
        ("L=3*F(2)", "its value names F"),
        ("L=(3 s)*(2 s)", "a unit that facts do not have"),
        ("L=9^9^9^9", "its value is inf"),
        ("L=1/0", "its value is inf"),
        ("L=" + "(" * 10_000 + "1" + ")" * 10_000, "no number with a known unit"),
        ("SR(L)=M", "the formula of SR names M; it can use L only"),
        ("SR(L)=1 s + 2 bytes", "the formula adds 1 s"),
        ("SR(L)=L+", "read the end"),
    ],
)
def test_what_is_no_fact_is_one_line(text, said):
    with pytest.raises(InputError) as error:
        read_facts([text])
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_name_has_one_value():
    with pytest.raises(InputError, match="the fact L is given twice"):
        read_facts(["L=3", "L(n)=n"])


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="aL0123.=+-*/^() snubytes,eKi", max_size=25))
def test_any_text_is_facts_or_one_line(text):
    try:
        found = read_facts([text])
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert len(found.names) == 1
