"""What is saved loads as the same signature; what was edited wrongly is refused."""

import random
import stat
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError, UsageError
from skelgen.events.touched_memory import Touched
from skelgen.signature import calls_of
from skelgen.signature.store import load, save
from skelgen.signature.write import signature_text
from tests import builders
from tests.golden.rewrite import CASES
from tests.random_programs import random_program
from tests.sealed import unsealed
from tests.summaries import assert_same, build, cut_events
from tests.unit.test_trust_recording_doubts import EVERYTHING

seeds = st.integers(0, 2**32)
TRACE = """
    rank *
      100 Comm_rank
      repeat 20 {
        1000 Irecv from=-1 tag=5 bytes=1000 as=r
        20 Isend to=+1 tag=5 bytes=800 as=s
        7 Waitall of=r,s
        repeat 3,4 {
          10 Allreduce bytes=8 op=1
        }
        5 Alltoallv sends=1,2,3,4 receives=4,3,2,1
      }
      tail 500
    rank 3
      10 Barrier
    rank 0-2
      20 Barrier
"""


@pytest.fixture(scope="module")
def signature():
    return build(builders.events(TRACE)).signature


@pytest.fixture
def edited(signature, tmp_path):
    """Return a function that saves, replaces a piece of text and loads again."""

    def edit(old, new, count=1):
        path = tmp_path / "signature.yaml"
        text = unsealed(signature_text(signature))
        assert old in text
        path.write_text(text.replace(old, new, count), encoding="utf-8")
        return load(path)

    return edit


def test_a_signature_comes_back_exactly(signature, tmp_path):
    path = save(signature, tmp_path / "one.yaml")
    assert_same(load(path), signature)


def test_queries_of_the_cpu_time_come_back(signature, tmp_path):
    asking = replace(signature, usage_queries=12345)
    path = save(asking, tmp_path / "one.yaml")
    assert_same(load(path), asking)
    for wrong in ("-1", "some"):
        path.write_text(unsealed(signature_text(asking)).replace("12345", wrong))
        with pytest.raises(InputError, match="usage_queries"):
            load(path)


def test_gaps_between_queries_come_back(signature, tmp_path):
    asking = replace(signature, usage_queries=12345, usage_gaps=(*range(7), *[0] * 9))
    path = save(asking, tmp_path / "one.yaml")
    assert_same(load(path), asking)
    assert "usage_gaps: 0..6 0*9\n" in path.read_text()
    for wrong in ("0..6 0*8", "0..6 0*10", "-1 0..5 0*9", "some"):
        path.write_text(unsealed(signature_text(asking)).replace("0..6 0*9", wrong))
        with pytest.raises(InputError, match="usage_gaps"):
            load(path)


def test_ranks_whose_threads_were_in_calls_at_one_time_come_back(signature, tmp_path):
    threaded = replace(signature, concurrent_ranks=2)
    path = save(threaded, tmp_path / "one.yaml")
    assert_same(load(path), threaded)
    assert "concurrent_ranks" not in signature_text(signature)
    path.write_text(unsealed(signature_text(threaded)).replace("ranks: 2", "ranks: x"))
    with pytest.raises(InputError, match="concurrent_ranks"):
        load(path)


def test_what_ranks_did_instead_of_computing_comes_back(signature, tmp_path):
    idle = replace(signature, not_computed=(("slept", 1.5), ("files", 0.25)))
    path = save(idle, tmp_path / "one.yaml")
    assert_same(load(path), idle)
    for old, wrong in (("1.5", "-1"), ("slept", "danced")):
        path.write_text(unsealed(signature_text(idle)).replace(old, wrong))
        with pytest.raises(InputError, match="not_computed"):
            load(path)


