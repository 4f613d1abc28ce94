-- would_fit.sql: would a block of so many bytes have fitted in one piece, at a moment, without more device memory.
-- Parameters: :bytes  size of the block (default: what was asked for where an allocation failed, else 1 MiB)
--             :at     which moments: 'peak', 'reserve', 'failure', 'end', or the text of a mark (default: all but marks)
--             :moment the same
-- Columns:    pid process; device number; heap name of the pool; moment and seq what moment, and its place in the order of
--             events; segment_kind, stream, private_pool the part of the pool ('all': whichever part is best), for a
--             request is served from the part of its own stream and size; wanted_bytes bytes; fits 'yes', 'no', or
--             'unknown' where sizes are requested ones, free memory is not known, or events were lost;
--             largest_free_bytes bytes; missing_bytes by how much that is too small; fitting_count free ranges that are
--             surely large enough, at least, NULL where it is not known; free_bytes bytes free in all
SELECT
    f.pid AS pid,
    f.device AS device,
    f.heap AS heap,
    f.moment AS moment,
    f.seq AS seq,
    f.segment_kind AS segment_kind,
    f.stream AS stream,
    f.private_pool AS private_pool,
    f.wanted_bytes AS wanted_bytes,
    CASE
        WHEN f.is_doubtful = 1 THEN 'unknown'
        WHEN coalesce(f.largest_free_bytes, f.free_bytes) < f.wanted_bytes
            THEN CASE WHEN f.is_partial = 1 THEN 'unknown' ELSE 'no' END
        WHEN f.is_estimate = 1 THEN 'unknown'
        ELSE 'yes'
    END AS fits,
    f.largest_free_bytes AS largest_free_bytes,
    CASE WHEN f.largest_free_bytes < f.wanted_bytes THEN f.wanted_bytes - f.largest_free_bytes END AS missing_bytes,
    CASE
        WHEN f.is_doubtful = 0 AND f.is_estimate = 0 AND f.has_detail = 1
            THEN coalesce(
                (
                    SELECT sum(CASE WHEN g.class_bytes >= f.wanted_bytes THEN g.gap_count ELSE 1 END)
                    FROM z_gap AS g
                    WHERE g.moment_id = f.moment_id
                        AND g.heap_id = f.heap_id
                        AND g.part_id = coalesce(f.part_id, g.part_id)
                        AND g.largest_bytes >= f.wanted_bytes
                ),
                0
            )
    END AS fitting_count,
    f.free_bytes AS free_bytes
FROM (
    SELECT
        w.heap_id,
        w.moment_id,
        p.pid,
        p.device,
        p.heap,
        CASE WHEN m.kind = 3 THEN coalesce(m.name, '') ELSE k.name END AS moment,
        m.seq,
        s.part_id,
        CASE WHEN s.part_id IS NULL THEN 'all' ELSE coalesce(c.name, 'rest') END AS segment_kind,
        q.stream,
        q.private_pool,
        coalesce(:bytes, (SELECT t.requested_bytes FROM failure AS t WHERE t.failure_id = m.failure_id), 1048576)
            AS wanted_bytes,
        s.largest_free_bytes,
        s.free_bytes,
        w.is_estimate,
        w.is_doubtful,
        w.is_partial,
        w.has_detail
    FROM fragmentation_sample AS w
    JOIN (
        SELECT
            x.moment_id,
            y.heap_id,
            x.part_id,
            x.largest_free_bytes,
            x.free_bytes
        FROM z_part_sample AS x
        JOIN z_pool_part AS y ON y.part_id = x.part_id
        UNION ALL
        SELECT
            z.moment_id,
            z.heap_id,
            NULL,
            z.largest_free_bytes,
            z.free_bytes
        FROM fragmentation_sample AS z
        WHERE z.reserved_bytes > 0
    ) AS s ON s.moment_id = w.moment_id AND s.heap_id = w.heap_id
    JOIN moment AS m ON m.moment_id = w.moment_id
    JOIN z_moment_kind AS k ON k.kind = m.kind
    JOIN z_heap_place AS p ON p.heap_id = w.heap_id
    LEFT JOIN z_pool_part AS q ON q.part_id = s.part_id
    LEFT JOIN z_segment_kind AS c ON c.segment_kind = q.segment_kind
) AS f
WHERE f.moment = coalesce(:at, :moment)
    OR (coalesce(:at, :moment) IS NULL AND f.moment_id IN (SELECT n.moment_id FROM moment AS n WHERE n.kind <> 3))
ORDER BY f.heap_id, f.seq, f.moment_id, f.part_id
-- begin guard_moment coalesce(:at, :bytes, :moment)
LIMIT CASE
    WHEN coalesce(:at, :bytes, :moment) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    WHEN coalesce(:at, :moment) IS NOT NULL
        AND coalesce(:at, :moment) NOT IN (
            SELECT x.name FROM z_moment_kind AS x
            UNION ALL
            SELECT coalesce(y.name, '') FROM moment AS y WHERE y.kind = 3
        )
        THEN 'error: unknown moment'
    ELSE -1
END;
-- end guard_moment
