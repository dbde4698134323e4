"""Templates: facts of a system, units, coefficients that are fitted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.formulas import parse, to_text
from skelgen.models.runs import Meaning, ModelInput, RunTable
from tests.exact import least_squares
from tests.families import check_family

TEMPLATE = FAMILIES["template"]
N, P = ModelInput("N"), ModelInput("P", Meaning.RANKS)
FIGURE_8 = "ADDM*N^3/(P-1) + 2*N*SR(L)/(P-1) + N*BC(L)"
RUNS = [{"N": n, "P": p} for n in (100, 400, 1000, 2000) for p in (2, 8, 16)]


def runs_of(times=None, rows=RUNS, unit="s"):
    return RunTable.gather((N, P), rows, times or [1.0] * len(rows), unit=unit)


def master_slave(n, p, length=1024.0):
    sr = 1e-6 * (15.94 + 0.0608 * length)
    return 4.83e-8 * n**3 / (p - 1) + 2 * n * sr / (p - 1) + n * np.log(p) * sr


def for_sp2():
    """Return what the systems database of the paper says of its SP2, with units."""
    sr = (("L",), parse("15.94 us + 0.0608 us*L"))
    bc = (("L", "P"), parse("log(P)*(15.94 us + 0.0608 us*L)"))
    given = {"facts": {"ADDM": 4.83e-8, "L": 1024.0}, "units": {"ADDM": "s"}}
    given |= {"definitions": {"SR": sr, "BC": bc}}
    return FamilySettings(
        template=parse(FIGURE_8.replace("BC(L)", "BC(L, P)")), **given
    )


def test_the_papers_template_has_its_substituted_form():
    found = TEMPLATE.fit(runs_of(), for_sp2())
    for n, p in ((1200.0, 8.0), (10000.0, 64.0)):
        truth = master_slave(n, p)
        assert found.at({"N": n, "P": p}) == pytest.approx(truth, rel=1e-12)
    assert found.coefficients == ()
    assert parse(to_text(found.formula)) == parse(
        to_text(parse(to_text(found.formula)))
    )


def test_facts_that_are_functions_are_asked_at_known_sizes():
    def sr(length):
        return 15.94 + 0.0608 * length

    functions = {"SR": sr, "BC": lambda length: 3.0 * sr(length)}
    said = FamilySettings(
        template=parse(FIGURE_8),
        facts={"ADDM": 4.83e-5, "L": 1024.0},
        functions=functions,
        units={"ADDM": "ms", "SR": "us", "BC": "us"},
    )
    found = TEMPLATE.fit(runs_of(), said)
    n, p = 1200.0, 8.0
    truth = 4.83e-8 * n**3 / 7 + 1e-6 * sr(1024) * (2 * n / 7 + 3 * n)
    assert found.at({"N": n, "P": p}) == pytest.approx(truth, rel=1e-12)


def test_seconds_and_plain_numbers_are_not_added():
    figure = "ADDM*N^3/(P-1) + 2*N*0.001*(15.94 + 0.0608*L)/(P-1)"
    said = FamilySettings(
        template=parse(figure),
        facts={"ADDM": 4.83e-8, "L": 1024.0},
        units={"ADDM": "s"},
    )
    with pytest.raises(InputError, match=r"adds ADDM.*is s, and 2.*a plain number"):
        TEMPLATE.fit(runs_of(), said)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("a*2 bytes*N + b*1 s", None),
        ("3 s + 4 bytes", "adds 3 s, which is s, and 4 bytes, which is bytes"),
        ("log(3 s)*1 s", "log of 3 s, which is s; it takes plain numbers"),
        ("N^(1 s)", "exponent 1 s"),
        ("(1 s)^N", "to a power that varies"),
        ("N*(8 bytes)", "the template is bytes, and the runs give s"),
        ("max(1 s, 2 ms)*N", None),
        ("sqrt(1 s*4 s)*N", None),
        ("8 bytes*N/(L*1 bytes/1 s)", None),
    ],
)
def test_units_are_checked(formula, said):
    settings = FamilySettings(template=parse(formula), facts={"L": 2.0})
    if said is None:
        TEMPLATE.fit(runs_of(), settings)
        return
    with pytest.raises(InputError) as error:
        TEMPLATE.fit(runs_of(), settings)
    assert said in str(error.value)


def test_a_model_of_milliseconds_has_milliseconds():
    settings = FamilySettings(template=parse("N*2 us"))
    found = TEMPLATE.fit(runs_of(unit="ms"), settings)
    assert found.at({"N": 500.0}) == pytest.approx(1.0, rel=1e-12)


def test_linear_coefficients_are_the_exact_least_squares_solution():
    random = np.random.default_rng(6)
    times = [master_slave(r["N"], r["P"]) * random.normal(1.0, 0.05) for r in RUNS]
    template = "a*N^3/(P-1) + b*N/(P-1) + c*N*log2(P) + 0.001"
    found = TEMPLATE.fit(runs_of(times), FamilySettings(template=parse(template)))
    rows = [
        [
            r["N"] ** 3 / (r["P"] - 1),
            r["N"] / (r["P"] - 1),
            r["N"] * float(np.log2(r["P"])),
        ]
        for r in RUNS
    ]
    exact = least_squares(rows, [t - 0.001 for t in times])
    assert [name for name, _ in found.coefficients] == ["a", "b", "c"]
    for (_, value), truth in zip(found.coefficients, exact, strict=True):
        assert value == pytest.approx(float(truth), rel=1e-6)


def test_coefficients_in_exponents_are_found_too():
    times = [3e-6 * r["N"] ** 1.7 / r["P"] ** 0.8 + 0.01 for r in RUNS]
    said = FamilySettings(template=parse("a*N^b/P^c + d"))
    found = TEMPLATE.fit(runs_of(times), said)
    assert dict(found.coefficients) == pytest.approx(
        {"a": 3e-6, "b": 1.7, "c": 0.8, "d": 0.01}, rel=1e-5
    )


def test_coefficients_that_say_the_same_are_named():
    said = FamilySettings(template=parse("a*N + b*N"))
    found = TEMPLATE.fit(runs_of(), said)
    assert found.doubts[0].code == "not-separable"
    assert found.doubts[0].text.endswith(": b")


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (None, "needs a formula"),
        ("N/(P - 2)", "no number at run 1 (N = 100, P = 2): it divides by 0"),
        ("N*SR(N)", "calls SR, which is not known for this system"),
        ("N*F(N)", "calls F of N, which is no fact"),
        ("N*D(N, N)", "calls D with 2 arguments; it takes 1"),
        ("N*E(N)", "formula of E names M; it can use L only"),
        ("D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(N)))))))))))))))", "of a long formula"),
        ("a/(b - b)", "found no values for a, b"),
    ],
)
def test_what_cannot_be_computed_is_said_in_one_line(formula, said):
    settings = FamilySettings(
        template=formula and parse(formula),
        functions={"F": lambda length: length},
        definitions={
            "D": (("L",), parse("L*L + L")),
            "E": (("L",), parse("L + M")),
        },
    )
    with pytest.raises(InputError) as error:
        TEMPLATE.fit(runs_of(), settings)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "formula",
    ["max(a*N, b^9^9/P) + N", "exp(--a*N)*b + N", "a^N^c + d^9^9", "exp(a*N^b)"],
)
def test_slopes_that_no_computer_can_write_are_a_formula_or_one_line(formula, capfd):
    check_family(TEMPLATE, runs_of(), FamilySettings(template=parse(formula)))
    assert capfd.readouterr() == ("", "")  # LAPACK says it without asking


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet="abNPL0123+-*/^()., eslogSR", max_size=30).map(
        lambda text: text.strip()
    )
)
def test_any_template_gives_a_formula_or_one_line(text):
    try:
        template = parse(text)
    except InputError:
        return
    said = FamilySettings(template=template, facts={"L": 3.0})
    check_family(TEMPLATE, runs_of(), said)