@pytest.mark.parametrize(
    "size", ["99999999999999999999", "1e300", "4611686018427387904"]
)
def test_vectors_of_more_bytes_than_integers_hold_are_refused(size, tmp_path):
    (case,) = (one for one in CASES if one.name == "collectives")
    text = unsealed((case / "signature.yaml").read_text())
    (tmp_path / "one.yaml").write_text(text.replace("sent 500 700", f"sent {size} 700"))
    with pytest.raises(InputError, match=r"vectors.*bytes in all, expected less than"):
        load(tmp_path / "one.yaml")


def test_what_the_recorder_could_not_see_comes_back(signature, tmp_path):
    known = replace(signature, unseen=EVERYTHING)
    path = save(known, tmp_path / "one.yaml")
    assert load(path).unseen == EVERYTHING
    assert_same(load(path), known)
    path.write_text(unsealed(signature_text(known)).replace("share: 0.98", "share: -1"))
    with pytest.raises(InputError, match=r"unseen\.threads\.share"):
        load(path)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_signatures_of_random_programs_come_back_exactly(tmp_path_factory, seed):
    rng = random.Random(seed)
    events = random_program(rng)
    folder = tmp_path_factory.mktemp("signature")
    for one in (events, cut_events(events, rng)):
        built = build(one, rng.choice((None, 0.0, 0.3))).signature
        path = save(built, folder / "signature.yaml")
        again = load(path)
        assert_same(again, built)
        assert signature_text(again) == path.read_text(encoding="utf-8")


def test_a_folder_holds_the_signature_and_a_readme(signature, tmp_path):
    folder = tmp_path / "signatures" / "halo-4r"
    assert save(signature, folder) == folder / "signature.yaml"
    assert sorted(p.name for p in folder.iterdir()) == ["README.md", "signature.yaml"]
    assert_same(load(folder), signature)
    assert "# halo-4r" in (folder / "README.md").read_text(encoding="utf-8")


def test_saving_twice_gives_the_same_bytes(signature, tmp_path):
    one = save(signature, tmp_path / "one.yaml").read_bytes()
    assert save(signature, tmp_path / "two.yaml").read_bytes() == one


