"""A connection to a PostgreSQL server, which may serve one request after the other."""

from __future__ import annotations

import contextlib
import logging
import math
import re
import select
import time
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from skelgen.errors import MachineError, UsageError
from skelgen.launch.secrets import HIDDEN

#: How long a server may take to answer a new connection [s].
_CONNECT_S = 10
#: When a network that no longer answers is given up, unless the URL says so [s, ms].
_WATCHED = {"keepalives_idle": 30, "tcp_user_timeout": 30_000}
#: To compile a statement takes longer than any of ours; old servers cannot.
_NO_COMPILER = (
    b"SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'"
)

# What it would log is in the errors that it raises.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


@dataclass(slots=True)
class PostgresqlSession:
    """A connection, and how its server was set.

    Attributes
    ----------
    connection : psycopg.Connection
    since : float
        When it was made, by the clock of `time.monotonic` [s].
    limit_s : float
        How long a statement may take there; infinite: no limit [s].
    has_lock : bool
        Whether it may still have the lock of the store.
    """

    connection: psycopg.Connection[Any]
    since: float
    limit_s: float = math.inf
    has_lock: bool = False

    def is_well(self) -> bool:
        """Say whether it works and has nothing begun, without asking its server.

        A server that ended it said so: there is something to read.
        """
        connection = self.connection
        if self.has_lock or connection.closed:
            return False
        if connection.info.transaction_status != TransactionStatus.IDLE:
            return False
        told = select.poll()
        told.register(connection.fileno(), select.POLLIN)
        return not told.poll(0)

    def close(self) -> None:
        """Close it."""
        self.connection.close()


def new_session(url: str, shown: str) -> PostgresqlSession:
    """Connect; what is refused never says the password."""
    password = _password(url, shown)
    named = conninfo_to_dict(url)
    watched: dict[str, Any] = {
        name: value for name, value in _WATCHED.items() if name not in named
    }
    try:
        connection = psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=_CONNECT_S,
            application_name="skelgen",
            client_encoding="UTF8",
            **watched,
        )
        connection.execute(_NO_COMPILER)
        return PostgresqlSession(connection, time.monotonic())
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        if password:
            reason = reason.replace(password, HIDDEN)
        raise MachineError(
            f"{shown}: the server cannot be used ({reason}); start it, mend the URL, "
            "or put the password into PGPASSWORD or ~/.pgpass"
        ) from None


def _password(url: str, shown: str) -> str:
    """Return the password in a URL that is one.

    One with characters that stand for something else makes other parts of the URL,
    which messages of the server would then name.

    Raises
    ------
    UsageError
        When it is none; the message does not have what was typed.
    """
    with contextlib.suppress(psycopg.ProgrammingError):  # its message has the URL
        known = conninfo_to_dict(url)
        ports = str(known.get("port", "")).replace(",", "")
        parts = f"{known.get('dbname', '')}{str(known.get('host', ''))[1:]}"
        if "@" not in parts and re.fullmatch("[0-9]*", ports):
            return str(known.get("password", ""))
    raise UsageError(
        f"{shown}: is no URL of PostgreSQL; expected postgresql://user@host/database, "
        "and %2F for / and %40 for @ in its parts"
    )
