-- misuse.sql: what was misused, how often, and at which two sites: where it went wrong and what it went wrong with.
-- Parameters: :kind   only this kind, by its name in table anomaly_kind (default: all)
--             :pid    only this process (default: all)
--             :top    rows to return (default 20)
-- Columns:    pid process, NULL where unknown; kind what went wrong; detail in words, NULL where the kind says all;
--             heap name, NULL where unknown; count how often; max_bytes size of the largest, NULL where there is none;
--             first_seq place of the first in the order of events; site where: file, line and function;
--             other_site the other half: allocated at, freed at or registered at, and where, NULL where there is none
--             or it is not known; allocated_at where memory that was freed twice or used after its free came from, NULL
--             for other kinds and where unknown
SELECT
    process.pid AS pid,
    anomaly_kind.name AS kind,
    anomaly.detail AS detail,
    z_heap_place.heap AS heap,
    count(*) AS count,
    max(anomaly.size_bytes) AS max_bytes,
    min(anomaly.seq) AS first_seq,
    coalesce(frame.label, '(no stack)') AS site,
    CASE
        WHEN anomaly.other_stack_id IS NULL THEN NULL
        WHEN anomaly.kind IN (2, 5) OR anomaly.detail IN ('inside memory that is freed', 'unmapped or freed before')
            THEN 'freed at '
        WHEN anomaly.kind = 9 AND anomaly.detail <> 'allocated, but not registered' THEN 'registered at '
        ELSE 'allocated at '
    END || other_frame.label AS other_site,
    CASE WHEN anomaly.kind IN (2, 5) THEN born_frame.label END AS allocated_at
FROM anomaly
JOIN anomaly_kind ON anomaly_kind.kind = anomaly.kind
LEFT JOIN process ON process.process_id = anomaly.process_id
LEFT JOIN z_heap_place ON z_heap_place.heap_id = anomaly.heap_id
LEFT JOIN allocation ON allocation.allocation_id = anomaly.allocation_id
LEFT JOIN stack ON stack.stack_id = anomaly.stack_id
LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
LEFT JOIN stack AS other_stack ON other_stack.stack_id = anomaly.other_stack_id
LEFT JOIN frame AS other_frame ON other_frame.frame_id = other_stack.site_frame_id
LEFT JOIN stack AS born_stack ON born_stack.stack_id = allocation.stack_id
LEFT JOIN frame AS born_frame ON born_frame.frame_id = born_stack.site_frame_id
WHERE (:kind IS NULL OR anomaly_kind.name = :kind)
    AND (:pid IS NULL OR process.pid = :pid)
GROUP BY
    anomaly.process_id,
    anomaly.kind,
    anomaly.detail,
    anomaly.heap_id,
    stack.site_frame_id,
    other_stack.site_frame_id,
    CASE WHEN anomaly.kind IN (2, 5) THEN born_stack.site_frame_id END
ORDER BY count DESC, first_seq, anomaly.process_id, anomaly.kind, other_site, allocated_at
-- begin guard coalesce(:kind, :pid, :top); coalesce(:top, 20)
LIMIT CASE
    WHEN coalesce(:kind, :pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
