-- seen_inputs.sql: how many inputs were cut off or have lost events, how many events are there, whether nothing was
-- called that npumem records, and whether any input tells of a peak.
SELECT
    coalesce(sum(events_seen > events_ingested OR bytes_cut > 0 OR state NOT IN ('ended', 'recovered')), 0) AS cut_count,
    coalesce(sum(events_ingested), 0) AS event_count,
    coalesce(min(kind = 'trace'), 0) AND NOT EXISTS (SELECT 1 FROM heap) AS is_untouched,
    coalesce(max(peak_basis <> 'none'), 1) AS is_peak_told
FROM input;
