"""Uploads for the fuzzing benchmark: files of each kind, damaged, in forms, damaged."""

from __future__ import annotations

import os
import random
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skelgen import _paths
from skelgen.pipeline import read_process, upload
from skelgen.pipeline.read_process import ReadApart, SentFile
from skelgen.server.settings import UploadBounds
from skelgen.store import open_store
from tests.archives import special, tar_of, zip_of
from tests.broken_bytes import broken
from tests.fuzz_cases import DAMAGES
from tests.store_files import NAMES, write_all
from tests.visitors import Served, serve

#: Statuses that say in a sentence why something is refused, and the one of a page.
ANSWERS = (200, 303, 400, 403, 408, 413, 415, 422, 429, 507)
BOUNDARY = b"----skelgen"
#: Names that a file is sent by.
_FILE_NAMES = (
    "run.csv",
    "../x",
    "/etc/passwd",
    "",
    "a\x00b",
    "<b>",
    "x" * 999,
    "é",
    "-",
)
#: What is typed next to a file.
_TYPED = (
    "",
    "lu",
    "n=1",
    "n=1,,",
    "time=t",
    "\x00",
    "=cmd",
    "x" * 1500,
    "a=b=c",
    "\udcff",
)
_UNPACKED = 4 << 20


@dataclass(frozen=True, slots=True)
class Judged:
    """How an upload ended.

    Attributes
    ----------
    kind, what : str
        ``exit code N`` for a status, or what must not be; and where.
    said : str
    """

    kind: str
    what: str
    said: str


def make_uploads(folder: Path) -> None:
    """Write the files that are sent and damaged: those of stores, runs and archives."""
    folder.mkdir(exist_ok=True)
    write_all(folder)
    files = {name: (folder / name).read_bytes() for name in NAMES}
    run = folder.parent / "run"
    recorded = {
        f"run/{one.name}": one.read_bytes() for one in run.iterdir() if one.is_file()
    }
    archives = {
        "files.tar.gz": tar_of(files),
        "files.tar": tar_of(dict([*files.items()][:4]), packed=False),
        "files.zip": zip_of(files),
        "run.tar.gz": tar_of(recorded),
        "run.tar": tar_of(recorded, packed=False),
        "run.zip": zip_of(recorded),
        "bomb.tar.gz": tar_of({"x.csv": bytes(8 << 20)}),
        "link.tar": tar_of({"run/0.skt": special(b"2", "/etc/passwd")}, packed=False),
        "out.tar": tar_of({"../../x": b"app,time_s\n"}, packed=False),
    }
    for name, content in archives.items():
        (folder / name).write_bytes(content)


def upload_case(rng: random.Random, folder: Path) -> list[str]:
    """Write the body of a request; return words that say what it is made of.

    Parameters
    ----------
    rng : random.Random
    folder : Path
        Of `make_uploads`; the body is written there as ``body``.
    """
    names = sorted(one.name for one in folder.iterdir() if one.is_file())
    parts: list[bytes] = []
    words = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        name = rng.choice(names)
        content = _spoilt(rng, (folder / name).read_bytes())
        called = name if rng.random() < 0.7 else rng.choice(_FILE_NAMES)
        words.append(name)
        parts.append(_part("file", content, called))
    for name in ("app", "inputs", "columns", "system"):
        if rng.random() < 0.3:
            typed = rng.choice(_TYPED).encode("utf-8", "surrogateescape")
            parts.append(_part(name, typed))
    rng.shuffle(parts)
    body = b"".join(parts) + b"--" + BOUNDARY + b"--\r\n"
    if rng.random() < 0.15:
        words.append("form")
        body = broken(rng, body)
    (folder / "body").write_bytes(body)
    return words


def _spoilt(rng: random.Random, content: bytes) -> bytes:
    chance = rng.random()
    if chance < 0.05 or not content:
        return content
    if chance < 0.5:
        return rng.choice(DAMAGES)(rng, content.decode("utf-8", "surrogateescape"))
    return broken(rng, content)


def _part(name: str, content: bytes, file_name: str | None = None) -> bytes:
    head = f'Content-Disposition: form-data; name="{name}"'
    if file_name is not None:
        head += f'; filename="{file_name}"'
    lines = (b"--" + BOUNDARY, head.encode("utf-8", "replace"), b"", content, b"")
    return b"\r\n".join(lines)


def served_store(place: Path) -> Served:
    """Return a server of a new store, which reads files in its own process."""
    open_store(str(place)).close()
    upload.read_apart = read_here
    bounds = UploadBounds(most_bytes=2 << 20, free_bytes=0, unpacked_bytes=_UNPACKED)
    return serve(place, uploads=bounds)


def read_here(sent: SentFile) -> ReadApart:
    """Read a file in this process, as the one of its own would."""
    here = Path.cwd()
    os.chdir(sent.file.parent)
    try:
        request = read_process.request_of(sent)
        lines = read_process.answer_to(request).splitlines()
    finally:
        os.chdir(here)
    return ReadApart(
        read_process.content_of_lines(lines, sent.file.name), sum(map(len, lines))
    )


def judge_upload(served: Served, place: Path, body: bytes) -> Judged:
    """Send a body, and say how it ended and whether something is half kept.

    Parameters
    ----------
    served : Served
        Of `served_store`.
    place : Path
        Of its store.
    body : bytes
    """
    before = _rows(place)
    client = served.client(Authorization=f"Bearer {served.token}")
    kind = f"multipart/form-data; boundary={BOUNDARY.decode()}"
    answer = client.post("/api/files", content=body, headers={"Content-Type": kind})
    said = answer.text[:2000]
    if answer.status_code not in ANSWERS:
        return Judged("traceback", f"status {answer.status_code}", said)
    told: dict[str, Any] = answer.json()
    added = len({one["run"] for one in told.get("added", ())})
    detail = str(told.get("detail", ""))
    if answer.status_code != 200 and ("\n" in detail or not detail):
        return Judged("not one line", repr(detail[:80]), said)
    reasons = [one["reason"] for one in told.get("refused", ())]
    if any("\n" in one or not one for one in reasons):
        return Judged("not one line", repr(reasons[:1])[:80], said)
    if _rows(place) - before != added:
        return Judged("half kept", f"{_rows(place) - before} rows, told {added}", said)
    if left := _left():
        return Judged("half kept", f"left: {left[:3]}", said)
    return Judged(f"exit code {answer.status_code}", "", said)


def _rows(place: Path) -> int:
    """Count all rows, and see that the tables are sound."""
    tables = ("runs", "predictions", "facts", "messages", "models", "templates")
    connection = sqlite3.connect(place)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counts = [
            connection.execute(f"SELECT COUNT(*) FROM {one}").fetchone()[0]
            for one in (*tables, "couplings")
        ]
        series = "SELECT COUNT(*) FROM (SELECT DISTINCT host, quantity FROM samples)"
        return int(sum(counts) + connection.execute(series).fetchone()[0])
    finally:
        connection.close()


def _left() -> list[str]:
    folder = _paths.state() / "serve/uploads"
    return sorted(map(str, folder.iterdir())) if folder.is_dir() else []
