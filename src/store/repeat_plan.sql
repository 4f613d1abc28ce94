-- repeat_plan.sql: repeat_input is what has been noted, and in kept_id which row stays in its place, or itself.
-- repeat_begin is the largest number of a row that a table had when the rows of a database were copied behind it.
CREATE TEMP TABLE IF NOT EXISTS repeat_input (
    id INTEGER PRIMARY KEY,
    number,
    input_id,
    recording_id,
    known,
    ingested,
    is_complete,
    detail,
    is_redacted,
    beside,
    name,
    kept_id,
    is_out,
    UNIQUE (number, input_id)
);
CREATE INDEX IF NOT EXISTS temp.repeat_recording ON repeat_input (recording_id);
CREATE TEMP TABLE IF NOT EXISTS repeat_begin (
    number,
    owner,
    last_id,
    PRIMARY KEY (number, owner)
);
CREATE TEMP TABLE IF NOT EXISTS repeat_owner (
    name PRIMARY KEY,
    depth
);
CREATE TEMP TABLE IF NOT EXISTS repeat_gone (
    owner,
    id,
    PRIMARY KEY (owner, id)
) WITHOUT ROWID;
DELETE FROM repeat_input;
DELETE FROM repeat_begin;
