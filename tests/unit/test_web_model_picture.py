"""Pictures of models: curves, intervals, runs, what is asked, surfaces."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from skelgen.errors import InputError
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import ModelInput, RunTable, meaning_of
from skelgen.web.fill import PICTURE_BEGINS
from skelgen.web.model_picture import model_picture, picture_size, render_model


def runs(*names, time):
    """Return runs over 1000 to 8000 of each size and 4 to 32 ranks."""
    values = {"ranks": (4, 8, 16, 32)}
    rows = [{}]
    for name in names:
        each = values.get(name, (1000, 2000, 4000, 8000))
        rows = [{**row, name: float(one)} for row in rows for one in each]
    inputs = tuple(ModelInput(name, meaning_of(name)) for name in names)
    return RunTable.gather(inputs, rows, [time(**row) for row in rows])


ONE = runs("n", time=lambda n: 1e-9 * n**3)
TWO = runs("n", "ranks", time=lambda n, ranks: 1e-9 * n**3 / ranks + 1e-4 * n)


def test_a_curve_goes_through_what_the_model_says():
    model = fit_model(ONE)
    (panel,) = model_picture(model, ONE, {"n": 6000.0}).panels
    said = predict_with(model, {"n": 6000.0}).interval
    assert f"{said.p50:.3g}" in panel.asked.title.replace(" s", "")
    assert panel.asked.high_y <= panel.asked.y <= panel.asked.low_y
    near = min(
        (point.split(",") for point in panel.curve.split()),
        key=lambda point: abs(float(point[0]) - panel.asked.x),
    )
    assert float(near[1]) == pytest.approx(panel.asked.y, abs=6.0)


def test_a_run_of_the_line_is_full_and_others_are_hollow():
    picture = model_picture(fit_model(TWO), TWO, {"n": 8000.0, "ranks": 8.0})
    over_n = picture.panels[0]
    assert over_n.fixed == "ranks=8"
    full = [dot for dot in over_n.dots if not dot.hollow]
    assert len(over_n.dots) == 16
    assert len(full) == 4
    assert all("ranks=8:" in dot.title for dot in full)


def test_two_inputs_have_a_surface_that_falls_where_the_time_falls():
    model = fit_model(TWO)
    surface = model_picture(model, TWO).surface
    assert surface.names == ("n", "ranks")
    left = [cell for cell in surface.cells if cell.x == 0.0]
    right = [cell for cell in surface.cells if cell.x + cell.width == 420.0]
    assert max(cell.shade for cell in left) < max(cell.shade for cell in right) == 1.0
    assert len(surface.dots) == 16
    assert model_picture(fit_model(ONE), ONE).surface is None


def test_without_runs_or_a_question_there_is_the_curve_alone():
    (panel,) = model_picture(fit_model(ONE)).panels
    assert panel.dots == ()
    assert panel.asked is None
    assert panel.fixed == ""


def test_a_picture_is_sound_xml_the_same_each_time_and_known_as_ours():
    model = fit_model(TWO)
    text = render_model(model, TWO, {"n": 12000.0, "ranks": 64.0})
    assert text == render_model(fit_model(TWO), TWO, {"n": 12000.0, "ranks": 64.0})
    assert PICTURE_BEGINS.match(text.encode())
    root = ET.fromstring(text)
    assert root.find("{http://www.w3.org/2000/svg}title").text.startswith("time: a")
    assert not re.search(r"nan|inf\b", text)
    assert "[s]" in text


def test_names_are_text_in_a_picture():
    name = '</text><script>alert("n")</script>'
    table = runs(name, time=lambda **row: 1e-9 * row[name] ** 3)
    text = render_model(fit_model(table), table)
    ET.fromstring(text)
    assert "<script" not in text


def test_many_inputs_are_counted_where_they_are_not_drawn():
    names = tuple(f"i{number}" for number in range(3))
    table = runs(*names, time=lambda **row: sum(row.values()))
    picture = model_picture(fit_model(table), table)
    assert len(picture.panels) == 3
    assert picture.hidden == 0


def test_a_question_that_the_model_cannot_answer_is_refused():
    with pytest.raises(InputError, match="n is 0"):
        model_picture(fit_model(ONE), ONE, {"n": 0.0})


@pytest.mark.parametrize("runs_of", [ONE, TWO], ids=["curve", "curves and surface"])
@pytest.mark.parametrize("at", [None, {"n": 6000.0, "ranks": 8.0}], ids=["", "asked"])
def test_the_size_of_a_picture_is_known_before_it_is_drawn(runs_of, at):
    model = fit_model(runs_of)
    asked = at and {one.name: at[one.name] for one in runs_of.inputs}
    root = ET.fromstring(render_model(model, runs_of, asked))
    width, height = picture_size(model, marked=asked is not None)
    assert root.get("viewBox") == f"0 0 {width} {height}"
    last = root.findall("{*}text")[-1]
    assert float(last.get("y")) == height - 12
