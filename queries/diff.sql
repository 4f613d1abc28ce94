-- diff.sql: what changed at each site between two databases: live at the peak, the end, a mark, allocated per step?
-- Run it beside a database named base.db (or a link of that name):   sqlite3 run.db < queries/diff.sql
-- A site is the path of its file below site-packages (elsewhere the file's name) and the function; of several lines of
-- one function the first is shown. npumem-diff runs this query.
-- Parameters: :base       the database to compare with (default: base.db in the current folder)
--             :rank       only processes of this rank (default: all, summed up)
--             :by_rank    1: a row for each rank (default 0)
--             :level      only heaps of this level (default: all)
--             :at         text of a mark; the first one of each process counts (default: none)
--             :threshold  changes up to this many bytes are left out (default 0)
--             :top        rows of sums, and rows of sites, of each moment to return (default 30)
-- Columns:    moment 'peak' of each heap, 'end' of the recording, 'step' (allocated per step, but for what came before
--             the first), 'mark', 'failure' (of a log: the most that it states); rank, NULL without :by_rank; level and
--             size_basis of the heaps; path, function and line of the site, '(all)' for the sum over all sites, '(stack
--             cut)' for all that has none; base_bytes, run_bytes bytes; change_bytes run minus base, NULL for '(stack
--             cut)', which is not compared
ATTACH coalesce(:base, 'base.db') AS base;
WITH
    -- begin diff_half run; main
    run_site (frame_id, path, function, line) AS (
        SELECT
            frame.frame_id,
            CASE
                WHEN frame.is_cut = 1 THEN '(stack cut)'
                WHEN frame.file IS NULL AND frame.module IS NULL THEN ''
                WHEN frame.file IS NULL
                    THEN substr(frame.module, length(rtrim(frame.module, replace(frame.module, '/', ''))) + 1)
                WHEN instr(frame.file, 'site-packages/') > 0
                    THEN substr(frame.file, instr(frame.file, 'site-packages/') + 14)
                WHEN instr(frame.file, 'dist-packages/') > 0
                    THEN substr(frame.file, instr(frame.file, 'dist-packages/') + 14)
                ELSE substr(frame.file, length(rtrim(frame.file, replace(frame.file, '/', ''))) + 1)
            END,
            CASE
                WHEN frame.is_cut = 1 THEN ''
                WHEN frame.file IS NULL AND frame.module IS NULL THEN frame.label
                ELSE coalesce(frame.function, printf('+0x%x', frame.offset))
            END,
            frame.line
        FROM main.frame
        WHERE frame.frame_id IN (SELECT stack.site_frame_id FROM main.stack)
    ),
    run_heap (heap_id, process_id, rank, level, size_basis, step_count, is_stated) AS (
        SELECT
            heap.heap_id,
            heap.process_id,
            process.rank,
            heap_level.name,
            heap.size_basis,
            (SELECT count(*) FROM main.step WHERE step.process_id = heap.process_id),
            input.peak_basis = 'none'
        FROM main.heap
        JOIN main.process ON process.process_id = heap.process_id
        JOIN main.input ON input.input_id = process.input_id
        JOIN main.heap_level ON heap_level.level = heap.level
        WHERE (:rank IS NULL OR process.rank = :rank) AND (:level IS NULL OR heap_level.name = :level)
    ),
    run_mark (process_id, seq) AS (
        SELECT
            moment.process_id,
            min(moment.seq)
        FROM main.moment
        WHERE moment.kind = 3 AND moment.name = :at
        GROUP BY moment.process_id
    ),
    run_part (moment, heap_id, stack_id, is_baseline, bytes) AS (
        SELECT
            1,
            z_peak_stack.heap_id,
            z_peak_stack.stack_id,
            z_peak_stack.is_baseline,
            z_peak_stack.live_bytes
        FROM main.z_peak_stack
        UNION ALL
        SELECT
            2,
            z_stack_sum.heap_id,
            z_stack_sum.stack_id,
            0,
            z_stack_sum.allocated_bytes - z_stack_sum.freed_bytes
        FROM main.z_stack_sum
        UNION ALL
        SELECT
            3,
            z_stack_sum.heap_id,
            z_stack_sum.stack_id,
            0,
            CAST(z_stack_sum.in_step_bytes AS REAL) / run_heap.step_count
        FROM main.z_stack_sum
        JOIN run_heap ON run_heap.heap_id = z_stack_sum.heap_id
        WHERE run_heap.step_count > 0
        UNION ALL
        SELECT
            4,
            z_allocation.heap_id,
            z_allocation.stack_id,
            z_allocation.alloc_seq IS NULL AND z_allocation.stack_id IS NULL,
            sum(z_allocation.size_bytes)
        FROM main.z_allocation
        JOIN run_heap ON run_heap.heap_id = z_allocation.heap_id
        JOIN run_mark ON run_mark.process_id = run_heap.process_id
        WHERE :at IS NOT NULL
            AND coalesce(z_allocation.alloc_seq, -1) <= run_mark.seq
            AND (z_allocation.free_seq IS NULL OR z_allocation.free_seq > run_mark.seq)
        GROUP BY z_allocation.heap_id, z_allocation.stack_id, z_allocation.alloc_seq IS NULL AND z_allocation.stack_id IS NULL
    ),
    run_row (moment, rank, level, size_basis, path, function, line, bytes) AS (
        SELECT
            CASE WHEN run_heap.is_stated THEN 5 ELSE run_part.moment END,
            run_heap.rank,
            run_heap.level,
            run_heap.size_basis,
            CASE
                WHEN run_part.is_baseline = 1 THEN '(baseline)'
                WHEN run_site.frame_id IS NULL THEN '(no stack)'
                ELSE run_site.path
            END,
            coalesce(run_site.function, ''),
            run_site.line,
            run_part.bytes
        FROM run_part
        JOIN run_heap ON run_heap.heap_id = run_part.heap_id
        LEFT JOIN main.stack ON stack.stack_id = run_part.stack_id
        LEFT JOIN run_site ON run_site.frame_id = stack.site_frame_id
        WHERE run_part.moment = 1 OR NOT run_heap.is_stated
    ),
    -- end diff_half
    -- begin diff_half base; base
    base_site (frame_id, path, function, line) AS (
        SELECT
            frame.frame_id,
            CASE
                WHEN frame.is_cut = 1 THEN '(stack cut)'
                WHEN frame.file IS NULL AND frame.module IS NULL THEN ''
                WHEN frame.file IS NULL
                    THEN substr(frame.module, length(rtrim(frame.module, replace(frame.module, '/', ''))) + 1)
                WHEN instr(frame.file, 'site-packages/') > 0
                    THEN substr(frame.file, instr(frame.file, 'site-packages/') + 14)
                WHEN instr(frame.file, 'dist-packages/') > 0
                    THEN substr(frame.file, instr(frame.file, 'dist-packages/') + 14)
                ELSE substr(frame.file, length(rtrim(frame.file, replace(frame.file, '/', ''))) + 1)
            END,
            CASE
                WHEN frame.is_cut = 1 THEN ''
                WHEN frame.file IS NULL AND frame.module IS NULL THEN frame.label
                ELSE coalesce(frame.function, printf('+0x%x', frame.offset))
            END,
            frame.line
        FROM base.frame
        WHERE frame.frame_id IN (SELECT stack.site_frame_id FROM base.stack)
    ),
    base_heap (heap_id, process_id, rank, level, size_basis, step_count, is_stated) AS (
        SELECT
            heap.heap_id,
            heap.process_id,
            process.rank,
            heap_level.name,
            heap.size_basis,
            (SELECT count(*) FROM base.step WHERE step.process_id = heap.process_id),
            input.peak_basis = 'none'
        FROM base.heap
        JOIN base.process ON process.process_id = heap.process_id
        JOIN base.input ON input.input_id = process.input_id
        JOIN base.heap_level ON heap_level.level = heap.level
        WHERE (:rank IS NULL OR process.rank = :rank) AND (:level IS NULL OR heap_level.name = :level)
    ),
    base_mark (process_id, seq) AS (
        SELECT
            moment.process_id,
            min(moment.seq)
        FROM base.moment
        WHERE moment.kind = 3 AND moment.name = :at
        GROUP BY moment.process_id
    ),
    base_part (moment, heap_id, stack_id, is_baseline, bytes) AS (
        SELECT
            1,
            z_peak_stack.heap_id,
            z_peak_stack.stack_id,
            z_peak_stack.is_baseline,
            z_peak_stack.live_bytes
        FROM base.z_peak_stack
        UNION ALL
        SELECT
            2,
            z_stack_sum.heap_id,
            z_stack_sum.stack_id,
            0,
            z_stack_sum.allocated_bytes - z_stack_sum.freed_bytes
        FROM base.z_stack_sum
        UNION ALL
        SELECT
            3,
            z_stack_sum.heap_id,
            z_stack_sum.stack_id,
            0,
            CAST(z_stack_sum.in_step_bytes AS REAL) / base_heap.step_count
        FROM base.z_stack_sum
        JOIN base_heap ON base_heap.heap_id = z_stack_sum.heap_id
        WHERE base_heap.step_count > 0
        UNION ALL
        SELECT
            4,
            z_allocation.heap_id,
            z_allocation.stack_id,
            z_allocation.alloc_seq IS NULL AND z_allocation.stack_id IS NULL,
            sum(z_allocation.size_bytes)
        FROM base.z_allocation
        JOIN base_heap ON base_heap.heap_id = z_allocation.heap_id
        JOIN base_mark ON base_mark.process_id = base_heap.process_id
        WHERE :at IS NOT NULL
            AND coalesce(z_allocation.alloc_seq, -1) <= base_mark.seq
            AND (z_allocation.free_seq IS NULL OR z_allocation.free_seq > base_mark.seq)
        GROUP BY z_allocation.heap_id, z_allocation.stack_id, z_allocation.alloc_seq IS NULL AND z_allocation.stack_id IS NULL
    ),
    base_row (moment, rank, level, size_basis, path, function, line, bytes) AS (
        SELECT
            CASE WHEN base_heap.is_stated THEN 5 ELSE base_part.moment END,
            base_heap.rank,
            base_heap.level,
            base_heap.size_basis,
            CASE
                WHEN base_part.is_baseline = 1 THEN '(baseline)'
                WHEN base_site.frame_id IS NULL THEN '(no stack)'
                ELSE base_site.path
            END,
            coalesce(base_site.function, ''),
            base_site.line,
            base_part.bytes
        FROM base_part
        JOIN base_heap ON base_heap.heap_id = base_part.heap_id
        LEFT JOIN base.stack ON stack.stack_id = base_part.stack_id
        LEFT JOIN base_site ON base_site.frame_id = stack.site_frame_id
        WHERE base_part.moment = 1 OR NOT base_heap.is_stated
    ),
    -- end diff_half
    part (moment, rank, level, size_basis, path, function, run_line, base_line, run_bytes, base_bytes) AS (
        SELECT moment, rank, level, size_basis, path, function, line, NULL, bytes, 0 FROM run_row
        UNION ALL
        SELECT moment, rank, level, size_basis, path, function, NULL, line, 0, bytes FROM base_row
        UNION ALL
        SELECT moment, rank, level, size_basis, '(all)', '', NULL, NULL, bytes, 0 FROM run_row
        UNION ALL
        SELECT moment, rank, level, size_basis, '(all)', '', NULL, NULL, 0, bytes FROM base_row
    ),
    change (moment, rank, level, size_basis, path, function, line, base_bytes, run_bytes) AS (
        SELECT
            part.moment,
            CASE WHEN :by_rank = 1 THEN part.rank END,
            part.level,
            part.size_basis,
            part.path,
            part.function,
            coalesce(min(part.run_line), min(part.base_line)),
            CAST(sum(part.base_bytes) AS INTEGER),
            CAST(sum(part.run_bytes) AS INTEGER)
        FROM part
        WHERE part.moment <> 3
            OR (EXISTS (SELECT 1 FROM run_row WHERE moment = 3) AND EXISTS (SELECT 1 FROM base_row WHERE moment = 3))
        GROUP BY
            part.moment,
            CASE WHEN :by_rank = 1 THEN part.rank END,
            part.level,
            part.size_basis,
            part.path,
            part.function
    ),
    ranked (place, moment, rank, level, size_basis, path, function, line, base_bytes, run_bytes) AS (
        SELECT
            row_number() OVER (
                PARTITION BY change.moment, change.path = '(all)', change.path = '(stack cut)'
                ORDER BY
                    abs(change.run_bytes - change.base_bytes) DESC,
                    change.level,
                    change.rank,
                    change.path,
                    change.function
            ),
            change.moment,
            change.rank,
            change.level,
            change.size_basis,
            change.path,
            change.function,
            change.line,
            change.base_bytes,
            change.run_bytes
        FROM change
        WHERE CASE change.path
            WHEN '(stack cut)' THEN max(change.run_bytes, change.base_bytes)
            ELSE abs(change.run_bytes - change.base_bytes)
        END > coalesce(:threshold, 0)
    )
SELECT
    CASE ranked.moment WHEN 1 THEN 'peak' WHEN 2 THEN 'end' WHEN 3 THEN 'step' WHEN 4 THEN 'mark' ELSE 'failure' END AS moment,
    ranked.rank AS rank,
    ranked.level AS level,
    ranked.size_basis AS size_basis,
    ranked.path AS path,
    ranked.function AS function,
    ranked.line AS line,
    ranked.base_bytes AS base_bytes,
    ranked.run_bytes AS run_bytes,
    CASE WHEN ranked.path <> '(stack cut)' THEN ranked.run_bytes - ranked.base_bytes END AS change_bytes
FROM ranked
WHERE ranked.place <= coalesce(:top, 30)
ORDER BY ranked.moment, ranked.path <> '(all)', ranked.path = '(stack cut)', ranked.place;
DETACH base;
