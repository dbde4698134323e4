"""Settings of all tests."""

import os

from hypothesis import settings

# Tests run side by side: those with a cluster must not take the machine from others.
os.environ["TESTBED_MODEST"] = "1"

# Tests never judge wall time: a loaded machine would fail them.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")
