$1_site (frame_id, path, function, line) AS (
    SELECT
        frame.frame_id,
        CASE
            WHEN frame.is_cut = 1 THEN '(stack cut)'
            -- begin site_path
        END,
        CASE
            WHEN frame.is_cut = 1 THEN ''
            WHEN frame.file IS NULL AND frame.module IS NULL THEN frame.label
            ELSE coalesce(frame.function, printf('+0x%x', frame.offset))
        END,
        frame.line
    FROM $2.frame
    WHERE frame.frame_id IN (SELECT stack.site_frame_id FROM $2.stack)
),
$1_heap (heap_id, process_id, rank, level, size_basis, step_count, is_stated) AS (
    SELECT
        heap.heap_id,
        heap.process_id,
        process.rank,
        heap_level.name,
        heap.size_basis,
        (SELECT count(*) FROM $2.step WHERE step.process_id = heap.process_id),
        input.peak_basis = 'none'
    FROM $2.heap
    JOIN $2.process ON process.process_id = heap.process_id
    JOIN $2.input ON input.input_id = process.input_id
    JOIN $2.heap_level ON heap_level.level = heap.level
    WHERE (:rank IS NULL OR process.rank = :rank) AND (:level IS NULL OR heap_level.name = :level)
),
$1_mark (process_id, seq) AS (
    SELECT
        moment.process_id,
        min(moment.seq)
    FROM $2.moment
    WHERE moment.kind = 3 AND moment.name = :at
    GROUP BY moment.process_id
),
$1_part (moment, heap_id, stack_id, is_baseline, bytes) AS (
    SELECT
        1,
        z_peak_stack.heap_id,
        z_peak_stack.stack_id,
        z_peak_stack.is_baseline,
        z_peak_stack.live_bytes
    FROM $2.z_peak_stack
    UNION ALL
    SELECT
        2,
        z_stack_sum.heap_id,
        z_stack_sum.stack_id,
        0,
        z_stack_sum.allocated_bytes - z_stack_sum.freed_bytes
    FROM $2.z_stack_sum
    UNION ALL
    SELECT
        3,
        z_stack_sum.heap_id,
        z_stack_sum.stack_id,
        0,
        CAST(z_stack_sum.in_step_bytes AS REAL) / $1_heap.step_count
    FROM $2.z_stack_sum
    JOIN $1_heap ON $1_heap.heap_id = z_stack_sum.heap_id
    WHERE $1_heap.step_count > 0
    UNION ALL
    SELECT
        4,
        z_allocation.heap_id,
        z_allocation.stack_id,
        z_allocation.alloc_seq IS NULL AND z_allocation.stack_id IS NULL,
        sum(z_allocation.size_bytes)
    FROM $2.z_allocation
    JOIN $1_heap ON $1_heap.heap_id = z_allocation.heap_id
    JOIN $1_mark ON $1_mark.process_id = $1_heap.process_id
    WHERE :at IS NOT NULL
        AND coalesce(z_allocation.alloc_seq, -1) <= $1_mark.seq
        AND (z_allocation.free_seq IS NULL OR z_allocation.free_seq > $1_mark.seq)
    GROUP BY z_allocation.heap_id, z_allocation.stack_id, z_allocation.alloc_seq IS NULL AND z_allocation.stack_id IS NULL
),
$1_row (moment, rank, level, size_basis, path, function, line, bytes) AS (
    SELECT
        CASE WHEN $1_heap.is_stated THEN 5 ELSE $1_part.moment END,
        $1_heap.rank,
        $1_heap.level,
        $1_heap.size_basis,
        CASE
            WHEN $1_part.is_baseline = 1 THEN '(baseline)'
            WHEN $1_site.frame_id IS NULL THEN '(no stack)'
            ELSE $1_site.path
        END,
        coalesce($1_site.function, ''),
        $1_site.line,
        $1_part.bytes
    FROM $1_part
    JOIN $1_heap ON $1_heap.heap_id = $1_part.heap_id
    LEFT JOIN $2.stack ON stack.stack_id = $1_part.stack_id
    LEFT JOIN $1_site ON $1_site.frame_id = stack.site_frame_id
    WHERE $1_part.moment = 1 OR NOT $1_heap.is_stated
),
