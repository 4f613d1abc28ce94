-- seen_inputs.sql: how many inputs were cut off or have lost events, how many events are there, and whether nothing was
-- called that npumem records.
SELECT
    coalesce(sum(events_seen > events_ingested OR bytes_cut > 0 OR state NOT IN ('ended', 'recovered')), 0) AS cut_count,
    coalesce(sum(events_ingested), 0) AS event_count,
    coalesce(min(kind = 'trace'), 0) AND NOT EXISTS (SELECT 1 FROM heap) AS is_untouched
FROM input;
