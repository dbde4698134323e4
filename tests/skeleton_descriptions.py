"""Any description of a skeleton, and any calibration, for tests of properties."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from skelgen.launch.secrets import hidden
from skelgen.matching.waits import WaitKind, WaitState
from skelgen.prediction import Calibration, SkeletonFacts
from skelgen.prediction.skeleton_file import SkeletonDescription
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.trust.recording_doubts import Unseen, Used
from skelgen.trust.skeleton_doubts import NOT_COMPUTED
from skelgen.trust.types import PAPER_2005, WHOLE_EVENTS

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
COUNT = st.integers(0, 1 << 40)
AMOUNT = st.floats(0, 1e12)
TIME_S = st.floats(1e-9, 1e9)
#: Commands are stored without secrets; these have some of their shapes.
WORDS = st.one_of(TEXT, st.sampled_from(["-genv", "--token", "TOKEN=x", "a://u:p@h"]))
COMMAND = st.lists(WORDS, max_size=5).map(hidden)
SETTINGS = st.dictionaries(
    st.sampled_from(["UCX_TLS", "OMPI_MCA_btl", "FI_PROVIDER"]),
    st.sampled_from(["tcp", "self,tcp", ""]),
).map(lambda found: tuple(found.items()))


def tuples(one: st.SearchStrategy, least: int = 0) -> st.SearchStrategy:
    """Draw a few of one kind."""
    return st.lists(one, min_size=least, max_size=3).map(tuple)


def calibrations() -> st.SearchStrategy[Calibration]:
    """Draw a calibration."""
    return st.builds(
        Calibration,
        application_runs_s=tuples(TIME_S, 1),
        skeleton_runs_s=tuples(TIME_S, 1),
        host=TEXT,
        mpi=TEXT,
        load=tuples(AMOUNT),
        recorded=st.booleans(),
        application_lost_s=tuples(AMOUNT),
        skeleton_lost_s=tuples(AMOUNT),
        date=TEXT,
        command=COMMAND,
        files=tuples(st.tuples(TEXT, TEXT)),
        hosts=tuples(TEXT),
        skeleton_computing=st.none() | AMOUNT,
        skeleton_computed_s=tuples(AMOUNT),
        disturbed=tuples(st.integers(0, 5)),
    )


def _unseen() -> st.SearchStrategy[Unseen]:
    used = st.builds(Used, AMOUNT, AMOUNT)
    return st.builds(
        Unseen,
        threads=used,
        children=used,
        files=used,
        file_bytes=COUNT,
        children_left=st.booleans(),
        gpu=tuples(st.sampled_from(["CUDA", "ROCm"])),
        hidden=tuples(st.sampled_from(["libtool.so", "libtool.so (MPI_Send)"])),
    )


def _facts() -> st.SearchStrategy[SkeletonFacts]:
    ranks = 4
    waits = st.builds(
        WaitState, st.sampled_from(WaitKind), TEXT, COUNT, AMOUNT, COUNT, AMOUNT
    )
    return st.builds(
        SkeletonFacts,
        ranks=st.just(ranks),
        scaling_factor=TIME_S,
        expected_s=TIME_S,
        application_s=TIME_S,
        smallest_good_s=AMOUNT,
        dropped_share=AMOUNT,
        mpi=TEXT,
        ranks_per_host=tuples(st.integers(0, ranks)),
        command=COMMAND,
        folder=TEXT,
        environment=SETTINGS,
        mix_error=st.none() | AMOUNT,
        method=st.sampled_from([WHOLE_EVENTS, PAPER_2005]),
        dealers=tuples(st.integers(0, ranks - 1)),
        not_computed=st.dictionaries(st.sampled_from(sorted(NOT_COMPUTED)), AMOUNT).map(
            lambda found: tuple(found.items())
        ),
        unseen=st.none() | _unseen(),
        calibrations=tuples(calibrations()),
        application=TEXT,
        recorded=TEXT,
        waits=tuples(waits.map(lambda one: replace(one, behind=one.behind % ranks))),
    ).map(_with_newest)


def _with_newest(facts: SkeletonFacts) -> SkeletonFacts:
    """Use the newest calibration, as reading does."""
    known = facts.calibrations
    return replace(facts, calibration=known[-1] if known else None)


def _speeds() -> st.SearchStrategy[ComputeCalibration]:
    return st.builds(
        ComputeCalibration,
        mix=st.just(Mix(0.5, 0.25, 0.25, 1 << 20)),
        steps_per_us=st.tuples(AMOUNT, AMOUNT, AMOUNT),
        call_us=AMOUNT,
        clock_us=AMOUNT,
        processes=st.integers(1, 64),
        host=TEXT,
        cpu=TEXT,
        query_us=AMOUNT,
    )


def descriptions() -> st.SearchStrategy[SkeletonDescription]:
    """Draw all that is known of a skeleton."""
    return st.builds(
        SkeletonDescription,
        facts=_facts(),
        compute=st.none() | _speeds(),
        host=TEXT,
        skelgen=TEXT,
        parameters=st.dictionaries(TEXT, TEXT, max_size=3).map(
            lambda found: tuple(found.items())
        ),
        events=COUNT,
        warnings=tuples(TEXT),
    )
