-- Version 5: runs that ended well in the order of time, for pairing them with predictions.

CREATE INDEX runs_that_ended_well ON runs (application, (COALESCE(started, added)))
    WHERE status = 'ok';
