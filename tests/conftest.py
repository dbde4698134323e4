"""Settings of all tests."""

import os
import signal

from hypothesis import HealthCheck, settings

# Tests never judge wall time: a loaded machine would fail them. What passed once passes
# again: SKELGEN_EXPLORE=1 draws other examples each time.
settings.register_profile(
    "ours",
    deadline=None,
    derandomize="SKELGEN_EXPLORE" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("ours")

# Tests interrupt programs; what runs in the background of a script ignores that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test cluster outweighs all else on its machine, but not here: the tests beside it
# would wait until their limits.
os.environ.setdefault("TESTBED_MODEST", "1")
