-- Memory ran out: what was asked for; why it was not had, what held the device and who had that, if it was not served in the
-- end; and what would help. The request that ended the program comes first.
-- Only if: SELECT EXISTS (SELECT 1 FROM z_out_of_memory_chain)
CREATE TEMP TABLE said_case AS
SELECT
    o.*,
    coalesce(o.tried_bytes, o.at_least_tried_bytes) AS asked_bytes,
    coalesce(o.needed_bytes, o.tried_bytes, o.at_least_tried_bytes) AS lacked_bytes,
    o.outcome IS 'recovered' AS is_recovered,
    i.kind = 'log' AS is_log,
    (SELECT d.kind FROM device AS d WHERE d.device_id = h.device_id) AS device_kind,
    strftime('%Y-%m-%d %H:%M:%S', (i.start_realtime_ns + o.first_ns) / 1000000000, 'unixepoch') AS date,
    o.reserved_bytes - o.active_bytes AS cache_bytes,
    k.code AS cause,
    (
        SELECT sum(p.bytes)
        FROM z_out_of_memory_component AS p
        WHERE p.out_of_memory_id = o.out_of_memory_id AND p.component = 'HCCL'
    ) AS hccl_bytes
FROM out_of_memory AS o
JOIN z_out_of_memory_chain AS h ON h.out_of_memory_chain_id = o.out_of_memory_id
JOIN process AS p ON p.process_id = h.process_id
JOIN input AS i ON i.input_id = p.input_id
LEFT JOIN temp.said_word AS k ON k.topic = 'cause' AND k.word = o.verdict;

