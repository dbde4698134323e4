"""A phase signature on disk: what is written is read, and damage is named."""

import dataclasses
import random
import tomllib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen._paths import shim_sources
from skelgen.errors import InputError
from skelgen.phases import store
from skelgen.phases.compare import compare
from skelgen.phases.counts import counts
from skelgen.phases.extract import extract
from skelgen.phases.sign import sign
from skelgen.phases.thresholds import FIRST_OCCURRENCES
from tests import builders, summaries
from tests.random_programs import random_program
from tests.sealed import unsealed

LOOPS = """
    rank 0
      repeat 90 {
        1000 Isend to=1 tag=1 as=s
           0 Waitall of=s
         500 Allreduce bytes=8 op=1
      }
    rank 1
      repeat 90 {
        1000 Irecv from=0 tag=1 as=r
           0 Waitall of=r
         500 Allreduce bytes=8 op=1
      }
"""


def of_text(text):
    return of_events(builders.events(text))


def of_events(events):
    built = summaries.build(events)
    trace = summaries.logical_trace_of(events, built)
    found = extract(events, built.matching, trace)
    return sign(found, events.calls, summaries.PROVENANCE, None, 1)


def test_counts_leave_out_completions():
    (loop,) = of_text(LOOPS).phases
    assert loop.phase.weight == 90
    assert loop.occurrences[3].begin == (6, 6)
    assert loop.occurrences[3].end == (8, 8)


def test_the_first_occurrences_are_stored_and_the_last_one():
    (loop,) = of_text(LOOPS).phases
    numbers = [one.number for one in loop.occurrences]
    assert numbers[:FIRST_OCCURRENCES] == list(range(FIRST_OCCURRENCES))
    assert numbers[-1] == 89
    assert numbers == sorted(set(numbers))


def test_stretches_are_stored_of_what_comes_often(tmp_path):
    """Without gaps over a tenth of the run, and read as they were written."""
    found = of_text(LOOPS.replace("90", "1500"))
    (loop,) = found.phases
    long = [one for one in loop.occurrences if one.repeats > 1]
    assert [one.repeats for one in long[:-1]] == [3] * (len(long) - 1)
    for one, following in pairwise(long):
        assert one.number + one.repeats == following.number
        assert one.end == following.begin
    assert long[0].begin == loop.occurrences[FIRST_OCCURRENCES - 1].end
    assert long[-1].number + long[-1].repeats == 150
    assert sum(one.time_s for one in long) == pytest.approx(
        loop.phase.time_s * sum(one.repeats for one in long), rel=0.01
    )
    assert loop.occurrences[-1].number == 1499
    assert store.load(store.save(found, tmp_path)) == found


def test_functions_count_as_the_table_of_the_recorder_says():
    table = tomllib.loads((shim_sources() / "mpi_calls.toml").read_text())
    never = "init finalize complete probe release control local passed".split()
    for name, entry in table.items():
        if name.startswith("MPI_") and isinstance(entry, dict):
            expected = entry["kind"] not in never and name != "MPI_Win_test"
            assert counts(name) == expected, name


@given(st.integers(0, 2**32))
@settings(max_examples=60)
def test_what_is_stored_is_read(tmp_path, seed):
    signature = dataclasses.replace(
        of_events(random_program(random.Random(seed))),
        folder="/a b",
        environment=(("UCX_TLS", "self"),),
        files=(("/bin/app: x", "00ff"),),
    )
    written = store.save(signature, tmp_path)
    assert written == tmp_path / "phases.yaml"
    assert store.load(tmp_path) == signature
    assert store.load(written) == signature


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("skelgen_phases: 1", "skelgen_phases: 2", "version '2', expected 1"),
        ("skelgen_phases: 1", "format: 1", "'skelgen_phases' is missing"),
        ("weight: 90", "weight: 3", "occurrences.3..number: read 3, expected 0 to 2"),
        ("weight: 90", "weight: many", "phases.0..weight: read 'many'"),
        ('begin: "6*2"', 'begin: "6*3"', "begin: read 3, expected 1 to 2"),
        ('begin: "6*2"', 'begin: "6"', "begin: read 1 event counts, expected 2"),
        ('begin: "6*2"', 'begin: "9 6"', "end: read event count 8 of rank 0"),
        ('counts: "180*2"', 'counts: "70 80"', "of rank 0, expected 70 to 70"),
        ("number: 0", "number: 1", "number: read 1, expected numbers that ascend"),
        ("number: 2", "number: 0", "number: read 0, expected numbers that ascend"),
        ("  time_s: ", "  time_s: 0.0 # ", "time_s: read 0, expected a time"),
        ("application_s: ", "application_s: 0.0 # ", "application_s: read 0, expec"),
        ("ranks: 2", "ranks: two", "ranks: read 'two'"),
        ("others:", "other:", "field 'others' is missing"),
    ],
)
def test_damage_is_named_with_its_place(tmp_path, old, new, expected):
    file = store.save(of_text(LOOPS), tmp_path)
    text = unsealed(file.read_text())
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=expected) as caught:
        store.load(file)
    assert str(caught.value).startswith(str(file))


def test_two_phases_of_one_number_are_refused(tmp_path):
    file = store.save(of_text(LOOPS), tmp_path)
    text = unsealed(file.read_text())
    phase = text[text.index("- id: ") : text.index("others:")]
    file.write_text(text.replace(phase, phase * 2))
    with pytest.raises(InputError, match=r"phases\[1\].*read id 2 a second time"):
        store.load(file)


def test_a_folder_without_phases_is_named(tmp_path):
    with pytest.raises(InputError, match=r"phases\.yaml: there is no such file"):
        store.load(tmp_path)


def test_phases_are_paired_by_structure_whatever_their_number_and_time():
    other = LOOPS.replace("repeat 90", "repeat 70").replace("1000", "9000")
    first = "rank 0-1\n repeat 30 {\n 9000 Barrier\n }"
    pairs = compare(of_text(LOOPS), of_text(first + other))
    known = [(p.before and p.before.weight, p.after and p.after.weight) for p in pairs]
    assert known == [(90, 70), (None, 30)]


def test_of_phases_with_one_structure_the_frequent_ones_are_paired():
    def text(fast):
        return f"""
        rank 0-1
          repeat 8 {{
            90000 Barrier
          }}
          repeat {fast} {{
            1000 Barrier
          }}
        """

    pairs = compare(of_text(text(60)), of_text(text(100)))
    assert [(p.before.weight, p.after.weight) for p in pairs] == [(8, 8), (60, 100)]


def test_phases_of_other_numbers_of_ranks_are_not_compared():
    three = of_text("rank 0-2\n repeat 9 {\n 10 Barrier\n }")
    with pytest.raises(InputError, match="of 2 and of 3 ranks"):
        compare(of_text(LOOPS), three)
