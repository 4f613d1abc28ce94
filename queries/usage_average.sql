-- usage_average.sql: how much did each heap use, reserve and leave idle on average over time?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL of host memory; heap name; begin_ns from when on, duration_ns how long it is
--             averaged, nanoseconds; mean_live_bytes, mean_reserved_bytes, mean_idle_bytes bytes, the latter two NULL where it is
--             no pool or not known; mean_idle_ratio 0 to 1; mean_to_peak_ratio near 1 is steady, near 0 a short peak; is_estimate
--             1 where buckets of several events were averaged by their begin and end
SELECT
    v.pid AS pid,
    v.device AS device,
    v.heap AS heap,
    v.begin_ns AS begin_ns,
    v.duration_ns AS duration_ns,
    v.mean_live_bytes AS mean_live_bytes,
    v.mean_reserved_bytes AS mean_reserved_bytes,
    v.mean_idle_bytes AS mean_idle_bytes,
    v.mean_idle_ratio AS mean_idle_ratio,
    v.mean_to_peak_ratio AS mean_to_peak_ratio,
    v.is_estimate AS is_estimate
FROM z_usage_average AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.mean_live_bytes DESC, v.pid, v.device, v.heap
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
