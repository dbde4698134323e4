-- Version 6: what the page of a recorded run shows, as a compressed document.

CREATE TABLE recordings (
    identity TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    document TEXT NOT NULL,
    seal TEXT NOT NULL
);
