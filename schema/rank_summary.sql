-- How much each rank took of its device, and how it ended.

CREATE VIEW z_rank_summary (
    -- Each rank on one row: how much it took of its device at most, and how and when it ended. One row per process and
    -- device, at the moment at which the device's memory peaked; where the processes of several ranks share a device within
    -- one input, each has its part of that one peak. Of a rank without device memory its first process has a row without
    -- them; other processes without device memory have none.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: no memory of a device.
    device,
    -- Always NULL: over all heaps.
    heap,
    -- Always NULL: over all levels.
    level,
    -- What the process's recorded memory took of the device then, in whole pages where they are known: the sum of the seven
    -- components. Unit: bytes. NULL: no memory of a device.
    peak_bytes,
    -- The same. Unit: GiB. NULL: as peak_bytes.
    peak_gib,
    -- All memory of the device. Unit: bytes. NULL: not known.
    capacity_bytes,
    -- peak_bytes over capacity_bytes. Unit: 0 to 1. NULL: not known.
    share_ratio,
    -- Number of the step in which the peak was reached, as the program counts. NULL: before the first, or steps are unknown.
    step,
    -- Place of the peak in the order of events of its input. NULL: before the first event, or several (is_estimate).
    seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or as seq.
    ns,
    -- What caching pools held of the driver's memory. Unit: bytes. NULL: not known any more (is_estimate).
    pool_bytes,
    -- Part of pool_bytes that was in blocks. Unit: bytes. NULL: as pool_bytes.
    pool_live_bytes,
    -- What allocators of workspaces held. Unit: bytes. NULL: as pool_bytes.
    workspace_bytes,
    -- Driver memory of the program itself, outside pools. Unit: bytes. NULL: as pool_bytes.
    program_bytes,
    -- Driver memory of other modules of CANN: HCCL, GE, ... Unit: bytes. NULL: as pool_bytes.
    module_bytes,
    -- Physical memory that was not mapped. Unit: bytes. NULL: as pool_bytes.
    physical_bytes,
    -- The rest of whole pages. Unit: bytes. NULL: as pool_bytes.
    rounding_bytes,
    -- The components in words, in GiB. NULL: as pool_bytes.
    components,
    -- Processes in this database, of all inputs, that name the same device of the same host: more than 1 share it, or are
    -- runs one after the other. Unit: processes. NULL: the host, or the number that the device has on it, is not known.
    process_count,
    -- 1: the moment of the peak was not kept, so that it is the peak of all processes of the device, or no driver memory was
    -- recorded, so that it is the sum of the peaks of the pools; 0: exact.
    is_estimate,
    -- 1: part of the input is missing, or the process was paused or ran before its recording began: it may have been more;
    -- 0: not.
    is_partial,
    -- Number of the input.
    input_id,
    -- Most that the pools of the device ever held of the driver's memory, their peaks added up. Unit: bytes. NULL: no pool,
    -- or not known.
    pool_peak_reserved_bytes,
    -- What leaks of it, firmly (view leak_by_site). Unit: bytes. NULL: no memory of a device, or of an input that does not
    -- tell, or tells but part of it.
    leak_bytes,
    -- Number of the process in this database.
    process_id,
    -- Processes in the distributed job, as the process was told (WORLD_SIZE and the like). NULL: not known.
    world_size,
    -- 'exit', 'signal', 'exec' (it became another program) or 'running' (its end was not seen).
    end_kind,
    -- Exit status, or number of the signal. NULL: not known.
    end_status,
    -- Why it failed: 'out of memory' (a request that was not served for good, with no step after it and no end with status
    -- 0), 'resources' (likewise, with error 207005), 'signal' or 'status' (not 0). NULL: it did not, or that was not seen.
    failure,
    -- Number of that request in view out_of_memory. NULL: another failure, or none.
    out_of_memory_id,
    -- When it failed: the request, else the end of the process. Unit: nanoseconds since the recording began. NULL: it did
    -- not, or not known.
    failed_ns,
    -- The same on the wall clock. Unit: nanoseconds since 1970. NULL: as failed_ns, or the recording does not know the clock.
    failed_realtime_ns,
    -- Number of the step in which that was. NULL: it did not fail, it was before the first step, or steps are unknown.
    failed_step,
    -- Number of the job: ranks of all inputs are one; but where a rank is in several inputs, and of processes without rank,
    -- those of each input are one.
    job,
    -- Place among the failures of its job: 'first' (by the clocks), 'same time' (not certainly after it), 'followed' or
    -- 'not known' (its time is not). NULL: it did not fail.
    failure_order,
    -- Time from the first failure of the job to this one. Unit: nanoseconds. NULL: it did not fail, or not known.
    since_first_ns,
    -- By how much that may be wrong: 0 within one input, which has one clock; 10 ms between recordings of one host; 1 s
    -- between hosts, whose clocks are only as good as somebody keeps them. Unit: nanoseconds. NULL: as since_first_ns.
    clock_uncertainty_ns
) AS
WITH
    peak_of (
        device_id, process_id, peak_bytes, seq, ns, pool_bytes, pool_live_bytes, workspace_bytes, program_bytes, module_bytes,
        physical_bytes, rounding_bytes, is_estimate
    ) AS (
        SELECT
            t.device_id,
            device.process_id,
            t.peak_bytes,
            t.seq,
            t.ns,
            t.pool_bytes,
            t.pool_live_bytes,
            t.workspace_bytes,
            t.program_bytes,
            t.module_bytes,
            t.physical_bytes,
            t.rounding_bytes,
            t.is_estimate
        FROM (
            SELECT
                s.device_id,
                s.recorded_bytes AS peak_bytes,
                m.seq,
                m.ns,
                coalesce(sum(CASE WHEN h.level = 2 THEN x.reserved_bytes END), 0) AS pool_bytes,
                coalesce(sum(CASE WHEN h.level = 2 THEN x.live_bytes END), 0) AS pool_live_bytes,
                coalesce(sum(CASE WHEN h.level = 3 THEN x.reserved_bytes END), 0) AS workspace_bytes,
                max(
                    0,
                    coalesce(
                        sum(
                            CASE
                                WHEN h.level = 1 AND coalesce(h.module_id, 33) = 33 THEN max(0, x.live_bytes - x.segment_bytes)
                            END
                        ),
                        0
                    )
                    - coalesce(sum(CASE WHEN h.level IN (2, 3) AND x.is_stated = 1 THEN x.reserved_bytes END), 0)
                ) AS program_bytes,
                coalesce(
                    sum(CASE WHEN h.level = 1 AND h.module_id <> 33 THEN max(0, x.live_bytes - x.segment_bytes) END), 0
                ) AS module_bytes,
                max(
                    0,
                    coalesce(sum(CASE WHEN h.level = 7 THEN x.live_bytes END), 0)
                    - coalesce(sum(CASE WHEN h.level = 1 THEN x.mapped_bytes END), 0)
                ) AS physical_bytes,
                coalesce(sum(CASE WHEN h.level IN (1, 7) THEN x.page_bytes - x.live_bytes END), 0) AS rounding_bytes,
                0 AS is_estimate
            FROM moment AS m
            JOIN z_device_sample AS s ON s.moment_id = m.moment_id
            LEFT JOIN heap AS h ON h.device_id = s.device_id
            LEFT JOIN z_heap_sample AS x
                ON x.heap_id = h.heap_id
                AND x.since_seq = (
                    SELECT max(y.since_seq)
                    FROM z_heap_sample AS y
                    WHERE y.heap_id = h.heap_id AND y.since_seq <= s.at_seq
                )
            WHERE m.kind = 5
            GROUP BY m.moment_id, s.device_id
            UNION ALL
            SELECT
                g.device_id,
                g.peak_bytes,
                g.peak_seq,
                g.peak_ns,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                1
            FROM z_device_sum AS g
            WHERE g.peak_bytes > 0
                AND NOT EXISTS (SELECT 1 FROM moment AS m WHERE m.kind = 5 AND m.device_id = g.device_id)
            UNION ALL
            SELECT
                h.device_id,
                sum(CASE WHEN w.peak_reserved_bytes > 0 THEN w.peak_reserved_bytes ELSE w.peak_bytes END),
                CASE WHEN count(*) = 1 THEN min(coalesce(w.peak_reserved_seq, w.peak_seq)) END,
                CASE WHEN count(*) = 1 AND min(w.peak_reserved_seq) IS NULL THEN min(w.peak_ns) END,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                1
            FROM heap AS h
            JOIN z_heap_sum AS w ON w.heap_id = h.heap_id
            WHERE h.level IN (2, 3) AND h.device_id IS NOT NULL AND w.peak_bytes > 0
                AND NOT EXISTS (
                    SELECT 1
                    FROM z_device_sample AS s
                    JOIN moment AS m ON m.moment_id = s.moment_id
                    WHERE m.kind = 5 AND s.device_id = h.device_id
                )
                AND NOT EXISTS (SELECT 1 FROM z_device_sum AS g WHERE g.device_id = h.device_id AND g.peak_bytes > 0)
            GROUP BY h.device_id
        ) AS t
        JOIN device ON device.device_id = t.device_id
    ),
    place (
        device_id, process_id, peak_bytes, seq, ns, pool_bytes, pool_live_bytes, workspace_bytes, program_bytes, module_bytes,
        physical_bytes, rounding_bytes, is_estimate
    ) AS (
        SELECT
            peak_of.device_id,
            peak_of.process_id,
            peak_of.peak_bytes,
            peak_of.seq,
            peak_of.ns,
            peak_of.pool_bytes,
            peak_of.pool_live_bytes,
            peak_of.workspace_bytes,
            peak_of.program_bytes,
            peak_of.module_bytes,
            peak_of.physical_bytes,
            peak_of.rounding_bytes,
            peak_of.is_estimate
        FROM peak_of
        UNION ALL
        SELECT
            NULL,
            min(p.process_id),
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            0
        FROM process AS p
        LEFT JOIN (
            SELECT DISTINCT
                q.input_id,
                q.rank
            FROM peak_of AS o
            JOIN process AS q ON q.process_id = o.process_id
            WHERE q.rank IS NOT NULL
        ) AS holder ON holder.input_id = p.input_id AND holder.rank = p.rank
        WHERE p.rank IS NOT NULL AND p.end_kind <> 'exec' AND holder.rank IS NULL
        GROUP BY p.input_id, p.rank
    ),
    -- The request that ended a process: the last that was not served for good, of a device if there is one.
    refused (process_id, out_of_memory_chain_id) AS (
        SELECT
            c.process_id,
            coalesce(
                max(CASE WHEN c.device_id IS NOT NULL THEN c.out_of_memory_chain_id END), max(c.out_of_memory_chain_id)
            )
        FROM z_out_of_memory_chain AS c
        JOIN process AS p ON p.process_id = c.process_id
        JOIN input AS i ON i.input_id = p.input_id
        WHERE (c.outcome = 'fatal' OR (c.outcome = 'open' AND i.state IN ('ended', 'recovered')))
            AND NOT (p.end_kind = 'exit' AND p.end_status IS 0)
            AND NOT EXISTS (
                SELECT 1
                FROM step AS s
                WHERE s.process_id = c.process_id AND s.begin_seq > c.last_seq
            )
        GROUP BY c.process_id
    ),
    ended (process_id, input_id, host, job, failure, out_of_memory_chain_id, failed_ns, clock_ns, seq) AS (
        SELECT
            p.process_id,
            p.input_id,
            p.host,
            CASE
                WHEN p.rank IS NULL
                    OR (
                        SELECT count(*) > count(DISTINCT r.rank)
                        FROM (SELECT DISTINCT q.input_id, q.rank FROM process AS q WHERE q.rank IS NOT NULL) AS r
                    ) THEN p.input_id
                ELSE 0
            END,
            CASE
                WHEN c.out_of_memory_chain_id IS NOT NULL AND c.error_code = 207005 THEN 'resources'
                WHEN c.out_of_memory_chain_id IS NOT NULL THEN 'out of memory'
                WHEN p.end_kind = 'signal' THEN 'signal'
                WHEN p.end_kind = 'exit' AND p.end_status <> 0 THEN 'status'
            END,
            c.out_of_memory_chain_id,
            CASE WHEN c.out_of_memory_chain_id IS NOT NULL THEN c.first_ns ELSE p.end_ns END,
            CASE WHEN (SELECT count(*) FROM input) = 1 THEN coalesce(i.start_realtime_ns, 0) ELSE i.start_realtime_ns END
            + CASE WHEN c.out_of_memory_chain_id IS NOT NULL THEN c.first_ns ELSE p.end_ns END,
            c.first_seq
        FROM process AS p
        JOIN input AS i ON i.input_id = p.input_id
        LEFT JOIN refused AS f ON f.process_id = p.process_id
        LEFT JOIN z_out_of_memory_chain AS c ON c.out_of_memory_chain_id = f.out_of_memory_chain_id
    ),
    earliest (job, process_id, input_id, host, clock_ns) AS (
        SELECT
            e.job,
            e.process_id,
            e.input_id,
            e.host,
            e.clock_ns
        FROM (
            SELECT
                ended.job,
                ended.process_id,
                ended.input_id,
                ended.host,
                ended.clock_ns,
                row_number() OVER (PARTITION BY ended.job ORDER BY ended.clock_ns, ended.process_id) AS number
            FROM ended
            JOIN (SELECT DISTINCT place.process_id FROM place) AS k ON k.process_id = ended.process_id
            WHERE ended.failure IS NOT NULL AND ended.clock_ns IS NOT NULL
        ) AS e
        WHERE e.number = 1
    )
