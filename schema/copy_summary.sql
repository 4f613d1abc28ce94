-- Transfers by direction, stream and site: of sums, so that no view has to walk all of them.

CREATE TABLE z_copy_sum (
    -- Copies of one place by device, direction and stream. Shown by the views copy_summary and
    -- zero_copy.
    --
    -- The process. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- The device that is written, or else read. NULL: host memory on both sides, or not known.
    device_id INTEGER REFERENCES device (device_id),
    -- A code of copy_kind.
    kind INTEGER NOT NULL REFERENCES copy_kind (kind),
    -- 1: queued on a stream; 0: the call returned when it was done.
    is_async INTEGER NOT NULL,
    -- The stream. NULL: none, or not known.
    stream INTEGER,
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Copies. Unit: copies.
    copy_count INTEGER NOT NULL,
    -- Those that failed. Unit: copies.
    failed_count INTEGER NOT NULL,
    -- Bytes moved or set by those that did not. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- Time spent in the calls. Unit: nanoseconds. NULL: not known of any.
    cost_ns INTEGER,
    -- Bytes of those that were not asynchronous, did not fail and whose time is known. Unit: bytes.
    timed_bytes INTEGER NOT NULL,
    -- That time. Unit: nanoseconds.
    timed_ns INTEGER NOT NULL,
    -- Those between host and device that did not fail. Unit: copies.
    host_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    host_bytes INTEGER NOT NULL,
    -- Time in these calls. Unit: nanoseconds. NULL: not known of any.
    host_ns INTEGER,
    -- Those of them whose host side lay in memory that the program had pinned or registered. Unit: copies.
    pinned_count INTEGER NOT NULL,
    -- Those of them whose host side was registered. Unit: copies.
    registered_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    registered_bytes INTEGER NOT NULL,
    -- Copies of what had been copied before, with the same source, size, direction and target device, and was neither
    -- written by a copy or memset nor freed since. Unit: copies.
    repeated_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    repeated_bytes INTEGER NOT NULL,
    -- Most that one source had been copied before, when it was copied here. Unit: copies.
    longest_count INTEGER NOT NULL,
    -- First address of that source; views show it as hexadecimal text. NULL: nothing was repeated.
    longest_address INTEGER,
    -- Size of that source. Unit: bytes. NULL: as before.
    longest_bytes INTEGER,
    -- Place in the order of events of that copy. NULL: as before.
    longest_seq INTEGER
);

CREATE VIEW copy_summary (
    -- Transfers and memsets by device, direction, stream and site; most bytes first.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device that is written, or else read. NULL: host memory on both sides, or not known.
    device,
    -- Always NULL: a copy is not of one heap.
    heap,
    -- Always NULL: a copy is not of one level.
    level,
    -- Direction, or 'memset'.
    kind,
    -- 1: queued on a stream; 0: the call returned when it was done.
    is_async,
    -- The stream. NULL: none, or not known.
    stream,
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- Copies. Unit: copies.
    copy_count,
    -- Bytes moved or set by those that did not fail. Unit: bytes.
    size_bytes,
    -- size_bytes by the copies that did not fail, in whole bytes. Unit: bytes. NULL: all failed.
    mean_bytes,
    -- Time spent in the calls; of an asynchronous copy only the queueing. Unit: nanoseconds. NULL: not known.
    cost_ns,
    -- Bytes a second while the calls lasted. Unit: bytes a second. NULL: asynchronous copies, whose time is not that of
    -- the transfer, or the time is not known.
    bandwidth_bytes_per_s,
    -- Copies that failed. Unit: copies.
    failed_count,
    -- 1: something of the recording was lost, or not kept, or the process was paused or ran before its recording began;
    -- 0: all its copies are here.
    is_partial
) AS
SELECT
    process.host, process.rank, process.pid, g.device,
    NULL,
    NULL,
    k.name,
    g.is_async,
    g.stream,
    coalesce(f.label, '(no stack)'),
    g.copy_count,
    g.size_bytes,
    CASE WHEN g.copy_count > g.failed_count THEN g.size_bytes / (g.copy_count - g.failed_count) END,
    g.cost_ns,
    CASE WHEN g.timed_ns > 0 THEN CAST(g.timed_bytes * 1e9 / g.timed_ns + 0.5 AS INTEGER) END,
    g.failed_count,
    input.is_complete = 0 OR input.baseline = 'unknown' OR input.detail_begin_seq IS NOT NULL
        OR EXISTS (SELECT 1 FROM z_pause AS q WHERE q.process_id = g.process_id)
FROM (
    SELECT
        c.process_id,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        c.kind,
        c.is_async,
        c.stream,
        s.site_frame_id,
        sum(c.copy_count) AS copy_count,
        sum(c.failed_count) AS failed_count,
        sum(c.size_bytes) AS size_bytes,
        sum(c.cost_ns) AS cost_ns,
        sum(c.timed_bytes) AS timed_bytes,
        sum(c.timed_ns) AS timed_ns
    FROM z_copy_sum AS c
    LEFT JOIN device AS d ON d.device_id = c.device_id
    LEFT JOIN stack AS s ON s.stack_id = c.stack_id
    GROUP BY c.process_id, coalesce(d.physical_ordinal, d.ordinal), c.kind, c.is_async, c.stream, s.site_frame_id
) AS g
LEFT JOIN process ON process.process_id = g.process_id
LEFT JOIN input ON input.input_id = process.input_id
LEFT JOIN copy_kind AS k ON k.kind = g.kind
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.size_bytes DESC, g.copy_count DESC, g.process_id, g.device, g.kind, g.is_async, g.stream, g.site_frame_id;
