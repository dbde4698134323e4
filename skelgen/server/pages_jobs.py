"""Pages of jobs, and what starts and cancels them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from skelgen.documents.dates import date_of
from skelgen.pipeline.store_record import shown_store
from skelgen.server.job_queue import JobQueue, TooManyJobsError
from skelgen.server.jobs import Job
from skelgen.server.settings import Answer, GoTo, Question, RefusedError
from skelgen.server.tokens import Right
from skelgen.web import site_jobs
from skelgen.web.site import address


def queue_of(question: Question) -> JobQueue:
    """Return the jobs of the server."""
    assert question.jobs is not None
    return question.jobs


def start_job(
    question: Question, words: Sequence[str], *, about: str, back: str = ""
) -> Job:
    """Let a command run outside of the request; `job_page_of` leads to it.

    Parameters
    ----------
    question : Question
        Of somebody who may add.
    words : sequence of str
        As `skelgen.server.job_words.words_of` makes them.
    about : str
        What it does, for people.
    back : str
        An address of the server: the page from which it is started.

    Raises
    ------
    RefusedError
        When there are too many jobs.
    """
    assert question.visitor is not None
    who = question.visitor.name
    try:
        return queue_of(question).add(words, about=about, who=who, back=back)
    except TooManyJobsError as error:
        raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, str(error)) from error


def job_page_of(job: Job) -> GoTo:
    """Lead to the page of a job."""
    return GoTo(address("jobs", job.identity))


def stored_job(question: Question) -> Job:
    """Return the job that an address names.

    Raises
    ------
    RefusedError
        When there is none.
    """
    found = queue_of(question).folder.read(question.path["identity"])
    if found is None:
        raise RefusedError(
            404, "there is no such job, or it is forgotten by now; see /jobs"
        )
    return found


def may_cancel(question: Question, job: Job) -> bool:
    """Say whether who asks may end a job: it is theirs, or they administer."""
    visitor = question.visitor
    if visitor is None or job.state.is_over or question.settings.read_only:
        return False
    own = visitor.name == job.who and visitor.right >= Right.ADD
    return own or visitor.right >= Right.ADMINISTER


def jobs(question: Question) -> Answer:
    """Show all jobs."""
    found = queue_of(question).folder.all()
    return site_jobs.jobs_page([shown_job(question, one) for one in found])


def job(question: Question) -> Answer:
    """Show a job: how far it is, and its answer when it is done."""
    found = stored_job(question)
    return site_jobs.job_page(
        shown_job(question, found),
        queue_of(question).answer(found),
        may_cancel=may_cancel(question, found),
    )


def shown_job(question: Question, found: Job) -> site_jobs.JobShown:
    """Return a job as pages show it."""
    left = not found.state.is_over and not queue_of(question).is_alive(found)
    return site_jobs.JobShown(
        **{
            name: getattr(found, name)
            for name in (
                *("identity", "about", "who", "asked", "begun", "ended", "back"),
                *("progress", "share", "said"),
            )
        },
        state="left by its server" if left else str(found.state),
        is_over=found.state.is_over,
        command=command_of(question, found),
    )


def command_of(question: Question, found: Job) -> str:
    """Return what gives the same in a terminal."""
    place = question.settings.store
    store = [f"--store={shown_store(place)}"] if place else []
    return shlex.join(["skelgen", *found.words, *store])


def cancel(question: Question) -> Answer:
    """End a job, and show it."""
    return job_page_of(cancelled(question))


def cancelled(question: Question) -> Job:
    """End the job that an address names.

    Raises
    ------
    RefusedError
        When it is somebody else's.
    """
    found = stored_job(question)
    if not (found.state.is_over or may_cancel(question, found)):
        raise RefusedError(
            403, f"the job is of {found.who}; they cancel it, or who administers does"
        )
    queue_of(question).cancel(found)
    return stored_job(question)


def job_facts(question: Question, found: Job) -> dict[str, Any]:
    """Return what machines are told of a job."""
    facts = asdict(found)
    for name in ("server", "process", "tries", "back"):
        facts.pop(name)
    moments = {name: _moment(facts[name]) for name in ("asked", "begun", "ended")}
    code = found.exit_code if found.exit_code >= 0 else None
    return {
        **facts,
        **moments,
        "exit_code": code,
        "said": found.said or None,
        "command": command_of(question, found),
    }


def _moment(moment: float) -> str | None:
    found = None if math.isnan(moment) else date_of(moment)
    return None if found is None else found.strftime("%Y-%m-%dT%H:%M:%SZ")
