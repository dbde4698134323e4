"""A browser for each module, and servers that all of them look at."""

from __future__ import annotations

import pytest

from tests.browsers import Site, chromium, emptied, filled, shown


@pytest.fixture(scope="module")
def browser():
    """Return Chromium: of the module, for asyncio is not free while it runs."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Return a server of a filled store, which nothing changes."""
    with Site(shown(tmp_path_factory.mktemp("filled") / "store.db")) as found:
        yield found


@pytest.fixture(scope="session")
def empty_site(tmp_path_factory):
    """Return a server of an empty store, which nothing changes."""
    with Site(emptied(tmp_path_factory.mktemp("empty") / "store.db")) as found:
        yield found


@pytest.fixture
def own_site(tmp_path):
    """Return a server of a filled store that a test may change."""
    with Site(filled(tmp_path / "store.db")) as found:
        yield found
