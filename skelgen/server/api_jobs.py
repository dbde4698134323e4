"""The API of jobs."""

from __future__ import annotations

from skelgen.results.server_answers import JobRow, ServerJobResult, ServerJobsResult
from skelgen.server.job_words import wanted
from skelgen.server.jobs import Job
from skelgen.server.pages_jobs import (
    cancelled,
    job_facts,
    queue_of,
    start_job,
    stored_job,
)
from skelgen.server.pages_uploads import author_of
from skelgen.server.settings import Answer, Question


def jobs(question: Question) -> Answer:
    """List the jobs, the last first."""
    found = queue_of(question).folder.all()
    return ServerJobsResult(jobs=[JobRow(**job_facts(question, one)) for one in found])


def job(question: Question) -> Answer:
    """Show one job, with what its command printed when it is done."""
    return _answered(question, stored_job(question))


def add_job(question: Question) -> Answer:
    """Start a job: a command of models, and its options by name."""
    command, words = wanted(question.body)
    if command == "model fit":
        words = (*words, f"--author={author_of(question)}")
    return _answered(question, start_job(question, words, about=command))


def cancel_job(question: Question) -> Answer:
    """End a job."""
    return _answered(question, cancelled(question))


def _answered(question: Question, found: Job) -> ServerJobResult:
    answer = queue_of(question).answer(found)
    return ServerJobResult(**job_facts(question, found), answer=answer)
