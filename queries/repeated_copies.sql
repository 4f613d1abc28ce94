-- repeated_copies.sql: which copies of the same source again and again waste most bytes and time?
-- What kernels and the processor write is not recorded: a row says where to look.
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; device number; kind direction; site file, line and function; repeated_count copies of what had
--             been copied before; wasted_bytes their size, bytes; wasted_ratio of all that is copied there, 0 to 1;
--             wasted_ns time that they took, by the mean bandwidth of the synchronous copies of that place and else of
--             that direction, nanoseconds, NULL where neither is known; source hexadecimal address of what was copied most
--             often, source_bytes its size and source_count how often, copies
SELECT
    process.pid AS pid,
    g.device AS device,
    k.name AS kind,
    coalesce(f.label, '(no stack)') AS site,
    g.repeated_count AS repeated_count,
    g.repeated_bytes AS wasted_bytes,
    CAST(g.repeated_bytes AS REAL) / g.size_bytes AS wasted_ratio,
    CAST(
        CASE
            WHEN g.timed_bytes > 0 THEN g.repeated_bytes * CAST(g.timed_ns AS REAL) / g.timed_bytes
            WHEN a.timed_bytes > 0 THEN g.repeated_bytes * CAST(a.timed_ns AS REAL) / a.timed_bytes
        END AS INTEGER
    ) AS wasted_ns,
    printf('0x%x', g.longest_address) AS source,
    g.longest_bytes AS source_bytes,
    g.longest_count + 1 AS source_count
FROM (
    SELECT
        c.process_id,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        c.kind,
        s.site_frame_id,
        sum(c.size_bytes) AS size_bytes,
        sum(c.repeated_count) AS repeated_count,
        sum(c.repeated_bytes) AS repeated_bytes,
        sum(c.timed_bytes) AS timed_bytes,
        sum(c.timed_ns) AS timed_ns,
        max(c.longest_count) AS longest_count,
        c.longest_address,
        c.longest_bytes
    FROM z_copy_sum AS c
    LEFT JOIN device AS d ON d.device_id = c.device_id
    LEFT JOIN stack AS s ON s.stack_id = c.stack_id
    GROUP BY c.process_id, coalesce(d.physical_ordinal, d.ordinal), c.kind, s.site_frame_id
    HAVING sum(c.repeated_count) > 0
) AS g
LEFT JOIN (
    SELECT
        c.process_id,
        c.kind,
        sum(c.timed_bytes) AS timed_bytes,
        sum(c.timed_ns) AS timed_ns
    FROM z_copy_sum AS c
    GROUP BY c.process_id, c.kind
) AS a ON a.process_id IS g.process_id AND a.kind = g.kind
LEFT JOIN process ON process.process_id = g.process_id
LEFT JOIN copy_kind AS k ON k.kind = g.kind
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.repeated_bytes DESC, g.process_id, g.device, g.kind, g.site_frame_id
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
