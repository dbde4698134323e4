"""The API of jobs."""

from __future__ import annotations

from skelgen.server.job_words import wanted
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
    return {"jobs": [job_facts(question, one) for one in found]}


def job(question: Question) -> Answer:
    """Show one job, with what its command printed when it is done."""
    found = stored_job(question)
    answer = queue_of(question).answer(found)
    return {**job_facts(question, found), "answer": answer}


def add_job(question: Question) -> Answer:
    """Start a job: a command of models, and its options by name."""
    command, words = wanted(question.body)
    if command == "model fit":
        words = (*words, f"--author={author_of(question)}")
    return job_facts(question, start_job(question, words, about=command))


def cancel_job(question: Question) -> Answer:
    """End a job."""
    return job_facts(question, cancelled(question))
