-- json_inputs.sql: the files that a database was made of, and what of them is missing.
SELECT
    host,
    path,
    kind,
    verdict,
    detail,
    events_seen AS seen_count,
    events_ingested AS ingested_count,
    events_dropped AS dropped_count,
    events_damaged AS damaged_count,
    events_unrecovered AS unrecovered_count,
    bytes_cut AS cut_bytes
FROM completeness
ORDER BY path, host;