def test_saving_leaves_nothing_else_and_a_readable_file(signature, tmp_path):
    path = save(signature, tmp_path / "one.yaml")
    save(signature, path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & stat.S_IRUSR


def test_an_unwritable_place_is_one_line(signature, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        save(signature, tmp_path / "file" / "one.yaml")


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        load(tmp_path)


def test_the_nest_reads_as_loops(signature):
    text = unsealed(signature_text(signature))
    assert (
        """\
  nest:
  - loop: 20
    body:
    - irecv-1 isend+1 waitall
    - loop: 3 4 3 4"""
        in text
    )


def test_a_person_can_change_what_statistics_do_not_count(edited, signature):
    changed = edited(
        "MPI_Allreduce family=0 element=1", "MPI_Allreduce family=0 element=8"
    )
    assert changed.symbols["datatype_bytes"].max() == 8
    assert signature.symbols["datatype_bytes"].max() == 1


def test_all_that_is_outstanding_can_be_said_of_a_completion(edited, signature):
    changed = edited("MPI_Waitall site=0 ages=2,1", "MPI_Waitall site=0 ages=all")
    text = signature_text(changed)
    assert "MPI_Waitall site=0 ages=all" in text
    ours, others = calls_of(signature), calls_of(changed)
    for one, other in zip(ours.ages.tolist(), others.ages.tolist(), strict=True):
        own, their = ours.age_first[one : one + 2], others.age_first[other : other + 2]
        found = others.age_values[slice(*their)].tolist()
        assert found == ours.age_values[slice(*own)].tolist()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "skelgen_signature: 1",
            "skelgen_signature: 2",
            "read version '2', expected 1",
        ),
        ("events: ", "evnts: ", "'events' is missing"),
        ("application_s: ", "application_s: -", "at least 0"),
        ("ranks: 4\n", "ranks: four\n", "ranks: read 'four', expected an integer"),
        ("ranks: 4\n", "ranks: 0\n", "ranks: read 0, expected 1 to"),
        ("ranks: 4\n", "ranks: 5\n", "rank 4 is in no group"),
        ("- ranks: 0..3", "- ranks: 0 2", "read rank 1, which is not in the group"),
        ("- ranks: 0..3", "- ranks: 3..0", "expected ascending ranks"),
        ("- ranks: 0..3", "- ranks: 0..9", "groups[0].ranks: read 9, expected 0 to 3"),
        ("- loop: 20", "- loop: 21", "groups[0].nest[0].body[1].loop"),
        ("- loop: 20", "- loop: 0", "groups[0].nest[0].loop: read 0, expected 1 to"),
        ("- loop: 20", "- loop: 999999999", "expands to more than 1000000000 calls"),
        ("- loop: 20", "- lop: 20", "'loop' is missing"),
        (
            "- allreduce\n",
            "- allredce\n",
            "read 'allredce', expected a name of symbols",
        ),
        ("    0 irecv-1 20", "    0 irecv-1 21", "groups[0].leaves line 2"),
        ("MPI_Isend peer", "MPI_Isent peer", "expected an MPI function"),
        ("peer=+1", "peer=1", "peer: read '1', expected +1, -1"),
        ("peer=+1", "peer=+4", "its family has 4 ranks"),
        ("peer=+1 ", "", "the word peer= is missing"),
        ("ages=2,1", "ages=2,0", "ages: read 0"),
        ("ages=2,1", "ages=3,1", "but only 2 are created before it"),
        ("ages=2,1", "", "needs ages"),
        ("Waitall site=0 ages=2,1", "Startall site=0 ages=all", "only a completion"),
        ("tag=0", "tag=x", "symbols.irecv-1: tag: read 'x'"),
        ("tag=0", "colour=0", "read 'colour'=, which MPI_Irecv does not have"),
        ("family=0", "family=7", "family: read 7, expected 0 to 1"),
        ("site=0", "site=3", "site: read 3, expected 0 to 0"),
        ('kind: "world"', "kind: [x]", "families[0].kind"),
        ('instances: ["0..3"]', 'instances: ["0..2"]', "is in no communicator"),
        ('instances: ["0..3"]', 'instances: ["0 1 2 2"]', "appear once"),
        ('instances: ["0..3"]', "instances: []", "at least one communicator"),
        ("tail_ns: 500*4", "tail_ns: 500*3", "tail_ns: read 3 numbers, expected 4"),
        ("tail_ns: 500*4", "tail_ns: 500*3 nan", "tail_ns: read 'nan'"),
        ("samples: 32", "samples: 33", "samples: read 33, expected 1 to 32"),
        ("samples: 32", "samples: 3", "read 20 samples, expected 3"),
        ("  mpi_ns: |", "  mpi_ms: |", "'mpi_ns' is missing"),
        ("    1 = 20*4\n", "", "leaf 1 of rank 0 is missing"),
        ("    1 = 20*4\n", "    1 = 20*4\n    1 2 = 20\n", "leaf 1 twice"),
        ("    1 = 20*4\n", "    1 = -20*4\n", "compute_ns line"),
        ("    1 = 20*4\n", "    1 = 1e300*4\n", "below 2^63"),
        ("    1 = 20*4\n", "    1 9 = 20\n", "read rank 9, which is not in"),
        ("    1 2000*4\n", "    1 2000*3\n", "read 3 numbers, expected 4"),
        ("    1 2000*4\n", "", "leaf 1 is missing"),
        ("4 0 sent 1 2 3 4", "4 0 sent 1 2 3", "read 4 numbers, expected 3"),
        ("4 0 sent 1 2 3 4", "4 0 lent 1 2 3 4", "expected leaf, rank, sent"),
        ("provenance:", "provenance: 3\nx:", "read the field 'x'"),
        ("dropped: []", "dropped: [[a, 1]]", "dropped[0]: read 2 values"),
        ("dropped: []", "dropped: [[a, 1, -2]]", "dropped[0][2]"),
        ("groups:", "groups: [", "is not YAML: line"),
        ("groups:", "groups: []\nranks:", "read the key 'ranks' twice"),
        ("sites:", "sites: *a\nx:", "alias"),
        ("events: ", "--- \nevents: ", "second document"),
    ],
)
def test_wrong_edits_are_one_clear_line(edited, old, new, message):
    with pytest.raises(InputError) as caught:
        edited(old, new)
    text = str(caught.value)
    assert message in text
    assert "signature.yaml: " in text
    assert "\n" not in text


