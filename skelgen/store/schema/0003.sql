-- Version 3: who added a run through a server, by the name of the token.

ALTER TABLE runs ADD COLUMN author TEXT NOT NULL DEFAULT '';