SELECT
    u.host, u.rank, u.pid, u.device,
    NULL,
    NULL,
    u.peak_bytes,
    u.peak_bytes / 1073741824.0,
    u.capacity_bytes,
    CASE WHEN u.capacity_bytes > 0 THEN CAST(u.peak_bytes AS REAL) / u.capacity_bytes END,
    u.step,
    u.seq,
    u.ns,
    u.pool_bytes,
    u.pool_live_bytes,
    u.workspace_bytes,
    u.program_bytes,
    u.module_bytes,
    u.physical_bytes,
    u.rounding_bytes,
    CASE
        WHEN u.pool_bytes IS NOT NULL
            THEN printf(
                'pools %.2f; workspaces %.2f; program %.2f; modules %.2f; physical %.2f; rest of pages %.2f',
                u.pool_bytes / 1073741824.0, u.workspace_bytes / 1073741824.0, u.program_bytes / 1073741824.0,
                u.module_bytes / 1073741824.0, u.physical_bytes / 1073741824.0, u.rounding_bytes / 1073741824.0
            )
    END,
    u.process_count,
    u.is_estimate,
    u.is_partial,
    u.input_id,
    u.pool_peak_reserved_bytes,
    u.leak_bytes,
    u.process_id,
    u.world_size,
    u.end_kind,
    u.end_status,
    u.failure,
    u.out_of_memory_chain_id,
    u.failed_ns,
    u.failed_realtime_ns,
    u.failed_step,
    u.job,
    CASE
        WHEN u.failure IS NULL THEN NULL
        WHEN u.since_first_ns IS NULL THEN 'not known'
        WHEN u.is_first = 1 THEN 'first'
        WHEN u.since_first_ns <= u.clock_uncertainty_ns THEN 'same time'
        ELSE 'followed'
    END,
    u.since_first_ns,
    CASE WHEN u.since_first_ns IS NOT NULL THEN u.clock_uncertainty_ns END
