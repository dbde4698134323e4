"""The page of a recorded run: that of `skelgen info`, from the data in the store."""

from __future__ import annotations

from skelgen.pipeline.recordings import kept_recording
from skelgen.pipeline.stored_loads import loads_around
from skelgen.server.pages import may, stored_run
from skelgen.server.settings import Answer, Question, RefusedError, Sent
from skelgen.server.tokens import Right
from skelgen.web import site_runs
from skelgen.web.recorded_blocks import recorded_blocks
from skelgen.web.render import page_hashes, render_page
from skelgen.web.run_loads import run_loads_blocks
from skelgen.web.run_page import run_page
from skelgen.web.site import address

_HTML = "text/html"
_SHORT = 12


def run(question: Question) -> Answer:
    """Show one run."""
    place = question.settings.store
    identity, found = stored_run(question)
    kept = kept_recording(place, identity, timeline=False)
    blocks = recorded_blocks(identity, kept.recording, kept.problem)
    loads = run_loads_blocks(found, *loads_around(place, found))
    return site_runs.run_page(
        found, [*blocks, *loads], may_remove=may(question, Right.ADMINISTER)
    )


def recording(question: Question) -> Answer:
    """Show what was recorded of a run, with the timeline that zooms."""
    text = _page(question, linked=True)[1]
    script, style = page_hashes()
    return Sent(text, _HTML, scripts=script, styles=style)


def recording_file(question: Question) -> Answer:
    """Send the same as one HTML file that needs nothing else."""
    identity, text = _page(question, linked=False)
    return Sent(text, _HTML, f"run-{identity[:_SHORT]}.html")


def _page(question: Question, *, linked: bool) -> tuple[str, bytes]:
    identity, _ = stored_run(question)
    kept = kept_recording(question.settings.store, identity)
    if kept.recording is None:
        raise RefusedError(
            404,
            kept.problem
            or "the store has no recording of this run; skelgen store add run/ adds it",
        )
    home = f"{question.settings.prefix}{address('runs', identity)}" if linked else ""
    text = render_page(run_page(kept.recording), home)
    return identity, text.encode("utf-8", "replace")
