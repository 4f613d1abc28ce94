-- Why memory ran out: one row per chain of failed allocations, what the device held then, and who.

CREATE INDEX out_of_memory_chain_moment ON out_of_memory_chain (moment_id);
CREATE INDEX out_of_memory_stack_chain ON out_of_memory_stack (out_of_memory_chain_id);

CREATE VIEW out_of_memory (
    -- Why a request for memory could not be served: one row per try, flush and retry of one thread on one device. Device
    -- and heaps are as they were before the first failure. What the verdicts mean stands at verdict.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device. NULL: host memory, or not known.
    device,
    -- Name of the heap that could not serve first. NULL: not known.
    heap,
    -- Level of the heap. NULL: not known.
    level,
    -- Number of the chain.
    out_of_memory_id,
    -- 'recovered': the same request was served then; 'fatal': it was not. NULL: events were lost, or the recording was cut
    -- off, before that was known.
    outcome,
    -- 'capacity': the process itself needs more than the device has; 'fragmentation': the pool had enough free, but not in
    -- one piece (never said of a request of the driver alone, whose pool may have asked for more than it was asked for);
    -- 'other-process-or-module': other processes, or modules of the runtime, hold a tenth of the device or more, and
    -- without them it would have fitted; 'limit': the pool refused by itself, without a refusal of the driver or with
    -- enough free on the device; 'resources': the runtime refused with 207005, which is about streams, events and the like
    -- and not about memory, though its text speaks of memory; 'unknown': the data do not say.
    verdict,
    -- The verdict as a sentence, with its figures.
    explanation,
    -- The state before the first failure in the words of torch_npu's own message.
    message,
    -- What the pool was asked for, by its own word, the SDK's or a snapshot's. Unit: bytes. NULL: not known.
    tried_bytes,
    -- Largest request that the driver refused; an expandable segment asks for its pieces. Unit: bytes. NULL: it refused
    -- none.
    at_least_tried_bytes,
    -- Failures in the chain. Unit: failures.
    failure_count,
    -- Place of the first failure in the order of events.
    first_seq,
    -- Place of the last.
    last_seq,
    -- When the first was. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns,
    -- When the last was. Unit: nanoseconds since the recording began. NULL: not known.
    last_ns,
    -- All memory of the device. Unit: bytes. NULL: not known.
    total_bytes,
    -- Blocks of all pools of the device that the program had not given up; without a pool its driver memory. Unit: bytes.
    -- NULL: host memory.
    allocated_bytes,
    -- The same with blocks that other streams still used. Unit: bytes. NULL: host memory.
    active_bytes,
    -- Free memory of the device. Unit: bytes. NULL: not known.
    free_bytes,
    -- What these pools held of the driver's memory. Unit: bytes. NULL: host memory.
    reserved_bytes,
    -- What the process took of the device, without modules of CANN. Unit: bytes. NULL: host memory.
    own_bytes,
    -- The rest of what was in use: other processes, modules of CANN and what nobody explains. Unit: bytes. NULL: not
    -- known.
    other_bytes,
    -- Free bytes inside the pool that could not serve. Unit: bytes. NULL: no pool said so, or not known.
    pool_free_bytes,
    -- The largest free range in it. Unit: bytes. NULL: no pool said so, or not known.
    pool_largest_free_bytes,
    -- Driver memory that the thread gave back between the first failure and the end of the chain. Unit: bytes.
    released_bytes,
    -- What the first failure returned: 207001 is out of memory, 207005 out of other resources. NULL: not known.
    error_code,
    -- The thread: its name, else its number. NULL: not known.
    thread,
    -- Name of the operation that the first failure was part of. NULL: none.
    operation,
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- Number of the whole stack. NULL: none was recorded.
    stack_id,
    -- 1: events were lost before, or not all that was live is known, so that the verdict is 'unknown'; 0: not.
    is_partial
) AS
SELECT
    process.host,
    process.rank,
    process.pid,
    t.device,
    h.name,
    hl.name,
    t.out_of_memory_id,
    CASE
        WHEN t.outcome IN ('recovered', 'fatal') THEN t.outcome
        WHEN t.outcome = 'open' AND t.is_finished = 1 THEN 'fatal'
    END,
    t.verdict,
    CASE t.reason
        WHEN 'resources'
            THEN 'Error 207005 is about resources of the device (streams, events and the like), not about its memory: '
                || 'this process had created ' || t.stream_count || ' stream' || CASE t.stream_count WHEN 1 THEN '' ELSE 's' END
                || ' and ' || t.event_count || ' event' || CASE t.event_count WHEN 1 THEN '' ELSE 's' END
                || ' on it that it had not destroyed.'
        WHEN 'partial'
            THEN 'Events are missing, or the recording began late: what held the memory is not known.'
        WHEN 'host' THEN 'Memory of the host, not of a device: who held it is not recorded.'
        WHEN 'fits'
            THEN 'The pool had a free range of ' || t.pool_largest_free_text || ', enough for ' || t.asked_text
                || ': it may belong to another stream or to another kind of blocks.'
        WHEN 'fragmentation'
            THEN 'The pool had ' || t.pool_free_text || ' free, enough for ' || t.asked_text
                || ', but its largest free range was ' || t.pool_largest_free_text || '.'
        WHEN 'limit'
            THEN 'The pool refused ' || t.asked_text || ' by itself, with ' || coalesce(t.reserved_text, 'an unknown amount')
                || ' reserved and no refusal of the driver'
                || coalesce(': the device had ' || t.free_text || ' free.', '.')
        WHEN 'full'
            THEN 'This process itself held ' || t.own_text || ' of the device''s ' || t.total_text || t.cache || ': '
                || t.least || t.asked_text || ' more does not fit.'
        WHEN 'other'
            THEN t.other_text || ' of the device''s ' || t.total_text
                || ' was held by other processes or by modules of the runtime, and ' || t.own_text
                || ' by this process' || t.cache || ': without the others ' || t.least || t.asked_text || ' would have fitted.'
        WHEN 'overhead'
            THEN 'This process held ' || t.own_text || ' of the device''s ' || t.total_text || t.cache
                || ' and all others ' || t.other_text || ': ' || t.free_text || ' was left for ' || t.least || t.asked_text || '.'
        WHEN 'unseen'
            THEN 'This process held at least ' || t.own_text || ' of the device''s ' || t.total_text
                || ', and what a pool had reserved beyond its blocks is not known: ' || t.free_text || ' was left for '
                || t.least || t.asked_text || '.'
        WHEN 'refused'
            THEN 'The driver refused ' || t.asked_text || ' though ' || t.free_text
                || ' was free right after: another process may have given it back, or it was not free in one piece.'
        ELSE 'How much memory the device has, or had free then, is not known: this process held ' || t.own_text
            || coalesce(', ' || t.free_text || ' was free', '') || ' and ' || t.least || t.asked_text
            || ' was asked for.'
    END
    || CASE
        WHEN t.outcome = 'recovered' AND t.released_bytes > 0
            THEN ' It was served after this process had given back ' || t.released_text || '.'
        ELSE ''
    END,
    CASE
        WHEN t.device_id IS NOT NULL
            THEN 'Tried to allocate ' || t.least || t.asked_text || ' (device ' || coalesce(t.device, '?') || '; '
                || coalesce(t.total_text, '?') || ' total capacity; ' || t.allocated_text || ' already allocated; '
                || t.active_text || ' current active; ' || coalesce(t.free_text, '?') || ' free; '
                || coalesce(t.reserved_text, '?') || ' reserved)'
        ELSE 'Tried to allocate ' || t.least || t.asked_text || ' of host memory'
    END,
    t.tried_bytes,
    t.at_least_tried_bytes,
    t.failure_count,
    t.first_seq,
    t.last_seq,
    t.first_ns,
    t.last_ns,
    t.total_bytes,
    t.allocated_bytes,
    t.active_bytes,
    t.free_bytes,
    t.reserved_bytes,
    t.own_bytes,
    t.other_bytes,
    t.pool_free_bytes,
    t.pool_largest_free_bytes,
    t.released_bytes,
    t.error_code,
    coalesce(thread.name, CAST(thread.tid AS TEXT)),
    o.name,
    coalesce(r.label, '(no stack)'),
    t.stack_id,
    t.is_partial
