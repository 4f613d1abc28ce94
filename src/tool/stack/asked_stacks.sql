-- asked_stacks.sql: stacks and what is known of each: what was ever allocated and what was there before
-- (:has_allocated), what was live at the peak (:has_live), what leaked (:has_leaked), what was live when each pool held most
-- (:has_reserve). Of one stack, :stack_id, all of it by heap, or just that it is there;
-- else the largest first, of a :rank and of a :site, a part of its name, where one is asked for. What a row has not is in no view.
SELECT
    stack_id,
    bytes,
    allocation_count,
    words,
    host,
    rank,
    pid,
    device,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    coalesce(heap, level) AS heap,
    heap AS heap_name,
    level,
    what,
    verdict,
    out_of_memory_id,
    heap_id,
    NULL AS source
FROM (
    SELECT
        host, rank, pid, device, heap, level,
        stack_id,
        what,
        verdict,
        out_of_memory_id,
        CASE WHEN verdict IS NULL THEN what ELSE 'leaked (' || verdict || ')' END AS words,
        bytes,
        allocation_count,
        heap_id
    FROM stack_sum
    WHERE CASE
        WHEN what IN ('allocated', 'from before the recording') THEN :has_allocated
        WHEN what IN ('live at the peak', 'live at the peak, from before the recording') THEN :has_live
        WHEN what = 'leaked' THEN :has_leaked
        WHEN what = 'live when the pool held most' THEN :has_reserve
        ELSE 0
    END
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL, stack_id, NULL, NULL, NULL, 'no sum is kept of it', NULL, NULL, NULL
    FROM stack
    WHERE stack_id = :stack_id
        AND NOT EXISTS (SELECT 1 FROM z_stack_sum WHERE stack_id = :stack_id)
        AND NOT EXISTS (SELECT 1 FROM z_peak_stack WHERE stack_id = :stack_id)
        AND NOT EXISTS (SELECT 1 FROM z_older_blocks WHERE stack_id = :stack_id)
)
WHERE heap_id IS NULL OR (
    (:rank IS NULL OR rank IS :rank)
    AND (:stack_id IS NULL OR stack_id = :stack_id)
    AND (
        :site IS NULL OR stack_id IN (
            SELECT s.stack_id
            FROM stack AS s
            JOIN frame AS f ON f.frame_id = s.site_frame_id
            WHERE instr(f.label, :site) > 0
        )
    )
)
ORDER BY
    CASE WHEN :stack_id IS NULL THEN bytes END DESC,
    heap_id,
    CASE WHEN :stack_id IS NULL THEN stack_id ELSE words END;
