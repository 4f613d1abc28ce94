-- A pool that takes ever more memory of the driver though no more of it lives: over the last two fifths of its events the most that it
-- has reserved rises from tenth to tenth, in the end by 64 MiB and a tenth at least, and the most that lives by less than a fifth of
-- that. Or at marks of one name, as at the same point of each cycle (asleep, awake, captured): from each of the last two fifths of them to the
-- next, and of three at least. Memory that modules of CANN take for the process (HCCL, for each group) rises as a whole, over all that the
-- process did, in three of the last four tenths: what it took at the begin is no growth. What its sites leak is told, and what idle streams keep.
-- Only if: SELECT EXISTS (SELECT 1 FROM usage JOIN minimum ON judgement = 'cache growth' WHERE max_live_bytes >= least OR reserved_bytes >= least)
INSERT INTO finding (
    severity, kind, host, rank, pid, device, heap, level, verdict, basis, value, unit, bytes, count, seq, sentence, remedy, source_view
)
WITH
    whole AS (
        SELECT
            h.process_id AS process_id,
            min(u.last_seq) AS begin_seq,
            max(u.last_seq) AS end_seq
        FROM usage AS u
        JOIN heap AS h ON h.heap_id = u.heap_id
        GROUP BY h.process_id
    ),
    span AS (
        SELECT
            u.heap_id AS heap_id,
            h.level IN (2, 3) AS is_pool,
            CASE h.level WHEN 1 THEN w.begin_seq ELSE min(u.last_seq) END AS begin_seq,
            CASE h.level WHEN 1 THEN w.end_seq ELSE max(u.last_seq) END AS end_seq
        FROM usage AS u
        JOIN heap AS h ON h.heap_id = u.heap_id
        LEFT JOIN whole AS w ON w.process_id IS h.process_id
        WHERE u.last_seq IS NOT NULL AND (h.level IN (2, 3) AND u.reserved_bytes IS NOT NULL OR h.level = 1 AND h.module_id <> 33)
        GROUP BY u.heap_id
        HAVING count(*) >= 10
    ),
    late AS (
        SELECT
            heap_id,
            min(CASE WHEN tenth = 6 THEN last_seq END) AS seq,
            max(CASE WHEN tenth = 6 THEN reserved_bytes END) AS held_6,
            max(CASE WHEN tenth = 7 THEN reserved_bytes END) AS held_7,
            max(CASE WHEN tenth = 8 THEN reserved_bytes END) AS held_8,
            max(CASE WHEN tenth >= 9 THEN reserved_bytes END) AS held_9,
            max(CASE WHEN tenth >= 9 THEN live_bytes END) - max(CASE WHEN tenth = 6 THEN live_bytes END) AS live_rise_bytes
        FROM (
            SELECT
                s.heap_id AS heap_id,
                u.last_seq AS last_seq,
                (u.last_seq - s.begin_seq) * 10 / (s.end_seq - s.begin_seq) AS tenth,
                u.reserved_bytes AS reserved_bytes,
                u.max_live_bytes AS live_bytes
            FROM span AS s
            JOIN usage AS u ON u.heap_id = s.heap_id AND u.last_seq >= s.begin_seq + (s.end_seq - s.begin_seq) / 10 * 6
            WHERE s.is_pool
        )
        GROUP BY heap_id
    ),
    -- What a module has when each tenth begins, and at most in the last.
    module AS (
        SELECT
            heap_id,
            min(CASE WHEN tenth >= 6 THEN last_seq END) AS seq,
            max(CASE WHEN tenth < 6 AND until_tenth >= 6 THEN live_bytes END) AS held_6,
            max(CASE WHEN tenth < 7 AND until_tenth >= 7 THEN live_bytes END) AS held_7,
            max(CASE WHEN tenth < 8 AND until_tenth >= 8 THEN live_bytes END) AS held_8,
            max(CASE WHEN tenth < 9 AND until_tenth >= 9 THEN live_bytes END) AS held_9,
            max(CASE WHEN until_tenth >= 9 THEN live_bytes END) AS held_10
        FROM (
            SELECT
                s.heap_id AS heap_id,
                u.last_seq AS last_seq,
                (u.last_seq - s.begin_seq) * 10 / (s.end_seq - s.begin_seq) AS tenth,
                (lead(u.last_seq, 1, s.end_seq) OVER (PARTITION BY s.heap_id ORDER BY u.last_seq) - s.begin_seq) * 10
                    / (s.end_seq - s.begin_seq) AS until_tenth,
                u.live_bytes AS live_bytes
            FROM span AS s
            JOIN usage AS u ON u.heap_id = s.heap_id
            WHERE NOT s.is_pool AND u.last_seq IS NOT NULL
        )
        GROUP BY heap_id
    ),
    cycle AS (
        SELECT
            heap_id,
            mark,
            number,
            cycle_count,
            seq,
            reserved_bytes,
            reserved_bytes - lag(reserved_bytes) OVER of_name AS rise_bytes,
            occupied_bytes - lag(occupied_bytes) OVER of_name AS live_rise_bytes
        FROM (
            SELECT
                k.heap_id AS heap_id,
                m.name AS mark,
                m.seq AS seq,
                k.reserved_bytes AS reserved_bytes,
                k.occupied_bytes AS occupied_bytes,
                row_number() OVER (PARTITION BY k.heap_id, m.name ORDER BY m.seq) AS number,
                count(*) OVER (PARTITION BY k.heap_id, m.name) AS cycle_count
            FROM moment AS m
            JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id
            JOIN heap AS h ON h.heap_id = k.heap_id AND h.process_id = m.process_id
            WHERE m.kind = 3 AND m.name IS NOT NULL
        )
        WHERE cycle_count >= 5
        WINDOW of_name AS (PARTITION BY heap_id, mark ORDER BY number)
    ),
    -- Of marks of several names those from which it grows most.
    phase AS (
        SELECT
            heap_id,
            mark,
            mark_count,
            seq,
            rise_bytes,
            end_bytes,
            row_number() OVER (PARTITION BY heap_id ORDER BY rise_bytes / mark_count DESC, mark) AS place
        FROM (
            SELECT
                heap_id,
                mark,
                count(*) AS mark_count,
                min(seq) AS seq,
                sum(rise_bytes) AS rise_bytes,
                max(reserved_bytes) AS end_bytes
            FROM cycle
            WHERE number > cycle_count - max(3, (2 * cycle_count + 4) / 5)
            GROUP BY heap_id, mark
            HAVING min(rise_bytes) > 0
                AND sum(rise_bytes) >= max((SELECT least FROM minimum WHERE judgement = 'cache growth'), max(reserved_bytes) / 10)
                AND sum(live_rise_bytes) * 5 <= sum(rise_bytes)
        )
    ),
    growing AS (
        SELECT
            l.heap_id AS heap_id,
            NULL AS mark,
            NULL AS mark_count,
            l.seq AS seq,
            l.rise_bytes AS rise_bytes,
            l.end_bytes AS end_bytes,
            (
                SELECT count(*)
                FROM step AS t
                JOIN heap AS h ON h.process_id = t.process_id
                WHERE h.heap_id = l.heap_id AND t.begin_seq >= l.seq
            ) AS step_count
        FROM (
            SELECT heap_id, seq, held_9 - held_6 AS rise_bytes, held_9 AS end_bytes
            FROM late
            WHERE held_6 <= held_7 AND held_7 <= held_8 AND held_8 <= held_9 AND held_6 < held_8 AND held_8 < held_9
                AND live_rise_bytes * 5 <= held_9 - held_6 AND heap_id NOT IN (SELECT heap_id FROM phase)
            UNION ALL
            SELECT heap_id, seq, held_10 - held_6, held_10
            FROM module
            WHERE held_6 <= held_7 AND held_7 <= held_8 AND held_8 <= held_9 AND held_9 <= held_10
                AND (held_6 < held_7) + (held_7 < held_8) + (held_8 < held_9) + (held_9 < held_10) >= 3
        ) AS l
        WHERE l.rise_bytes >= max((SELECT least FROM minimum WHERE judgement = 'cache growth'), l.end_bytes / 10)
        UNION ALL
        SELECT heap_id, mark, mark_count, seq, rise_bytes, end_bytes, 0
        FROM phase
        WHERE place = 1
    )
