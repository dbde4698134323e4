"""Place every call on a logical clock.

In: `Calls` and `Matching`. Out: a tick for each call: one more than the latest of
its own rank's previous tick and those of the calls it had to wait for.
"""
