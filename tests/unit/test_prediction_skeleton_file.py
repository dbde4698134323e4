"""The description of a skeleton on disk."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.documents import sealed_json
from skelgen.errors import InputError
from skelgen.matching.waits import WaitKind, WaitState
from skelgen.prediction import SkeletonFacts
from skelgen.prediction.skeleton_file import (
    FACTS_FILE,
    RecordedLaunch,
    SkeletonDescription,
    load,
    save_calibration,
)
from skelgen.trust.types import PAPER_2005
from tests import skeleton_descriptions as any_skeleton
from tests.every_operation import every_operation
from tests.known_skeleton import FACTS
from tests.plans import CALIBRATION
from tests.sealed import unsealed_json
from tests.unit.test_trust_recording_doubts import EVERYTHING


def described(facts: SkeletonFacts) -> SkeletonDescription:
    return SkeletonDescription(facts, CALIBRATION, host="h", events=7)


def written(facts: SkeletonFacts) -> str:
    """Return the description as a build writes it."""
    return described(replace(facts, calibration=None)).text()


def save(facts: SkeletonFacts, folder: Path) -> None:
    (folder / FACTS_FILE).write_text(written(facts))
    if facts.calibration is not None:
        save_calibration(facts.calibration, folder)


def test_a_description_of_a_plan_is_read_as_it_was_written(tmp_path: Path):
    launch = RecordedLaunch("/work", (("OMPI_MCA_btl", "tcp"),))
    made = replace(every_operation(), method=PAPER_2005)
    unseen = replace(made.signature, unseen=EVERYTHING)
    waits = [WaitState(WaitKind.LATE_SENDER, "MPI_Recv", 7, 0.25, 1, 0.5)]
    known = SkeletonDescription.of(
        replace(made, signature=unseen),
        CALIBRATION,
        launch=launch,
        mix_error=0.25,
        waits=waits,
    )
    (tmp_path / FACTS_FILE).write_text(known.text())
    assert SkeletonDescription.read(tmp_path) == known
    assert (load(tmp_path), known.compute) == (known.facts, CALIBRATION)
    assert (known.facts.folder, known.facts.environment) == (
        "/work",
        launch.environment,
    )
    assert known.facts.waits == tuple(waits)


@settings(max_examples=30)
@given(known=any_skeleton.descriptions())
def test_any_description_is_read_as_it_was_written(tmp_path: Path, known):
    (tmp_path / FACTS_FILE).write_text(known.text(), encoding="utf-8")
    assert SkeletonDescription.read(tmp_path) == known
    assert SkeletonDescription.read(tmp_path).text() == known.text()


@settings(max_examples=30)
@given(known=any_skeleton.descriptions(), measured=any_skeleton.calibrations())
def test_a_calibration_is_all_that_it_adds(tmp_path: Path, known, measured):
    (tmp_path / FACTS_FILE).write_text(known.text(), encoding="utf-8")
    save_calibration(measured, tmp_path)
    calibrations = (*known.facts.calibrations, measured)
    facts = replace(known.facts, calibration=measured, calibrations=calibrations)
    found = SkeletonDescription.read(tmp_path)
    assert found == replace(known, facts=facts)
    assert (tmp_path / FACTS_FILE).read_text(encoding="utf-8") == found.text()


def test_a_file_of_the_first_version_is_read_with_what_it_lacks(tmp_path: Path):
    known = described(replace(FACTS, calibration=None))
    content = json.loads(known.text())
    for name in ("checksum", "application", "method", "dealers", "not_computed"):
        del content[name]
    for name in ("launch", "warnings", "compute"):
        del content[name]
    content["signature"] = {"ranks_per_host": [2]}
    content["scale"] = content.pop("scaling_factor")
    (tmp_path / FACTS_FILE).write_text(json.dumps(content))
    found = SkeletonDescription.read(tmp_path)
    facts = replace(known.facts, application="", folder="")
    assert found == SkeletonDescription(facts, None)
    save_calibration(FACTS.calibration, tmp_path)
    assert load(tmp_path).calibrations == (FACTS.calibration,)


def test_a_description_says_what_the_skeleton_is():
    known = json.loads(SkeletonDescription.of(every_operation(), CALIBRATION).text())
    assert known["format"] == 1
    assert known["application"] == "ring"
    assert (known["scaling_factor"], known["ranks"]) == (10, 4)
    assert (known["application_s"], known["expected_s"]) == (10, 1)
    assert known["compute"]["steps_per_us"] == [600, 0, 0]
    assert known["compute"]["mix"]["arithmetic"] == 1
    assert known["signature"]["host"] == "here"
    assert known["calibration"] is None
    expected = {"mpi", "command", "dropped_share", "smallest_good_s", "warnings"}
    assert expected <= set(known)
    assert not {"launch", "mix_error", "waits"} & set(known)


def test_an_older_file_calls_the_scaling_factor_scale(tmp_path: Path):
    known = SkeletonDescription.of(every_operation(), CALIBRATION)
    document = json.loads(known.text())
    document["scale"] = document.pop("scaling_factor")
    del document["checksum"]
    (tmp_path / FACTS_FILE).write_text(json.dumps(document))
    assert load(tmp_path).scaling_factor == 10
    del document["scale"]
    (tmp_path / FACTS_FILE).write_text(json.dumps(document))
    with pytest.raises(InputError, match="'scaling_factor' is missing"):
        load(tmp_path)


def test_earlier_calibrations_are_kept(tmp_path: Path):
    other = replace(
        FACTS.calibration,
        mpi="Open MPI v5.0.11",
        application_lost_s=(0.5, 0.25, 0.0),
        skeleton_lost_s=(0.1, 0.0, 0.0),
        date="2026-11-23T22:00:00+00:00",
        command=("mpirun", "-n", "2", "./app"),
        files=(("/a/app", "0" * 64),),
        hosts=("n1:2",),
    )
    save(FACTS, tmp_path)
    save_calibration(other, tmp_path)
    facts = load(tmp_path)
    assert facts.calibrations == (FACTS.calibration, other)
    assert facts.calibration == other
    assert facts.with_fitting(FACTS.calibration.mpi).calibration == FACTS.calibration
    assert facts.with_fitting("Open MPI 5.0.8").calibration == other
    assert facts.with_fitting("Another MPI").calibration == other


def test_the_one_calibration_of_an_older_file_is_read_and_kept(tmp_path: Path):
    save(replace(FACTS, calibration=None), tmp_path)
    path = tmp_path / FACTS_FILE
    content = json.loads(path.read_text())
    names = "application_runs_s skeleton_runs_s host mpi load recorded".split()
    older = {name: getattr(FACTS.calibration, name) for name in names}
    path.write_text(sealed_json({**content, "calibration": older}))
    assert load(tmp_path).calibration == FACTS.calibration
    save_calibration(FACTS.calibration, tmp_path)
    assert load(tmp_path).calibrations == (FACTS.calibration, FACTS.calibration)


@pytest.mark.parametrize(
    "facts",
    [
        FACTS,
        replace(FACTS, calibration=None),
        replace(FACTS, dealers=(0, 1)),
        replace(FACTS, not_computed=(("slept", 0.25),)),
    ],
)
def test_what_is_saved_is_loaded(tmp_path: Path, facts):
    save(facts, tmp_path)
    known = () if facts.calibration is None else (facts.calibration,)
    assert load(tmp_path) == replace(facts, calibrations=known)
    assert [path.name for path in tmp_path.iterdir()] == [FACTS_FILE]


def test_a_skeleton_without_recorded_launch_is_loaded(tmp_path: Path):
    (tmp_path / FACTS_FILE).write_text(written(replace(FACTS, folder="")))
    assert load(tmp_path) == replace(FACTS, folder="", calibration=None)


def test_a_calibration_leaves_the_rest_of_the_file_alone(tmp_path: Path):
    save(FACTS, tmp_path)
    content = unsealed_json(tmp_path / FACTS_FILE)
    assert content["compute"]["cpu"] == "Reference CPU"
    assert content["signature"]["events"] == 7


def test_the_same_facts_give_the_same_bytes(tmp_path: Path):
    save(FACTS, tmp_path)
    first = (tmp_path / FACTS_FILE).read_bytes()
    save(FACTS, tmp_path)
    assert (tmp_path / FACTS_FILE).read_bytes() == first


def test_a_folder_without_skeleton_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="skelgen build"):
        load(tmp_path)
    with pytest.raises(InputError, match="skelgen build"):
        load(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        load(tmp_path / "file")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"format": 2}', '{"format": 1}', "\x00\xff"]
)
def test_a_damaged_description_is_an_input_error(tmp_path: Path, text):
    (tmp_path / FACTS_FILE).write_text(text)
    with pytest.raises(InputError, match="skeleton") as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


def values() -> st.SearchStrategy:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=4,
    )


@given(data=st.data())
def test_any_edited_value_is_loaded_or_refused(tmp_path: Path, data):
    save(FACTS, tmp_path)
    content = unsealed_json(tmp_path / FACTS_FILE)
    where = content if data.draw(st.booleans()) else content["calibrations"][0]
    where[data.draw(st.sampled_from(sorted(where)))] = data.draw(values())
    (tmp_path / FACTS_FILE).write_text(json.dumps(content))
    try:
        facts = load(tmp_path)
    except InputError:
        return
    assert facts.ranks > 0 and facts.expected_s > 0


def test_what_the_recorder_could_not_see_is_read(tmp_path: Path) -> None:
    content = {**json.loads(written(FACTS)), "unseen": EVERYTHING.facts()}
    (tmp_path / FACTS_FILE).write_text(sealed_json(content))
    assert load(tmp_path).unseen == EVERYTHING
    content["unseen"]["threads"] = {"seconds": "many", "share": 1}
    (tmp_path / FACTS_FILE).write_text(sealed_json(content))
    with pytest.raises(InputError, match=r"unseen\.threads\.seconds"):
        load(tmp_path)
