-- no_longer_fits.sql: from when on would a block of so many bytes no longer have fitted in one piece, without more device
--             memory?
-- A bucket of the timeline counts with the least that its largest free range had: it fits where it did at every moment.
-- Parameters: :bytes  size of the block (default: the largest that was asked for where an allocation failed, else 1 MiB)
-- Columns:    pid process; heap name of the pool; segment_kind, stream, private_pool the part of the pool ('all': whichever
--             part is best), for a request is served from the part of its own stream and size; wanted_bytes bytes; verdict
--             'to the end' (it fits there), 'no longer' (it once did), 'never', or 'unknown' where free ranges are not
--             known; last_fit_seq, last_fit_ns last event of the last bucket in which it fitted, place in the order of
--             events and nanoseconds; refused_seq the event with which it does not fit any more, NULL where it fits to the
--             end; step number of the step in which that is; largest_free_bytes least that the largest free range has from
--             there on to the end of that bucket, bytes; free_bytes free in all at its end, bytes; is_exact 0 where sizes
--             are estimates, or events were lost or not seen
SELECT
    p.pid AS pid,
    p.heap AS heap,
    CASE WHEN l.part_id IS NULL THEN 'all' ELSE coalesce(c.name, 'rest') END AS segment_kind,
    q.stream AS stream,
    q.private_pool AS private_pool,
    l.wanted_bytes AS wanted_bytes,
    CASE
        WHEN l.largest_bytes IS NULL THEN 'unknown'
        WHEN l.last_seq IS NULL THEN 'never'
        WHEN n.heap_id IS NULL THEN 'to the end'
        ELSE 'no longer'
    END AS verdict,
    b.last_seq AS last_fit_seq,
    b.last_ns AS last_fit_ns,
    n.first_seq AS refused_seq,
    (
        SELECT s.number
        FROM step AS s
        WHERE s.process_id = p.process_id AND s.begin_seq <= n.first_seq
        ORDER BY s.begin_seq DESC
        LIMIT 1
    ) AS step,
    n.min_largest_free_bytes AS largest_free_bytes,
    n.free_bytes AS free_bytes,
    coalesce(n.is_estimate + n.is_doubtful + n.is_partial, b.is_estimate + b.is_doubtful + b.is_partial) = 0 AS is_exact
FROM (
    SELECT
        f.heap_id,
        f.part_id,
        w.wanted_bytes,
        max(f.min_largest_free_bytes) AS largest_bytes,
        max(CASE WHEN f.min_largest_free_bytes >= w.wanted_bytes THEN f.last_seq END) AS last_seq
    FROM z_fragmentation_usage AS f
    JOIN (SELECT coalesce(:bytes, (SELECT max(x.requested_bytes) FROM failure AS x), 1048576) AS wanted_bytes) AS w
    GROUP BY f.heap_id, f.part_id
) AS l
JOIN z_heap_place AS p ON p.heap_id = l.heap_id
LEFT JOIN z_pool_part AS q ON q.part_id = l.part_id
LEFT JOIN z_segment_kind AS c ON c.segment_kind = q.segment_kind
LEFT JOIN z_fragmentation_usage AS b ON b.heap_id = l.heap_id AND b.part_id IS l.part_id AND b.last_seq = l.last_seq
LEFT JOIN z_fragmentation_usage AS n
    ON n.heap_id = l.heap_id
    AND n.part_id IS l.part_id
    AND n.last_seq = (
        SELECT min(x.last_seq)
        FROM z_fragmentation_usage AS x
        WHERE x.heap_id = l.heap_id AND x.part_id IS l.part_id AND x.last_seq > coalesce(l.last_seq, -1)
    )
ORDER BY l.heap_id, l.part_id
-- begin guard :bytes; -1
LIMIT CASE
    WHEN :bytes IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
