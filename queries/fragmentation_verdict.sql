-- fragmentation_verdict.sql: how much of each pool was unused where that hurt, and is it too much?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL of host memory; heap name; moment 'peak', 'growth' (a request made a part of the
--             pool the largest that it ever was), 'failure', 'reserve' (the pool held most) or 'end' (nothing was seen to change); ns when, nanoseconds, NULL where unknown; reserved_bytes bytes;
--             min_unused_bytes, max_unused_bytes unused at least and at most, bytes; min_ratio, max_ratio the same of what was
--             reserved, 0 to 1; verdict good, warning, danger, minor (too little to matter) or unknown; reason why it is unknown,
--             else NULL
SELECT
    v.pid AS pid,
    v.device AS device,
    v.heap AS heap,
    v.moment AS moment,
    v.ns AS ns,
    v.reserved_bytes AS reserved_bytes,
    v.min_unused_bytes AS min_unused_bytes,
    v.max_unused_bytes AS max_unused_bytes,
    v.min_ratio AS min_ratio,
    v.max_ratio AS max_ratio,
    v.verdict AS verdict,
    v.reason AS reason
FROM z_fragmentation_verdict AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.min_ratio DESC, v.pid, v.device, v.heap_id, v.moment
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
