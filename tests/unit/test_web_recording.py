"""What the page of a recorded run is made of, as a document of a stranger."""

from __future__ import annotations

import base64
import copy
import json
import random
import zlib
from dataclasses import replace

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.events.sites import SiteSummary
from skelgen.timeline.coarser import coarser
from skelgen.timeline.encoding import decoded
from skelgen.web import recording_written
from skelgen.web.recorded_blocks import recorded_blocks
from skelgen.web.recording_read import read_recording
from skelgen.web.recording_written import MOST_LISTED_RANKS, MOST_PACKED, document_of
from skelgen.web.render import render_page
from skelgen.web.run_page import run_page
from skelgen.web.site import SitePage
from skelgen.web.site_render import Frame, render_site
from tests.recordings import made, packed, plain_of

BAD = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
MUTATIONS = 400


def shown(document: str) -> str:
    """Return both pages of a document."""
    found = read_recording(document)
    page = SitePage("a run", tuple(recorded_blocks("r", found, "")))
    return render_page(run_page(found)) + render_site(page, Frame()).decode()


@pytest.mark.parametrize("ranks", [1, 2, 4, 64])
def test_a_page_from_the_store_is_the_page_that_info_writes(ranks: int):
    recording = made(ranks=ranks)
    read = read_recording(document_of(recording))
    assert render_page(run_page(read)) == render_page(run_page(recording))


def test_a_name_that_is_a_script_is_text_wherever_it_is():
    text = shown(document_of(made(BAD)))
    assert text.count("<script>") == 1  # ours
    assert "<img" not in text
    assert text.count("&lt;img src=x onerror=alert(2)&gt;") >= 12


def test_what_is_too_long_is_cut_and_the_page_says_so():
    recording = made("x" * 100_000)
    sites = recording.sites * 1000
    recording = replace(
        recording,
        sites=sites,
        warnings=("careful",) * 1000,
        command=("word",) * 5000,
        hosts=tuple((f"n{n}", 1) for n in range(3000)),
    )
    document = document_of(recording)
    assert len(document) < 200_000
    page = run_page(read_recording(document))
    assert len(page.sites.rows) == 30
    assert page.sites.hidden == len(sites) - 30
    assert "Only 100 of 1000 warnings are in the store." in page.warnings
    assert "Only 200 of 5000 words of the command are in the store." in page.warnings
    assert "1976 more" in dict(page.facts)["ranks"]
    assert "of 3000 hosts" in page.answer.headline


