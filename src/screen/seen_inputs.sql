-- seen_inputs.sql: how many inputs were cut off or have lost events, and how many events are there.
SELECT
    coalesce(sum(events_seen > events_ingested OR bytes_cut > 0 OR state NOT IN ('ended', 'recovered')), 0) AS cut_count,
    coalesce(sum(events_ingested), 0) AS event_count
FROM input;
