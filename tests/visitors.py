"""A server in this process, and visitors with each kind of token, for tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from starlette.testclient import TestClient

from skelgen.server.app import application
from skelgen.server.keyring import Keyring
from skelgen.server.settings import Settings
from skelgen.server.tokens import Right, new_token
from skelgen.store import (
    Fact,
    Message,
    Run,
    RunPart,
    StoredPrediction,
    StoredRecording,
    open_store,
)
from skelgen.trust import Interval
from skelgen.web.recording_written import document_of
from tests.recordings import made

NAME = "127.0.0.1:8642"
BASE = f"http://{NAME}"


@dataclass
class Served:
    """A server, its settings, and the token of the printed address."""

    settings: Settings
    keyring: Keyring
    token: str

    def client(self, **headers: str) -> TestClient:
        """Return a browser that knows no cookie yet; it follows no redirects."""
        app = application(self.settings, self.keyring)
        return TestClient(
            app,
            base_url=BASE,
            headers=headers,
            follow_redirects=False,
            raise_server_exceptions=False,
        )

    def browser(self, token: str | None = None) -> TestClient:
        """Return a browser that has exchanged a token for its cookie."""
        client = self.client()
        entered = client.get(
            f"{self.settings.prefix}/enter", params={"token": token or self.token}
        )
        assert entered.status_code == 303
        return client

    def visitor(self, token: str | None = None):
        """Return who a token is of."""
        return self.keyring.by_token(token or self.token)


def serve(
    place: Path | str, most: Right = Right.ADMINISTER, **changed: object
) -> Served:
    """Return a server of a store."""
    text, token = new_token("you", most)
    settings = Settings(
        str(place), str(place), frozenset({NAME}), read_only=most is Right.READ
    )
    return Served(replace(settings, **changed), Keyring(token, most), text)


def fill(place: Path | str) -> None:
    """Make a store with some rows of each kind that pages show."""
    rows = [
        Run(
            "heat",
            1e-6 * n * n / ranks + 0.1,
            ranks=ranks,
            nodes=1,
            inputs=(("n", float(n)), ("solver", "cg")),
            hosts=("n1", "n2"),
            started=1.7e9 + n + ranks,
            system="cluster",
            loads=(("cpu_avg_min", 1.0),),
            parts=(RunPart("solve", "phase", 0.1, 10.0, 0.5),),
            identity=f"run-{n}-{ranks}",
        )
        for n in (1000, 2000, 3000, 4000)
        for ranks in (2, 4, 8)
    ]
    interval = Interval(0.9, 1.0, 1.2)
    predicted = StoredPrediction(
        "model", "heat", interval, 1.7e9, inputs=rows[0].inputs, ranks=2
    )
    fact = Fact("n1", "float_multiply_add", 2e9, "1/s", 1.9e9, 2.1e9, system="cluster")
    message = Message(("n1", "n2"), "SR", 2, 2e-6, 1e10)
    with open_store(str(place)) as store:
        recorded = StoredRecording("run-1000-2", document_of(made()))
        assert not store.add([*rows, predicted, fact, message, recorded]).refused
