-- Version 2: a checksum with each sample, of its host, quantity, time and value.

ALTER TABLE samples ADD COLUMN seal BIGINT;
