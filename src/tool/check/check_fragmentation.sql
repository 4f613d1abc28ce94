-- check_fragmentation.sql: fragmentation where it hurt most, at the peak, a growth or a failure, and as much as is sure. Below a floor that is set it
-- passes whatever the limit is. The finding has another figure: what is at most where that is good, of reserve too.
-- Rows as: check_peaks.sql
SELECT
    host,
    rank,
    pid,
    device,
    heap,
    level,
    max(CASE WHEN min_unused_bytes < floor THEN 0.0 ELSE min_ratio END) AS measured_value,
    NULL AS limit_value,
    CASE
        WHEN min_unused_bytes < floor THEN printf('less than the floor of %.1f MiB is unused', floor / 1048576.0)
        ELSE CASE moment
            WHEN 'peak' THEN 'at the peak'
            WHEN 'growth' THEN 'when the pool grew'
            WHEN 'end' THEN 'at the end'
            ELSE 'when an allocation failed'
        END
    END || CASE reason
        WHEN 'other streams may use it' THEN '; at least: what other streams still used is not known'
        WHEN 'sizes as requested alone' THEN '; at least: only requested sizes are known'
        WHEN 'not all was recorded' THEN '; as far as is known'
        ELSE CASE WHEN min_ratio < max_ratio THEN '; at least: what is not sure is left out' ELSE '' END
    END AS note
FROM (SELECT *, coalesce(:floor_number, 0) AS floor FROM z_fragmentation_verdict WHERE moment <> 'reserve')
WHERE (:rank IS NULL OR rank IS :rank) AND (:heap IS NULL OR heap IS :heap OR level IS :heap)
GROUP BY heap_id;
