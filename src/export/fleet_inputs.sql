-- fleet_inputs.sql: which recordings are in a database, and how much of each.
SELECT
    input.recording_id AS recording_text,
    input.events_ingested AS ingested_count
FROM input
ORDER BY input.recording_id, input.events_ingested, input.input_id;
