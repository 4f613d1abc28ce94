-- between_moments.sql: what came, went and stayed from one moment of a run to another, by site, largest change first?
-- A moment is 'peak' of each heap, 'reserve' (when each pool held most), 'end', 'step:N' (the begin of step N of each process), 'seq:N' (right after that event),
-- 'ns:N' (so many nanoseconds after the recording began), 'mark:TEXT' or TEXT (the first such mark of each process).
-- Processes that have not both moments are left out. npumem-diff run.db@FROM run.db@TO runs this query.
-- With --detail live there are rows of what was live at peaks, marks and the end alone. What came and went in between is in
-- no row: it was live at neither moment.
-- Parameters: :from       the first moment (default 'peak')
--             :to         the second moment (default 'end')
--             :rank       only processes of this rank (default: all, summed up)
--             :by_rank    1: a row for each rank (default 0)
--             :level      only heaps of this level (default: all)
--             :threshold  rows of which no more than so many bytes came, and no more went, are left out (default: none is)
--             :top        rows of sums, and rows of sites, to return (default 30)
-- Columns:    rank, NULL without :by_rank; level of the heaps; site file, line and function, '(all)' for the sum over all
--             sites; from_bytes, to_bytes live at the moments, bytes; came_count allocations that are live at the second
--             moment alone, came_bytes bytes; went_count those that are live at the first one alone, went_bytes bytes;
--             stayed_count those that are live at both, stayed_bytes bytes; change_bytes to minus from, came minus went. Needs
--             the rows of all allocations (input.detail 'all')
WITH
    asked (which, text) AS (
        SELECT 1, coalesce(:from, 'peak')
        UNION ALL
        SELECT 2, coalesce(:to, 'end')
    ),
    place (which, heap_id, seq, ns) AS (
        SELECT
            asked.which,
            heap.heap_id,
            CASE
                WHEN asked.text = 'peak' THEN coalesce(
                    (SELECT z_heap_sum.peak_seq FROM z_heap_sum WHERE z_heap_sum.heap_id = heap.heap_id),
                    -1
                )
                WHEN asked.text = 'reserve' THEN (
                    SELECT n.seq FROM z_named_moment AS n WHERE n.heap_id = heap.heap_id AND n.moment = 'reserve'
                )
                WHEN asked.text = 'end' THEN 9223372036854775807
                WHEN asked.text GLOB 'step:*' THEN (
                    SELECT min(step.begin_seq) - 1
                    FROM step
                    WHERE step.process_id = heap.process_id
                        AND step.number = CAST(substr(asked.text, 6) AS INTEGER)
                )
                WHEN asked.text GLOB 'seq:*' THEN CAST(substr(asked.text, 5) AS INTEGER)
                WHEN asked.text GLOB 'ns:*' THEN NULL
                ELSE (
                    SELECT min(coalesce(moment.seq, -1))
                    FROM moment
                    WHERE moment.process_id = heap.process_id AND moment.kind = 3 AND moment.name =
                        CASE WHEN asked.text GLOB 'mark:*' THEN substr(asked.text, 6) ELSE asked.text END
                )
            END,
            CASE WHEN asked.text GLOB 'ns:*' THEN CAST(substr(asked.text, 4) AS INTEGER) END
        FROM heap
        JOIN asked
    ),
    heap_between (heap_id, rank, level, from_seq, from_ns, to_seq, to_ns) AS (
        SELECT
            heap.heap_id,
            process.rank,
            heap_level.name,
            before.seq,
            before.ns,
            after.seq,
            after.ns
        FROM heap
        JOIN process ON process.process_id = heap.process_id
        JOIN heap_level ON heap_level.level = heap.level
        JOIN place AS before ON before.heap_id = heap.heap_id AND before.which = 1
        JOIN place AS after ON after.heap_id = heap.heap_id AND after.which = 2
        WHERE coalesce(before.seq, before.ns) IS NOT NULL
            AND coalesce(after.seq, after.ns) IS NOT NULL
            AND (:rank IS NULL OR process.rank = :rank)
            AND (:level IS NULL OR heap_level.name = :level)
    ),
    -- begin known place
    -- Where to look for what was live at the moments of place (table z_birth_part), and the rows there.
    near (heap_id, first_id, last_id) AS (
        SELECT DISTINCT
            y.heap_id,
            y.first_id,
            y.last_id
        FROM place AS x
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
    lived (heap_id, stack_id, is_baseline, is_before, is_after, live_count, live_bytes) AS (
        SELECT
            alive.heap_id,
            alive.stack_id,
            alive.is_baseline,
            alive.is_before,
            alive.is_after,
            count(*),
            sum(alive.size_bytes)
        FROM (
            SELECT
                allocation.heap_id,
                allocation.stack_id,
                allocation.alloc_seq IS NULL AND allocation.stack_id IS NULL AS is_baseline,
                CASE
                    WHEN heap_between.from_seq IS NULL
                        THEN (allocation.alloc_seq IS NULL OR allocation.alloc_ns <= heap_between.from_ns)
                            AND (allocation.free_seq IS NULL OR allocation.free_ns > heap_between.from_ns)
                    ELSE coalesce(allocation.alloc_seq, -1) <= heap_between.from_seq
                        AND (allocation.free_seq IS NULL OR allocation.free_seq > heap_between.from_seq)
                END AS is_before,
                CASE
                    WHEN heap_between.to_seq IS NULL
                        THEN (allocation.alloc_seq IS NULL OR allocation.alloc_ns <= heap_between.to_ns)
                            AND (allocation.free_seq IS NULL OR allocation.free_ns > heap_between.to_ns)
                    ELSE coalesce(allocation.alloc_seq, -1) <= heap_between.to_seq
                        AND (allocation.free_seq IS NULL OR allocation.free_seq > heap_between.to_seq)
                END AS is_after,
                allocation.size_bytes
            FROM known
            CROSS JOIN allocation ON allocation.allocation_id = known.allocation_id
            CROSS JOIN heap_between ON heap_between.heap_id = allocation.heap_id
        ) AS alive
        WHERE alive.is_before = 1 OR alive.is_after = 1
        GROUP BY alive.heap_id, alive.stack_id, alive.is_baseline, alive.is_before, alive.is_after
    ),
    part (rank, level, site, is_before, is_after, live_count, live_bytes) AS (
        SELECT
            heap_between.rank,
            heap_between.level,
            CASE WHEN lived.is_baseline = 1 THEN '(baseline)' ELSE coalesce(frame.label, '(no stack)') END,
            lived.is_before,
            lived.is_after,
            lived.live_count,
            lived.live_bytes
        FROM lived
        JOIN heap_between ON heap_between.heap_id = lived.heap_id
        LEFT JOIN stack ON stack.stack_id = lived.stack_id
        LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
    ),
    change (rank, level, site, came_count, came_bytes, went_count, went_bytes, stayed_count, stayed_bytes) AS (
        SELECT
            CASE WHEN :by_rank = 1 THEN both.rank END AS shown_rank,
            both.level,
            both.site,
            sum(CASE WHEN both.is_before = 0 THEN both.live_count ELSE 0 END),
            sum(CASE WHEN both.is_before = 0 THEN both.live_bytes ELSE 0 END),
            sum(CASE WHEN both.is_after = 0 THEN both.live_count ELSE 0 END),
            sum(CASE WHEN both.is_after = 0 THEN both.live_bytes ELSE 0 END),
            sum(CASE WHEN both.is_before = 1 AND both.is_after = 1 THEN both.live_count ELSE 0 END),
            sum(CASE WHEN both.is_before = 1 AND both.is_after = 1 THEN both.live_bytes ELSE 0 END)
        FROM (
            SELECT rank, level, site, is_before, is_after, live_count, live_bytes FROM part
            UNION ALL
            SELECT rank, level, '(all)', is_before, is_after, live_count, live_bytes FROM part
        ) AS both
        GROUP BY shown_rank, both.level, both.site
    ),
    ranked (place, rank, level, site, came_count, came_bytes, went_count, went_bytes, stayed_count, stayed_bytes) AS (
        SELECT
            row_number() OVER (
                PARTITION BY change.site = '(all)'
                ORDER BY
                    abs(change.came_bytes - change.went_bytes) DESC,
                    change.came_bytes + change.went_bytes DESC,
                    change.stayed_bytes DESC,
                    change.level,
                    change.rank,
                    change.site
            ),
            change.rank,
            change.level,
            change.site,
            change.came_count,
            change.came_bytes,
            change.went_count,
            change.went_bytes,
            change.stayed_count,
            change.stayed_bytes
        FROM change
        WHERE coalesce(:threshold, 0) = 0 OR max(change.came_bytes, change.went_bytes) > :threshold
    )
SELECT
    ranked.rank AS rank,
    ranked.level AS level,
    ranked.site AS site,
    ranked.went_bytes + ranked.stayed_bytes AS from_bytes,
    ranked.came_bytes + ranked.stayed_bytes AS to_bytes,
    ranked.came_count AS came_count,
    ranked.came_bytes AS came_bytes,
    ranked.went_count AS went_count,
    ranked.went_bytes AS went_bytes,
    ranked.stayed_count AS stayed_count,
    ranked.stayed_bytes AS stayed_bytes,
    ranked.came_bytes - ranked.went_bytes AS change_bytes
FROM ranked
WHERE ranked.place <= coalesce(:top, 30)
ORDER BY ranked.site <> '(all)', ranked.place;
