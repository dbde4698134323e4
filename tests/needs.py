"""Why tests are skipped."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

from tests.mpis import OWN

needs_own = pytest.mark.skipif(not OWN, reason="no mpicc in the running environment")

#: Chromium of the distribution, by the names that distributions give it.
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), "")


def _missing_for_browser() -> str:
    if not CHROMIUM:
        return "no chromium on the PATH (apt install chromium)"
    for module in ("playwright", "axe_playwright_python"):
        if importlib.util.find_spec(module) is None:
            return f"no {module} in the running environment (pip install -e '.[test]')"
    return ""


_MISSING = _missing_for_browser()
needs_browser = pytest.mark.skipif(bool(_MISSING), reason=_MISSING)
