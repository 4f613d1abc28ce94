-- peak_by_thread.sql: which threads had allocated what was live at each heap's peak, largest first.
-- Parameters: none
-- Columns:    heap name; peak_seq place of the peak in the order of events; thread name or number, or what of it is not known:
--             '(before the history)' where it was live already, '(unknown)'; live_count allocations; live_bytes bytes. Needs
--             the rows of all allocations (input.detail 'all')
WITH
    spot (heap_id, seq, ns) AS (
        SELECT
            z_heap_sum.heap_id,
            coalesce(z_heap_sum.peak_seq, -1),
            NULL
        FROM z_heap_sum
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
    live (heap_id, peak_seq, has_birth, thread_id, size_bytes) AS (
        SELECT
            w.heap_id,
            w.peak_seq,
            a.alloc_seq IS NOT NULL,
            CASE WHEN a.alloc_seq IS NULL THEN -1 ELSE a.thread_id END,
            a.size_bytes
        FROM known AS c
        CROSS JOIN allocation AS a ON a.allocation_id = c.allocation_id
        CROSS JOIN z_heap_sum AS w ON w.heap_id = a.heap_id
        WHERE (a.alloc_seq IS NULL OR a.alloc_seq <= w.peak_seq)
            AND (a.free_seq IS NULL OR a.free_seq > w.peak_seq)
    )
SELECT
    z_heap_place.heap AS heap,
    live.peak_seq AS peak_seq,
    CASE live.has_birth
        WHEN 0 THEN '(before the history)'
        ELSE coalesce(thread.name, CAST(thread.tid AS TEXT), '(unknown)')
    END AS thread,
    count(*) AS live_count,
    sum(live.size_bytes) AS live_bytes
FROM live
JOIN z_heap_place ON z_heap_place.heap_id = live.heap_id
LEFT JOIN thread ON thread.thread_id = live.thread_id
GROUP BY live.heap_id, live.thread_id
ORDER BY live.heap_id, live_bytes DESC, thread;
