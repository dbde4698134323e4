-- Version 4: runs in the order of their start, the last first, without sorting all.

CREATE INDEX runs_by_start ON runs (started DESC /* nulls last */, identity DESC);
