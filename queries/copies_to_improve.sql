-- copies_to_improve.sql: which transfers between host and device made the program wait, and what would spare that?
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; device number; kind direction; site file, line and function; advice 'queue it' (its host side
--             is pinned or registered, so that it could be asynchronous), 'pin it' (it is asynchronous already, but from or
--             to memory that is not pinned, where the call may wait nevertheless), 'pin it and queue it', 'none' (it is
--             queued from or to pinned memory); copy_count copies that did not fail; size_bytes bytes; wait_ns time in the
--             calls, nanoseconds, NULL where not known; pinned_count of the copies whose host side lay in memory that the
--             program pinned (while there were such copies from there) or registered. A place counts as pinned when all
--             its copies do. There are no rows where input.detail is not 'all'
WITH
    pinned (process_id, begin_address, end_address, begin_seq, end_seq) AS (
        SELECT
            h.process_id,
            a.address,
            a.address + a.size_bytes,
            min(coalesce(a.alloc_seq, -1)),
            CASE WHEN count(a.free_seq) = count(*) THEN max(a.free_seq) END
        FROM heap AS h
        CROSS JOIN z_birth_part AS y ON y.heap_id = h.heap_id AND y.is_long = 0
        CROSS JOIN allocation AS a ON a.allocation_id BETWEEN y.first_id AND y.last_id AND +a.heap_id = y.heap_id
        WHERE h.level = 4
        GROUP BY h.process_id, a.address, a.size_bytes
    ),
    moved (process_id, device_id, kind, is_async, stack_id, address, end_address, is_registered, first_seq, last_seq,
        copy_count, size_bytes, cost_ns) AS (
        SELECT
            c.process_id,
            coalesce(c.target_device_id, c.source_device_id),
            c.kind,
            c.is_async,
            c.stack_id,
            CASE c.kind WHEN 2 THEN c.target_address ELSE c.source_address END,
            CASE c.kind WHEN 2 THEN c.target_address ELSE c.source_address END + c.size_bytes,
            coalesce(c.is_registered, 0),
            min(c.seq),
            max(c.seq),
            count(*),
            sum(c.size_bytes),
            sum(c.cost_ns)
        FROM copy AS c
        WHERE c.kind IN (1, 2, 5) AND c.error_code = 0
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    )
SELECT
    process.pid AS pid,
    g.device AS device,
    k.name AS kind,
    coalesce(f.label, '(no stack)') AS site,
    CASE
        WHEN g.pinned_count = g.copy_count THEN CASE WHEN g.is_async = 1 THEN 'none' ELSE 'queue it' END
        WHEN g.is_async = 1 THEN 'pin it'
        ELSE 'pin it and queue it'
    END AS advice,
    g.copy_count AS copy_count,
    g.size_bytes AS size_bytes,
    g.wait_ns AS wait_ns,
    g.pinned_count AS pinned_count
FROM (
    SELECT
        c.process_id,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        c.kind,
        c.is_async,
        s.site_frame_id,
        sum(c.copy_count) AS copy_count,
        sum(c.size_bytes) AS size_bytes,
        sum(c.cost_ns) AS wait_ns,
        sum(CASE WHEN c.is_pinned = 1 OR c.is_registered = 1 THEN c.copy_count ELSE 0 END) AS pinned_count
    FROM (
        SELECT
            m.process_id,
            m.device_id,
            m.kind,
            m.is_async,
            m.stack_id,
            m.is_registered,
            m.copy_count,
            m.size_bytes,
            m.cost_ns,
            max(r.begin_address IS NOT NULL) AS is_pinned
        FROM moved AS m
        LEFT JOIN pinned AS r
            ON r.process_id = m.process_id
            AND r.begin_address <= m.address
            AND r.end_address >= m.end_address
            AND r.begin_seq <= m.last_seq
            AND (r.end_seq IS NULL OR r.end_seq > m.first_seq)
        GROUP BY m.process_id, m.device_id, m.kind, m.is_async, m.stack_id, m.address, m.end_address, m.is_registered
    ) AS c
    LEFT JOIN device AS d ON d.device_id = c.device_id
    LEFT JOIN stack AS s ON s.stack_id = c.stack_id
    GROUP BY c.process_id, coalesce(d.physical_ordinal, d.ordinal), c.kind, c.is_async, s.site_frame_id
) AS g
LEFT JOIN process ON process.process_id = g.process_id
LEFT JOIN copy_kind AS k ON k.kind = g.kind
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.wait_ns DESC, g.size_bytes DESC, g.process_id, g.device, g.kind, g.is_async, g.site_frame_id
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
