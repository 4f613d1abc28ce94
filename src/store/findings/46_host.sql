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
        HAVING count(*) >= 5 AND max(ns) > min(ns)
    ),
    -- Which tenth of the time each is in, from 0; and its place there.
    placed AS (
        SELECT
            s.process_id AS process_id,
            s.used_bytes AS used_bytes,
            CAST((s.ns - p.begin_ns) * 10.0 / (p.end_ns - p.begin_ns) AS INTEGER) AS tenth,
            row_number() OVER (
                PARTITION BY s.process_id, CAST((s.ns - p.begin_ns) * 10.0 / (p.end_ns - p.begin_ns) AS INTEGER)
                ORDER BY s.ns
            ) AS place
        FROM sample AS s
        JOIN span AS p ON p.process_id = s.process_id
    ),
    -- What was seen first from the begin of each of the last four tenths on, and the most in the last.
    rise AS (
        SELECT
            f.process_id AS process_id,
            min(CASE WHEN f.tenth >= 6 THEN f.tenth END) AS tenth_6,
            min(CASE WHEN f.tenth >= 7 THEN f.tenth END) AS tenth_7,
            min(CASE WHEN f.tenth >= 8 THEN f.tenth END) AS tenth_8,
            min(CASE WHEN f.tenth >= 9 THEN f.tenth END) AS tenth_9,
            max(CASE WHEN f.tenth >= 9 THEN f.used_bytes END) AS end_bytes
        FROM placed AS f
        GROUP BY f.process_id
    ),
    level AS (
        SELECT
            r.process_id AS process_id,
            r.end_bytes AS end_bytes,
            max(CASE WHEN f.tenth = r.tenth_6 THEN f.used_bytes END) AS level_6,
            max(CASE WHEN f.tenth = r.tenth_7 THEN f.used_bytes END) AS level_7,
            max(CASE WHEN f.tenth = r.tenth_8 THEN f.used_bytes END) AS level_8,
            max(CASE WHEN f.tenth = r.tenth_9 THEN f.used_bytes END) AS level_9
        FROM rise AS r
        JOIN placed AS f ON f.process_id = r.process_id AND f.place = 1
        GROUP BY r.process_id
    ),
    growing AS (
        SELECT
            l.process_id AS process_id,
            l.end_bytes AS end_bytes,
            l.end_bytes - l.level_6 AS rise_bytes,
            (p.end_ns - p.begin_ns) / 5 * 2 AS window_ns,
            (l.end_bytes - l.level_6) * 3600e9 / ((p.end_ns - p.begin_ns) / 5 * 2) AS hourly_bytes
        FROM level AS l
        JOIN span AS p ON p.process_id = l.process_id
        WHERE l.level_6 <= l.level_7 AND l.level_7 <= l.level_8 AND l.level_8 <= l.level_9 AND l.level_9 <= l.end_bytes
            AND l.level_6 < l.level_8 AND l.level_8 < l.end_bytes
            AND CASE
                WHEN p.end_ns - p.begin_ns < 3600000000000 THEN l.end_bytes - l.level_6 >= max(104857600, l.end_bytes / 10)
                ELSE (l.end_bytes - l.level_6) * 3600e9 / ((p.end_ns - p.begin_ns) / 5 * 2)
                    >= max(1073741824, (p.total_bytes - l.end_bytes) / 20)
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
