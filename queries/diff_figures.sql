-- diff_figures.sql: how do two databases compare in the figures that people ask for first?
-- Run it beside a database named base.db (or a link of that name):   sqlite3 run.db < queries/diff_figures.sql
-- npumem-diff runs this query. Bytes, counts and times are sums over processes and heaps, whenever each had its peak; rates are
-- of these sums, but for fragmentation.
-- Parameters: :base       the database to compare with (default: base.db in the current folder)
--             :rank       only processes of this rank (default: all)
--             :level      only heaps of this level, and then no copies (default: all)
-- Columns:    figure 'peak' most that was live, 'reserved' most that pools held, 'fragmentation' of the pool that view
--             health has the worst of, 'beyond peak' share of the most that was reserved beyond the most that was live, 'hit
--             rate' share of requests that pools served by themselves, 'allocation time' in calls that allocate, 'copy
--             time' in calls that copy or set; of a log, which tells no peak, 'held at failure' and 'reserved at failure',
--             the most that it states; level of the heaps, NULL of copies; unit 'bytes', 'ratio' (0 to 1) or 'ns';
--             base_value, run_value, NULL where it is not known; change_value run minus base
ATTACH coalesce(:base, 'base.db') AS base;
WITH
    run_heap (heap_id, level, level_name, is_stated) AS (
        SELECT heap.heap_id, heap.level, heap_level.name, input.peak_basis = 'none'
        FROM main.heap
        JOIN main.process ON process.process_id = heap.process_id
        JOIN main.input ON input.input_id = process.input_id
        JOIN main.heap_level ON heap_level.level = heap.level
        WHERE (:rank IS NULL OR process.rank = :rank) AND (:level IS NULL OR heap_level.name = :level)
    ),
    base_heap (heap_id, level, level_name, is_stated) AS (
        SELECT heap.heap_id, heap.level, heap_level.name, input.peak_basis = 'none'
        FROM base.heap
        JOIN base.process ON process.process_id = heap.process_id
        JOIN base.input ON input.input_id = process.input_id
        JOIN base.heap_level ON heap_level.level = heap.level
        WHERE (:rank IS NULL OR process.rank = :rank) AND (:level IS NULL OR heap_level.name = :level)
    ),
    sums (side, level, level_name, is_stated, peak, reserved, live_of_reserved, cost_count, cost_ns) AS (
        SELECT
            2,
            run_heap.level,
            run_heap.level_name,
            run_heap.is_stated,
            sum(z_heap_sum.peak_bytes),
            sum(z_heap_sum.peak_reserved_bytes),
            sum(CASE WHEN z_heap_sum.peak_reserved_bytes > 0 THEN z_heap_sum.peak_bytes END),
            sum(z_heap_sum.cost_count),
            sum(z_heap_sum.cost_ns)
        FROM run_heap
        JOIN main.z_heap_sum ON z_heap_sum.heap_id = run_heap.heap_id
        GROUP BY run_heap.level, run_heap.is_stated
        UNION ALL
        SELECT
            1,
            base_heap.level,
            base_heap.level_name,
            base_heap.is_stated,
            sum(z_heap_sum.peak_bytes),
            sum(z_heap_sum.peak_reserved_bytes),
            sum(CASE WHEN z_heap_sum.peak_reserved_bytes > 0 THEN z_heap_sum.peak_bytes END),
            sum(z_heap_sum.cost_count),
            sum(z_heap_sum.cost_ns)
        FROM base_heap
        JOIN base.z_heap_sum ON z_heap_sum.heap_id = base_heap.heap_id
        GROUP BY base_heap.level, base_heap.is_stated
    ),
    hits (side, level, level_name, request_count, miss_count) AS (
        SELECT 2, run_heap.level, run_heap.level_name, sum(z_pool_hit.allocation_count), sum(z_pool_hit.miss_count)
        FROM run_heap
        JOIN main.z_pool_hit ON z_pool_hit.heap_id = run_heap.heap_id
        GROUP BY run_heap.level
        HAVING sum(z_pool_hit.miss_count) > 0 OR NOT EXISTS (SELECT 1 FROM main.input WHERE input.hit_basis <> 'exact')
        UNION ALL
        SELECT 1, base_heap.level, base_heap.level_name, sum(z_pool_hit.allocation_count), sum(z_pool_hit.miss_count)
        FROM base_heap
        JOIN base.z_pool_hit ON z_pool_hit.heap_id = base_heap.heap_id
        GROUP BY base_heap.level
        HAVING sum(z_pool_hit.miss_count) > 0 OR NOT EXISTS (SELECT 1 FROM base.input WHERE input.hit_basis <> 'exact')
    ),
    unused (side, level, level_name, value) AS (
        SELECT 2, heap_level.level, heap_level.name, max(finding.value)
        FROM main.finding
        JOIN main.heap_level ON heap_level.name = finding.level
        WHERE finding.kind = 'fragmentation' AND (:rank IS NULL OR finding.rank = :rank) AND (:level IS NULL OR finding.level = :level)
        GROUP BY heap_level.level
        UNION ALL
        SELECT 1, heap_level.level, heap_level.name, max(finding.value)
        FROM base.finding
        JOIN base.heap_level ON heap_level.name = finding.level
        WHERE finding.kind = 'fragmentation' AND (:rank IS NULL OR finding.rank = :rank) AND (:level IS NULL OR finding.level = :level)
        GROUP BY heap_level.level
    ),
    copies (side, cost_ns) AS (
        SELECT 2, sum(z_copy_sum.cost_ns)
        FROM main.z_copy_sum
        LEFT JOIN main.process ON process.process_id = z_copy_sum.process_id
        WHERE :level IS NULL AND (:rank IS NULL OR process.rank = :rank)
        UNION ALL
        SELECT 1, sum(z_copy_sum.cost_ns)
        FROM base.z_copy_sum
        LEFT JOIN base.process ON process.process_id = z_copy_sum.process_id
        WHERE :level IS NULL AND (:rank IS NULL OR process.rank = :rank)
    ),
    figure (place, side, name, level, level_name, unit, value) AS (
        SELECT 1, side, 'peak', level, level_name, 'bytes', peak FROM sums WHERE peak > 0 AND NOT is_stated
        UNION ALL
        SELECT 2, side, 'reserved', level, level_name, 'bytes', reserved FROM sums WHERE reserved > 0 AND NOT is_stated
        UNION ALL
        SELECT 8, side, 'held at failure', level, level_name, 'bytes', peak FROM sums WHERE peak > 0 AND is_stated
        UNION ALL
        SELECT 9, side, 'reserved at failure', level, level_name, 'bytes', reserved FROM sums WHERE reserved > 0 AND is_stated
        UNION ALL
        SELECT 3, side, 'fragmentation', level, level_name, 'ratio', value FROM unused WHERE value IS NOT NULL
        UNION ALL
        SELECT
            4,
            side,
            'beyond peak',
            level,
            level_name,
            'ratio',
            max(0.0, 1 - CAST(live_of_reserved AS REAL) / reserved)
        FROM sums
        WHERE reserved > 0 AND NOT is_stated
        UNION ALL
        SELECT 5, side, 'hit rate', level, level_name, 'ratio', 1 - CAST(miss_count AS REAL) / request_count
        FROM hits
        WHERE request_count > 0
        UNION ALL
        SELECT 6, side, 'allocation time', level, level_name, 'ns', cost_ns FROM sums WHERE cost_count > 0
        UNION ALL
        SELECT 7, side, 'copy time', NULL, NULL, 'ns', cost_ns FROM copies WHERE cost_ns IS NOT NULL
    )
SELECT
    figure.name AS figure,
    figure.level_name AS level,
    figure.unit AS unit,
    max(CASE WHEN figure.side = 1 THEN figure.value END) AS base_value,
    max(CASE WHEN figure.side = 2 THEN figure.value END) AS run_value,
    max(CASE WHEN figure.side = 2 THEN figure.value END) - max(CASE WHEN figure.side = 1 THEN figure.value END)
        AS change_value
FROM figure
GROUP BY figure.place, figure.level
ORDER BY figure.place, figure.level <> 2, figure.level;
DETACH base;