def test_a_rank_in_two_groups_is_refused(signature, tmp_path):
    path = tmp_path / "signature.yaml"
    head, groups = unsealed(signature_text(signature)).split("groups:\n")
    head = head.replace("events: ", "events: 9")
    path.write_text(f"{head}groups:\n{groups}{groups}", encoding="utf-8")
    with pytest.raises(InputError, match=r"groups\[1\]: read rank 0, which is in gro"):
        load(path)


@pytest.mark.parametrize("depth", [1_001, 100_000])
@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_documents_are_refused(tmp_path, depth, opening):
    path = tmp_path / "signature.yaml"
    path.write_text("skelgen_signature: 1\nx: " + opening * depth)
    with pytest.raises(InputError):
        load(path)


FIRST = "    0 0 20200 20440000 1000 1200 | 10 19 1 | 1200 1000*19\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("20200", "30200", "read total 30200"),
        ("20440000", "10440000", "which do not fit the total"),
        ("1000 1200", "1200 1000", "least 1200.0, which is more than most"),
        ("10 19 1", "10 19 2", "a histogram of 21 values, but the leaf occurs 20"),
        ("10 19 1", "63 19 1", "more than 64 bins"),
        ("10 19 1", "", "read '', expected an integer"),
        ("1000*19", "1000*18", "read 19 samples, expected 20"),
        ("1000*19", "999*19", "not within 1000.0 to 1200.0"),
        ("1000*19", "-*19", "read - among the samples"),
        (" | 1200", " 1200", "read 2 parts"),
        ("20200 20440000", "20200", "read 3 numbers, expected 4"),
        ("0 0", "0 7", "read rank 7, which is not in the group"),
        ("0 0", "x 0", "read 'x', expected an integer"),
    ],
)
def test_statistics_that_contradict_each_other_are_refused(edited, old, new, message):
    with pytest.raises(InputError) as caught:
        edited(FIRST, FIRST.replace(old, new, 1))
    text = str(caught.value)
    assert message in text
    assert "groups[0].compute_ns line 2" in text


def test_what_memory_computation_touches_comes_back(signature, tmp_path):
    seen = replace(signature, touched=Touched(1234.5, 4 << 20, 26, 0.75))
    path = save(seen, tmp_path / "one.yaml")
    assert_same(load(path), seen)
    assert "touched" not in signature_text(signature)
    for old, wrong in (
        ("1234.5", "-1"),
        ("4194304", "much"),
        ("looks: 26", "looks: 0"),
        ("share: 0.75", "share: 1.25"),
        ("share: 0.75", "share: -0.5"),
    ):
        path.write_text(unsealed(signature_text(seen)).replace(old, wrong))
        with pytest.raises(InputError, match="touched"):
            load(path)


def test_memory_that_older_files_tell_of_is_that_of_all_computation(
    signature, tmp_path
):
    seen = replace(signature, touched=Touched(1234.5, 4 << 20, 26, 0.75))
    path = tmp_path / "one.yaml"
    path.write_text(unsealed(signature_text(seen)).replace(", share: 0.75", ""))
    assert load(path).touched == Touched(1234.5, 4 << 20, 26, 1.0)