SELECT
    'warning',
    'cache growth',
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    'growing',
    'exact',
    CAST(g.rise_bytes AS REAL) / g.end_bytes,
    'ratio',
    g.rise_bytes,
    coalesce(g.mark_count, g.step_count),
    g.seq,
    said(
        CASE
            WHEN g.mark IS NOT NULL
                THEN say('screen.grows.cycle', 'cycle_bytes', g.rise_bytes / g.mark_count, 'mark', g.mark, 'end_bytes', g.end_bytes)
            WHEN p.level = 'driver' THEN say('screen.grows.module', 'rise_bytes', g.rise_bytes, 'end_bytes', g.end_bytes)
            ELSE say('screen.grows', 'rise_bytes', g.rise_bytes, 'end_bytes', g.end_bytes)
        END,
        CASE WHEN g.step_count > 1 THEN say('screen.grows.steps', 'n', g.step_count) END
    ),
    said(say(CASE WHEN p.level = 'driver' THEN 'screen.grows.module_remedy' ELSE 'screen.grows.remedy' END)),
    'timeline'
FROM growing AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
JOIN input AS i ON i.input_id = p.input_id AND i.events_dropped + i.events_damaged + i.events_unrecovered = 0
WHERE NOT EXISTS (
    SELECT 1
    FROM finding AS f
    WHERE f.kind IN ('leak', 'idle streams') AND f.host IS p.host AND f.pid IS p.pid AND f.device IS p.device AND f.heap = p.heap AND f.level = p.level
)
ORDER BY g.rise_bytes DESC, g.heap_id;