INSERT INTO finding (
    severity, kind, host, rank, pid, device, heap, level, site, verdict, basis, bytes, count, seq, stack_id, sentence, evidence, remedy,
    next_command, source_view, source_id
)
WITH
    -- Parts of at least a two-hundredth: the three largest, and the rest, which is named where it is one.
    part AS (
        SELECT
            p.out_of_memory_id AS out_of_memory_id,
            row_number() OVER largest AS place,
            row_number() OVER largest > 3 AND count(*) OVER (PARTITION BY o.out_of_memory_id) > 4 AS is_rest,
            p.component AS component,
            coalesce(p.heap, '') AS heap,
            p.part AS part,
            p.bytes AS bytes
        FROM temp.said_case AS o
        JOIN z_out_of_memory_component AS p ON p.out_of_memory_id = o.out_of_memory_id
        WHERE p.component <> 'DEVICE USED' AND abs(p.bytes) * 200 >= o.own_bytes + coalesce(o.other_bytes, 0)
        WINDOW largest AS (PARTITION BY o.out_of_memory_id ORDER BY p.bytes DESC, p.component, p.heap, p.part)
    ),
    held AS (
        SELECT
            out_of_memory_id,
            group_concat(said, ',') AS said
        FROM (
            SELECT
                out_of_memory_id,
                CASE WHEN min(place) > 1 THEN say('screen.comma') || ',' ELSE '' END
                || CASE
                    WHEN NOT is_rest
                        THEN say('screen.held.part', 'component', component, 'heap', heap, 'part', part, 'bytes', sum(bytes))
                    ELSE say('screen.held.part', 'component', 'REST', 'bytes', sum(bytes))
                END AS said
            FROM part
            GROUP BY out_of_memory_id, CASE WHEN is_rest THEN 0 ELSE place END
            ORDER BY out_of_memory_id, min(place)
        )
        GROUP BY out_of_memory_id
    ),
    -- The two sites whose blocks kept most free memory from being in one piece.
    pins AS (
        SELECT
            out_of_memory_id,
            group_concat(
                said_line(
                    CASE place WHEN 1 THEN 'screen.label.pins' END,
                    say('screen.pins', 'hostage_bytes', hostage_bytes, 'n', block_count, 'holder_site', site)
                ),
                ','
            ) AS lines
        FROM (
            SELECT
                c.out_of_memory_id AS out_of_memory_id,
                b.site AS site,
                b.hostage_bytes AS hostage_bytes,
                b.block_count AS block_count,
                row_number() OVER (PARTITION BY c.out_of_memory_id ORDER BY b.hostage_bytes DESC, b.site) AS place
            FROM temp.said_case AS c
            JOIN z_out_of_memory_chain AS o ON o.out_of_memory_chain_id = c.out_of_memory_id
            JOIN fragmentation_blocker AS b ON b.moment_id = o.moment_id AND b.hostage_bytes > 0
            WHERE c.cause = 'fragmentation' AND NOT c.is_recovered
            ORDER BY out_of_memory_id, place
        )
        WHERE place <= 2
        GROUP BY out_of_memory_id
    ),
    -- The three largest of the other processes that a log names of the device.
    named AS (
        SELECT
            out_of_memory_id,
            group_concat(
                said_line(
                    CASE place WHEN 1 THEN 'screen.label.others' END,
                    say('screen.who.process', 'held_bytes', bytes, 'program', coalesce(command, '?'), 'name', CAST(pid AS TEXT))
                ),
                ','
            ) AS lines
        FROM (
            SELECT
                c.out_of_memory_id AS out_of_memory_id,
                q.command AS command,
                q.pid AS pid,
                t.peak_bytes AS bytes,
                row_number() OVER (PARTITION BY c.out_of_memory_id ORDER BY t.peak_bytes DESC, q.process_id) AS place
            FROM temp.said_case AS c
            JOIN z_out_of_memory_chain AS h ON h.out_of_memory_chain_id = c.out_of_memory_id
            JOIN device AS d ON d.device_id = h.device_id
            JOIN process AS p ON p.process_id = d.process_id
            JOIN process AS q ON q.input_id = p.input_id AND q.process_id <> p.process_id
            JOIN device AS e ON e.process_id = q.process_id AND e.physical_ordinal = d.physical_ordinal
            JOIN heap AS k ON k.device_id = e.device_id AND k.level = 1
            JOIN z_heap_sum AS t ON t.heap_id = k.heap_id
            WHERE c.is_log
            ORDER BY out_of_memory_id, place
        )
        WHERE place <= 3
        GROUP BY out_of_memory_id
    ),
    -- What most of a device's memory was for at the peak: a third at least.
    most AS (
        SELECT
            host,
            pid,
            device,
            category
        FROM (
            SELECT
                host,
                pid,
                device,
                replace(category, 'temporary', 'activation') AS category,
                sum(live_bytes) AS bytes,
                sum(sum(live_bytes)) OVER (PARTITION BY host, pid, device) AS all_bytes,
                row_number() OVER (PARTITION BY host, pid, device ORDER BY sum(live_bytes) DESC) AS place
            FROM peak_by_category
            WHERE level IN ('pool', 'driver') AND category <> 'segment'
            GROUP BY host, pid, device, 4
        )
        WHERE place = 1 AND bytes * 3 >= all_bytes
    ),
    -- The three sites that held most, and whether and how fast they leak.
    who AS (
        SELECT
            w.out_of_memory_id,
            group_concat(
                said_line(
                    CASE w.place WHEN 1 THEN 'screen.label.who' END,
                    say('screen.who.site', 'held_bytes', w.live_bytes, 'holder_site', w.site, 'n', w.live_count),
                    CASE WHEN l.site IS NOT NULL THEN say('screen.who.leak') END,
                    CASE
                        WHEN l.late_bytes_per_step IS NOT NULL
                            THEN say('screen.leak.step', 'rate_bytes', CAST(l.late_bytes_per_step AS INTEGER))
                    END
                ),
                ','
            ) AS lines
        FROM (
            SELECT
                out_of_memory_id,
                live_bytes,
                site,
                live_count,
                pid,
                heap,
                row_number() OVER (PARTITION BY out_of_memory_id ORDER BY live_bytes DESC, site) AS place
            FROM z_out_of_memory_site
            WHERE live_bytes > 0
            ORDER BY out_of_memory_id, place
        ) AS w
        LEFT JOIN (
            SELECT
                site,
                pid,
                heap,
                max(late_bytes_per_step) AS late_bytes_per_step
            FROM leak_by_site
            GROUP BY site, pid, heap
        ) AS l ON l.site = w.site AND l.pid IS w.pid AND l.heap IS w.heap
        WHERE w.place <= 3
        GROUP BY w.out_of_memory_id
    )