FROM (
    SELECT
        process.host, process.rank, process.pid,
        coalesce(device.physical_ordinal, device.ordinal) AS device,
        device.device_id,
        device.capacity_bytes,
        (
            SELECT step.number
            FROM step
            WHERE step.process_id = device.process_id AND step.begin_seq <= t.seq
                AND (step.end_seq IS NULL OR step.end_seq > t.seq)
            ORDER BY step.begin_seq DESC
            LIMIT 1
        ) AS step,
        t.peak_bytes,
        t.seq,
        t.ns,
        t.pool_bytes,
        t.pool_live_bytes,
        t.workspace_bytes,
        t.program_bytes,
        t.module_bytes,
        t.physical_bytes,
        t.rounding_bytes,
        t.is_estimate,
        CASE
            WHEN process.host IS NOT NULL AND device.physical_ordinal IS NOT NULL
                THEN (
                    SELECT count(DISTINCT q.process_id)
                    FROM device AS d
                    JOIN process AS q ON q.process_id = d.process_id
                    WHERE q.host = process.host AND d.physical_ordinal = device.physical_ordinal
                )
        END AS process_count,
        input.is_complete = 0 OR input.baseline = 'unknown'
            OR EXISTS (SELECT 1 FROM z_pause AS q WHERE q.process_id = process.process_id AND q.is_memory_told = 0)
            AS is_partial,
        input.input_id,
        r.bytes AS pool_peak_reserved_bytes,
        CASE WHEN device.device_id IS NOT NULL AND input.leak_basis IS 'exact' THEN coalesce(l.bytes, 0) END AS leak_bytes,
        process.process_id,
        process.world_size,
        process.end_kind,
        process.end_status,
        e.failure,
        e.out_of_memory_chain_id,
        CASE WHEN e.failure IS NOT NULL THEN e.failed_ns END AS failed_ns,
        CASE WHEN e.failure IS NOT NULL THEN input.start_realtime_ns + e.failed_ns END AS failed_realtime_ns,
        CASE
            WHEN e.failure IS NOT NULL
                THEN (
                    SELECT step.number
                    FROM step
                    WHERE step.process_id = process.process_id AND (e.seq IS NULL OR step.begin_seq <= e.seq)
                    ORDER BY step.begin_seq DESC
                    LIMIT 1
                )
        END AS failed_step,
        e.job,
        g.process_id = process.process_id AS is_first,
        CASE WHEN e.failure IS NOT NULL THEN e.clock_ns - g.clock_ns END AS since_first_ns,
        CASE WHEN g.input_id = process.input_id THEN 0 WHEN g.host = process.host THEN 10000000 ELSE 1000000000 END
            AS clock_uncertainty_ns
    FROM place AS t
    JOIN process ON process.process_id = t.process_id
    JOIN input ON input.input_id = process.input_id
    LEFT JOIN device ON device.device_id = t.device_id
    LEFT JOIN ended AS e ON e.process_id = t.process_id
    LEFT JOIN earliest AS g ON g.job = e.job
    LEFT JOIN (
        SELECT
            h.device_id,
            sum(w.peak_reserved_bytes) AS bytes
        FROM heap AS h
        JOIN z_heap_sum AS w ON w.heap_id = h.heap_id
        WHERE h.level = 2
        GROUP BY h.device_id
    ) AS r ON r.device_id = device.device_id
    LEFT JOIN (
        SELECT
            h.device_id,
            sum(w.size_bytes) AS bytes
        FROM z_leak_sum AS w
        JOIN heap AS h ON h.heap_id = w.heap_id
        GROUP BY h.device_id
    ) AS l ON l.device_id = device.device_id
) AS u
ORDER BY u.rank, u.input_id, u.process_id, u.device_id;
