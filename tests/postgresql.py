"""A PostgreSQL server in a temporary folder, as an unprivileged user.

`initdb` refuses root, so root starts it as ``nobody``. It listens on a Unix socket in
its folder only, and asks for a password.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

#: Password of the only user; it must not show up anywhere.
PASSWORD = "p4ss/w@rd:of%skelgen"
_USER = "skelgen"
_SETTINGS = ("listen_addresses=", "max_connections=60")


def binaries() -> Path | None:
    """Return the folder of the newest server of Debian, or of the one on the path."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: float(path.parts[4]),
    )
    if found:
        return found[-1].parent
    known = shutil.which("initdb")
    return None if known is None else Path(known).resolve().parent


def lacking() -> str:
    """Return what this machine lacks for such a server; nothing when it has all."""
    if binaries() is None:
        return "no PostgreSQL server here: apt-get install postgresql"
    if importlib.util.find_spec("psycopg") is None:
        return "no psycopg here: pip install 'skelgen[postgresql]'"
    return ""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server.

    Attributes
    ----------
    folder : Path
        With its socket.
    """

    folder: Path

    def url(
        self,
        schema: str = "public",
        *,
        password: str = PASSWORD,
        database: str = "postgres",
    ) -> str:
        """Return the address of a schema, with the password."""
        who = f"{_USER}:{quote(password, safe='')}"
        where = quote(str(self.folder), safe="")
        options = quote(f"-csearch_path={schema}", safe="")
        return f"postgresql://{who}@/{database}?host={where}&options={options}"

    def create(self, schema: str) -> str:
        """Create a schema, which has tables of its own, and return its address."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA "{schema}"'.encode())
        return self.url(schema)


@contextlib.contextmanager
def server(*, fsync: bool = False) -> Iterator[Server]:
    """Start a server, and stop it with all it wrote.

    Parameters
    ----------
    fsync : bool
        Let each commit wait for the disk, as a site's server does.
    """
    home = Path(tempfile.mkdtemp(prefix="skpg", dir="/tmp"))
    try:
        as_whom: dict[str, object] = {}
        if os.geteuid() == 0:
            as_whom = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(home, "nobody", "nogroup")
        _prepare(home, as_whom)
        settings = (*_SETTINGS, f"fsync={'on' if fsync else 'off'}")
        with _running(home, as_whom, settings):
            yield Server(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _prepare(home: Path, as_whom: dict[str, object]) -> None:
    folder = binaries()
    assert folder is not None
    secret = home / "password"
    secret.write_text(PASSWORD)
    if as_whom:
        shutil.chown(secret, "nobody", "nogroup")
    words = ["--auth=scram-sha-256", f"--pwfile={secret}", f"--username={_USER}"]
    words += ["--no-sync", "--encoding=UTF8", "--locale=C", "-D", str(home / "data")]
    done = subprocess.run(
        [folder / "initdb", *words],
        capture_output=True,
        text=True,
        cwd=home,
        check=False,
        **as_whom,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def _running(
    home: Path, as_whom: dict[str, object], settings: Sequence[str]
) -> Iterator[None]:
    folder, log = binaries(), home / "log"
    assert folder is not None
    words = [word for one in settings for word in ("-c", one)]
    with log.open("w") as said:
        process = subprocess.Popen(
            [folder / "postgres", "-D", home / "data", "-k", home, *words],
            stdout=said,
            stderr=said,
            cwd=home,
            **as_whom,  # type: ignore[call-overload]
        )
    try:
        end = time.monotonic() + 120
        while "ready to accept" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: its files go, too
        process.wait(timeout=120)
