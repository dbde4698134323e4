"""What changes something: a run that is typed, lines that are sent, rows removed."""

from __future__ import annotations

from dataclasses import replace

from skelgen.errors import InputError, UsageError
from skelgen.pipeline import store
from skelgen.pipeline.ask import plain_hosts
from skelgen.pipeline.authors import signed
from skelgen.pipeline.store_sources import rows_of_lines
from skelgen.pipeline.store_typed_runs import known_of, typed_run
from skelgen.results.stores import StoreAddResult, StoreRemoveResult
from skelgen.server.pages import may, stored_run
from skelgen.server.pages_uploads import author_of
from skelgen.server.settings import Answer, GoTo, Question
from skelgen.server.tokens import Right
from skelgen.units import parse_seconds
from skelgen.web import site_runs
from skelgen.web.site import address

#: What a run counts for that somebody typed [bytes].
_TYPED_BYTES = 1024


def add_typed(question: Question) -> Answer:
    """Add a run that was typed into the form, and show it."""
    typed = question.form
    question.charge(_TYPED_BYTES)
    known = known_of(
        application=typed.get("app", "").strip(),
        inputs=[one] if (one := typed.get("inputs", "").strip()) else [],
        ranks=_count(typed.get("ranks", "")),
        system=typed.get("system", "").strip(),
        started=typed.get("started", "").strip(),
    )
    known = replace(known, hosts=tuple(plain_hosts(typed.get("hosts", ""))))
    try:
        time_s = parse_seconds(typed.get("time", ""))
    except ValueError as error:
        raise UsageError(f"the wall time: {error}") from error
    run = typed_run(known, time_s, typed.get("status", "").strip() or "ok")
    run = replace(run, author=author_of(question))
    found = store.store_add_typed(question.settings.store, run, make=False)
    for refused in found.refused:
        raise InputError(refused.reason)
    return GoTo(address("runs", found.added[0].run))


def _count(text: str) -> int:
    word = text.strip()
    if word and not (word.isascii() and word.isdigit() and len(word) <= 9):
        raise UsageError(f"the ranks: read {word[:40]!r}, expected a number")
    return int(word or 0)


def ask_removal(question: Question) -> Answer:
    """Ask whether a run is to be removed."""
    may_remove = may(question, Right.ADMINISTER)
    return site_runs.removal_page(stored_run(question)[1], may_remove=may_remove)


def remove(question: Question) -> Answer:
    """Remove a run, and show the list."""
    identity, _ = stored_run(question)
    store.store_remove(question.settings.store, [identity])
    return GoTo(address("runs"))


def add_lines(question: Question) -> Answer:
    """Add the rows of a body, lines as `skelgen store export` writes them."""
    question.charge(len(question.body))
    found = rows_of_lines("the request", question.body)
    content = replace(found, rows=signed(found.rows, author_of(question)))
    return StoreAddResult.of(
        store.store_add_content(question.settings.store, content, make=False)
    )


def remove_row(question: Question) -> Answer:
    """Remove a run by its identity."""
    identity, _ = stored_run(question)
    removed = store.store_remove(question.settings.store, [identity])
    return StoreRemoveResult(removed=removed)
