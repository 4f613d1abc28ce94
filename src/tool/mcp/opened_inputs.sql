-- opened_inputs.sql: what was recognised in a database, and what is missing of it.
SELECT
    path,
    kind,
    verdict,
    events_ingested,
    events_dropped,
    note_count
FROM completeness
ORDER BY path, events_ingested, events_dropped;