SELECT
    CASE WHEN c.is_recovered THEN 'warning' ELSE 'fault' END,
    'out of memory',
    c.host,
    c.rank,
    c.pid,
    c.device,
    c.heap,
    c.level,
    c.site,
    c.verdict,
    CASE WHEN c.tried_bytes IS NULL AND c.asked_bytes IS NOT NULL THEN 'bound' ELSE 'exact' END,
    c.asked_bytes,
    c.failure_count,
    c.first_seq,
    c.stack_id,
    said(
        CASE
            WHEN c.asked_bytes IS NULL
                THEN say('screen.asked.call', 'call', substr(c.message, 10, instr(c.message, ' (') - 10))
            WHEN c.tried_bytes IS NULL
                THEN say('screen.asked.at_least', 'asked_bytes', c.asked_bytes)
            ELSE say('screen.asked', 'asked_bytes', c.asked_bytes)
        END,
        CASE WHEN NOT c.is_log OR c.device IS NOT NULL THEN say('screen.asked.place') END,
        CASE
            WHEN c.is_log AND c.date IS NOT NULL THEN say('screen.asked.date', 'date', c.date)
            WHEN c.is_log THEN NULL
            WHEN c.first_ns IS NOT NULL THEN say('screen.asked.time', 'first_ns', c.first_ns)
        END,
        CASE
            WHEN c.is_log THEN NULL
            WHEN c.is_recovered THEN say('screen.asked.recovered')
            WHEN coalesce(c.outcome, '') = '' THEN say('screen.asked.open')
            ELSE say('screen.asked.fatal')
        END
    ),
    said(
        said_line(
            'screen.label.why',
            CASE
                WHEN c.is_partial THEN say('screen.why.partial')
                WHEN c.cause IS NULL AND c.own_bytes IS NULL THEN say('screen.why.untold')
                WHEN c.cause IS NULL AND c.free_bytes IS NULL
                    THEN say('screen.why.unknown_free', 'own_bytes', c.own_bytes)
                WHEN c.cause IS NULL
                    THEN say('screen.why.unknown', 'own_bytes', c.own_bytes, 'free_bytes', c.free_bytes, 'needed_bytes', c.lacked_bytes)
                WHEN c.cause = 'capacity' AND c.total_bytes IS NULL AND c.free_bytes IS NOT NULL
                    THEN say('screen.why.full', 'own_bytes', c.own_bytes, 'free_bytes', c.free_bytes, 'needed_bytes', c.lacked_bytes)
                WHEN c.cause = 'capacity' AND c.total_bytes IS NULL THEN say('screen.why.alone', 'needed_bytes', c.lacked_bytes)
                WHEN c.cause = 'capacity'
                    THEN say('screen.why.capacity', 'own_bytes', c.own_bytes + c.module_bytes, 'total_bytes', c.total_bytes)
                WHEN c.cause = 'fragmentation' AND c.pool_largest_free_bytes IS NULL
                    THEN say('screen.why.pieces', 'cache_bytes', c.cache_bytes, 'needed_bytes', c.lacked_bytes)
                WHEN c.cause = 'cache'
                    THEN say(
                        'screen.why.cache', 'cache_heap', c.other_cache_heap, 'cache_bytes', c.other_cache_bytes, 'needed_bytes',
                        c.lacked_bytes
                    )
                WHEN c.cause = 'others' AND (c.module_bytes * 100 >= c.total_bytes OR c.other_bytes - c.module_bytes < c.lacked_bytes - c.free_bytes)
                    THEN say(
                        'screen.why.modules', 'module_bytes', c.module_bytes, 'total_bytes', c.total_bytes, 'other_bytes',
                        max(0, c.other_bytes - c.module_bytes), 'needed_bytes', c.lacked_bytes
                    )
                ELSE say(
                    'screen.why.' || c.cause,
                    'needed_bytes', c.lacked_bytes,
                    'free_bytes', c.free_bytes,
                    'total_bytes', c.total_bytes,
                    'other_bytes', c.other_bytes - c.module_bytes,
                    'pool_free_bytes', c.pool_free_bytes,
                    'largest_bytes', c.pool_largest_free_bytes,
                    'leaked_bytes', c.leaked_bytes,
                    'leaked_site', coalesce(c.leaked_site, '')
                )
            END,
            CASE
                WHEN c.cause = 'capacity' AND c.module_bytes * 100 >= c.total_bytes
                    THEN say('screen.why.capacity_modules', 'module_bytes', c.module_bytes)
                WHEN c.cause = 'limit' AND c.reserved_bytes IS NOT NULL
                    THEN say('screen.why.limit_reserved', 'reserved_bytes', c.reserved_bytes)
            END,
            CASE
                WHEN c.cause = 'capacity' AND c.total_bytes IS NULL THEN NULL
                WHEN c.cause = 'capacity' AND c.free_bytes IS NULL THEN say('screen.why.capacity_needed', 'needed_bytes', c.lacked_bytes)
                WHEN c.cause IN ('leak', 'capacity', 'stream', 'limit') AND c.free_bytes IS NOT NULL
                    THEN say(
                        'screen.why.' || c.cause || '_free',
                        'free_bytes', c.free_bytes,
                        'needed_bytes', c.lacked_bytes,
                        'other_bytes', max(0, c.other_bytes - c.module_bytes)
                    )
            END
        ),
        CASE WHEN NOT c.is_recovered AND held.said IS NOT NULL THEN said_line('screen.label.held', held.said) END,
        CASE WHEN c.is_log THEN named.lines WHEN NOT c.is_recovered THEN who.lines END,
        pins.lines
    ),
    CASE
        WHEN c.hccl_bytes >= c.lacked_bytes - c.free_bytes AND (c.cause = 'capacity' OR (c.cause = 'others' AND c.hccl_bytes * 2 >= c.other_bytes))
            THEN said(say('screen.remedy.hccl', 'hccl_bytes', c.hccl_bytes))
        WHEN c.cause = 'others' AND c.module_bytes >= c.lacked_bytes - c.free_bytes AND c.other_bytes - c.module_bytes < c.module_bytes
            THEN said(say('screen.remedy.modules', 'module_bytes', c.module_bytes))
        WHEN c.is_log AND c.cause = 'fragmentation'
            THEN said(say('screen.remedy.pieces', 'name', CASE c.device_kind WHEN 'npu' THEN 'PYTORCH_NPU_ALLOC_CONF' ELSE 'PYTORCH_CUDA_ALLOC_CONF' END))
        WHEN c.is_log AND c.heap = 'KV cache' THEN said(say('screen.remedy.server'))
        WHEN c.cause IS NOT NULL
            THEN said(
                say(
                    'screen.remedy.' || c.cause,
                    'cache_heap', c.other_cache_heap,
                    'other_bytes', c.other_bytes - c.module_bytes,
                    'without_bytes', max(coalesce(c.own_bytes, 0) - coalesce(c.leaked_bytes, 0), 0)
                ),
                CASE
                    WHEN c.cause = 'capacity' AND c.lacked_bytes > c.free_bytes + c.cache_bytes
                        THEN say('screen.remedy.shrink', 'shrink_bytes', c.lacked_bytes - c.free_bytes - c.cache_bytes)
                END,
                CASE
                    WHEN c.cause <> 'capacity' THEN NULL
                    WHEN c.site LIKE '%concat%' OR c.site LIKE '%logits%' THEN say('screen.remedy.chunks')
                    ELSE (
                        SELECT say(k.code)
                        FROM most AS m
                        JOIN temp.said_word AS k ON k.topic = 'shrink' AND k.word = m.category
                        WHERE m.host IS c.host AND m.pid IS c.pid AND m.device IS c.device
                    )
                END
            )
    END,
    command('screen.next.failure'),
    'out_of_memory',
    c.out_of_memory_id
FROM temp.said_case AS c
LEFT JOIN held ON held.out_of_memory_id = c.out_of_memory_id
LEFT JOIN who ON who.out_of_memory_id = c.out_of_memory_id
LEFT JOIN named ON named.out_of_memory_id = c.out_of_memory_id
LEFT JOIN pins ON pins.out_of_memory_id = c.out_of_memory_id
ORDER BY c.is_recovered, c.device IS NULL, c.out_of_memory_id DESC;
DROP TABLE temp.said_case;
