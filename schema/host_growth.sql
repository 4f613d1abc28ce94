-- Host memory that grows.

CREATE VIEW host_growth (
    -- How fast the anonymous memory (heaps and stacks) of each process grew in the end, the fastest first: over the last two fifths of the
    -- time that it was looked at, where each tenth begins no lower than the one before. What a tenth begins with is what was seen
    -- next, so a single jump is no growth. Of a process whose memory was never looked at nothing is here.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Always NULL: host memory.
    device,
    -- Always NULL: of the whole process.
    heap,
    -- Always NULL: of the whole process.
    level,
    -- Those two fifths. Unit: nanoseconds.
    window_ns,
    -- The most that it held in the last tenth. Unit: bytes.
    end_bytes,
    -- How much more that is than at the begin of the two fifths. 0: it did not grow, or moved by a mebibyte fewer than four times. Unit:
    -- bytes.
    growth_bytes,
    -- The same by the hour: of a short run more than may ever come. Unit: bytes an hour.
    growth_bytes_per_hour,
    -- What was left for it at the end: the smaller of what its memory cgroup and the machine left. Unit: bytes.
    headroom_bytes,
    -- Which left less: 'cgroup' or 'machine'.
    headroom_of,
    -- 'growing': worth a warning, which in less than an hour is 100 MiB and a tenth of end_bytes, in more a gibibyte an hour and a
    -- twentieth of headroom_bytes; 'slow': less than that; 'flat': none.
    verdict
) AS
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
            count(*) AS sample_count,
            max(total_bytes) AS total_bytes
        FROM sample
        GROUP BY process_id
    ),
    -- Which tenth of the time each is in, from 0; and its place there.
    placed AS (
        SELECT
            s.process_id AS process_id,
            s.used_bytes AS used_bytes,
            CAST((s.ns - p.begin_ns) * 10.0 / max(p.end_ns - p.begin_ns, 1) AS INTEGER) AS tenth,
            row_number() OVER (
                PARTITION BY s.process_id, CAST((s.ns - p.begin_ns) * 10.0 / max(p.end_ns - p.begin_ns, 1) AS INTEGER)
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
            max(CASE WHEN f.tenth >= 9 THEN f.used_bytes END) AS end_bytes,
            max(f.used_bytes) AS most_bytes
        FROM placed AS f
        GROUP BY f.process_id
    ),
    -- What was left by each when it was looked at last. Of older recordings only what the machine has is known.
    room AS (
        SELECT
            process_id,
            kind,
            max(total_bytes - used_bytes, 0) AS left_bytes,
            max(ns) AS ns
        FROM memory_sample
        WHERE kind IN (105, 106) AND device_id IS NULL AND process_id IS NOT NULL AND ns IS NOT NULL
        GROUP BY process_id, kind
    ),
    level AS (
        SELECT
            r.process_id AS process_id,
            coalesce(r.end_bytes, r.most_bytes) AS end_bytes,
            max(CASE WHEN f.tenth = r.tenth_6 THEN f.used_bytes END) AS level_6,
            max(CASE WHEN f.tenth = r.tenth_7 THEN f.used_bytes END) AS level_7,
            max(CASE WHEN f.tenth = r.tenth_8 THEN f.used_bytes END) AS level_8,
            max(CASE WHEN f.tenth = r.tenth_9 THEN f.used_bytes END) AS level_9
        FROM rise AS r
        JOIN placed AS f ON f.process_id = r.process_id AND f.place = 1
        GROUP BY r.process_id
    ),
    growth AS (
        SELECT
            l.process_id AS process_id,
            l.end_bytes AS end_bytes,
            CASE
                WHEN p.sample_count >= 5
                    AND l.level_6 <= l.level_7 AND l.level_7 <= l.level_8 AND l.level_8 <= l.level_9 AND l.level_9 <= l.end_bytes
                    AND l.level_6 < l.level_8 AND l.level_8 < l.end_bytes
                THEN l.end_bytes - l.level_6
                ELSE 0
            END AS growth_bytes,
            (p.end_ns - p.begin_ns) / 5 * 2 AS window_ns,
            coalesce(m.left_bytes, max(p.total_bytes - l.end_bytes, 0)) AS machine_bytes,
            c.left_bytes AS cgroup_bytes
        FROM level AS l
        JOIN span AS p ON p.process_id = l.process_id
        LEFT JOIN room AS m ON m.process_id = l.process_id AND m.kind = 106
        LEFT JOIN room AS c ON c.process_id = l.process_id AND c.kind = 105
    ),
    rate AS (
        SELECT
            g.*,
            coalesce(min(g.machine_bytes, g.cgroup_bytes), g.machine_bytes) AS headroom_bytes,
            CASE WHEN g.growth_bytes > 0 THEN g.growth_bytes * 3600e9 / g.window_ns ELSE 0.0 END AS hourly_bytes
        FROM growth AS g
    )
SELECT
    process.host, process.rank, process.pid,
    NULL,
    NULL,
    NULL,
    r.window_ns,
    r.end_bytes,
    r.growth_bytes,
    r.hourly_bytes,
    r.headroom_bytes,
    CASE WHEN r.cgroup_bytes <= r.machine_bytes THEN 'cgroup' ELSE 'machine' END,
    CASE
        WHEN r.growth_bytes = 0 THEN 'flat'
        WHEN r.window_ns < 1440000000000 AND r.growth_bytes >= max((SELECT least FROM minimum WHERE judgement = 'host growth'), r.end_bytes / 10) THEN 'growing'
        WHEN r.window_ns >= 1440000000000 AND r.hourly_bytes >= max(1073741824, r.headroom_bytes / 20) THEN 'growing'
        ELSE 'slow'
    END
FROM rate AS r
JOIN process ON process.process_id = r.process_id
ORDER BY r.hourly_bytes DESC, r.process_id;