def test_a_timeline_that_is_too_large_becomes_coarser_and_says_so(monkeypatch):
    recording = made(calls=5000)
    whole = document_of(recording)
    monkeypatch.setattr(recording_written, "MOST_PACKED", len(whole) // 4)
    found = read_recording(document_of(recording))
    assert found.timeline.width_ns > recording.timeline.width_ns
    assert len(found.timeline.data) < len(recording.timeline.data) // 4
    assert [one.times_s for one in found.timeline.lanes] == [
        one.times_s for one in recording.timeline.lanes
    ]
    assert any("coarser" in one for one in run_page(found).warnings)
    monkeypatch.setattr(recording_written, "MOST_PACKED", 4000)
    found = read_recording(document_of(recording))
    assert found.timeline is None
    assert any("timeline is too large" in one for one in found.left_out)
    monkeypatch.setattr(recording_written, "MOST_PACKED", 400)
    with pytest.raises(InputError, match="skelgen info writes the page"):
        document_of(recording)


def test_pieces_are_joined_until_there_are_few_enough():
    timeline = made(calls=2000).timeline
    found = coarser(timeline, most_bytes=1 << 20, most_pieces=50)
    assert sum(lane.pieces for lane in found.lanes) <= 50
    for one, other in zip(decoded(found), decoded(timeline), strict=True):
        assert one.length_ns.sum() == pytest.approx(other.length_ns.sum(), rel=1e-2)
        shares, wanted = one.times_ns.sum(axis=0), other.times_ns.sum(axis=0)
        assert shares / shares.sum() == pytest.approx(wanted / wanted.sum(), abs=0.02)
    assert coarser(timeline, most_bytes=1, most_pieces=1).lanes


def test_many_ranks_fit_and_too_many_lose_the_time_of_each():
    recording = replace(made(ranks=4), ranks=MOST_LISTED_RANKS, timeline=None)
    rng = np.random.default_rng(1)
    recording = replace(
        recording,
        computed_s=rng.random(MOST_LISTED_RANKS),
        sent=replace(
            recording.sent,
            ranks=MOST_LISTED_RANKS,
            each=512,
            size_bytes=rng.integers(1, 10**9, (128, 128)).astype(float),
            messages=np.full((128, 128), 7.0),
        ),
    )
    document = document_of(recording)
    assert len(base64.b64decode(document)) <= MOST_PACKED
    found = read_recording(document)
    assert found.computed_s == pytest.approx(recording.computed_s, rel=1e-5)
    assert (found.sent.size_bytes == recording.sent.size_bytes).all()
    more = replace(recording, computed_s=rng.random(MOST_LISTED_RANKS + 1))
    found = read_recording(document_of(more))
    assert not len(found.computed_s)
    assert "65536 ranks" in found.left_out[0]
    assert "What was recorded" in shown(document_of(more))


def changed(path: str, value: object) -> str:
    """Return a document in which one value is another one."""
    plain = plain_of(document_of(made()))
    *names, last = [int(n) if n.isdigit() else n for n in path.split(".")]
    inner = plain
    for name in names:
        inner = inner[name]
    inner[last] = value
    return packed(plain)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *(("ranks", one) for one in (0, -1, 10**18, "4", 4.5, True, None, [4], 5)),
        *(("application_s", one) for one in (-1.0, 1e300, 1e-300, "x", None)),
        *(("application", one) for one in (5, "x" * 2000, None)),
        *(("warnings", one) for one in ("text", ["x"] * 1000, [5])),
        *(("functions", one) for one in ([["a", 1]], [["a", -1, 1.0]], [["a"] * 3])),
        *(("computed_s", one) for one in ([1.0], [True] * 4, ["1"] * 4, [-1.0] * 4)),
        *(("waits.0.0", one) for one in (3, -1, "0")),
        *(("waits.0.3", one) for one in (0, -1.0, 1e-9)),
        *(("waits.0.4", one) for one in (4, -1)),
        *(("sites.0.4", one) for one in ([["a", 1]], [["a", 10**10, "b"]])),
        *(("sent.each", one) for one in (0, 2, 10**9)),
        *(("sent.cells", one) for one in ([16], [1, 1], [2.5], [-1], [3, 2], [0] * 99)),
        *(("sent.messages", one) for one in ([0, 1, 1, 1], [1], [1e30] * 4)),
        *(("format", one) for one in (0, 2, "1")),
        ("more", 1),
        ("hosts", [["n", 1]] * 2000),
    ],
)
def test_a_value_that_none_can_have_is_refused_in_one_line(path: str, value: object):
    with pytest.raises(InputError, match="the recording") as caught:
        read_recording(changed(path, value))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *(("timeline.span_ns", one) for one in (0, 1, -5, "9")),
        *(("timeline.lanes", one) for one in ([], [5], [{}])),
        *(("timeline.lanes.0.first", one) for one in (1, 9)),
        *(("timeline.lanes.3.last", one) for one in (9, 2)),
        *(("timeline.lanes.0.pieces", one) for one in (10**9, 1, 0)),
        *(("timeline.things.0", one) for one in ([1, ""], [99, ""], ["0", ""])),
        *(("timeline.data", one) for one in ("", "!", "AAAA", 5, "A" * 4_000_000)),
    ],
)
def test_a_damaged_timeline_is_left_out_and_the_page_says_so(path: str, value: object):
    document = changed(path, value)
    found = read_recording(document)
    assert found.timeline is None
    (said,) = found.left_out
    assert said.startswith("The timeline cannot be shown: the recording: timeline")
    assert "Call sites" in shown(document)
    assert read_recording(document, timeline=False).left_out == ()


def test_a_document_that_is_cut_off_or_no_document_is_refused():
    document = document_of(made())
    whole = base64.b64decode(document)
    bomb = zlib.compress(b" " * (64 << 20))
    for content in (whole[:-30], whole[: len(whole) // 2], b"", b"x", bomb):
        with pytest.raises(InputError, match="the recording"):
            read_recording(base64.b64encode(content).decode())
    for text in ("", "?", "\u00e9" * 9, document[:-1], "A" * (4 << 20)):
        with pytest.raises(InputError, match="the recording"):
            read_recording(text)
    for value in ([], {}, 5, None, "x", [[]], {"format": 1}):
        with pytest.raises(InputError):
            read_recording(packed(value))


VALUES = (0, 1, -1, 3, 10**17, 1e12, 1e-15, 0.5, "", BAD, None, True, [], {}, [[]])


def mutated(plain: object, rng: random.Random) -> object:
    """Change one value somewhere."""
    found = copy.deepcopy(plain)
    inner = found
    while True:
        names = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        name = rng.choice(names)
        if isinstance(inner[name], dict | list) and inner[name] and rng.random() < 0.8:
            inner = inner[name]
            continue
        what = rng.random()
        if what < 0.2:
            del inner[name]
        elif what < 0.3 and isinstance(inner, list):
            inner *= 2
        else:
            inner[name] = rng.choice(VALUES)
        return found


def test_a_changed_document_is_shown_or_refused_and_nothing_else_happens():
    plain = plain_of(document_of(made(calls=40)))
    rng = random.Random(7)
    refused = 0
    for _ in range(MUTATIONS):
        try:
            text = shown(packed(mutated(plain, rng)))
        except InputError as error:
            refused += 1
            assert str(error)
        else:
            assert text.count("<script>") <= 1
            assert "<img" not in text
    assert MUTATIONS // 3 < refused < MUTATIONS


def test_the_least_run_is_shown():
    least = replace(
        made(ranks=1),
        application_s=0.0,
        compute_s=0.0,
        computed_s=np.zeros(1),
        functions=(),
        waits=(),
        sites=(SiteSummary("f", "w", 0, 0.0),),
        timeline=None,
        hosts=(),
    )
    assert "The recorded run took" in shown(document_of(least))


def test_the_document_is_json_without_odd_numbers():
    assert json.dumps(plain_of(document_of(made())), allow_nan=False)
