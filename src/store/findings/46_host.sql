-- Host memory of a process that still grows: its anonymous memory (heaps and stacks) over the last two fifths of the time that it was
-- looked at, of which each tenth begins no lower than the one before. In less than an hour that must be 100 MiB and a tenth of
-- what it has in the end; in more, a gibibyte an hour and a twentieth of what the machine has left. What a tenth begins with is what was
-- seen next: a single jump is no growth.
-- Only if: SELECT EXISTS (SELECT 1 FROM memory_sample WHERE kind = 101 AND device_id IS NULL)
INSERT INTO finding (
    severity, kind, host, rank, pid, verdict, basis, value, unit, bytes, sentence, remedy, source_view
)
WITH
    sample AS (
        SELECT
            process_id,
            ns,
            used_bytes,
            total_bytes
        FROM memory_sample
        WHERE kind = 101 AND device_id IS NULL AND process_id IS NOT NULL AND ns IS NOT NULL
    ),
    span AS (
        SELECT
            process_id,
            min(ns) AS begin_ns,
            max(ns) AS end_ns,
            max(total_bytes) AS total_bytes
        FROM sample
        GROUP BY process_id
        HAVING count(*) >= 5
    ),
    tenth AS (
        SELECT value AS number
        FROM json_each('[6,7,8,9]')
    ),
    -- What it had when each of the last four tenths of the time began.
    level AS (
        SELECT
            s.process_id AS process_id,
            t.number AS number,
            (
                SELECT x.used_bytes
                FROM sample AS x
                WHERE x.process_id = s.process_id AND x.ns >= s.begin_ns + (s.end_ns - s.begin_ns) / 10 * t.number
                ORDER BY x.ns
                LIMIT 1
            ) AS used_bytes
        FROM span AS s
        JOIN tenth AS t
    ),
    rise AS (
        SELECT
            s.process_id AS process_id,
            s.total_bytes AS total_bytes,
            (s.end_ns - s.begin_ns) / 5 * 2 AS window_ns,
            s.end_ns - s.begin_ns AS run_ns,
            max(CASE WHEN l.number = 6 THEN l.used_bytes END) AS level_6,
            max(CASE WHEN l.number = 7 THEN l.used_bytes END) AS level_7,
            max(CASE WHEN l.number = 8 THEN l.used_bytes END) AS level_8,
            max(CASE WHEN l.number = 9 THEN l.used_bytes END) AS level_9,
            (
                SELECT max(x.used_bytes)
                FROM sample AS x
                WHERE x.process_id = s.process_id AND x.ns > s.begin_ns + (s.end_ns - s.begin_ns) / 10 * 9
            ) AS end_bytes
        FROM span AS s
        JOIN level AS l ON l.process_id = s.process_id
        GROUP BY s.process_id
    ),
    growing AS (
        SELECT
            process_id,
            end_bytes,
            end_bytes - level_6 AS rise_bytes,
            window_ns,
            (end_bytes - level_6) * 3600e9 / window_ns AS hourly_bytes
        FROM rise
        WHERE window_ns > 0 AND level_6 <= level_7 AND level_7 <= level_8 AND level_8 <= level_9 AND level_9 <= end_bytes AND level_6 < level_8 AND level_8 < end_bytes
            AND CASE
                WHEN run_ns < 3600000000000 THEN end_bytes - level_6 >= max(104857600, end_bytes / 10)
                ELSE (end_bytes - level_6) * 3600e9 / window_ns >= max(1073741824, (total_bytes - end_bytes) / 20)
            END
    )
SELECT
    'warning',
    'host growth',
    process.host,
    process.rank,
    process.pid,
    'growing',
    'estimate',
    g.hourly_bytes,
    'bytes an hour',
    g.rise_bytes,
    said(say('screen.host', 'rise_bytes', g.rise_bytes, 'window_ns', g.window_ns, 'end_bytes', g.end_bytes)),
    said(say('screen.host.remedy')),
    'usage_sample'
FROM growing AS g
JOIN process ON process.process_id = g.process_id
ORDER BY g.rise_bytes DESC, g.process_id;
