-- worst_fragmentation.sql: what was in the way when most of a pool was inactive split (free in segments partly used)?
-- The free bytes of a segment are split evenly over the blocks in it, as in view fragmentation_blocker, which answers the
-- same for the moments of table moment. Mapped ranges count each for itself, where the view counts those that adjoin as
-- one segment. Lists live blocks: there are no rows where input.detail is not 'all'.
-- Parameters: :at     moment: nanoseconds since the recording began, 'seq:N' (a place in the order of events), or a name in view
--                     named_moment.sql: 'end', 'peak' or the text of a mark (default: of each pool where most was)
--             :at_seq the same, a place in the order of events alone; wins over :at
--             :top    rows to return (default 20)
-- Columns:    pid process; heap name; seq place in the order of events; stuck_bytes free bytes in segments that hold
--             something, of all sites, bytes; site file, line and function of the blocks in the way; block_count
--             blocks in segments with free bytes; block_bytes what of them lies there, bytes; hostage_bytes free bytes
--             that they hold back, bytes; segment_count segments that they lie in; oldest_age_events events since the
--             birth of the oldest, NULL for what was there before the recording
WITH
    worst (heap_id, seq) AS (
        SELECT
            u.heap_id,
            coalesce(
                :at_seq,
                (SELECT n.seq FROM z_named_moment AS n WHERE n.heap_id = u.heap_id AND n.moment = :at),
                CASE WHEN 'seq:' || CAST(substr(:at, 5) AS INTEGER) = :at THEN CAST(substr(:at, 5) AS INTEGER) END,
                CASE
                    WHEN CAST(CAST(:at AS INTEGER) AS TEXT) = CAST(:at AS TEXT)
                        THEN (
                            SELECT max(
                                coalesce(max(CASE WHEN e.alloc_ns <= CAST(:at AS INTEGER) THEN e.alloc_seq END), -1),
                                coalesce(max(CASE WHEN e.free_ns <= CAST(:at AS INTEGER) THEN e.free_seq END), -1)
                            )
                            FROM allocation AS e
                        )
                END,
                CASE WHEN :at IS NULL THEN min(u.max_stuck_seq) END
            )
        FROM z_fragmentation_usage AS u
        JOIN (
            SELECT
                x.heap_id,
                max(x.max_stuck_bytes) AS bytes
            FROM z_fragmentation_usage AS x
            WHERE x.part_id IS NULL
            GROUP BY x.heap_id
        ) AS m ON m.heap_id = u.heap_id AND m.bytes = u.max_stuck_bytes
        WHERE u.part_id IS NULL AND (m.bytes > 0 OR coalesce(:at_seq, :at) IS NOT NULL)
        GROUP BY u.heap_id
    ),
    -- Of the pool, and of all that its process has: the ranges of the driver.
    spot (heap_id, seq, ns) AS (
        SELECT DISTINCT
            o.heap_id,
            w.seq,
            NULL
        FROM worst AS w
        JOIN heap AS h ON h.heap_id = w.heap_id
        JOIN heap AS o ON o.process_id = h.process_id
    ),
    -- begin known spot
    -- Where to look for what was live at the moments of spot (table z_birth_part), and the rows there.
    near (heap_id, first_id, last_id) AS (
        SELECT DISTINCT
            y.heap_id,
            y.first_id,
            y.last_id
        FROM spot AS x
        CROSS JOIN z_birth_part AS y ON y.heap_id = x.heap_id
        WHERE coalesce(x.seq, x.ns) IS NOT NULL
            AND CASE
                WHEN x.seq IS NULL THEN coalesce(y.first_ns <= x.ns, 1) AND coalesce(y.end_ns > x.ns, 1)
                ELSE coalesce(y.first_seq <= x.seq, 1) AND coalesce(y.end_seq > x.seq, 1)
            END
    ),
    known (allocation_id) AS (
        SELECT DISTINCT there.allocation_id
        FROM near AS x
        CROSS JOIN allocation AS there ON there.allocation_id BETWEEN x.first_id AND x.last_id AND +there.heap_id = x.heap_id
    ),
    -- end known
    mapped (allocation_id, heap_id, address, size_bytes, alloc_seq, free_seq) AS (
        SELECT
            a.allocation_id,
            a.heap_id,
            a.address,
            a.size_bytes,
            a.alloc_seq,
            a.free_seq
        FROM known AS d
        CROSS JOIN allocation AS a ON a.allocation_id = d.allocation_id
        WHERE a.is_mapped = 1
    ),
    block (heap_id, seq, allocation_id, stack_id, alloc_seq, address, size_bytes, segment_id, driver_id,
        segment_address, segment_bytes) AS (
        SELECT
            w.heap_id,
            w.seq,
            a.allocation_id,
            a.stack_id,
            a.alloc_seq,
            a.address,
            coalesce(a.block_bytes, a.size_bytes),
            g.allocation_id,
            g.heap_id,
            g.address,
            g.size_bytes
        FROM known AS d
        CROSS JOIN allocation AS a ON a.allocation_id = d.allocation_id
        CROSS JOIN worst AS w ON w.heap_id = a.heap_id
        CROSS JOIN allocation AS g ON g.allocation_id = a.segment_id
        WHERE coalesce(a.alloc_seq, -1) <= w.seq AND (a.free_seq IS NULL OR a.free_seq > w.seq)
    ),
    piece (heap_id, seq, allocation_id, stack_id, alloc_seq, segment_id, segment_bytes, bytes) AS (
        SELECT
            b.heap_id,
            b.seq,
            b.allocation_id,
            b.stack_id,
            b.alloc_seq,
            b.segment_id,
            b.segment_bytes,
            min(b.size_bytes, b.segment_address + b.segment_bytes - b.address)
        FROM block AS b
        UNION ALL
        SELECT
            b.heap_id,
            b.seq,
            b.allocation_id,
            b.stack_id,
            b.alloc_seq,
            v.allocation_id,
            v.size_bytes,
            min(b.address + b.size_bytes - v.address, v.size_bytes)
        FROM block AS b
        JOIN mapped AS v
            ON v.heap_id = b.driver_id
            AND v.address >= b.segment_address + b.segment_bytes
            AND v.address < b.address + b.size_bytes
        WHERE b.address + b.size_bytes > b.segment_address + b.segment_bytes
            AND coalesce(v.alloc_seq, -1) <= b.seq
            AND (v.free_seq IS NULL OR v.free_seq > b.seq)
    ),
    part (heap_id, segment_id, block_count, free_bytes) AS (
        SELECT
            piece.heap_id,
            piece.segment_id,
            count(*),
            max(0, max(piece.segment_bytes) - sum(piece.bytes))
        FROM piece
        GROUP BY piece.heap_id, piece.segment_id
    )
