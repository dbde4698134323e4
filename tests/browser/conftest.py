"""A browser for each worker, and servers that all tests look at."""

from __future__ import annotations

import pytest

from tests.browsers import Site, chromium, emptied, filled, shown


@pytest.fixture(scope="package")
def browser():
    """Return Chromium: of this folder, for asyncio is not free while it runs."""
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


@pytest.fixture(scope="session")
def own_site(tmp_path_factory):
    """Return a server of a filled store; a test adds names that no other test has."""
    with Site(filled(tmp_path_factory.mktemp("own") / "store.db")) as found:
        yield found