FROM (
    SELECT
        v.out_of_memory_id AS out_of_memory_id,
        v.process_id AS process_id,
        v.device_id AS device_id,
        v.device AS device,
        v.thread_id AS thread_id,
        v.operation_id AS operation_id,
        v.stack_id AS stack_id,
        v.heap_id AS heap_id,
        v.outcome AS outcome,
        v.is_finished AS is_finished,
        v.failure_count AS failure_count,
        v.first_seq AS first_seq,
        v.last_seq AS last_seq,
        v.first_ns AS first_ns,
        v.last_ns AS last_ns,
        v.error_code AS error_code,
        v.tried_bytes AS tried_bytes,
        v.at_least_tried_bytes AS at_least_tried_bytes,
        v.released_bytes AS released_bytes,
        v.total_bytes AS total_bytes,
        v.allocated_bytes AS allocated_bytes,
        v.active_bytes AS active_bytes,
        v.free_bytes AS free_bytes,
        v.reserved_bytes AS reserved_bytes,
        v.own_bytes AS own_bytes,
        v.other_bytes AS other_bytes,
        v.pool_free_bytes AS pool_free_bytes,
        v.pool_largest_free_bytes AS pool_largest_free_bytes,
        v.is_partial AS is_partial,
        v.reason AS reason,
        v.stream_count AS stream_count,
        v.event_count AS event_count,
        CASE v.reason
            WHEN 'resources' THEN 'resources'
            WHEN 'fragmentation' THEN 'fragmentation'
            WHEN 'limit' THEN 'limit'
            WHEN 'full' THEN 'capacity'
            WHEN 'overhead' THEN 'capacity'
            WHEN 'other' THEN 'other-process-or-module'
            ELSE 'unknown'
        END AS verdict,
        CASE WHEN v.tried_bytes IS NULL THEN 'at least ' ELSE '' END AS least,
        CASE
            WHEN v.cache_bytes >= 1073741824 THEN printf(' (up to %.2f GiB of it free inside its pools)', v.cache_bytes / 1073741824.0)
            WHEN v.cache_bytes >= 1048576 THEN printf(' (up to %.2f MiB of it free inside its pools)', v.cache_bytes / 1048576.0)
            ELSE ''
        END AS cache,
        CASE
            WHEN v.released_bytes >= 1073741824 THEN printf('%.2f GiB', v.released_bytes / 1073741824.0)
            WHEN v.released_bytes >= 1048576 THEN printf('%.2f MiB', v.released_bytes / 1048576.0)
            ELSE printf('%.2f KiB', v.released_bytes / 1024.0)
        END AS released_text,
        CASE
            WHEN v.asked_bytes >= 1073741824 THEN printf('%.2f GiB', v.asked_bytes / 1073741824.0)
            WHEN v.asked_bytes >= 1048576 THEN printf('%.2f MiB', v.asked_bytes / 1048576.0)
            WHEN v.asked_bytes IS NOT NULL THEN printf('%.2f KiB', v.asked_bytes / 1024.0)
        END AS asked_text,
        CASE
            WHEN v.total_bytes >= 1073741824 THEN printf('%.2f GiB', v.total_bytes / 1073741824.0)
            WHEN v.total_bytes >= 1048576 THEN printf('%.2f MiB', v.total_bytes / 1048576.0)
            WHEN v.total_bytes IS NOT NULL THEN printf('%.2f KiB', v.total_bytes / 1024.0)
        END AS total_text,
        CASE
            WHEN v.allocated_bytes >= 1073741824 THEN printf('%.2f GiB', v.allocated_bytes / 1073741824.0)
            WHEN v.allocated_bytes >= 1048576 THEN printf('%.2f MiB', v.allocated_bytes / 1048576.0)
            WHEN v.allocated_bytes IS NOT NULL THEN printf('%.2f KiB', v.allocated_bytes / 1024.0)
        END AS allocated_text,
        CASE
            WHEN v.active_bytes >= 1073741824 THEN printf('%.2f GiB', v.active_bytes / 1073741824.0)
            WHEN v.active_bytes >= 1048576 THEN printf('%.2f MiB', v.active_bytes / 1048576.0)
            WHEN v.active_bytes IS NOT NULL THEN printf('%.2f KiB', v.active_bytes / 1024.0)
        END AS active_text,
        CASE
            WHEN v.free_bytes >= 1073741824 THEN printf('%.2f GiB', v.free_bytes / 1073741824.0)
            WHEN v.free_bytes >= 1048576 THEN printf('%.2f MiB', v.free_bytes / 1048576.0)
            WHEN v.free_bytes IS NOT NULL THEN printf('%.2f KiB', v.free_bytes / 1024.0)
        END AS free_text,
        CASE
            WHEN v.reserved_bytes >= 1073741824 THEN printf('%.2f GiB', v.reserved_bytes / 1073741824.0)
            WHEN v.reserved_bytes >= 1048576 THEN printf('%.2f MiB', v.reserved_bytes / 1048576.0)
            WHEN v.reserved_bytes IS NOT NULL THEN printf('%.2f KiB', v.reserved_bytes / 1024.0)
        END AS reserved_text,
        CASE
            WHEN v.own_bytes >= 1073741824 THEN printf('%.2f GiB', v.own_bytes / 1073741824.0)
            WHEN v.own_bytes >= 1048576 THEN printf('%.2f MiB', v.own_bytes / 1048576.0)
            WHEN v.own_bytes IS NOT NULL THEN printf('%.2f KiB', v.own_bytes / 1024.0)
        END AS own_text,
        CASE
            WHEN v.other_bytes >= 1073741824 THEN printf('%.2f GiB', v.other_bytes / 1073741824.0)
            WHEN v.other_bytes >= 1048576 THEN printf('%.2f MiB', v.other_bytes / 1048576.0)
            WHEN v.other_bytes IS NOT NULL THEN printf('%.2f KiB', v.other_bytes / 1024.0)
        END AS other_text,
        CASE
            WHEN v.pool_free_bytes >= 1073741824 THEN printf('%.2f GiB', v.pool_free_bytes / 1073741824.0)
            WHEN v.pool_free_bytes >= 1048576 THEN printf('%.2f MiB', v.pool_free_bytes / 1048576.0)
            WHEN v.pool_free_bytes IS NOT NULL THEN printf('%.2f KiB', v.pool_free_bytes / 1024.0)
        END AS pool_free_text,
        CASE
            WHEN v.pool_largest_free_bytes >= 1073741824 THEN printf('%.2f GiB', v.pool_largest_free_bytes / 1073741824.0)
            WHEN v.pool_largest_free_bytes >= 1048576 THEN printf('%.2f MiB', v.pool_largest_free_bytes / 1048576.0)
            WHEN v.pool_largest_free_bytes IS NOT NULL THEN printf('%.2f KiB', v.pool_largest_free_bytes / 1024.0)
        END AS pool_largest_free_text
    FROM (
        SELECT
            w.out_of_memory_id AS out_of_memory_id,
            w.process_id AS process_id,
            w.device_id AS device_id,
            w.device AS device,
            w.thread_id AS thread_id,
            w.operation_id AS operation_id,
            w.stack_id AS stack_id,
            w.heap_id AS heap_id,
            w.outcome AS outcome,
            w.is_finished AS is_finished,
            w.failure_count AS failure_count,
            w.stream_count AS stream_count,
            w.event_count AS event_count,
            w.first_seq AS first_seq,
            w.last_seq AS last_seq,
            w.first_ns AS first_ns,
            w.last_ns AS last_ns,
            w.error_code AS error_code,
            w.tried_bytes AS tried_bytes,
            w.at_least_tried_bytes AS at_least_tried_bytes,
            coalesce(w.tried_bytes, w.at_least_tried_bytes, 0) AS asked_bytes,
            w.released_bytes AS released_bytes,
            w.total_bytes AS total_bytes,
            w.allocated_bytes AS allocated_bytes,
            w.active_bytes AS active_bytes,
            w.free_bytes AS free_bytes,
            w.reserved_bytes AS reserved_bytes,
            w.own_bytes AS own_bytes,
            CASE WHEN w.reserved_bytes <= w.own_bytes THEN w.reserved_bytes - w.active_bytes END AS cache_bytes,
            max(0, w.total_bytes - w.free_bytes - w.own_bytes) AS other_bytes,
            w.pool_free_bytes AS pool_free_bytes,
            w.pool_largest_free_bytes AS pool_largest_free_bytes,
            w.is_partial AS is_partial,
            CASE
                WHEN w.error_code = 207005 THEN 'resources'
                WHEN w.device_id IS NULL THEN 'host'
                WHEN w.is_partial = 1 THEN 'partial'
                WHEN w.pool_largest_free_bytes >= w.tried_bytes AND w.driver_failure_count = 0 THEN 'fits'
                WHEN w.pool_free_bytes - w.pool_doubt_bytes >= w.tried_bytes
                    AND w.pool_largest_free_bytes < w.tried_bytes THEN 'fragmentation'
                WHEN w.driver_failure_count = 0
                    AND (w.is_driver_seen = 1 OR w.free_bytes >= w.needed_bytes) THEN 'limit'
                WHEN w.own_bytes + w.needed_bytes > w.total_bytes THEN 'full'
                WHEN w.total_bytes IS NULL OR w.free_bytes IS NULL OR w.is_stale = 1 THEN 'unknown'
                WHEN w.free_bytes >= w.needed_bytes + 4194304 THEN 'refused' -- more than whole pages could need
                WHEN w.has_unseen_pool = 1 THEN 'unseen' -- its unused memory looks like that of others
                WHEN (w.total_bytes - w.free_bytes - w.own_bytes) * 10 >= w.total_bytes THEN 'other'
                ELSE 'overhead'
            END AS reason
        FROM (
            SELECT
                c.out_of_memory_chain_id AS out_of_memory_id,
                c.process_id AS process_id,
                c.device_id AS device_id,
                coalesce(d.physical_ordinal, d.ordinal) AS device,
                c.thread_id AS thread_id,
                c.operation_id AS operation_id,
                c.stack_id AS stack_id,
                c.heap_id AS heap_id,
                c.outcome AS outcome,
                i.is_finished AS is_finished,
                c.failure_count AS failure_count,
                c.driver_failure_count AS driver_failure_count,
                c.has_segments = 1 AND i.kind = 'trace' AS is_driver_seen,
                c.stream_count AS stream_count,
                c.event_count AS event_count,
                c.first_seq AS first_seq,
                c.last_seq AS last_seq,
                c.first_ns AS first_ns,
                c.last_ns AS last_ns,
                c.error_code AS error_code,
                c.tried_bytes AS tried_bytes,
                c.at_least_tried_bytes AS at_least_tried_bytes,
                max(coalesce(c.tried_bytes, 0), coalesce(c.at_least_tried_bytes, 0)) AS needed_bytes,
                c.released_bytes AS released_bytes,
                CASE WHEN c.device_id IS NOT NULL THEN c.allocated_bytes END AS allocated_bytes,
                CASE WHEN c.device_id IS NOT NULL THEN c.active_bytes END AS active_bytes,
                CASE WHEN c.device_id IS NOT NULL AND u.process_id IS NULL THEN c.reserved_bytes END AS reserved_bytes,
                u.process_id IS NOT NULL AS has_unseen_pool,
                CASE WHEN c.device_id IS NOT NULL THEN c.own_bytes END AS own_bytes,
                coalesce(s.total_bytes, f.device_total_bytes, d.capacity_bytes) AS total_bytes,
                CASE
                    WHEN s.free_bytes IS NULL THEN f.device_free_bytes
                    WHEN s.is_stale = 0 THEN s.free_bytes
                    ELSE max(0, s.free_bytes + s.sample_recorded_bytes - (
                        SELECT a.recorded_bytes
                        FROM hardware_sample AS a
                        WHERE a.moment_id = s.moment_id AND a.hardware_id = s.hardware_id
                    ))
                END AS free_bytes,
                s.is_stale AS is_stale,
                p.free_bytes AS pool_free_bytes,
                p.largest_free_bytes AS pool_largest_free_bytes,
                CASE WHEN p.is_estimate = 1 THEN c.pool_live_count * 1048576 ELSE 0 END AS pool_doubt_bytes,
                c.is_partial AS is_partial
            FROM out_of_memory_chain AS c
            JOIN moment AS m ON m.moment_id = c.moment_id
            LEFT JOIN failure AS f ON f.failure_id = m.failure_id
            LEFT JOIN device AS d ON d.device_id = c.device_id
            LEFT JOIN device_sample AS s ON s.moment_id = c.moment_id AND s.device_id = c.device_id
            LEFT JOIN fragmentation_sample AS p
                ON p.heap_id = c.pool_heap_id AND p.moment_id = c.moment_id AND p.largest_free_bytes IS NOT NULL
            LEFT JOIN (
                SELECT DISTINCT x.process_id, x.device_id
                FROM heap AS x
                JOIN heap_sum AS y ON y.heap_id = x.heap_id
                WHERE x.level = 2 AND y.reserved_source IS NULL AND y.allocation_count > 0
            ) AS u ON u.process_id = c.process_id AND u.device_id = c.device_id
            LEFT JOIN process AS q ON q.process_id = c.process_id
            LEFT JOIN input AS i ON i.input_id = q.input_id
        ) AS w
    ) AS v
) AS t
LEFT JOIN process ON process.process_id = t.process_id
LEFT JOIN heap AS h ON h.heap_id = t.heap_id
LEFT JOIN heap_level AS hl ON hl.level = h.level
LEFT JOIN thread ON thread.thread_id = t.thread_id
LEFT JOIN operation AS o ON o.operation_id = t.operation_id
LEFT JOIN stack AS k ON k.stack_id = t.stack_id
LEFT JOIN frame AS r ON r.frame_id = k.site_frame_id
ORDER BY t.out_of_memory_id;

