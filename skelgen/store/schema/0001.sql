-- Version 1 of the store. A portable subset: SQLite and PostgreSQL read the same text.
-- Times are seconds since 1970 in UTC, NULL where they are not known; what ends in _s is
-- in seconds. Lists and mappings that nobody searches are JSON text. A seal is a checksum
-- of the row as the line that docs/store.md describes.

CREATE TABLE store_versions (
    version BIGINT PRIMARY KEY,
    since DOUBLE PRECISION NOT NULL
);

-- How much of each file of the spool the store has absorbed.
CREATE TABLE spool_files (
    name TEXT PRIMARY KEY,
    absorbed_bytes BIGINT NOT NULL
);

-- Lines of the spool that were no rows, as they stood there.
CREATE TABLE damaged_lines (
    identity TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    reason TEXT NOT NULL,
    line TEXT NOT NULL
);

-- Performance: what ran, how long it took, and its parts.
CREATE TABLE runs (
    identity TEXT PRIMARY KEY,
    application TEXT NOT NULL,
    time_s DOUBLE PRECISION,
    ranks BIGINT NOT NULL,
    nodes BIGINT NOT NULL,
    ranks_per_node BIGINT NOT NULL,
    executable TEXT NOT NULL,
    hosts TEXT NOT NULL,
    allocation TEXT NOT NULL,
    started DOUBLE PRECISION,
    status TEXT NOT NULL,
    system TEXT NOT NULL,
    mpi TEXT NOT NULL,
    added DOUBLE PRECISION,
    source TEXT NOT NULL,
    seal TEXT NOT NULL
);

CREATE INDEX runs_by_application ON runs (application, started);

-- Inputs, loads and costs of runs by name; a word where it is no number.
CREATE TABLE run_values (
    run TEXT NOT NULL REFERENCES runs (identity),
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    number DOUBLE PRECISION,
    word TEXT,
    PRIMARY KEY (run, kind, name)
) /* clustered */;

CREATE TABLE parts (
    run TEXT NOT NULL REFERENCES runs (identity),
    place BIGINT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    time_s DOUBLE PRECISION,
    weight DOUBLE PRECISION,
    share DOUBLE PRECISION,
    PRIMARY KEY (run, place)
) /* clustered */;

CREATE TABLE couplings (
    identity TEXT PRIMARY KEY,
    application TEXT NOT NULL,
    kernels TEXT NOT NULL,
    time_s DOUBLE PRECISION,
    inputs TEXT NOT NULL,
    ranks BIGINT NOT NULL,
    system TEXT NOT NULL,
    measured DOUBLE PRECISION,
    seal TEXT NOT NULL
);

-- Systems: what was measured of hosts and links, and their loads.
CREATE TABLE facts (
    identity TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    name TEXT NOT NULL,
    value DOUBLE PRECISION,
    unit TEXT NOT NULL,
    low DOUBLE PRECISION,
    high DOUBLE PRECISION,
    cores BIGINT NOT NULL,
    repeats BIGINT NOT NULL,
    measured DOUBLE PRECISION,
    system TEXT NOT NULL,
    compiler TEXT NOT NULL,
    kernel TEXT NOT NULL,
    doubt TEXT NOT NULL,
    seal TEXT NOT NULL
);

CREATE TABLE messages (
    identity TEXT PRIMARY KEY,
    hosts TEXT NOT NULL,
    operation TEXT NOT NULL,
    ranks BIGINT NOT NULL,
    latency_s DOUBLE PRECISION,
    bandwidth_bytes_per_s DOUBLE PRECISION,
    eager_bytes BIGINT NOT NULL,
    knees TEXT NOT NULL,
    points TEXT NOT NULL,
    measured DOUBLE PRECISION,
    system TEXT NOT NULL,
    mpi TEXT NOT NULL,
    repeats BIGINT NOT NULL,
    spread DOUBLE PRECISION,
    doubt TEXT NOT NULL,
    seal TEXT NOT NULL
);

CREATE TABLE samples (
    host TEXT NOT NULL,
    quantity TEXT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    value DOUBLE PRECISION,
    PRIMARY KEY (host, quantity, time)
) /* clustered */;

-- Templates, models, and predictions with what happened.
CREATE TABLE templates (
    identity TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    application TEXT NOT NULL,
    formula TEXT NOT NULL,
    inputs TEXT NOT NULL,
    seal TEXT NOT NULL
);

CREATE TABLE models (
    identity TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    application TEXT NOT NULL,
    fitted DOUBLE PRECISION,
    document TEXT NOT NULL,
    seal TEXT NOT NULL
);

CREATE TABLE predictions (
    identity TEXT PRIMARY KEY,
    method TEXT NOT NULL,
    application TEXT NOT NULL,
    interval TEXT NOT NULL,
    made DOUBLE PRECISION,
    verdict TEXT NOT NULL,
    doubts TEXT NOT NULL,
    inputs TEXT NOT NULL,
    ranks BIGINT NOT NULL,
    hosts TEXT NOT NULL,
    source TEXT NOT NULL,
    truth TEXT NOT NULL,
    truth_s DOUBLE PRECISION,
    measured TEXT,
    family TEXT NOT NULL,
    seal TEXT NOT NULL
);

CREATE INDEX predictions_by_application ON predictions (application, made);
