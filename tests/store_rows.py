"""Rows of every kind for tests, at random."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from skelgen.store import (
    Coupling,
    Fact,
    Message,
    Row,
    Run,
    RunPart,
    Series,
    StoredModel,
    StoredPrediction,
    StoredRecording,
    Template,
)
from skelgen.store.tables import rows_of
from skelgen.trust import Interval

#: Text as Linux gives it: bytes that are not UTF-8 are halves of surrogate pairs.
TEXTS = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.binary(max_size=8)
    .filter(lambda raw: b"\0" not in raw)
    .map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)
REALS = st.floats(allow_infinity=False, allow_nan=False).map(lambda x: x + 0.0)
#: Numbers of which some are not known.
TIMES = st.one_of(REALS, st.just(math.nan))
COUNTS = st.integers(0, 10**15)


def _pairs(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(TEXTS, values, max_size=3).map(
        lambda found: tuple(sorted(found.items()))
    )


def _tuples(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3).map(tuple)


INPUTS = _pairs(st.one_of(REALS, TEXTS))
RUNS = st.builds(
    Run,
    application=TEXTS,
    time_s=TIMES,
    ranks=COUNTS,
    executable=TEXTS,
    inputs=INPUTS,
    hosts=_tuples(TEXTS),
    started=TIMES,
    added=TIMES,
    status=TEXTS,
    loads=_pairs(TIMES),
    costs=_pairs(TIMES),
    parts=_tuples(st.builds(RunPart, TEXTS, TEXTS, TIMES, TIMES, TIMES)),
    source=TEXTS,
    identity=st.uuids().map(str),
)
SERIES = st.builds(
    lambda host, quantity, found: Series(host, quantity, *zip(*found, strict=True)),
    TEXTS,
    TEXTS,
    st.dictionaries(REALS, TIMES, min_size=1, max_size=5).map(
        lambda found: sorted(found.items(), key=lambda pair: pair[0])
    ),
)
ROWS: st.SearchStrategy[Row] = st.one_of(
    RUNS,
    SERIES,
    st.builds(
        Fact,
        host=TEXTS,
        name=TEXTS,
        value=TIMES,
        unit=TEXTS,
        low=TIMES,
        high=TIMES,
        cores=COUNTS,
        measured=TIMES,
        doubt=TEXTS,
    ),
    st.builds(
        Message,
        hosts=_tuples(TEXTS),
        operation=TEXTS,
        ranks=COUNTS,
        latency_s=TIMES,
        bandwidth_bytes_per_s=TIMES,
        knees=_tuples(st.tuples(COUNTS, REALS, REALS)),
        points=_tuples(st.tuples(COUNTS, REALS)),
        measured=TIMES,
    ),
    st.builds(
        Template, name=TEXTS, application=TEXTS, formula=TEXTS, inputs=_tuples(TEXTS)
    ),
    st.builds(
        Coupling,
        application=TEXTS,
        kernels=_tuples(TEXTS),
        time_s=TIMES,
        inputs=INPUTS,
        measured=TIMES,
    ),
    st.builds(StoredModel, name=TEXTS, application=TEXTS, fitted=TIMES, document=TEXTS),
    st.builds(
        StoredPrediction,
        method=TEXTS,
        application=TEXTS,
        interval=st.builds(Interval, TIMES, TIMES, TIMES),
        made=TIMES,
        doubts=_tuples(TEXTS),
        inputs=INPUTS,
        hosts=_tuples(TEXTS),
        truth=TEXTS,
        truth_s=TIMES,
        identity=st.uuids().map(str),
    ),
    st.builds(StoredRecording, run=TEXTS, document=TEXTS),
)


def same(one: object, other: object) -> bool:
    """Compare rows: nan is equal to nan."""
    return repr(one) == repr(other)


def rows_in(store: Any) -> list[Row]:
    """Return all rows of a store."""
    return [
        *store.runs(),
        *store.facts(),
        *store.messages(),
        *store.series(),
        *store.predictions(),
        *store.templates(),
        *(one.row for one in rows_of(store.current(), StoredRecording)),
        *store.couplings(),
        *store.models(),
    ]
