-- Sites that leak, growing ones first: how much, how fast and when the device is full, if it is not full already.
-- Only if: SELECT EXISTS (SELECT 1 FROM z_leak_sum)
INSERT INTO finding (
    severity, kind, host, rank, pid, device, heap, level, site, through, verdict, basis, value, unit, bytes, count, sentence,
    evidence, next_command, source_view
)
WITH
    until_full AS (
        SELECT
            host,
            rank,
            pid,
            device,
            min(steps_left) AS left_count
        FROM forecast
        WHERE measure = 'device'
        GROUP BY host, rank, pid, device
    ),
    -- Of processes that nothing tells apart, not even their devices, the most that one has.
    steps AS (
        SELECT
            q.host AS host,
            q.rank AS rank,
            q.pid AS pid,
            q.device AS device,
            max(t.step_count) AS step_count
        FROM (
            SELECT
                process_id,
                count(*) AS step_count
            FROM step
            GROUP BY process_id
        ) AS t
        JOIN z_heap_place AS q ON q.process_id = t.process_id
        GROUP BY q.host, q.rank, q.pid, q.device
    ),
    -- Where sizes grow and nothing is said of the site.
    sized AS (
        SELECT
            q.host AS host,
            q.rank AS rank,
            q.pid AS pid,
            q.device AS device,
            q.heap AS heap,
            q.level AS level,
            coalesce(f.label, '(no stack)') AS site,
            count(DISTINCT k.size_bytes) AS size_count,
            min(k.size_bytes) AS least_bytes,
            max(k.size_bytes) AS most_bytes
        FROM z_leaked_sum AS k
        JOIN z_heap_place AS q ON q.heap_id = k.heap_id
        LEFT JOIN stack AS s ON s.stack_id = k.stack_id
        JOIN z_site_verdict AS v ON v.heap_id = k.heap_id AND v.site_frame_id IS s.site_frame_id AND v.verdict NOT IN ('growing', 'rising')
        LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
        WHERE k.verdict = 'growing'
        GROUP BY q.heap_id, s.site_frame_id
    ),
    fatal AS (SELECT EXISTS (SELECT 1 FROM z_out_of_memory_chain WHERE outcome = 'fatal') AS is_fatal)
SELECT
    'fault',
    'leak',
    l.host,
    l.rank,
    l.pid,
    l.device,
    l.heap,
    l.level,
    l.site,
    r.caller,
    l.verdict,
    'exact',
    coalesce(l.late_bytes_per_step, l.bytes_per_hour),
    CASE WHEN l.late_bytes_per_step IS NOT NULL THEN 'bytes a step' WHEN l.bytes_per_hour IS NOT NULL THEN 'bytes an hour' END,
    l.leak_bytes,
    l.leak_count,
    said(
        say('screen.leak.bytes', 'leak_bytes', l.leak_bytes),
        CASE
            WHEN l.late_bytes_per_step IS NOT NULL
                THEN say('screen.leak.step', 'rate_bytes', CAST(l.late_bytes_per_step AS INTEGER))
            WHEN l.bytes_per_hour IS NOT NULL
                THEN say('screen.leak.hour', 'rate_bytes', CAST(l.bytes_per_hour AS INTEGER))
            ELSE say('screen.leak.unreleased')
        END,
        CASE
            WHEN z.size_count = 1 THEN say('screen.leak.sized', 'size', z.least_bytes)
            WHEN z.size_count > 1 THEN say('screen.leak.sizes', 'n', z.size_count, 'size', z.least_bytes, 'most', z.most_bytes)
        END,
        CASE
            WHEN l.device IS NULL OR fatal.is_fatal THEN NULL
            WHEN l.late_bytes_per_step IS NOT NULL AND u.left_count IS NOT NULL
                THEN say('screen.leak.full_steps', 'n', u.left_count)
            WHEN l.hours_left IS NOT NULL
                THEN say('screen.leak.full_hours', 'left_hours', l.hours_left)
        END,
        CASE WHEN f.is_cut = 1 THEN say('screen.leak.cut') ELSE say('screen.leak.site') END
    ),
    said(
        said_line(
            NULL,
            CASE
                WHEN t.step_count = l.generation_count AND t.step_count > 0 AND l.late_bytes_per_step IS NOT NULL
                    THEN say('screen.leak.born_each', 'n', l.leak_count, 'steps', t.step_count)
                WHEN t.step_count > 0 AND l.late_bytes_per_step IS NOT NULL
                    THEN say('screen.leak.born', 'n', l.leak_count, 'born', l.generation_count, 'steps', t.step_count)
                ELSE say('screen.leak.blocks', 'n', l.leak_count)
            END,
            CASE
                WHEN l.freed_count = 0 THEN say('screen.leak.none_freed')
                WHEN l.freed_count IS NOT NULL THEN say('screen.leak.freed', 'n', l.freed_count)
            END,
            CASE
                WHEN l.older_count > 0
                    THEN say('screen.leak.older', 'n', l.older_count, 'older_bytes', l.older_bytes)
            END
        ),
        CASE
            WHEN r.caller IS NOT NULL
                THEN said_line(
                    NULL,
                    say(
                        'screen.leak.through', 'n', r.frames_out, 'caller', r.caller, 'unfreed', r.unfreed_count, 'all',
                        r.allocation_count, 'other', r.other, 'freed', r.other_free_count
                    )
                )
        END
    ),
    command('screen.next.leak'),
    'leak_by_site'
FROM leak_by_site AS l
JOIN fatal
LEFT JOIN until_full AS u ON u.host IS l.host AND u.rank IS l.rank AND u.pid IS l.pid AND u.device IS l.device
LEFT JOIN steps AS t ON t.host IS l.host AND t.rank IS l.rank AND t.pid IS l.pid AND t.device IS l.device
LEFT JOIN temp.leak_through AS r
    ON r.host IS l.host AND r.rank IS l.rank AND r.pid IS l.pid AND r.device IS l.device AND r.heap IS l.heap AND r.level IS l.level
    AND r.site = l.site
LEFT JOIN stack AS s ON s.stack_id = l.top_stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN sized AS z
    ON z.host IS l.host AND z.rank IS l.rank AND z.pid IS l.pid AND z.device IS l.device AND z.heap IS l.heap AND z.level IS l.level
    AND z.site = l.site AND l.verdict = 'growing'
ORDER BY l.verdict = 'unreleased', l.leak_bytes DESC, l.site, l.rank, l.pid;

DROP TABLE temp.leak_through;