CREATE VIEW out_of_memory_component (
    -- What the device held before each chain of view out_of_memory, by component as in view device_memory.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device.
    device,
    -- Name of the pool. NULL: the component is no single heap.
    heap,
    -- 'pool', 'workspace', 'driver' or 'physical'.
    level,
    -- Number of the chain.
    out_of_memory_id,
    -- As in view device_memory: PTA, POOL, WORKSPACE, APP, names of modules, PHYSICAL, PAGE ROUNDING, RECORDED PROCESSES,
    -- OTHER PROCESSES, UNEXPLAINED and, of all, DEVICE USED.
    component,
    -- Its size. Unit: bytes. NULL: the device was not asked by then.
    bytes,
    -- 1: not certain, as in view device_memory; 0: exact.
    is_estimate
) AS
SELECT
    d.host,
    d.rank,
    d.pid,
    d.device,
    d.heap,
    d.level,
    (SELECT c.out_of_memory_chain_id FROM out_of_memory_chain AS c WHERE c.moment_id = d.moment_id),
    d.component,
    d.bytes,
    d.is_estimate
FROM device_memory AS d
WHERE d.moment_kind = 'failure' -- so that other moments are left out before they are summed up
    AND d.moment_id IN (SELECT c.moment_id FROM out_of_memory_chain AS c)
    AND EXISTS (
        SELECT 1
        FROM out_of_memory_chain AS c
        JOIN process AS p ON p.process_id = c.process_id
        JOIN device AS v ON v.device_id = c.device_id
        WHERE c.moment_id = d.moment_id AND p.pid IS d.pid AND coalesce(v.physical_ordinal, v.ordinal) IS d.device
    );

