"""Settings of all tests."""

from hypothesis import settings

# Tests never judge wall time: a loaded machine would fail them.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")
