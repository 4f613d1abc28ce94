-- check_base_partial.sql: what of the recording the baseline does not hold.
-- Rows as: check_partial.sql
-- begin partial base
SELECT
    count(*) AS input_count,
    total(events_seen - events_ingested - events_unkept) AS missing_value,
    coalesce(
        sum(
            is_complete <> 1
            OR events_dropped > 0
            OR events_damaged > 0
            OR events_unrecovered > 0
            OR bytes_cut > 0
            OR unknown_reference_count > 0
        ),
        0
    ) AS lossy_count,
    (
        SELECT i.state
        FROM base.input AS i
        WHERE i.state NOT IN ('ended', 'recovered')
        ORDER BY i.state <> 'running', i.input_id
        LIMIT 1
    ) AS state,
    coalesce(sum(baseline = 'unknown'), 0) AS late_count,
    (SELECT count(*) FROM base.z_heap_sum WHERE is_whole_run <> 1) AS thinned_count
FROM base.input;
-- end partial