SELECT
    p.pid AS pid,
    p.heap AS heap,
    r.seq AS seq,
    (
        SELECT sum(t.free_bytes)
        FROM part AS t
        WHERE t.heap_id = r.heap_id
    ) AS stuck_bytes,
    r.site AS site,
    r.block_count AS block_count,
    r.block_bytes AS block_bytes,
    CAST(r.hostage_bytes + 0.5 AS INTEGER) AS hostage_bytes,
    r.segment_count AS segment_count,
    r.seq - r.oldest_seq AS oldest_age_events
FROM (
    SELECT
        c.heap_id,
        c.seq,
        coalesce(f.label, '(no stack)') AS site,
        count(DISTINCT c.allocation_id) AS block_count,
        sum(c.bytes) AS block_bytes,
        sum(CAST(t.free_bytes AS REAL) / t.block_count) AS hostage_bytes,
        count(DISTINCT c.segment_id) AS segment_count,
        min(c.alloc_seq) AS oldest_seq
    FROM piece AS c
    JOIN part AS t ON t.heap_id = c.heap_id AND t.segment_id = c.segment_id AND t.free_bytes > 0
    LEFT JOIN stack AS k ON k.stack_id = c.stack_id
    LEFT JOIN frame AS f ON f.frame_id = k.site_frame_id
    GROUP BY c.heap_id, c.seq, k.site_frame_id
) AS r
JOIN z_heap_place AS p ON p.heap_id = r.heap_id
ORDER BY r.hostage_bytes DESC, r.heap_id, r.site
LIMIT CASE
    -- begin unknown_parameter coalesce(:at, :at_seq, :top)
    WHEN coalesce(:at, :at_seq, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    -- end unknown_parameter
    WHEN :at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM worst AS y WHERE y.seq IS NOT NULL) AND EXISTS (SELECT 1 FROM worst)
        THEN 'error: unknown moment'
    ELSE coalesce(:top, 20)
END;
