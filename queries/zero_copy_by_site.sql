-- zero_copy_by_site.sql: which transfers between host and device are from or to memory that is not registered?
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; device number; site file, line and function; copy_count copies that did not fail; size_bytes
--             bytes; registered_count, registered_bytes those whose host side is registered with the device, copies and
--             bytes; zero_copy_ratio registered_bytes over size_bytes, 0 to 1; process_ratio the same of all transfers of
--             the process and device; gain_ratio by how much registering this site's memory would raise that, 0 to 1;
--             cost_ns time in the calls of the site, those that failed included, nanoseconds, NULL
--             where not known. Processes that registered nothing are left out: the measure does not apply to them
SELECT
    process.pid AS pid,
    g.device AS device,
    coalesce(f.label, '(no stack)') AS site,
    g.copy_count AS copy_count,
    g.size_bytes AS size_bytes,
    g.registered_count AS registered_count,
    g.registered_bytes AS registered_bytes,
    CAST(g.registered_bytes AS REAL) / g.size_bytes AS zero_copy_ratio,
    CAST(t.registered_bytes AS REAL) / t.size_bytes AS process_ratio,
    CAST(g.size_bytes - g.registered_bytes AS REAL) / t.size_bytes AS gain_ratio,
    g.cost_ns AS cost_ns
FROM (
    SELECT
        c.process_id,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        s.site_frame_id,
        sum(c.host_count) AS copy_count,
        sum(c.host_bytes) AS size_bytes,
        sum(c.registered_count) AS registered_count,
        sum(c.registered_bytes) AS registered_bytes,
        sum(c.cost_ns) AS cost_ns
    FROM z_copy_sum AS c
    LEFT JOIN device AS d ON d.device_id = c.device_id
    LEFT JOIN stack AS s ON s.stack_id = c.stack_id
    WHERE c.host_bytes > 0
    GROUP BY c.process_id, coalesce(d.physical_ordinal, d.ordinal), s.site_frame_id
) AS g
JOIN (
    SELECT
        c.process_id,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        sum(c.host_bytes) AS size_bytes,
        sum(c.registered_bytes) AS registered_bytes
    FROM z_copy_sum AS c
    LEFT JOIN device AS d ON d.device_id = c.device_id
    GROUP BY c.process_id, coalesce(d.physical_ordinal, d.ordinal)
) AS t ON t.process_id IS g.process_id AND t.device IS g.device
LEFT JOIN process ON process.process_id = g.process_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
WHERE EXISTS (
        SELECT 1
        FROM heap AS h
        JOIN z_heap_sum AS w ON w.heap_id = h.heap_id
        WHERE h.process_id = g.process_id AND h.level = 5 AND w.allocation_count + w.baseline_count > 0
    )
ORDER BY gain_ratio DESC, g.size_bytes DESC, g.process_id, g.device, g.site_frame_id
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
