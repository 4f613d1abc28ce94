-- made_of.sql: which recording a database was made of, where it was of one.
SELECT recording_id AS recording
FROM input
WHERE (SELECT count(*) FROM input) = 1;
