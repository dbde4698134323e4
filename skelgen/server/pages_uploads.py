"""Files that people send: the page with the form, and what became of them."""

from __future__ import annotations

from skelgen.documents.archives import ArchiveLimits
from skelgen.pipeline.authors import own_name
from skelgen.pipeline.read_process import SentFile
from skelgen.pipeline.upload import add_upload, added_of
from skelgen.results.stores import StoreAddResult
from skelgen.server.pages import may
from skelgen.server.settings import Answer, Question, RefusedError
from skelgen.server.tokens import PRINTED, Right
from skelgen.web import site_uploads
from skelgen.web.upload_outcome import Uploaded

#: Files and folders of an archive, and the time to read a file [s].
_MOST_MEMBERS, _READ_S = 10_000, 120.0


def author_of(question: Question) -> str:
    """Return who adds something: the name of the token, or who runs the server."""
    visitor = question.visitor
    if visitor is None or visitor.name == PRINTED:
        return own_name()
    return visitor.name


def upload_form(question: Question) -> Answer:
    """Show the form for files, to who may add runs."""
    settings = question.settings
    return site_uploads.upload_page(
        may_add=may(question, Right.ADD),
        most_bytes=settings.uploads.most_bytes,
        left_bytes=question.left,
    )


def add_files(question: Question) -> Answer:
    """Add what files hold, and show what became of it."""
    return site_uploads.uploaded_page(_done(question))


def add_files_for_machines(question: Question) -> Answer:
    """Add what files hold, as store add does."""
    return StoreAddResult.of(added_of(_done(question)))


def _done(question: Question) -> list[Uploaded]:
    if not question.files:
        raise RefusedError(400, "no file was chosen; choose one, or drop it here")
    settings, typed = question.settings, question.form
    limits = ArchiveLimits(
        members=_MOST_MEMBERS,
        rank_bytes=settings.uploads.unpacked_bytes,
        text_bytes=settings.uploads.most_bytes,
        free_bytes=settings.uploads.free_bytes,
    )
    return [
        add_upload(
            settings.store,
            one.name,
            SentFile(
                one.file,
                app=typed.get("app", "").strip(),
                inputs=typed.get("inputs", "").strip(),
                system=typed.get("system", "").strip(),
                columns=typed.get("columns", "").strip(),
                limits=limits,
                most_bytes=settings.most_bytes,
                limit_s=_READ_S,
            ),
            author=author_of(question),
            charge=question.charge,
        )
        for one in question.files
    ]
