-- Transfers that need no copy.

-- catalog: not counted
CREATE VIEW zero_copy (
    -- Share of the transfers between host and device whose host side is registered with the device, so that it could be
    -- used where it is. Good > 80, warning 50 to 80, danger < 50 % of the bytes.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: not known.
    device,
    -- Always NULL: a copy is not of one heap.
    heap,
    -- Always NULL: a copy is not of one level.
    level,
    -- Transfers between host and device that did not fail. Unit: copies.
    copy_count,
    -- What they moved. Unit: bytes.
    size_bytes,
    -- Those of them whose host side is registered. Unit: copies.
    registered_count,
    -- What those moved. Unit: bytes.
    registered_bytes,
    -- registered_bytes / size_bytes. Unit: ratio (0 to 1). NULL: nothing was moved.
    zero_copy_ratio,
    -- 'good', 'warning' or 'danger'; 'minor': not good, and below floor_bytes; 'not applicable': the process has registered
    -- no memory; 'unknown' where is_partial is 1. NULL: nothing was moved.
    verdict,
    -- Ranges of host memory that the process registered with a device. Unit: ranges.
    range_count,
    -- Most of it that was registered at one time. Unit: bytes.
    range_peak_bytes,
    -- Still registered at the end of the trace. Unit: bytes.
    range_live_bytes,
    -- 1: something of the recording was lost, or not kept, or what was registered before it is not known, so that nothing
    -- is claimed; 0: all is here.
    is_partial,
    -- As much has to be copied without need for a warning: of npumem-ingest --threshold, at least its share of the device. Unit: bytes.
    floor_bytes
) AS
SELECT
    process.host, process.rank, process.pid, g.device,
    NULL,
    NULL,
    g.copy_count,
    g.size_bytes,
    g.registered_count,
    g.registered_bytes,
    CASE WHEN g.size_bytes > 0 THEN CAST(g.registered_bytes AS REAL) / g.size_bytes END,
    CASE
        WHEN g.size_bytes = 0 THEN NULL
        WHEN g.is_partial THEN 'unknown'
        WHEN coalesce(r.range_count, 0) = 0 AND g.registered_count = 0 THEN 'not applicable'
        WHEN g.registered_bytes > 0.8 * g.size_bytes THEN 'good'
        WHEN g.size_bytes - g.registered_bytes < g.floor_bytes THEN 'minor'
        WHEN g.registered_bytes >= 0.5 * g.size_bytes THEN 'warning'
        ELSE 'danger'
    END,
    coalesce(r.range_count, 0),
    coalesce(r.peak_bytes, 0),
    coalesce(r.live_bytes, 0),
    g.is_partial,
    g.floor_bytes
FROM (
    SELECT
        c.process_id,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        max(min(t.floor), CAST(min(t.capacity_ratio) * coalesce(max(d.capacity_bytes), 0) AS INTEGER)) AS floor_bytes,
        sum(c.host_count) AS copy_count,
        sum(c.host_bytes) AS size_bytes,
        sum(c.registered_count) AS registered_count,
        sum(c.registered_bytes) AS registered_bytes,
        coalesce(
            (
                SELECT
                    i.events_seen > i.events_ingested + i.events_unkept OR i.is_loss_exact = 0 OR i.bytes_cut > 0
                        OR i.unknown_reference_count > 0 OR i.detail_begin_seq IS NOT NULL OR i.baseline = 'unknown'
                        OR EXISTS (SELECT 1 FROM z_pause AS w WHERE w.process_id = q.process_id)
                FROM process AS q
                JOIN input AS i ON i.input_id = q.input_id
                WHERE q.process_id = c.process_id
            ),
            0
        ) AS is_partial
    FROM z_copy_sum AS c
    LEFT JOIN device AS d ON d.device_id = c.device_id
    JOIN z_threshold AS t ON t.measure = 'zero copy'
    WHERE c.host_count > 0
    GROUP BY c.process_id, coalesce(d.physical_ordinal, d.ordinal)
) AS g
LEFT JOIN (
    SELECT
        heap.process_id,
        sum(s.allocation_count + s.baseline_count) AS range_count,
        sum(s.peak_bytes) AS peak_bytes,
        sum(s.live_bytes) AS live_bytes
    FROM heap
    JOIN z_heap_sum AS s ON s.heap_id = heap.heap_id
    WHERE heap.level = 5
    GROUP BY heap.process_id
) AS r ON r.process_id = g.process_id
LEFT JOIN process ON process.process_id = g.process_id
ORDER BY g.process_id, g.device;
