-- leak_causes.sql: which sites leak, since when, and how long do their blocks live that are freed?
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; heap name; site file, line and function; cause 'never freed' (no block of the site ever was),
--             'some are missed' (others of the site are freed), 'held at exit' (driver or pinned memory that the program
--             did not give back), 'growing' (no more is known: events were lost, or it began late); leak_count
--             allocations; leak_bytes bytes; growth_bytes_per_step bytes, NULL where it is not known; oldest_age_ns
--             nanoseconds; usual_life_ns, most_life_ns, longest_life_ns what half, 99 % and all of the freed blocks of the
--             site lived at most, nanoseconds, the first two powers of two, NULL where none was freed; freed_count of
--             them; evidence in words; is_partial 1 where something of the recording is
--             missing
SELECT
    l.pid AS pid,
    l.heap AS heap,
    l.site AS site,
    CASE
        WHEN l.verdict = 'unreleased' THEN 'held at exit'
        WHEN l.freed_count > 0 THEN 'some are missed'
        WHEN instr(l.evidence, 'no block of the site was ever freed') > 0 THEN 'never freed'
        ELSE 'growing'
    END AS cause,
    l.leak_count AS leak_count,
    l.leak_bytes AS leak_bytes,
    l.growth_bytes_per_step AS growth_bytes_per_step,
    l.oldest_age_ns AS oldest_age_ns,
    max(t.median_at_most_ns) AS usual_life_ns,
    l.freed_p99_at_most_ns AS most_life_ns,
    max(t.max_ns) AS longest_life_ns,
    l.freed_count AS freed_count,
    l.evidence AS evidence,
    l.is_partial AS is_partial
FROM leak_by_site AS l
LEFT JOIN (
    SELECT
        p.host,
        p.rank,
        p.pid,
        p.device,
        p.heap,
        p.level,
        coalesce(f.label, '(no stack)') AS site,
        x.median_at_most_ns,
        x.max_ns
    FROM z_site_lifetime AS x
    JOIN z_heap_place AS p ON p.heap_id = x.heap_id
    LEFT JOIN frame AS f ON f.frame_id = x.site_frame_id
) AS t
    ON t.site = l.site
    AND t.pid IS l.pid
    AND t.heap IS l.heap
    AND t.level IS l.level
    AND t.device IS l.device
    AND t.rank IS l.rank
    AND t.host IS l.host
GROUP BY l.host, l.rank, l.pid, l.device, l.heap, l.level, l.site, l.verdict, l.first_seq, l.last_seq
ORDER BY l.leak_bytes DESC, l.pid, l.device, l.level, l.heap, l.site, l.verdict
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