CREATE VIEW out_of_memory_site (
    -- What was live on the device before each chain of view out_of_memory, by heap and site; largest first.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device.
    device,
    -- Name of the heap: a pool, or driver memory that is no pool's.
    heap,
    -- Level of the heap.
    level,
    -- Number of the chain.
    out_of_memory_id,
    -- Where: 'file:line function', 'module+0xoffset function', '(no stack)', '(baseline)' for what was there before the
    -- recording began, or '(rest)' for the stacks of the heap behind the 64 largest of the device.
    site,
    -- Allocations. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes,
    -- live_bytes over those of the whole chain: the shares of a chain sum to 1. Unit: 0 to 1. NULL: all have no size.
    share_ratio
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    g.out_of_memory_id,
    CASE
        WHEN g.is_rest = 1 THEN '(rest)'
        WHEN g.is_baseline = 1 THEN '(baseline)'
        ELSE coalesce(f.label, '(no stack)')
    END,
    g.live_count,
    g.live_bytes,
    CASE WHEN w.live_bytes > 0 THEN CAST(g.live_bytes AS REAL) / w.live_bytes END
FROM (
    SELECT
        k.out_of_memory_chain_id AS out_of_memory_id,
        k.heap_id,
        k.is_rest,
        k.is_baseline,
        s.site_frame_id,
        sum(k.live_count) AS live_count,
        sum(k.live_bytes) AS live_bytes
    FROM out_of_memory_stack AS k
    LEFT JOIN stack AS s ON s.stack_id = k.stack_id
    GROUP BY k.out_of_memory_chain_id, k.heap_id, k.is_rest, k.is_baseline, s.site_frame_id
) AS g
JOIN (
    SELECT
        out_of_memory_stack.out_of_memory_chain_id AS out_of_memory_id,
        sum(out_of_memory_stack.live_bytes) AS live_bytes
    FROM out_of_memory_stack
    GROUP BY out_of_memory_stack.out_of_memory_chain_id
) AS w ON w.out_of_memory_id = g.out_of_memory_id
JOIN heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.out_of_memory_id, g.live_bytes DESC, g.heap_id, g.site_frame_id;
