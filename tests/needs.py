"""Why tests are skipped."""

from __future__ import annotations

import pytest

from tests.mpis import OWN

needs_own = pytest.mark.skipif(not OWN, reason="no mpicc in the running environment")
